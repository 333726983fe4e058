# SPDX-License-Identifier: Apache-2.0
"""Planning scene of a running MoveIt: its messages against MuJoCo, and its service."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from idle_nodes import idle_nodes
from moveit_scene import STANDING, Scene, at, random_pose
from mujoco_collisions import BALL, ball_distance
from ros_client import PATIENCE
from std_srvs.srv import Trigger

from robodyn_ros.bounds import SCENE
from robodyn_ros.errors import ConfigError, ControlError, Fault, RobodynError
from robodyn_ros.excitation.options import collision_coverage
from robodyn_ros.long_work import Cancellation, CancelledError, cancellable
from robodyn_ros.nodes.excitation import planning_scene as module
from robodyn_ros.nodes.excitation.planning_scene import RunningScene, surroundings_of

pytestmark = pytest.mark.ros
NUMBER = 59
CUBE = 0.3 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
OURS = Scene()
SPHERE = ('sphere', [0.2], STANDING)


def distances(scene, joint=0.0):
    """Distances of the ball from the shapes of a scene, by the library of the suite."""
    coverage = collision_coverage({}, ['joint1'], BALL, surroundings_of(scene))
    geometry = coverage.rule.geometry
    return [geometry.distance(i, np.array([joint])) for i in range(len(geometry.pairs))]


@pytest.mark.parametrize(
    ('kind', 'size'),
    [('box', [0.4, 0.2, 0.9]), ('sphere', [0.3]), ('cylinder', [0.8, 0.25]), ('mesh', CUBE)],
)
def test_distances_of_messages_are_those_of_mujoco(kind, size):
    random = np.random.default_rng(5)
    for _ in range(10):
        outer, pose, joint = random_pose(random, 2.0), random_pose(random), random.uniform(-3, 3)
        scene = OURS.scene(OURS.object('a', [(kind, size, pose)], pose=outer))
        expected = ball_distance(kind, size, pose, outer, joint)
        (found,) = distances(scene, joint)
        # of overlapping shapes the two tell different depths
        assert found == pytest.approx(expected, abs=1e-5) or max(found, expected) < 0.0


def test_cones_planes_and_several_shapes_are_where_geometry_says():
    upside_down = ((1.0, 0.0, -3.0), (1.0, 0.0, 0.0, 0.0))
    item = OURS.object(
        'a', [('cone', [2.0, 0.5], ((1.0, 0.0, -3.0), STANDING[1])),  # its tip is on +z
              ('cone', [2.0, 0.5], upside_down), ('plane', [0.0, 2.0, 0.0, 0.0], at(0, -3, 0))],
    )  # fmt: skip
    assert distances(OURS.scene(item)) == pytest.approx([1.9, 1.9, 2.9], abs=1e-5)
    moved = OURS.object('b', [SPHERE], pose=at(0, 2, 0), frame='/base')
    assert distances(OURS.scene(moved), np.pi / 2) == pytest.approx([0.7])


def test_attached_objects_belong_to_their_link():
    item = OURS.object('tool', [SPHERE], pose=at(0.5, 0, 0), frame='ball')
    scene = OURS.scene(attached=[OURS.attached('ball', item, ['fingers', 'ball'])])
    (shape,) = surroundings_of(scene).shapes
    assert (shape.name, shape.frame, shape.attached) == ('tool', 'ball', True)
    assert shape.touching == ('ball', 'fingers') and shape.pose[0, 3] == 0.5
    elsewhere = OURS.attached('ball', OURS.object('tool', [SPHERE]))
    plane = OURS.object('p', [('plane', [0, 0, 1, 0], STANDING)], frame='ball')
    scene = OURS.scene(attached=[elsewhere, OURS.attached('ball', plane)], octomap=b'cells')
    found = surroundings_of(scene)
    assert not found.shapes
    for words, text in zip(
        ("object 'tool'", "object 'p'", 'the oct'), found.unchecked, strict=True
    ):
        assert text.startswith(words) and 'of the planning scene of MoveIt' in text
    assert surroundings_of(OURS.scene()).same(module.NOTHING)


def test_an_object_whose_shape_no_message_holds_is_named():
    empty = OURS.object('a', [])
    found = surroundings_of(OURS.scene(empty, attached=[OURS.attached('ball', empty)]))
    assert "object 'a' of the planning scene of MoveIt: its shape" in found.unchecked[0]
    assert "attached to 'ball': it has a plane or no shape" in found.unchecked[1]


def without_poses():
    item = OURS.object('a', [SPHERE])
    item.primitive_poses.clear()
    return item


@pytest.mark.parametrize(
    ('item', 'words'),
    [
        (
            OURS.object('a', [('prism', [1.0], STANDING)]),
            "'a' is a 'primitive of type 5', expected",
        ),
        (OURS.object('a', [SPHERE], pose=at(np.nan, 0, 0)), "'a' has numbers that are not finite"),
        (OURS.object('a', [SPHERE], pose=((0, 0, 0), (0, 0, 0, 0))), "'a': expected a quaternion"),
        (without_poses(), "'a' has 1 primitives and 0 poses of them"),
        (OURS.object('a', [SPHERE] * (SCENE.most + 1)), f'shapes of a planning .*{SCENE.most}'),
    ],
)
def test_an_object_that_cannot_be_used_is_refused(item, words):
    with pytest.raises(RobodynError, match=f'the planning scene of MoveIt: .*{words}'):
        surroundings_of(OURS.scene(item))


@pytest.fixture
def node():
    """Return a function that makes a node with these parameters."""
    with idle_nodes(NUMBER) as create:
        yield create


def test_without_moveit_msgs_the_report_says_so(node, monkeypatch):
    monkeypatch.setattr(module, 'GetPlanningScene', None)
    (note,) = RunningScene(node({})).ask().notes
    assert note == 'the planning scene of MoveIt is not checked: moveit_msgs is not installed'
    assert RunningScene(node({'planning_scene_service': ''})).ask() is module.NOTHING
    with pytest.raises(ConfigError, match=r'service: scene cannot be used, as moveit_msgs is not'):
        RunningScene(node({'planning_scene_service': 'scene'}))


class Service:
    """Stands for the client of a service."""

    def __init__(self):
        self.ready, self.scene, self.pending = True, OURS.scene(), []

    def service_is_ready(self):
        return self.ready

    def call_async(self, request):
        self.pending.append(SimpleNamespace(
            done=lambda: self.scene is not None,
            result=lambda: SimpleNamespace(scene=self.scene),
        ))  # fmt: skip
        return self.pending[-1]

    def remove_pending_request(self, future):
        self.pending.remove(future)


@pytest.fixture
def asked(node, monkeypatch):
    """A running scene with a fake client, in a process that has moveit_msgs or not."""
    types = SimpleNamespace(Request=lambda components: components)
    parts = ('WORLD_OBJECT_NAMES', 'WORLD_OBJECT_GEOMETRY', 'OCTOMAP')
    parts = dict.fromkeys((*parts, 'ROBOT_STATE_ATTACHED_OBJECTS'), 0)
    monkeypatch.setattr(module, 'GetPlanningScene', None)
    scene = RunningScene(node({}))
    monkeypatch.setattr(module, 'GetPlanningScene', types)
    monkeypatch.setattr(
        module, 'Parts', type('Parts', (), {'__init__': lambda *_, **__: None, **parts}),
        raising=False,
    )  # fmt: skip
    scene._client, scene._discovered_by = Service(), 0.0
    return scene


def test_a_service_that_was_never_there_is_a_note_and_one_that_is_gone_a_gap(asked):
    asked._client.ready = False
    found = asked.ask()
    text = 'the planning scene of MoveIt is not checked: there is no service get_planning_scene'
    assert found.notes == (text,) and not found.unchecked
    asked._client.ready = True
    assert asked.ask().same(module.NOTHING)
    asked._client.ready = False
    found = asked.ask()
    assert found.unchecked[0].endswith('any more (if MoveIt is not to run, restart this node)')


def test_a_moveit_without_a_namespace_that_nobody_asks_is_a_gap(asked, node):
    asked._client.ready = False
    other = node({})
    client = other.create_client(Trigger, '/get_planning_scene')  # of RViz: no MoveIt
    assert asked.ask().notes and not client.service_is_ready()
    other.create_service(Trigger, '/get_planning_scene', lambda _, response: response)
    assert client.wait_for_service(PATIENCE)
    found = asked.ask()
    assert not found.notes and 'set the parameter planning_scene_service' in found.unchecked[0]
    asked._named = True
    with pytest.raises(ControlError, match='which the parameter planning_scene_service names'):
        asked.ask()


def test_a_service_that_a_parameter_names_and_is_absent_refuses_the_motion(asked):
    asked._named, asked._client.ready = True, False
    words = 'no service get_planning_scene, which the parameter planning_scene_service names; st'
    for _ in range(2):
        with pytest.raises(ControlError, match=words):
            asked.ask()
        asked._answered = True
    asked._client.ready = True
    assert asked.ask().same(module.NOTHING)


def test_the_wait_for_discovery_and_answer_ends(asked, monkeypatch):
    monkeypatch.setattr(module, 'PATIENCE', 0.1)
    asked._client.scene = None
    with pytest.raises(
        ControlError, match=r'get_planning_scene did not answer within 0\.1 s \(is move_group'
    ):
        asked.ask()
    assert asked._client.pending == []
    begin = time.monotonic()
    asked._client.ready, asked._discovered_by = False, begin + 0.2
    assert asked.ask().notes and time.monotonic() >= begin + 0.2


def test_a_stop_ends_the_wait(asked, monkeypatch):
    monkeypatch.setattr(module, 'PATIENCE', PATIENCE)
    asked._client.scene, cancellation = None, Cancellation()
    timer = threading.Timer(0.1, cancellation.cancel, [Fault('stop_requested', 'enough')])
    timer.start()
    with cancellable(cancellation), pytest.raises(CancelledError, match='enough'):
        asked.ask()
    assert asked._client.pending == []
    timer.join()
