# SPDX-License-Identifier: Apache-2.0
"""Collision check of a motion: its coverage and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.boxes import ENDLESS, free_space, obstacle_boxes
from robodyn_ros.excitation.collisions.robot_files import link_names
from robodyn_ros.excitation.collisions.scene import read_scene
from robodyn_ros.excitation.collisions.scene_shape import NOTHING, SceneShape, Surroundings
from robodyn_ros.excitation.collisions.self_collision import (
    Contacts,
    NoPairsError,
    SelfCollisionLimit,
    SelfCollisionRule,
    words,
)
from robodyn_ros.excitation.limits.constraints import Limit, SpaceLimit
from robodyn_ros.excitation.limits.joint_limits import CHECK_PERIOD
from robodyn_ros.excitation.trajectory import Motion, Trajectory
from robodyn_ros.models.interface import DynamicModel


@dataclass(frozen=True)
class Coverage:
    """Limits that a motion is checked against.

    :param limits: limits for the design of a motion, and for the check afterwards
    :param rule: rule of the distances of links, from one of the limits; None: not checked
    """

    limits: tuple[Limit, ...] = ()
    rule: SelfCollisionRule | None = None
    unchecked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def substitutes(self) -> bool:
        """Return True if shapes stand in for missing `<collision>` geometry."""
        return self.rule is not None and bool(self.rule.file.substituted)

    def check(self, trajectory: Trajectory, model: DynamicModel | None = None) -> Report:
        """Check a motion every `CHECK_PERIOD`.

        :raises MotionError: there are limits of frames, and no model that has such frames
        """
        contacts = None if self.rule is None else self.rule.check(trajectory)
        broken = ''
        if self.rule is not None and contacts is not None and contacts.share > 0.0:
            broken = f'the motion collides: {contacts.sentence(self.rule.clearance)}'
        for limit in self.limits:
            if isinstance(limit, SpaceLimit) and not broken:
                broken = _outside(limit, trajectory, model)
        return Report(contacts, broken, self.unchecked, self.notes)


@dataclass(frozen=True)
class Report:
    """Result of a check.

    :param contacts: smallest distance, and share of the time with a collision; None: not checked
    :param broken: sentence about a collision, or a frame outside its box; empty: none
    """

    contacts: Contacts | None
    broken: str
    unchecked: tuple[str, ...]
    notes: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Return plain types, SI units; a distance of null: no objects that could touch."""
        found = self.contacts
        collision: dict[str, Any] = {'checked': found is not None}
        if found is not None:
            nearest = float(found.distance) if np.isfinite(found.distance) else None
            collision |= {
                'share': found.share,
                'smallest_distance': nearest,
                'pair': list(found.pair),
                'time': found.time,
            }
        return {
            'collision': collision,
            'not_checked': list(self.unchecked),
            'notes': list(self.notes),
        }


def collision_lines(facts: Mapping[str, Any]) -> list[str]:
    """Format `Report.facts` as text."""
    found, lines = facts['collision'], []
    if found['checked'] and found['smallest_distance'] is not None:
        distance, pair = 1e3 * found['smallest_distance'], ' and '.join(found['pair'])
        word = 'smallest distance' if distance > 0.0 else 'largest depth'
        lines.append(
            f'collisions during {found["share"]:.2%} of the time; {word} {abs(distance):.1f} mm, '
            f'{pair}, at t = {found["time"]:.3f} s'
        )
    lines += [f'NOT checked: {text}' for text in facts['not_checked']]
    return lines + list(facts['notes'])


def cover(
    values: Mapping[str, Any],
    urdf: str,
    joints: Sequence[str],
    surroundings: Surroundings = NOTHING,
) -> Coverage:
    """Determine what can be checked.

    :param values: of the options `SPACE` of `options.py`, all of them
    :param urdf: file of the robot, or its text; empty: there is none
    :raises MotionError: options that cannot be used, or geometry that cannot be read
    """
    box, floor, obstacles = values['box'], values['floor'], obstacle_boxes(values['obstacles'])
    lower, upper = free_space(box, floor)
    if surroundings.shapes and urdf:
        surroundings = surroundings.placed(link_names(urdf))
    scene = (read_scene(values['scene']) if values['scene'] else ()) + surroundings.shapes
    standing = bool(obstacles) or any(not item.attached for item in scene)
    walls = bool(box) or floor is not None
    unchecked = []
    if not walls:
        unchecked.append('a floor (option floor)')
    if not box:  # an obstacle does not say that the other places are free
        others = 'what else stands' if standing else 'what stands'
        unchecked.append(f'{others} around the robot (option box; obstacles are in it)')
    limits: list[Limit] = []
    if walls and values['frames']:
        limits.append(SpaceLimit(tuple(values['frames']), lower, upper))
        lower, upper = (-np.inf,) * 3, ENDLESS
        walls = False
        unchecked += _without_walls(scene)
    itself = values['self_collision']
    limit = SelfCollisionLimit(
        urdf,
        values['clearance'],
        values['srdf'] or '',
        lower,
        upper,
        obstacles,
        itself is not False,
        scene,
        not values['collision_only'],
    )
    rule, missing = None, _why_not(itself, urdf)
    notes: list[str] = []
    if not missing or ((walls or standing) and urdf):
        rule, missing, notes = _rule(limit, joints, missing, required=bool(itself))
    if rule is None or not rule.file.solid:
        _check_without_geometry(walls, standing)
    if rule is not None and rule.geometry.pairs:
        limits.append(limit)
    unchecked += [*surroundings.unchecked, *_carried_alone(scene, rule)]
    return Coverage(tuple(limits), rule, (*missing, *unchecked), (*notes, *surroundings.notes))


def _check_without_geometry(walls: bool, standing: bool) -> None:
    """Refuse surroundings if no link has geometry."""
    if walls:
        raise MotionError(
            'box and floor need frames: which links (or tool) they hold for; without frames they '
            'hold for links with <collision> geometry, and there are none'
        )
    if standing:
        raise MotionError(
            'obstacles and scene need link geometry: give a URDF with <collision> or <visual> '
            '(option urdf)'
        )


def _without_walls(scene: Sequence[SceneShape]) -> list[str]:
    """Return what floor and box are not checked for if they hold for frames."""
    carried = [item.name for item in scene if item.attached]
    return [f'floor and box for what links carry: {", ".join(carried)}'] if carried else []


def _carried_alone(scene: Sequence[SceneShape], rule: SelfCollisionRule | None) -> Iterator[str]:
    """Yield what links carry and no distance is checked of."""
    near = {name for pair in (() if rule is None else rule.geometry.pairs) for name in pair}
    names = [] if rule is None else rule.geometry.carried
    carried = [item for item in scene if item.attached]
    for item, name in zip_longest(carried, names):
        if name not in near:
            yield (
                f'object {item.name!r} of {item.scene}, attached to the link {item.frame!r}: '
                'there is no geometry that it could touch'
            )


def _why_not(itself: bool | None, urdf: str) -> list[str]:
    """Return why self-collision is not checked; nothing if it is."""
    if itself and not urdf:
        raise MotionError('self-collision needs the URDF file: the geometry is in it')
    if itself is False:
        return ['self-collision: it is switched off']
    return [] if urdf else ['self-collision: there is no URDF']


def _rule(
    limit: SelfCollisionLimit, joints: Sequence[str], missing: list[str], *, required: bool
) -> tuple[SelfCollisionRule | None, list[str], list[str]]:
    """Make the rule; return also what it cannot check, and what it leaves out."""
    try:
        rule = SelfCollisionRule(limit, joints)
    except NoPairsError as error:
        if required:
            raise
        if error.solid:
            return None, missing, ['no two links could collide: a joint joins them']
        return None, [*missing, f'self-collision: {error}'], []
    return rule, [*missing, *_gaps(rule)], _notes(rule)


def _hidden(rule: SelfCollisionRule) -> list[tuple[str, str]]:
    """Return pairs that are left out although only substitutes touch in every position."""
    return [pair for pair in rule.touching if set(pair) & rule.file.substituted]


def _gaps(rule: SelfCollisionRule) -> Iterator[str]:
    """Yield what a rule does not check."""
    if bare := rule.file.bare:
        lost = ''.join(f'; mesh not found: {name}' for name in rule.file.lost[:1])
        yield f'links without <collision> geometry: {", ".join(bare)}{lost}'
    if hidden := _hidden(rule):
        pairs = ', '.join(words(hidden))
        yield f'pairs whose visual shapes or capsules touch in every position: {pairs}'
    if held := rule.geometry.held():
        yield f'joints that do not move, taken to be at 0: {", ".join(held)}'


def _notes(rule: SelfCollisionRule) -> list[str]:
    """Return remarks about what is checked otherwise than expected."""
    notes = []
    if fitted := [str(item) for item in rule.file.capsules]:
        notes.append(
            f'links without <collision> geometry are checked by capsules: {"; ".join(fitted)}'
        )
    if shown := dict.fromkeys(rule.file.shown):
        notes.append(
            f'links without <collision> are checked by their visual shapes: {", ".join(shown)}'
        )
    hidden = _hidden(rule)
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


def _outside(limit: SpaceLimit, trajectory: Trajectory, model: DynamicModel | None) -> str:
    if model is None:
        raise MotionError('box and floor of frames need the model of the robot')
    columns = [trajectory.joints.index(name) for name in model.joint_names]
    motion = trajectory.grid(CHECK_PERIOD)
    rows = (motion.position, motion.velocity, motion.acceleration)
    ordered = Motion(motion.time, *(item[:, columns] for item in rows))
    return limit.rule(model).excess(ordered).sentence
