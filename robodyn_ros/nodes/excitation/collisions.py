"""Collisions of the excitation node's motions: checked before the robot moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rclpy.node import Node

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.collisions.check import Coverage
from robodyn_ros.excitation.options import SPACE, collision_coverage
from robodyn_ros.excitation.plan import Plan
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.nodes.base.common import declare
from robodyn_ros.paths import resource


class Options(Protocol):
    """The parameters of a design, see `Designer`."""

    def values(self) -> dict[str, Any]:
        """Options that are given."""

    def model(self) -> DynamicModel:
        """Model of the robot."""


class CollisionGuard:
    """Refuses motions that collide, and unless it is allowed those that cannot be checked."""

    def __init__(
        self,
        node: Node,
        joints: tuple[str, ...],
        options: Options,
    ) -> None:
        """Declare the parameter.

        :param joints: that the node moves
        :param options: of designs, which hold for every motion as far as they are in `SPACE`
        """
        self._node, self._joints, self._options = node, joints, options
        self._made: tuple[Mapping[str, Any], Coverage] | None = None
        declare(
            node,
            'allow_unchecked',
            False,
            'run motions although self-collision, a floor or surroundings are not checked',
            limit=True,
        )

    def check_allowed(self) -> None:
        """Refuse to move where something is not checked, unless `allow_unchecked` is set.

        :raises RobodynError: naming what is not checked, or options that cannot be used
        """
        unchecked = self._coverage().unchecked
        if unchecked and not self._node.get_parameter('allow_unchecked').value:
            raise ControlError(
                f'{_said(unchecked)}. Give the parameters optimise.floor and optimise.box; or, if '
                'you have made sure that nothing is in the way, set allow_unchecked: true'
            )

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that collides, on the way to the motion's start too.

        :raises RobodynError: naming what collides and when, or see `check_allowed`
        """
        self.check_allowed()
        coverage = self._coverage()
        framed = self._options.values().get('frames')
        report = coverage.check(plan.trajectory, self._options.model() if framed else None)
        for text in (*([_said(report.unchecked)] if report.unchecked else []), *report.notes):
            self._node.get_logger().warning(text)
        if not report.broken:
            return
        found = report.contacts
        if found is not None and found.share > 0.0 and found.first < plan.begin:
            raise ControlError(
                'the straight move of the joints from where the robot is to the start of the '
                f'motion collides: {report.broken}. Bring the robot nearer to the start first'
            )
        raise ControlError(f'{report.broken} after the robot begins to move')

    def _coverage(self) -> Coverage:
        """Return what is checked according to the present parameters."""
        values = {name: value for name, value in self._options.values().items() if name in SPACE}
        if self._made is None or self._made[0] != values:
            urdf = robot_file(self._node)
            self._made = values, collision_coverage(values, self._joints, urdf)
        return self._made[1]


def _said(unchecked: Sequence[str]) -> str:
    return f'NOT checked for collisions: {"; ".join(unchecked)}'


def robot_file(node: Node) -> str:
    """Text of the URDF, or path of its file: as the node's parameters give it."""
    text, urdf = (str(node.get_parameter(name).value) for name in ('robot_description', 'urdf'))
    return text or (str(resource(urdf)) if urdf else '')
