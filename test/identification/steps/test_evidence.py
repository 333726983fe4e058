# SPDX-License-Identifier: Apache-2.0
"""Evidence of a verdict: errors of the fit and on other data, reach, plausibility, findings."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from clean_results import check_clean
from diagnosis_case import plant
from robots import DATA, dh_urdf
from simulation import arm, record

from robodyn_ros.cli.main import main
from robodyn_ros.findings import Finding
from robodyn_ros.identification import pipeline
from robodyn_ros.identification.files.export import export
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.summary import joint_table
from robodyn_ros.identification.signals.processed import TimeOffset
from robodyn_ros.identification.steps.all_findings import run_findings
from robodyn_ros.identification.steps.evidence import IDLE, verdict_of
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording

# Two joints; both are rated at 100 Nm.
URDF = dh_urdf([(0.0, 0.0, 0.3), (np.pi / 2, 0.4, 0.0)])
MODEL, TRUTH = arm(URDF)
GOOD = record(MODEL, TRUTH, 3000, noise=0.05)


def words(result):
    return [(each.feedforward.word, each.monitoring.word) for each in result.verdict.joints]


def noise(seed, seconds=20.0):
    """A sine of 1 Nm in noise of 10 Nm, on one joint that moves."""
    random = np.random.default_rng(seed)
    time = np.arange(0.0, seconds, 0.01)
    position = np.sin(1.3 * time)[:, None]
    torque = np.sin(1.3 * time)[:, None] + 10.0 * random.normal(size=(len(time), 1))
    return Recording(time=time, joints=('j',), position=position, torque=torque)


PENDULUM = """<robot name="p"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<origin xyz="0 0 0.2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="{}" velocity="5"/></joint></robot>"""


@pytest.mark.parametrize('effort', [20.0, 1000.0])
def test_pure_noise_is_not_usable_and_exports_nothing(effort, tmp_path):
    model = robot_model(PENDULUM.format(effort), friction='auto')
    result = identify(noise(1), model, validation=noise(2))
    (joint,) = result.verdict.joints
    assert joint.error > 0.9 and joint.other_error > 0.9 and words(result) == [('not usable',) * 2]
    assert not result.success and export(result, tmp_path).result is None
    urdf = tmp_path / 'p.urdf'
    urdf.write_text(PENDULUM.format(effort))
    files = []
    for seed in (1, 2):
        given = noise(seed)
        files.append(str(tmp_path / f'{seed}.csv'))
        table = np.column_stack([given.time, given.position, given.torque])
        np.savetxt(files[-1], table, delimiter=',', header='time,q_j,tau_j', comments='')
    command = ['identify', files[0], '--validate', files[1], '--urdf', str(urdf)]
    assert main([*command, '--out', str(tmp_path / 'out')]) == 1
    assert not (tmp_path / 'out/result.yaml').exists()


def test_a_clean_recording_is_usable_for_all():
    for validation in (None, record(MODEL, TRUTH, 3000, noise=0.05, seed=5)):
        result = identify(GOOD, MODEL, validation=validation)
        assert words(result) == [('usable', 'usable')] * 2 and result.success
        assert result.verdict.inertials.word == 'usable'
        assert not [item for item in result.findings if item.severity == 'warning']
    assert result.verdict.tested == 'the validation'


def test_held_out_blocks_stand_in_for_a_validation():
    """Torque that only the fit to it explains: a fast drift of the offset."""
    drift = 4.0 * np.abs(GOOD.torque[:, 1]).mean() * np.linspace(-1.0, 1.0, len(GOOD.time)) ** 3
    torque = GOOD.torque + drift[:, None] * [0.0, 1.0]
    result = identify(replace(GOOD, torque=torque), MODEL)
    good, bad = result.verdict.joints
    assert result.verdict.tested == 'held-out blocks' and good.other_error < 0.05
    assert bad.other_error > bad.error > 0.25 and bad.feedforward.word != 'usable'


def test_one_joint_that_is_not_explained_does_not_spoil_the_others(tmp_path):
    other = 3.0 * np.abs(GOOD.torque[:, 1]).mean() * np.sin(7.1 * GOOD.time + GOOD.time**1.5)
    spoiled = replace(GOOD, torque=GOOD.torque + other[:, None] * [0.0, 1.0])
    result = identify(spoiled, MODEL)
    # Parameters that both share may be wrong.
    assert words(result) == [('with care', 'usable'), ('not usable', 'not usable')]
    assert not result.success and result.verdict.worth_writing
    assert '88% of torque unexplained' in result.verdict.joints[1].reasons
    assert 'joint2 is unexplained' in result.verdict.joints[0].reasons
    assert export(result, tmp_path).result is not None


@pytest.mark.parametrize('factor', [0.3, 4.0])
def test_gravity_and_masses_are_compared_with_those_of_the_urdf(factor):
    """Drives that report another torque fit perfectly."""
    scaled = replace(GOOD, torque=factor * GOOD.torque)
    result = identify(scaled, MODEL)
    assert result.verdict.inertials.word != 'usable'
    assert 'usable' not in [word for word, _ in words(result)][1:]


def test_an_idle_joint_has_the_constant_that_was_measured():
    model, truth = arm(URDF, friction=('viscous', 'coulomb', 'offset'))
    recording = record(model, truth, 3000, noise=0.02)
    position = recording.position * [1.0, 0.0] + [0.0, 0.4]
    signals = {
        name: getattr(recording, name) * [1.0, 0.0] for name in ('velocity', 'acceleration')
    }
    torque = model.torque(position, *signals.values(), 3.0 * truth) + 5.0
    idle = replace(recording, position=position, torque=torque, **signals)
    # Somebody leans on the idle joint in the validation: it says nothing about its constant.
    other = replace(idle, torque=torque * [1.0, 5.0] + 0.01 * np.sin(np.arange(3000))[:, None])
    result = identify(idle, model, validation=other)
    first, second = result.verdict.joints
    assert first.moved and not second.moved and second.error < 0.2 and second.other_error > 0.5
    assert second.feedforward == second.monitoring
    assert second.feedforward.word == 'with care' and second.reasons == (IDLE,)
    assert result.success and 'holds only while idle joints stay' in first.reasons
    row = joint_table(result.verdict)[2].split()
    assert row[:4] == ['joint2', '-', '-', 'with'] and ' '.join(row[-3:]) == IDLE


@pytest.fixture(scope='module')
def good():
    """Return the run of a good recording."""
    found = []
    given = pipeline.verdict_of

    def kept(run, findings):
        found.append(run)
        return given(run, findings)

    pipeline.verdict_of, before = kept, given
    try:
        identify(GOOD, MODEL)
    finally:
        pipeline.verdict_of = before
    return found[0]


def test_the_cause_is_listed_before_its_consequence(good):
    bad = copy(good)
    unseen = np.eye(len(good.estimated.fit.values))[:, :1]
    bad.estimated = replace(good.estimated, fit=replace(good.estimated.fit, unseen=unseen))
    rms = good.report.rms_torque
    bad.report = replace(good.report, rms_error=rms, joint_relative_residual=np.ones(2))
    errors = [item.code for item in run_findings(bad) if item.severity == 'error']
    assert errors == ['rank_deficient', *['relative_error_too_large'] * 2]


@pytest.mark.parametrize(
    ('code', 'joint', 'severity', 'expected'),
    [
        ('torque_sign', 'joint2', 'error', ['with care', 'not usable']),
        ('zero_torque', 'joint2', 'error', ['usable', 'not usable']),
        ('encoder_offset', 'joint2', 'error', ['not usable', 'not usable']),
        ('joint_order', '', 'error', ['not usable', 'not usable']),
        ('convention_doubtful', 'joint2', 'info', ['usable', 'with care']),
        ('sensor_delay', '', 'warning', ['with care', 'with care']),
        ('slow_sampling', '', 'warning', ['with care', 'with care']),
    ],
)
def test_data_that_contradict_the_model_spoil_a_joint_or_all(
    good, code, joint, severity, expected
):
    verdict = verdict_of(good, [Finding(code, 'text', joint, severity)])
    assert [each.feedforward.word for each in verdict.joints] == expected
    assert verdict.worth_writing is (expected != ['not usable'] * 2)


@pytest.mark.parametrize(('seconds', 'word'), [(1e-4, 'usable'), (0.1, 'with care')])
def test_a_torque_that_was_shifted_by_a_time_that_matters(good, seconds, word):
    offsets = {1: TimeOffset(seconds, 0.9)}
    late = copy(good)
    late.prepared = replace(good.prepared, offsets=offsets)
    first, second = verdict_of(late, []).joints
    assert (first.feedforward.word, second.feedforward.word) == ('usable', word)


@pytest.mark.parametrize(('factor', 'word'), [(4.0, 'with care'), (-1.0, 'not usable')])
def test_gravity_that_is_not_at_all_that_of_the_urdf_is_of_another_robot(good, factor, word):
    other = copy(good)
    values = good.estimated.values * np.where(
        [item.name.endswith(('.m', '.mx', '.my', '.mz')) for item in MODEL.parameters], factor, 1.0
    )
    completion = replace(good.estimated.completion, values=values)
    other.estimated = replace(good.estimated, completion=completion)
    joints = verdict_of(other, []).joints
    assert joints[1].feedforward.word == word
    if factor < 0.0:
        expected = {'joint2: gravity contradicts the URDF'}
        assert [{*each.monitoring.reasons} for each in joints] == [expected] * 2


@pytest.mark.parametrize(
    ('residual', 'usual', 'codes', 'word'),
    [
        (0.05, 0.01, [], 'usable'),
        (0.15, 0.01, [], 'with care'),
        (0.22, 0.2, [], 'not usable'),
        (0.05, 0.01, ['arm_changed'], 'with care'),
        (0.15, 0.13, ['arm_changed'], 'with care'),
        (0.13, 0.01, ['arm_changed'], 'not usable'),  # as with torque times 0.8
    ],
)
def test_a_payload_that_leaves_torque_unexplained(good, residual, usual, codes, word):
    facts = {'relative_residual': usual}
    arm = SimpleNamespace(verdict=verdict_of(good, []), facts=facts)
    run = SimpleNamespace(
        payload=object(),
        task=SimpleNamespace(arm=arm),
        report=SimpleNamespace(relative_residual=residual),
        validation=None,
    )
    verdict = verdict_of(run, [Finding(code, 'text') for code in codes])
    assert verdict.payload.word == word and verdict.success is (word != 'not usable')


def test_a_clean_recording_of_a_plant_has_few_warnings():
    model, recording = plant('six_axis')
    check_clean(identify(recording, model))


def test_an_actuator_that_no_model_explains_is_refused(tmp_path):
    folder = DATA / 'robots/maxon_hej90'
    if not folder.is_dir():
        pytest.skip(f'{folder} is not there; set ROBODYN_DATA')
    model = robot_model(folder / 'robot.urdf', friction='auto')
    files = [folder / f'{name}.npz' for name in ('tms_42', 'tms_54')]
    result = identify(read_recording(files[0], joints=model.joint_names), model)
    assert words(result) == [('not usable', 'not usable')] and not result.success
    command = ['identify', str(files[0]), '--validate', str(files[1])]
    out = tmp_path / 'out'
    assert main([*command, '--urdf', str(folder / 'robot.urdf'), '--out', str(out)]) == 1
    assert not (out / 'result.yaml').exists()
