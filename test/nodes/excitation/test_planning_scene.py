# SPDX-License-Identifier: Apache-2.0
"""Planning scene of a running MoveIt: its messages against MuJoCo, and its service over DDS."""

import contextlib
import threading
import time
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import rclpy
from excitation_client import HOME, JOINTS, Client, motion, start
from idle_nodes import idle_nodes
from moveit_scene import STANDING, Scene, at, random_pose, real
from rclpy.executors import SingleThreadedExecutor
from ros_client import PATIENCE, environment, joined
from std_srvs.srv import Trigger

from robodyn_ros.bounds import SCENE
from robodyn_ros.errors import ConfigError, ControlError, Fault, RobodynError
from robodyn_ros.excitation.catalog import write_motion
from robodyn_ros.excitation.options import collision_coverage
from robodyn_ros.long_work import Cancellation, CancelledError, cancellable
from robodyn_ros.nodes.excitation import planning_scene as module
from robodyn_ros.nodes.excitation.planning_scene import RunningScene, surroundings_of

pytestmark = pytest.mark.ros
NUMBER = 59
ROBOT = """<robot name="r"><link name="base"/><link name="ball"><collision>
<origin xyz="1 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="joint1" type="revolute"><parent link="base"/><child link="ball"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint></robot>"""
"""A ball of radius 0.1 m that moves on a circle of radius 1 m around z."""
CUBE = 0.3 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
OURS = Scene()
SPHERE = ('sphere', [0.2], STANDING)


def distances(scene, joint=0.0):
    """Distances of the ball from the shapes of a scene, by the library of the suite."""
    coverage = collision_coverage({}, ['joint1'], ROBOT, surroundings_of(scene))
    geometry = coverage.rule.geometry
    return [geometry.distance(i, np.array([joint])) for i in range(len(geometry.pairs))]


def by_mujoco(kind, size, pose, outer, joint):
    """The same by MuJoCo, whose bodies are nested as the poses are."""
    half = {'box': 0.5 * np.array(size), 'sphere': size, 'cylinder': [size[-1], 0.5 * size[0]]}
    shape = f'type="{kind}" size="{" ".join(map(str, half.get(kind, [0])))}"'
    rows = ' '.join(map(str, np.ravel(size)))
    asset = f'<asset><mesh name="m" vertex="{rows}"/></asset>' if kind == 'mesh' else ''

    def placed(pose):
        (x, y, z), (i, j, k, w) = pose
        return f'pos="{x} {y} {z}" quat="{w} {i} {j} {k}"'

    model = mujoco.MjModel.from_xml_string(
        f'<mujoco>{asset}<worldbody><body euler="0 0 {np.degrees(joint)}">'
        '<geom name="ball" pos="1 0 0" size="0.1"/></body>'
        f'<body {placed(outer)}><body {placed(pose)}><geom name="it" '
        + ('type="mesh" mesh="m"' if kind == 'mesh' else shape)
        + '/></body></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    first, second = (model.geom(name).id for name in ('ball', 'it'))
    return mujoco.mj_geomDistance(model, data, first, second, 100.0, None)


@pytest.mark.parametrize(
    ('kind', 'size'),
    [('box', [0.4, 0.2, 0.9]), ('sphere', [0.3]), ('cylinder', [0.8, 0.25]), ('mesh', CUBE)],
)
def test_distances_of_messages_are_those_of_mujoco(kind, size):
    random = np.random.default_rng(5)
    for _ in range(10):
        outer, pose, joint = random_pose(random, 2.0), random_pose(random), random.uniform(-3, 3)
        scene = OURS.scene(OURS.object('a', [(kind, size, pose)], pose=outer))
        expected = by_mujoco(kind, size, pose, outer, joint)
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
        (OURS.object('a', [('box', [1.0], STANDING)]), r"'a' is a box with the size \[1\.\]"),
        (OURS.object('a', [('box', [1, 1, -1], STANDING)]), "'a' has the size .*, not above 0"),
        (OURS.object('a', [('mesh', [], STANDING)]), "'a' has a mesh that has no vertices"),
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


def test_the_default_is_in_the_namespace_of_the_node(node):
    pytest.importorskip('moveit_msgs.srv', reason='moveit_msgs is not installed')
    for name, expected in (('', '/lbr/get_planning_scene'), ('/scene', '/scene'), ('a', '/lbr/a')):
        given = {'planning_scene_service': name} if name else {}
        scene = RunningScene(node(given, namespace='lbr'))
        assert scene._service == expected and scene._named == bool(name)
        scene._discovered_by = 0.0
        if name:
            with pytest.raises(ControlError, match=f'no service {expected}, which the parameter'):
                scene.ask()
        else:
            assert scene.ask().notes[0].endswith(f'there is no service {expected}')


def test_the_default_finds_a_moveit_in_the_same_namespace_only(node):
    srv = pytest.importorskip('moveit_msgs.srv', reason='moveit_msgs is not installed')
    moveit = node({}, namespace='lbr')
    moveit.create_service(srv.GetPlanningScene, 'get_planning_scene', lambda _, response: response)
    scenes = [RunningScene(node({}, namespace=name)) for name in ('lbr', 'other')]
    deadline = time.monotonic() + PATIENCE
    while not scenes[0]._client.service_is_ready():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not scenes[1]._client.service_is_ready()


def test_a_name_that_is_none_is_refused(node):
    pytest.importorskip('moveit_msgs.srv', reason='moveit_msgs is not installed')
    with pytest.raises(ConfigError, match=r'planning_scene_service: .*name'):
        RunningScene(node({'planning_scene_service': 'not a name'}))


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


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    """Fake robot, fake MoveIt, and an excitation node whose other surroundings are known."""
    pytest.importorskip('moveit_msgs.srv', reason='moveit_msgs is not installed')
    from fake_robot import FakeRobot

    folder = tmp_path_factory.mktemp('planning_scene')
    write_motion(motion(), folder / 'motion.yaml')
    known = {'optimise.floor': -1.0, 'optimise.box': [-3.0, -3.0, -3.0, 3.0, 3.0, 3.0]}
    process = start(
        folder, 'planner', NUMBER, motion_file=str(folder / 'motion.yaml'),
        allow_unchecked=False, **known,
    )  # fmt: skip
    context = joined(environment(NUMBER))
    robot, moveit = FakeRobot(JOINTS, HOME, context), FakeMoveIt(context)
    client = Client('planner', context)
    try:
        yield SimpleNamespace(
            robot=robot, moveit=moveit, client=client,
            said=lambda: (folder / 'planner.log').read_text(),
        )  # fmt: skip
    finally:
        process.kill()
        process.wait()
        client.close()
        moveit.close()
        robot.close()
        rclpy.shutdown(context=context)


REAL = Scene(real)
FAR = ('box', [0.1, 0.1, 0.1], at(2.5, 2.5, 2.5))
POST = ('cylinder', [3.0, 0.05], STANDING)


def in_the_way(**options):
    return REAL.object('post', [POST], pose=at(0.8, 0.3, 0.5), frame='base_link', **options)


def test_a_motion_runs_beside_the_scene_and_not_into_it(cell):
    cell.robot.reset(HOME)
    far = REAL.object('far', [FAR], frame='base_link')
    cell.moveit.scenes = [REAL.scene(far)]
    done = cell.client.excite()
    assert done.success, done.message
    assert 'the planning scene of MoveIt has 1 shapes' in cell.said()
    assert set(cell.moveit.requests) == {4 + 8 + 16 + 32}
    count = len(cell.robot.trajectories)
    cell.moveit.scenes = [REAL.scene(far, in_the_way())]
    refused = cell.client.excite()
    assert 'shape 2 of the planning scene of MoveIt, post' in refused.message
    assert not refused.success and len(cell.robot.trajectories) == count
    assert 'shape 2 of the planning scene of MoveIt, post' in cell.client.start().message


def test_what_is_not_checked_is_said(cell):
    cell.robot.reset(HOME)
    cell.moveit.scenes = [REAL.scene(octomap=b'1234')]
    assert (
        'NOT checked for collisions: the octomap of the planning' in cell.client.excite().message
    )
    cell.moveit.scenes = [REAL.scene(REAL.object('a', [FAR], frame='map'))]
    assert "object 'a' is in the frame 'map', which is no link" in cell.client.excite().message
    tool = REAL.object('tool', [FAR], frame='gripper')
    cell.moveit.scenes = [REAL.scene(attached=[REAL.attached('gripper', tool)])]
    assert "object 'tool' of the planning scene of MoveIt, att" in cell.client.excite().message


def test_a_carried_object_collides_with_what_stands(cell):
    cell.robot.reset(HOME)
    table = REAL.object('table', [('box', [3, 3, 0.1], at(0, 0, -0.5))], frame='base_link')
    rod = REAL.object('rod', [('box', [0.02, 0.02, 4.0], STANDING)], frame='link6')
    cell.moveit.scenes = [REAL.scene(table, attached=[REAL.attached('link6', rod)])]
    message = cell.client.excite().message
    assert 'attached shape 1 of the planning scene of MoveIt, rod on link6' in message


def test_a_scene_that_jitters_stops_no_motion_that_keeps_the_clearance(cell):
    cell.robot.reset(HOME)
    shaken = [
        REAL.scene(REAL.object('far', [FAR], pose=at(0.0, 0.0, shift), frame='base_link'))
        for shift in (0.0, 0.004, -0.003, 0.002)
    ]
    cell.moveit.scenes = shaken
    done = cell.client.excite()
    assert done.success, done.message


def test_a_scene_that_changes_during_the_check_stops_the_motion(cell):
    cell.robot.reset(HOME)
    count = len(cell.robot.trajectories)
    cell.moveit.scenes = [REAL.scene(), REAL.scene(in_the_way())]
    assert 'changed while the motion was checked: start again' in cell.client.excite().message
    assert len(cell.robot.trajectories) == count


def test_a_moveit_that_does_not_answer_is_named_and_delays_no_stop(cell):
    cell.robot.reset(HOME)
    cell.moveit.scenes = [REAL.scene()]
    with cell.moveit.deaf():
        assert '/get_planning_scene did not answer within 2 s' in cell.client.excite().message
        cell.client._send('')
        begin = time.monotonic()
        while not (answer := cell.client.call('stop')).success:  # the goal may be on its way
            assert time.monotonic() < begin + PATIENCE
        assert 'being checked does not start' in answer.message
        cell.client.wait(cell.client._result.done, 'the end')
    assert 'stopped before it began: ~/stop was called' in cell.client.ended()


def test_a_moveit_that_is_gone_is_named(cell):
    cell.robot.reset(HOME)
    cell.moveit.scenes = [REAL.scene()]
    assert cell.client.excite().success
    cell.moveit.node.destroy_service(cell.moveit.service)
    cell.client.wait(
        lambda: 'no service /get_planning_scene any more' in cell.client.excite().message, 'it'
    )
