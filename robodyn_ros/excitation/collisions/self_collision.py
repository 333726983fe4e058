# SPDX-License-Identifier: Apache-2.0
"""Rule against collisions of a robot with itself and with the walls around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.geometry import CollisionGeometry
from robodyn_ros.excitation.collisions.meshes import missing_meshes
from robodyn_ros.excitation.collisions.robot_files import (
    CollisionFile,
    read_collision_file,
    read_disabled_pairs,
)
from robodyn_ros.excitation.collisions.scene_shape import SceneShape
from robodyn_ros.excitation.limits.constraints import STEEP, Excess, PathLimit, Rule, States
from robodyn_ros.excitation.limits.joint_limits import CHECK_PERIOD
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory
from robodyn_ros.long_work import progress
from robodyn_ros.models.interface import DynamicModel, sample_blocks

CLEARANCE = 1e-3
"""Default of the smallest distance of two links, in [m]."""
BETWEEN = 1e-3
"""Additional clearance of a designed motion, in [m], for the time between samples."""
SOFT = 0.02
"""Distance above the clearance, in [m], at which the penalty starts."""


@dataclass(frozen=True)
class SelfCollisionLimit(PathLimit):
    """Limit that keeps links without a common joint apart, inside a box, and out of obstacles.

    :param urdf: file with the collision geometry, or its text
    :param clearance: smallest distance of two links, and of a link and a wall, in [m]
    :param srdf: file that names pairs of links to leave out; empty: none
    :param lower: x, y, z of the box in [m], in the base frame; z is a floor; -inf: no wall
    :param obstacles: corners x, y, z, x, y, z of boxes to keep out of, in [m], in the base frame
    :param itself: False: the box, the obstacles and the scene only
    :param scene: further shapes to keep out of, or that links carry
    :param substitutes: use visual shapes or capsules for links without `<collision>`
    """

    urdf: str
    clearance: float = 0.0
    srdf: str = ''
    lower: tuple[float, float, float] = (-np.inf, -np.inf, -np.inf)
    upper: tuple[float, float, float] = (np.inf, np.inf, np.inf)
    obstacles: tuple[tuple[float, ...], ...] = ()
    itself: bool = True
    scene: tuple[SceneShape, ...] = ()
    substitutes: bool = True

    def rule(self, model: DynamicModel) -> SelfCollisionRule:
        """Read the geometry.

        :raises MotionError: it cannot be read, there is none, or Pinocchio has no such library
        """
        return SelfCollisionRule(self, model.joint_names)


@dataclass(frozen=True)
class Contacts:
    """Result of a check of a motion.

    :param share: share of the time with links, or a link and a wall, too close
    :param distance: smallest distance in [m]; negative: depth; inf: no objects that could touch
    :param pair: names of the objects at this distance
    :param time: its time, in [s]
    :param first: time of the first collision, in [s]; inf: none
    """

    share: float = 0.0
    distance: float = np.inf
    pair: tuple[str, str] = ('', '')
    time: float = 0.0
    first: float = np.inf

    def sentence(self, clearance: float) -> str:
        """Describe a contact, or a distance below a clearance in [m]."""
        first, other = (name if ' ' in name else repr(name) for name in self.pair)
        if self.distance <= 0.0:
            what = f'collide, {-1e3 * self.distance:.1f} mm deep,'
        else:
            what = f'are {1e3 * self.distance:.1f} mm apart, not {1e3 * clearance:.3g} mm,'
        return f'{first} and {other} {what} at t = {self.time:.3f} s'


@dataclass
class _Seen:
    """Intermediate result: samples that are too close, and the smallest distance."""

    hits: int = 0
    first: float = np.inf
    best: Contacts = field(default_factory=Contacts)

    @property
    def least(self) -> float:
        """Smallest distance so far in [m]."""
        return self.best.distance if np.isfinite(self.best.distance) else -np.inf


class NoPairsError(MotionError):
    """There is nothing to check.

    :param file: the geometry that there is
    """

    def __init__(self, file: CollisionFile) -> None:
        """Say what is missing."""
        text = f'{file.urdf.source} has no two links with collision geometry that could collide'
        if file.unread:
            text += f': {"; ".join(file.unread)}'
        elif file.lost:
            text += f': {missing_meshes(file.lost)}'
        elif not file.solid:
            text += ': it has no <collision> and no <visual>'
        super().__init__(text)
        self.file = file


class SelfCollisionRule(Rule):
    """Rule for the distances of links without a common joint, and of links and walls.

    Pairs that touch at all random positions are left out and named.
    """

    def __init__(self, limit: SelfCollisionLimit, joints: Sequence[str]) -> None:
        """Read model and geometry."""
        if not limit.clearance >= 0.0:
            raise MotionError(f'the clearance must not be below 0 m, got {limit.clearance}')
        self.clearance = limit.clearance
        self.joints = tuple(joints)
        self.file: CollisionFile = read_collision_file(limit.urdf, substitutes=limit.substitutes)
        disabled = read_disabled_pairs(limit.srdf) if limit.srdf else frozenset()
        self.geometry = CollisionGeometry(
            self.file,
            joints,
            disabled=disabled,
            lower=limit.lower,
            upper=limit.upper,
            obstacles=limit.obstacles,
            scene=limit.scene,
        )
        solid = {*self.file.solid, *self.geometry.carried}
        if not limit.itself:
            self.geometry.without([pair for pair in self.geometry.pairs if set(pair) <= solid])
        if not self.geometry.pairs:
            raise NoPairsError(self.file)
        self.touching: list[tuple[str, str]] = []
        """Pairs that touch at every position."""
        self.close: list[tuple[str, str]] = []
        """Pairs that no position keeps apart by the clearance: they must not collide."""
        self._near = self._survey(limit.clearance)

    def _survey(self, clearance: float) -> Array:
        """Survey random positions; return the distance (P,) at which the penalty of a pair starts.

        Pairs that touch at all positions are left out, and walls that a link is always as close
        to.
        """
        # a pair that is too close at a hundred random positions cannot be separated
        pairs, positions = self.geometry.pairs, self.geometry.random_positions(100)
        seen = np.array(
            [
                [self.geometry.distance(pair, row) for pair in range(len(pairs))]
                for row in positions
            ]
        )
        farthest = seen.max(axis=0)
        walls = np.array(self.geometry.at_walls)
        constant = np.ptp(seen, axis=0) < BETWEEN
        gone = np.where(walls, constant & (farthest < clearance + BETWEEN), farthest < BETWEEN)
        # A larger clearance must not hide a collision: such pairs are kept, without clearance.
        close = ~walls & ~gone & (farthest < clearance + BETWEEN)
        never = (name for name, near in zip(pairs, close, strict=True) if near)
        self.close = list(dict.fromkeys(never))
        self._clearances = np.where(close, 0.0, clearance)[~gone]
        always = (name for name, touch in zip(pairs, gone, strict=True) if touch)
        self.touching = list(dict.fromkeys(always))
        self.geometry.keep((~gone).tolist())
        soft = clearance + np.clip(0.1 * (farthest - clearance), 0.0, SOFT)
        return np.asarray(soft[~gone])

    def excess(self, motion: Motion) -> Excess:
        """Check every sample; the size is the share of samples in collision."""
        seen = _Seen()
        self._look(motion.time, motion.position, self._clearances + BETWEEN, seen)
        if not seen.hits:
            return Excess()
        text = seen.best.sentence(self.clearance + BETWEEN)
        return Excess(seen.hits / len(motion.time), text)

    def check(self, trajectory: Trajectory) -> Contacts:
        """Check a motion every `CHECK_PERIOD`; its joints may be in any order."""
        time, columns = self._samples(trajectory)
        seen = _Seen()
        # about 400 samples first: a small distance known early saves most of the later work
        some = trajectory.sample(time[:: max(1, len(time) // 400)])
        anywhere = np.full_like(self._clearances, np.inf)
        self._look(some.time, some.position[:, columns], anywhere, seen)
        seen.hits, seen.first = 0, np.inf
        return self._count(trajectory, self._clearances, seen)

    def check_moved(self, trajectory: Trajectory, moves: Mapping[SceneShape, float]) -> Contacts:
        """Check a motion for shapes of the scene that are up to a distance from their place.

        :param moves: distance of each shape in [m]
        """
        clearances = self._clearances + self.geometry.nearer_by(moves)
        return self._count(trajectory, clearances, _Seen())

    def _samples(self, trajectory: Trajectory) -> tuple[Array, list[int]]:
        """Return the times of a check, and the columns of the joints."""
        count = int(np.ceil(trajectory.duration / CHECK_PERIOD - 1e-9)) + 1
        time = np.linspace(0.0, trajectory.duration, count)
        return time, [trajectory.joints.index(name) for name in self.joints]

    def _count(self, trajectory: Trajectory, clearances: Array, seen: _Seen) -> Contacts:
        """Complete an intermediate result with all samples."""
        time, columns = self._samples(trajectory)
        for block in sample_blocks(len(time)):
            progress('checking collisions', block.start / len(time))
            motion = trajectory.sample(time[block])
            self._look(motion.time, motion.position[:, columns], clearances, seen)
        return replace(seen.best, share=seen.hits / len(time), first=seen.first)

    def _look(self, time: Array, position: Array, clearance: Array, seen: _Seen) -> None:
        """Count samples that are nearer than the clearance, and find the smallest distance."""
        largest = float(clearance.max(initial=0.0))  # all pairs may be left out
        floor = max(largest, seen.least)
        close = set()
        for row, pair, distance in self.geometry.nearer(position, floor):
            near = distance < clearance[pair]
            if near:
                close.add(row)
            allowed = not near and clearance[pair] < largest
            if distance < seen.best.distance and not allowed:
                name = self.geometry.pairs[pair]
                seen.best = Contacts(0.0, distance, name, float(time[row]))
        seen.hits += len(close)
        if close:
            seen.first = min(seen.first, float(time[min(close)]))

    def penalty(self, states: States) -> tuple[float, States]:
        """Return the mean square of the distances below clearance + `SOFT`, in [m]."""
        _, slopes = super().penalty(states)
        total = 0.0
        for row, near, slope in self.geometry.slopes(states[0], self._near):
            total += near**2
            slopes[0][row] -= 2.0 * near * slope
        factor = STEEP / len(states[0])
        slopes[0][...] *= factor
        return factor * total, slopes


def words(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Format pairs for a sentence."""
    return (f'{first} and {other}' for first, other in pairs)
