# SPDX-License-Identifier: Apache-2.0
"""Planning scenes as MoveIt sends them: of real messages, or of objects with the same fields.

`FakeMoveIt` sends real ones.
"""

import contextlib
import importlib
import threading
import time
from types import SimpleNamespace

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from scipy.spatial.transform import Rotation

PACKAGES = {
    'Header': 'std_msgs', 'Point': 'geometry_msgs', 'Quaternion': 'geometry_msgs',
    'Pose': 'geometry_msgs', 'SolidPrimitive': 'shape_msgs', 'Mesh': 'shape_msgs',
    'Plane': 'shape_msgs', 'Octomap': 'octomap_msgs', 'OctomapWithPose': 'octomap_msgs',
    'CollisionObject': 'moveit_msgs', 'AttachedCollisionObject': 'moveit_msgs',
    'PlanningSceneWorld': 'moveit_msgs', 'RobotState': 'moveit_msgs',
    'PlanningScene': 'moveit_msgs',
}  # fmt: skip
TYPES = {'box': 1, 'sphere': 2, 'cylinder': 3, 'cone': 4, 'prism': 5}
STANDING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
"""A pose: position, and quaternion x, y, z, w."""


def duck(name, **fields):
    """Make an object with the fields of a message that are read."""
    return SimpleNamespace(**fields)


def real(name, **fields):
    """Make a message."""
    return getattr(importlib.import_module(f'{PACKAGES[name]}.msg'), name)(**fields)


def at(x, y, z, about_z=0.0):
    """Pose at a place, turned about z."""
    return (x, y, z), tuple(Rotation.from_rotvec([0.0, 0.0, about_z]).as_quat())


def random_pose(random, size=1.0):
    return tuple(random.uniform(-size, size, 3)), tuple(Rotation.random(rng=random).as_quat())


class Scene:
    """Writes scenes."""

    def __init__(self, new=duck):
        self._new = new

    def pose(self, pose):
        (x, y, z), (i, j, k, w) = pose
        point = self._new('Point', x=float(x), y=float(y), z=float(z))
        turn = self._new('Quaternion', x=float(i), y=float(j), z=float(k), w=float(w))
        return self._new('Pose', position=point, orientation=turn)

    def object(self, name, shapes, *, pose=STANDING, frame='base'):
        """Make a CollisionObject of (kind, sizes as in the message, pose)."""
        lists = {kind: ([], []) for kind in ('primitive', 'mesh', 'plane')}
        for kind, size, place in shapes:
            shape, where = self._shape(kind, size), 'primitive' if kind in TYPES else kind
            lists[where][0].append(shape)
            lists[where][1].append(self.pose(place))
        return self._new(
            'CollisionObject', header=self._new('Header', frame_id=frame), id=name,
            pose=self.pose(pose),
            primitives=lists['primitive'][0], primitive_poses=lists['primitive'][1],
            meshes=lists['mesh'][0], mesh_poses=lists['mesh'][1],
            planes=lists['plane'][0], plane_poses=lists['plane'][1],
        )  # fmt: skip

    def _shape(self, kind, size):
        if kind == 'mesh':
            rows = np.asarray(size, dtype=float).tolist()
            points = [self._new('Point', **dict(zip('xyz', row, strict=True))) for row in rows]
            return self._new('Mesh', vertices=points, triangles=[])
        if kind == 'plane':
            return self._new('Plane', coef=np.array(size, dtype=float))
        sizes = [float(value) for value in size]
        return self._new('SolidPrimitive', type=TYPES[kind], dimensions=sizes)

    def attached(self, link, item, touching=()):
        return self._new(
            'AttachedCollisionObject', link_name=link, object=item, touch_links=list(touching)
        )

    def scene(self, *objects, attached=(), octomap=b''):
        """Make a PlanningScene."""
        cells = self._new('Octomap', data=list(octomap))
        octomap = self._new('OctomapWithPose', octomap=cells)
        world = self._new('PlanningSceneWorld', collision_objects=list(objects), octomap=octomap)
        state = self._new('RobotState', attached_collision_objects=list(attached))
        return self._new('PlanningScene', world=world, robot_state=state)


class FakeMoveIt:
    """Answers with scenes, in a thread; the last one again and again."""

    def __init__(self, context):
        from moveit_msgs.srv import GetPlanningScene

        self.scenes = [Scene(real).scene()]
        self.requests = []
        self.node = rclpy.create_node('move_group', context=context)
        self.service = self.node.create_service(
            GetPlanningScene, '/get_planning_scene', self._on_request
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._ended, self._free = False, threading.Lock()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self):
        while not self._ended:
            with self._free:
                self._executor.spin_once(timeout_sec=0.01)
            time.sleep(1e-4)  # for who waits for the lock

    def _on_request(self, request, response):
        self.requests.append(request.components.components)
        response.scene = self.scenes.pop(0) if len(self.scenes) > 1 else self.scenes[0]
        return response

    @contextlib.contextmanager
    def deaf(self):
        with self._free:
            yield

    def close(self):
        self._ended = True
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()
