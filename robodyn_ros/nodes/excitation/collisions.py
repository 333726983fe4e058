# SPDX-License-Identifier: Apache-2.0
"""Collision check of the excitation node's motions before the robot moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rclpy.node import Node

from robodyn_ros.errors import ControlError, clip
from robodyn_ros.excitation.collisions.check import Coverage
from robodyn_ros.excitation.collisions.scene_shape import NOTHING, SceneShape
from robodyn_ros.excitation.options import SPACE, collision_coverage
from robodyn_ros.excitation.plan import Plan
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.nodes.base.common import declare
from robodyn_ros.nodes.excitation.design import Designer
from robodyn_ros.nodes.excitation.planning_scene import RunningScene
from robodyn_ros.nodes.robot.described_robot import robot_file

_CHANGED = 'the planning scene of MoveIt changed while the motion was checked'


class CollisionGuard:
    """Refusal of motions that collide, or that cannot be checked (see `allow_unchecked`).

    :ivar surroundings: planning scene of MoveIt when `look` was called
    """

    def __init__(
        self,
        node: Node,
        joints: tuple[str, ...],
        designer: Designer,
    ) -> None:
        """Declare the parameter.

        :param designer: has the options of designs; those in `SPACE` apply to every motion
        """
        self._node, self._joints, self._options = node, joints, designer
        self._made: tuple[object, Coverage] | None = None
        text = 'run motions although self-collision, a floor or surroundings are not checked'
        declare(node, 'allow_unchecked', False, text)
        self._running = RunningScene(node)
        self.surroundings = NOTHING

    def look(self) -> None:
        """Read the planning scene of a running MoveIt, for the checks that follow.

        :raises RobodynError: it has an object that cannot be used
        """
        scene = self._running.ask()
        if scene.same(self.surroundings):
            return
        self.surroundings = scene
        if scene.shapes:
            self._node.get_logger().info(
                f'the planning scene of MoveIt has {len(scene.shapes)} shapes'
            )

    def look_again(self, trajectory: Trajectory) -> None:
        """Refuse a motion if the planning scene of MoveIt has changed so that it may collide.

        Objects of a camera never rest. A motion stays allowed while it keeps the clearance from
        all places up to twice as far as an object has moved during its check; another look must
        then find each object there.

        :raises RobodynError: it may collide, or see `look`
        """
        checked: dict[SceneShape, float] = {}
        while True:
            moves = self.surroundings.moves(self._running.ask())
            if moves is None:
                raise ControlError(f'{_CHANGED}: start again', fault='self_collision')
            new = {item: 2.0 * far for item, far in moves.items() if far > checked.get(item, 0.0)}
            if not new:
                return
            checked |= new
            self._check_moved(trajectory, checked)

    def _check_moved(self, trajectory: Trajectory, moves: Mapping[SceneShape, float]) -> None:
        coverage = self._coverage()
        lenient = coverage.substitutes and self._lenient
        rule = (self._by_collision_only() if lenient else coverage).rule
        contact = None if rule is None else rule.check_moved(trajectory, moves)
        if rule is None or contact is None or not contact.share:
            return
        pair = ' and '.join(contact.pair)
        raise ControlError(
            f'{_CHANGED}: a shape moved by {0.5e3 * max(moves.values()):.1f} mm, and {pair} are '
            f'{1e3 * contact.distance:.1f} mm apart at t = {contact.time:.3f} s, expected the '
            f'clearance of {1e3 * rule.clearance:.3g} mm and twice the movement: start again',
            fault='self_collision',
        )

    def check_allowed(self) -> None:
        """Refuse to move if something is not checked, unless `allow_unchecked` is set.

        :raises RobodynError: naming the missing checks, or options that cannot be used
        """
        coverage = self._coverage()
        if coverage.unchecked and not self._lenient:
            text = f'{_said(coverage.unchecked)}. {coverage.advice}'
            raise ControlError(text, fault='self_collision')

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that collides, also during the move to the start.

        :raises RobodynError: naming the objects that collide and the time, or see `check_allowed`
        """
        self.check_allowed()
        coverage = self._coverage()
        framed = bool(self._options.values().get('frames'))
        report = coverage.check(plan.trajectory, self._options.model() if framed else None)
        logger = self._node.get_logger()
        if report.unchecked:
            logger.warning(clip(_said(report.unchecked)))
        for text in report.notes:
            if text in self.surroundings.notes:  # most cells have no MoveIt
                logger.info(clip(text))
            else:
                logger.warning(clip(text))
        if not report.broken:
            return
        if coverage.substitutes and self._lenient and self._free(plan, framed):
            self._node.get_logger().warning(
                f'{report.broken}, by shapes that stand in for <collision> geometry; the motion '
                'runs, as allow_unchecked is set'
            )
            return
        contacts = report.contacts
        if contacts is not None and contacts.share > 0.0 and contacts.first < plan.begin:
            raise ControlError(
                'the straight move of the joints from the position of the robot to the start of '
                f'the motion collides: {report.broken}. Move the robot nearer to the start first',
                fault='self_collision',
            )
        text = f'{report.broken} after the robot begins to move'
        raise ControlError(text, fault='self_collision')

    @property
    def _lenient(self) -> bool:
        return bool(self._node.get_parameter('allow_unchecked').value)

    def _free(self, plan: Plan, framed: bool) -> bool:
        """Return True if a plan keeps what `<collision>` geometry alone demands."""
        model = self._options.model() if framed else None
        return not self._by_collision_only().check(plan.trajectory, model).broken

    def _by_collision_only(self) -> Coverage:
        values = {name: value for name, value in self._options.values().items() if name in SPACE}
        return self._cover({**values, 'collision_only': True})

    def _coverage(self) -> Coverage:
        """Return the checks according to the present parameters."""
        values = {name: value for name, value in self._options.values().items() if name in SPACE}
        srdf = Path(values.get('srdf') or '')
        changed = srdf.stat().st_mtime_ns if srdf.is_file() else 0
        key = values, changed, self.surroundings
        if self._made is None or self._made[0] != key:
            self._made = key, self._cover(values)
        return self._made[1]

    def _cover(self, values: Mapping[str, Any]) -> Coverage:
        return collision_coverage(values, self._joints, robot_file(self._node), self.surroundings)


def _said(unchecked: Sequence[str]) -> str:
    return f'NOT checked for collisions: {"; ".join(unchecked)}'
