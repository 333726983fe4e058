# SPDX-License-Identifier: Apache-2.0
"""Planning scene of a running MoveIt, by its service GetPlanningScene."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rclpy.exceptions import InvalidServiceNameException
from rclpy.node import Node

from robodyn_ros.bounds import SCENE, check_bound
from robodyn_ros.errors import ConfigError, ControlError, MotionError
from robodyn_ros.excitation.collisions.scene_shape import (
    NAME,
    NOTHING,
    SceneShape,
    Surroundings,
    pose_of,
)
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll
from robodyn_ros.nodes.base.common import declare, overrides
from robodyn_ros.nodes.base.waits import DISCOVERY
from robodyn_ros.nodes.robot.controller_facts import PATIENCE

try:
    from moveit_msgs.msg import PlanningSceneComponents as Parts
    from moveit_msgs.srv import GetPlanningScene
except ImportError:  # not installed: surroundings are given by options
    GetPlanningScene = None

ROOT = '/get_planning_scene'
"""Service of a MoveIt without a namespace."""
_PRIMITIVES = {
    1: ('box', (0, 1, 2)), 2: ('sphere', (0,)), 3: ('cylinder', (1, 0)), 4: ('cone', (1, 0)),
}  # fmt: skip
"""Type of a SolidPrimitive -> kind, and the order of its dimensions, with the radius first."""


class RunningScene:
    """Client of the service; `ask` is for the thread of a check while the node spins."""

    def __init__(self, node: Node) -> None:
        """Declare the parameter, and create the client early, so that DDS knows the service.

        :raises ConfigError: the parameter is no name of a service, or names one and moveit_msgs
            is not installed
        """
        name = 'planning_scene_service'
        self._node = node
        self._named = name in overrides(node)
        self._service = declare(
            node, name, 'get_planning_scene',
            'service of a running MoveIt that gives its planning scene, read before each check; '
            'empty: never. If it is given, a missing service or moveit_msgs is refused, otherwise '
            f'it is a note; the scene is NOT checked if only {ROOT} is there', read_only=True,
        )  # fmt: skip
        self._discovered_by = time.monotonic() + DISCOVERY
        self._answered = False
        self._client: Any = None
        if not self._service:
            return
        if GetPlanningScene is not None:
            try:
                self._client = node.create_client(GetPlanningScene, self._service)
            except InvalidServiceNameException as error:
                raise ConfigError(f'parameter {name}: {error}') from error
            self._service = node.resolve_service_name(self._service)
        elif self._named:
            raise ConfigError(
                f'parameter {name}: {self._service} cannot be used, as moveit_msgs is not '
                'installed; set it to an empty text to do without the planning scene'
            )

    def ask(self) -> Surroundings:
        """Return what is around the robot now.

        The wait is at most `DISCOVERY` and `PATIENCE`, and ends when the check is cancelled.

        :raises RobodynError: an object that cannot be used, no answer, or a service that the
            parameter names is absent
        """
        if not self._service:
            return NOTHING
        if self._client is None:
            return Surroundings(notes=(f'{NAME} is not checked: moveit_msgs is not installed',))
        if not self._ready():
            text = f'there is no service {self._service}'
            if self._named:
                raise ControlError(
                    f'{NAME}: {text}, which the parameter planning_scene_service names; start '
                    f'MoveIt, or restart this node with an empty text to do without it',
                    fault='self_collision',
                )
            if self._answered:  # it was there, so there is a scene
                return Surroundings(
                    unchecked=(
                        f'{NAME}: {text} any more (if MoveIt is not to run, restart this node)',
                    )
                )
            if self._service != ROOT and self._node.count_services(ROOT):
                return Surroundings(
                    unchecked=(
                        f'{NAME}: {text}, but {ROOT} is there (set the parameter '
                        f'planning_scene_service to {ROOT} if it is that of this robot, otherwise '
                        f'to an empty text)',
                    )
                )
            return Surroundings(notes=(f'{NAME} is not checked: {text}',))
        scene = self._answer()
        if scene is None:
            # an answer that comes later would keep the executor busy while the robot moves
            raise ControlError(
                f'{NAME}: {self._service} did not answer within {PATIENCE:g} s (is move_group '
                f'overloaded?); to do without it, set planning_scene_service to an empty text',
                fault='self_collision',
            )
        self._answered = True
        return surroundings_of(scene)

    def _ready(self) -> bool:
        while not self._client.service_is_ready():
            if time.monotonic() > self._discovered_by:
                return False
            _wait()
        return True

    def _answer(self) -> Any:
        parts = Parts.WORLD_OBJECT_NAMES | Parts.WORLD_OBJECT_GEOMETRY
        parts |= Parts.ROBOT_STATE_ATTACHED_OBJECTS | Parts.OCTOMAP
        request = GetPlanningScene.Request(components=Parts(components=parts))
        deadline = time.monotonic() + PATIENCE  # MoveIt computes in real time
        future = self._client.call_async(request)
        try:
            while not future.done():  # by the executor of the node, in its thread
                if time.monotonic() > deadline:
                    return None
                _wait()
            return future.result().scene
        finally:
            self._client.remove_pending_request(future)


def _wait() -> None:
    poll()
    time.sleep(0.002)


def surroundings_of(scene: Any) -> Surroundings:
    """Return the objects of a moveit_msgs/PlanningScene, or of an object with its fields.

    :raises RobodynError: an object that cannot be used
    """
    every: list[SceneShape] = []
    unchecked: list[str] = []
    for item in scene.world.collision_objects:
        shapes = list(_shapes(item))
        if not shapes:  # MoveIt has no object without shapes
            unchecked.append(f'object {item.id!r} of {NAME}: its shape is in no message')
        every += shapes
    for item in scene.robot_state.attached_collision_objects:
        touching = tuple(sorted(item.touch_links))
        shapes = list(_shapes(item.object, attached=True, touching=touching))
        if shapes and all(_can_move(shape, item.link_name) for shape in shapes):
            every += shapes
            continue
        unchecked.append(
            f'object {item.object.id!r} of {NAME}, attached to {item.link_name!r}: it has a plane '
            'or no shape, or is not in the frame of that link'
        )
    check_bound(SCENE, len(every), NAME)
    if len(scene.world.octomap.octomap.data):
        unchecked.append(f'the octomap of {NAME}')
    return Surroundings(tuple(every), tuple(unchecked))


def _can_move(shape: SceneShape, link: str) -> bool:
    return shape.kind != 'plane' and shape.frame == _frame(link)


def _shapes(item: Any, **carried: Any) -> Iterator[SceneShape]:
    """Yield the shapes of a CollisionObject."""
    place = _pose(item.pose, item.id)
    for kind, size, pose in _parts(item):
        poll()
        shape = SceneShape(
            item.id, kind, size, place @ _pose(pose, item.id), _frame(item.header.frame_id),
            **carried,
        )  # fmt: skip
        yield shape.check()


def _parts(item: Any) -> Iterator[tuple[str, Array, Any]]:
    """Yield kind, size and pose of each shape; the pose is in that of the object."""
    for kind in ('primitive', 'mesh', 'plane'):
        plural = 'meshes' if kind == 'mesh' else f'{kind}s'
        shapes, poses = getattr(item, plural), getattr(item, f'{kind}_poses')
        if len(shapes) != len(poses):
            raise MotionError(
                f'{NAME}: object {item.id!r} has {len(shapes)} {plural} and {len(poses)} poses of '
                'them, expected as many'
            )
        for shape, pose in zip(shapes, poses, strict=True):
            yield *_READERS[kind](shape), pose


def _primitive(shape: Any) -> tuple[str, Array]:
    kind, order = _PRIMITIVES.get(shape.type, (f'primitive of type {shape.type}', ()))
    sizes = list(shape.dimensions)
    return kind, np.array([sizes[index] for index in order if index < len(sizes)])


def _mesh(shape: Any) -> tuple[str, Array]:
    points = [(point.x, point.y, point.z) for point in shape.vertices]
    return 'mesh', np.reshape(np.array(points, dtype=float), (-1, 3))


def _plane(shape: Any) -> tuple[str, Array]:
    return 'plane', np.array(shape.coef, dtype=float)


_READERS = {'primitive': _primitive, 'mesh': _mesh, 'plane': _plane}


def _pose(pose: Any, name: str) -> Array:
    place, turn = pose.position, pose.orientation
    try:
        return pose_of((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))
    except ValueError as error:
        raise MotionError(f'{NAME}: object {name!r}: {error}') from error


def _frame(name: str) -> str:
    return name.removeprefix('/')
