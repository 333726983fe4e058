# SPDX-License-Identifier: Apache-2.0
"""Collision check of a motion: its coverage and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.boxes import (
    ENDLESS,
    check_distances,
    free_space,
    obstacle_boxes,
)
from robodyn_ros.excitation.collisions.gaps import find_missing_shapes, list_gaps, notes_of
from robodyn_ros.excitation.collisions.robot_files import link_names
from robodyn_ros.excitation.collisions.scene_shape import NAME, NOTHING, SceneShape, Surroundings
from robodyn_ros.excitation.collisions.self_collision import (
    Contacts,
    NoPairsError,
    SelfCollisionLimit,
    SelfCollisionRule,
)
from robodyn_ros.excitation.limits.constraints import PathLimit, SpaceLimit
from robodyn_ros.excitation.limits.joint_limits import CHECK_PERIOD
from robodyn_ros.excitation.trajectory import Motion, Trajectory
from robodyn_ros.models.interface import DynamicModel


@dataclass(frozen=True)
class Coverage:
    """Limits that a motion is checked against.

    :param rule: rule of the distances of links, from one of the limits; None: not checked
    :param missing: options of the surroundings that are needed and not given
    """

    limits: tuple[PathLimit, ...] = ()
    rule: SelfCollisionRule | None = None
    unchecked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """Return what closes the gaps, for a node that refuses to move."""
        names = [f'optimise.{name}' for name in self.missing]
        text = 'Close these gaps'
        if names:
            text = f'Give the parameter{"s"[: len(names) - 1]} {" and ".join(names)}'
        if 'box' in self.missing:
            text += ', and optimise.obstacles for what is inside the box'
        return (
            f'{text}; or, if you have made sure that nothing is in the way, set '
            'allow_unchecked: true'
        )

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
        guessed = () if self.rule is None else tuple(self.rule.file.guessed)
        return Report(contacts, broken, self.unchecked, self.notes, guessed)


@dataclass(frozen=True)
class Report:
    """Result of a check.

    :param contacts: smallest distance, and share of the time with a collision; None: not checked
    :param broken: sentence about a collision, or a frame outside its box; empty: none
    :param guessed: links whose shapes in this check can be thinner than the link
    """

    contacts: Contacts | None
    broken: str
    unchecked: tuple[str, ...]
    notes: tuple[str, ...]
    guessed: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return plain types, SI units; a distance of null: no objects that could touch."""
        contacts = self.contacts
        collision: dict[str, Any] = {'checked': contacts is not None}
        if contacts is not None:
            nearest = float(contacts.distance) if np.isfinite(contacts.distance) else None
            collision |= {
                'share': contacts.share,
                'smallest_distance': nearest,
                'pair': list(contacts.pair),
                'time': contacts.time,
                'guessed_links': list(self.guessed),
            }
        return {
            'collision': collision,
            'not_checked': list(self.unchecked),
            'notes': list(self.notes),
        }


def collision_lines(facts: Mapping[str, Any]) -> list[str]:
    """Format `Report.facts` as text."""
    collision, lines = facts['collision'], []
    if collision['checked'] and collision['smallest_distance'] is not None:
        distance, pair = 1e3 * collision['smallest_distance'], ' and '.join(collision['pair'])
        word = 'smallest distance' if distance > 0.0 else 'largest depth'
        links = len(collision['guessed_links'])
        guess = f'with guessed shapes ({links} links): ' if links else ''
        lines.append(
            f'{guess}collisions during {collision["share"]:.2%} of the time; {word} '
            f'{abs(distance):.1f} mm, {pair}, at t = {collision["time"]:.3f} s'
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
        surroundings = surroundings.select(link_names(urdf))
    scene = surroundings.shapes
    standing = bool(obstacles) or any(not item.attached for item in scene)
    walls = bool(box) or floor is not None
    unchecked, needed = [], []
    if not walls:
        needed.append('floor')
        unchecked.append('a floor (option floor)')
    if not box:  # an obstacle does not say that the other places are free
        needed.append('box')
        others = 'what else stands' if standing else 'what stands'
        unchecked.append(f'{others} around the robot (option box; obstacles are in it)')
    limits: list[PathLimit] = []
    if walls and values['frames']:
        limits.append(SpaceLimit(tuple(values['frames']), lower, upper))
        lower, upper = (-np.inf,) * 3, ENDLESS
        walls = False
        unchecked += _without_walls(scene)
    itself = values['self_collision']
    limit = SelfCollisionLimit(
        urdf, values['clearance'], values['srdf'] or '', lower, upper, obstacles,
        itself is not False, scene, not values['collision_only'],
    )  # fmt: skip
    rule, missing = None, _why_not(itself, urdf)
    notes: list[str] = []
    if not missing or ((walls or standing) and urdf):
        rule, missing, notes = _rule(limit, joints, missing, required=bool(itself))
    if rule is None or not rule.file.solid:
        _check_without_geometry(walls, standing)
    else:
        check_distances(box, floor, values['obstacles'] or (), rule.geometry.extent)
    if rule is not None and rule.geometry.pairs:
        limits.append(limit)
    unchecked += [*surroundings.unchecked, *_find_unchecked(scene, rule)]
    return Coverage(
        tuple(limits),
        rule,
        (*missing, *unchecked),
        (*notes, *surroundings.notes),
        tuple(needed),
    )


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


def _find_unchecked(scene: Sequence[SceneShape], rule: SelfCollisionRule | None) -> Iterator[str]:
    """Yield a sentence for each carried object whose distances are not checked."""
    near = {name for pair in (() if rule is None else rule.geometry.pairs) for name in pair}
    names = [] if rule is None else rule.geometry.carried
    carried = [item for item in scene if item.attached]
    for item, name in zip_longest(carried, names):
        if name not in near:
            yield (
                f'object {item.name!r} of {NAME}, attached to the link {item.frame!r}: '
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
        if error.file.solid:
            if len(joints) > 1 or error.file.unread:  # else whatever their shapes are
                missing = [*missing, *find_missing_shapes(error.file)]
            return None, missing, ['no two links could collide: a joint joins them']
        return None, [*missing, f'self-collision: {error}'], []
    return rule, [*missing, *list_gaps(rule)], notes_of(rule)


def _outside(limit: SpaceLimit, trajectory: Trajectory, model: DynamicModel | None) -> str:
    if model is None:
        raise MotionError('box and floor of frames need the model of the robot')
    columns = [trajectory.joints.index(name) for name in model.joint_names]
    motion = trajectory.grid(CHECK_PERIOD)
    rows = (motion.position, motion.velocity, motion.acceleration)
    ordered = Motion(motion.time, *(item[:, columns] for item in rows))
    return limit.rule(model).excess(ordered).sentence
