# SPDX-License-Identifier: Apache-2.0
"""Paths in requests of all nodes: only files in the allowed folders, and no node ends."""

import pytest
from faulty_cell import FaultyCell
from rclpy.action import ActionClient
from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.srv import Identify, LoadModel, StartRecording

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
NODES = (
    'cell', 'feedforward', 'collision_monitor', 'recorder', 'identification', 'excitation',
)  # fmt: skip
NAMES = {'one component of 256 characters': 'n' * 256, '2000 folders': 'd/' * 2000}


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    cell = None
    try:
        folder = tmp_path_factory.mktemp('paths')
        robot = {'urdf': folder / 'arm.urdf', 'effort.unit': 'Nm', 'effort.side': 'joint',
                 'effort.gravity': 'included', 'output_directory': folder / 'out'}  # fmt: skip
        others = dict.fromkeys(('recorder', 'identification', 'excitation'), robot)
        cell = FaultyCell(folder, 71, others)
        # six nodes start at once: on a busy machine that takes a while
        cell.wait(lambda: set(NODES) <= set(cell.diagnostics), 'diagnostics of every node', 120.0)
        yield cell
        assert all(process.poll() is None for process in cell.processes.values())
    finally:
        if cell is not None:
            cell.close()


def answered(cell, kind, service, **fields):
    """Sentence of the refusal of a request."""
    answer = cell.call(kind, service, kind.Request(**fields))
    assert answer.success is False and answer.message and '\n' not in answer.message
    return answer.message


def goal(cell, kind, name, **fields):
    """Sentence of the result of a goal without success."""
    client = ActionClient(cell.node, kind, name)
    try:
        cell.wait(client.server_is_ready, name)
        sent = client.send_goal_async(kind.Goal(**fields))
        cell.wait(sent.done, 'the answer to a goal')
        result = sent.result().get_result_async()
        cell.wait(result.done, 'the result')
    finally:
        client.destroy()
    assert not result.result().result.success
    return result.result().result.message


def refusals(cell, path):
    """Sentences of all requests and goals that name a path."""
    here, identify = str(cell.folder), 'identification/identify'
    yield answered(cell, Identify, identify, recording=path)
    yield answered(cell, Identify, identify, recording=here, output_directory=path)
    yield answered(cell, Identify, identify, recording=here, validation_recording=path)
    yield answered(cell, Identify, identify, recording=here, ident_payload=True, base_result=path)
    yield answered(cell, StartRecording, 'recorder/start', recording=path)
    for node in ('feedforward', 'collision_monitor'):
        yield answered(cell, LoadModel, f'{node}/load_model', result_file=path)
    for field in ('motion_file', 'output_directory'):
        yield goal(cell, Excite, 'excitation/excite', **{field: path})
    for field in ('motion_file', 'validation_motion_file', 'base_result', 'output_directory'):
        run = 'identification/run_identification'
        yield goal(cell, RunIdentification, run, **{field: path})
    for node, name in (('excitation', 'motion_file'), ('collision_monitor', 'result_file')):
        result = cell.set_parameter(node, name, path)
        assert not result.successful
        yield result.reason


@pytest.mark.parametrize('name', NAMES)
def test_a_path_that_no_file_can_have_is_refused(cell, name):
    for text in refusals(cell, NAMES[name]):
        assert 'unexpected' not in text, text


def test_a_path_outside_the_allowed_folders_is_refused(cell):
    """Other ways out: test_allowed_folders.py."""
    (cell.folder / 'link').symlink_to('/etc')
    for text in refusals(cell, str(cell.folder / 'link' / 'passwd')):
        assert '/etc/passwd' in text and 'allowed_directories' in text, text
