# SPDX-License-Identifier: Apache-2.0
"""Gaps of a collision rule, and remarks about what it checks, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from robodyn_ros.excitation.collisions.meshes import missing_meshes
from robodyn_ros.excitation.collisions.robot_files import CollisionFile
from robodyn_ros.excitation.collisions.self_collision import SelfCollisionRule, words


def list_gaps(rule: SelfCollisionRule) -> Iterator[str]:
    """Yield what a rule does not check."""
    yield from find_missing_shapes(rule.file)
    if hidden := _find_hidden(rule):
        pairs = ', '.join(words(hidden))
        yield f'pairs whose visual shapes or capsules touch in every position: {pairs}'
    if held := rule.geometry.resting_joints():
        yield f'joints that do not move, taken to be at 0: {", ".join(held)}'


def notes_of(rule: SelfCollisionRule) -> list[str]:
    """Return remarks about what is checked otherwise than expected."""
    notes = []
    if capsules := [str(item) for item in rule.file.capsules]:
        notes.append(f'capsules stand in for the missing geometry of links: {"; ".join(capsules)}')
    if shown := [name for name in dict.fromkeys(rule.file.shown) if name not in rule.file.guessed]:
        notes.append(
            f'links without <collision> are checked by their visual shapes: {", ".join(shown)}'
        )
    hidden = _find_hidden(rule)
    if touching := [pair for pair in rule.touching if pair not in hidden]:
        pairs = ', '.join(words(touching))
        notes.append(
            f'left out, as they touch in every position: {pairs}; '
            'disable such pairs in an SRDF (option srdf) if that is right'
        )
    if rule.close:
        notes.append(
            f'kept from colliding only, as no position keeps them {1e3 * rule.clearance:.3g} mm '
            f'apart: {", ".join(words(rule.close))}'
        )
    return notes


def _find_hidden(rule: SelfCollisionRule) -> list[tuple[str, str]]:
    """Return pairs that are left out although only substitutes touch in every position."""
    return [pair for pair in rule.touching if set(pair) & rule.file.substituted]


def find_missing_shapes(file: CollisionFile) -> Iterator[str]:
    """Yield the links without a shape, or with a guessed one, and what to do."""
    if file.unread:
        yield f'geometry that cannot be read: {"; ".join(file.unread)}'
    remedy = f'; {missing_meshes(file.lost)}' if file.lost else ''
    if file.bare:
        yield f'links without <collision> geometry: {", ".join(file.bare)}{remedy}'
    if file.guessed:
        remedy = remedy or '; give them <collision> or <visual> geometry'
        yield (
            'links whose shapes are guessed, and can be thicker than the guess: '
            f'{", ".join(file.guessed)}{remedy}'
        )
