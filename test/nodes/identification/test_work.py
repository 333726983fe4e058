# SPDX-License-Identifier: Apache-2.0
"""Parameters, requests and folders of the identification, in a node that does not spin."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from idle_nodes import idle_nodes
from writers import result_file, write_csv

from robodyn_ros.errors import MissingSignalError, RobodynError
from robodyn_ros.models.catalog import build_model, load_model, robot_model
from robodyn_ros.nodes.identification import work as work_module
from robodyn_ros.nodes.identification.work import (
    IdentificationWork,
    Job,
    Terms,
)
from robodyn_ros.recording.recording import Recording

pytestmark = pytest.mark.ros
UR10 = Path(__file__).resolve().parents[3] / 'urdf' / 'ur10.urdf'
JOINTS = [f'joint{k}' for k in range(1, 7)]
PUMA = {'a2': 0.43, 'a3': -0.02, 'd2': 0.24, 'd3': -0.09, 'd4': 0.43}
SCARA = {'kind': 'scara', 'dynamic_model': 1, 'joints': JOINTS[:4],
         'geometry': {'L1': 0.3, 'L2': 0.25}, 'friction': ['viscous', 'coulomb']}  # fmt: skip


@pytest.fixture
def make(tmp_path):
    """Work of a node with parameters."""
    with idle_nodes(10, 'work') as create:

        def make(description, **parameters):
            file = tmp_path / 'model.yaml'
            file.write_text(yaml.safe_dump(description))
            values = {'model_file': str(file), 'output_directory': str(tmp_path / 'out')}
            return IdentificationWork(create({**values, **parameters}))

        yield make


def request(**fields):
    default = {
        'filter_cutoff_frequency': 0.0, 'ident_payload': False, 'base_result': '',
        'payload_frame': '',
    }  # fmt: skip
    return SimpleNamespace(**{**default, **fields})


def test_the_dynamic_model_of_the_file_can_be_overridden(make):
    puma = {'kind': 'puma', 'dynamic_model': 1, 'joints': JOINTS, 'geometry': PUMA}
    assert make(puma).model.dynamic_model == 1
    assert make(puma, dynamic_model=2).model.dynamic_model == 2
    with pytest.raises(RobodynError, match=r'a puma has no dynamic model 7, it has: 1, 2$'):
        make(puma, dynamic_model=7)


def test_a_dynamic_model_needs_a_model_file(make):
    urdf = '<robot name="r"><link name="a"/></robot>'
    with pytest.raises(RobodynError, match='dynamic_model 2 needs a model_file'):
        make(SCARA, model_file='', robot_description=urdf, dynamic_model=2)
    with pytest.raises(RobodynError, match='needs the robot'):
        make(SCARA, model_file='', robot_description_timeout=0.1)


def test_a_request_wins_over_the_filter_parameter(make):
    assert make(SCARA).terms(request()).filter_cutoff is None
    work = make(SCARA, filter_cutoff_frequency=80.0)
    assert work.terms(request()).filter_cutoff == 80.0
    assert work.terms(request(filter_cutoff_frequency=20.0)).filter_cutoff == 20.0
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(RobodynError, match='must be positive'):
            work.terms(request(filter_cutoff_frequency=bad))
    with pytest.raises(RobodynError, match='must be below 125 Hz, got 125 Hz'):
        work.terms(request(filter_cutoff_frequency=125.0))
    assert work.terms(request(filter_cutoff_frequency=124.0)).filter_cutoff == 124.0
    with pytest.raises(RobodynError, match=r'filter_cutoff_frequency: the filter .* below 125 Hz'):
        make(SCARA, filter_cutoff_frequency=130.0)


SI = {'effort.unit': 'SI', 'effort.side': 'joint'}


def test_no_motion_for_efforts_that_cannot_be_used(make):
    with pytest.raises(
        RobodynError, match=r"of node 'work', so .* is not moved: declare .*effort\.unit"
    ):
        make(SCARA).check_effort()
    with pytest.raises(RobodynError, match=r"'joint3' is declared without gravity"):
        make(SCARA, **SI, **{'effort.gravity': 'excluded'}).check_effort()
    with pytest.raises(RobodynError, match="effort of joint 'joint1' is missing, there are other"):
        make(
            SCARA, **SI, **{'effort.gravity': 'included', 'effort.joints': ['other']}
        ).check_effort()
    make(SCARA, **SI, **{'effort.gravity': 'included'}).check_effort()


def test_a_failed_result_is_written_when_asked_for(make, tmp_path):
    """Nothing but noise cannot be explained, so the identification fails."""
    random, time = np.random.default_rng(2), np.arange(0.0, 20.0, 0.004)
    axis = {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['joint1'],
            'friction': ['viscous', 'coulomb']}  # fmt: skip
    recording = Recording(
        time=time,
        joints=('joint1',),
        position=np.sin(3.0 * time)[:, None],
        torque=random.normal(size=(len(time), 1)),
    )
    write_csv(recording, tmp_path / 'recording.csv')
    for wanted in (False, True):
        work = make(axis, export_failed=wanted, write_signals=False)
        job = Job(tmp_path / 'recording.csv', tmp_path / str(wanted), Terms())
        result, files = work.compute(job, lambda phase, share: None)
        assert not result.success
        assert (files.result is not None) == wanted
        assert 'noise_as_large_as_signal' in {f.code for f in result.findings}


AXIS = {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['joint1'],
        'friction': ['viscous', 'coulomb', 'offset']}  # fmt: skip


def axis_table(path, offset=0.0, frequency=3.0):
    """An axis of inertia 2 kg m2 in a file whose columns need a mapping."""
    time = np.arange(0.0, 20.0, 0.004)
    wave = np.sin(frequency * time) + 0.5 * np.sin(1.7 * frequency * time)
    velocity = np.gradient(wave, time)
    torque = 2.0 * np.gradient(velocity, time) + 3.0 * velocity + offset
    rows = zip(time, wave, torque, strict=True)
    lines = (','.join(map(repr, map(float, row))) for row in rows)
    path.write_text('zeit,angle,current\n' + '\n'.join(lines) + '\n')
    return path


@pytest.fixture
def columns(tmp_path):
    file = tmp_path / 'columns.yaml'
    file.write_text(
        'time: zeit\nposition: [angle]\ntorque: {columns: [current], unit: A, scale: 1.0}\n'
    )
    return str(file)


@pytest.mark.parametrize('torque', ['unit: A, scale: 2.0', 'unit: Nm'])
def test_a_mapping_declares_the_torque_of_a_table(make, tmp_path, columns, torque):
    table, file = axis_table(tmp_path / 'a.csv'), tmp_path / 'columns.yaml'
    currents = {'effort.unit': 'A', 'effort.side': 'motor', 'effort.gravity': 'included',
                'effort.torque_constant': 0.5, 'effort.gear_ratio': 10.0}  # fmt: skip
    plain = make(AXIS, columns=columns)._read(table).torque
    mapping = 'time: zeit\nposition: [angle]\ntorque: {columns: [current]'
    file.write_text(f'{mapping}, {torque}}}\n')
    factor = 1.0 if 'Nm' in torque else 2.0
    found = make(AXIS, columns=str(file), **currents)._read(table).torque
    np.testing.assert_allclose(found, factor * plain)
    file.write_text(f'{mapping}}}\n')
    work = make(AXIS, columns=str(file), **currents)
    with pytest.raises(RobodynError, match='the parameter `columns` of a node'):
        work._read(table)


def test_a_column_mapping_is_checked_at_the_start(make):
    with pytest.raises(RobodynError, match='column mapping'):
        make(AXIS, columns='/no/such/columns.yaml')


def test_a_topic_that_is_asked_for_must_be_in_the_bag(make, monkeypatch, tmp_path):
    asked = []

    def read(path, *, joints, columns, topic='/joint_states'):
        asked.append(topic)
        raise MissingSignalError('none')

    monkeypatch.setattr(work_module, 'read_recording', read)
    for given in ('', '/robot/joint_states'):
        work = make(AXIS, topic=given)
        with pytest.raises(MissingSignalError):
            work._read(axis_table(tmp_path / 'a.csv'))
    assert asked == ['/joint_states', '/joint_states', '/robot/joint_states']


def test_a_payload_needs_a_base_of_this_model(make, tmp_path):
    work = make(SCARA)
    model = load_model(tmp_path / 'model.yaml')
    path = result_file(tmp_path, model, np.ones(len(model.parameters)))
    terms = work.terms(request(ident_payload=True, base_result=str(path)))
    assert terms.base.joints == tuple(JOINTS[:4])
    with pytest.raises(RobodynError, match='name the result file of a run without payload'):
        work.terms(request(ident_payload=True))
    with pytest.raises(RobodynError, match="has no frame 'tool'"):
        work.terms(request(ident_payload=True, base_result=str(path), payload_frame='tool'))
    with pytest.raises(RobodynError, match='is for an identification with ident_payload'):
        work.terms(request(base_result=str(path)))
    longer = make({**SCARA, 'geometry': {'L1': 0.5, 'L2': 0.25}})
    with pytest.raises(RobodynError, match=r'of another model .*geometry'):
        longer.terms(request(ident_payload=True, base_result=str(path)))


def test_position_limits_are_those_of_a_urdf_beside_the_model_file(make, tmp_path):
    joint = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{0}_link"/>'
        '<limit lower="-1" upper="2" effort="1" velocity="1"/></joint><link name="{0}_link"/>'
    )
    urdf = f'<robot name="r"><link name="a"/>{joint.format("joint1", "a")}</robot>'
    work = make(SCARA, robot_description=urdf)
    assert work._options.position_limits == {'joint1': (-1.0, 2.0)}
    limits = tmp_path / 'limits.yaml'
    position = {'has_position_limits': True, 'min_position': -0.5, 'max_position': 9.0}
    limits.write_text(yaml.safe_dump({'joint_limits': {'joint1': position}}))
    both = make(SCARA, robot_description=urdf, joint_limits=str(limits))
    assert both._options.position_limits == {'joint1': (-0.5, 2.0)}
    alone = make(SCARA, joint_limits=str(limits))
    assert alone._options.position_limits == {'joint1': (-0.5, 9.0)}
    with pytest.raises(RobodynError, match='cannot be read'):
        make(SCARA, joint_limits='/no/such/limits.yaml')
    assert build_model(SCARA).joint_names == work.model.joint_names


def test_the_mounting_of_the_robot_is_a_parameter(make):
    arm = {'model_file': '', 'robot_description': UR10.read_text()}
    tilted = make(SCARA, gravity=[0.0, 9.81, 0.0], **arm).model
    expected = robot_model(UR10, gravity=[0.0, 9.81, 0.0], friction='auto')
    assert tilted.describe()['parts'][0]['gravity'] == expected.describe()['parts'][0]['gravity']
    effort = {'effort.unit': 'Nm', 'effort.side': 'joint', 'effort.gravity': 'excluded'}
    weightless = make(SCARA, gravity=[0.0, 0.0, 0.0], **arm, **effort)
    still = np.zeros((1, 6))
    model = weightless.model.parts[0]
    assert not np.abs(model.regressor(still + 0.3, still, still)).max() > 1e-9
    with pytest.raises(RobodynError, match=r'gravity. must be three numbers'):
        make(SCARA, gravity=[9.81], **arm)


def test_options_are_read_once_and_say_so(make):
    work = make(SCARA, derivatives='computed', max_relative_torque_error=0.3)
    assert (work._options.derivatives, work._options.max_relative_error) == ('computed', 0.3)
    node = work._node
    own = [name for name in node._parameters if not name.startswith(('use_sim', 'start_type'))]
    writable = [name for name in own if not node.describe_parameter(name).read_only]
    assert not writable
    with pytest.raises(
        RobodynError, match="'derivatives' must be one of auto, given, computed, got 'guessed'"
    ):
        make(SCARA, derivatives='guessed')
