# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from real_machines import data_folder
from robots import random_urdf
from simulation import record

from robodyn_ros.analysis.joint_friction import friction_of, model_of_axes
from robodyn_ros.errors import IdentificationError
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model, with_friction
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording

BODY = robot_model(random_urdf(2, 85, types=('revolute',)), friction=())
LINKS = np.nan_to_num(BODY.prior(), nan=0.2)
VISCOUS, COULOMB, OFFSET = 1.5, 4.0, 0.6
KEEP = IdentifyOptions(keep_signals=True)


def friction_in(recording, model):
    return friction_of(identify(recording, model, options=KEEP))


def assert_covers(friction, truth):
    """The plant's values are in the intervals, or as near as the low pass of Coulomb leaves."""
    for item in friction.values:
        value = truth[item.name]
        assert item.lower - 0.05 * value <= value <= item.upper + 0.05 * value, item


TRUTH = {'viscous_friction': VISCOUS, 'coulomb_friction': COULOMB, 'torque_offset': OFFSET}


def test_any_motion_with_the_robot_gives_the_friction_of_the_plant():
    model = with_friction(BODY, 'linear')
    recording = record(model, np.append(LINKS, [VISCOUS, COULOMB, OFFSET] * 2), 4000)
    for each in friction_in(recording, model):
        assert {item.name for item in each.values} == set(TRUTH)
        assert_covers(each, TRUTH)
        assert 0.0 < each.share < 1.0 and each.error < 0.1 and each.verdict == 'usable'


def test_joints_that_move_one_at_a_time_need_no_robot():
    plan = BidirectionalMotion(
        joints=BODY.joint_names, start=[-0.5, 0.4], target=[0.7, -0.6],
        speeds=(0.06, 0.25, 0.5, 1.0), max_velocity=[1.0, 0.8], max_acceleration=[5.0, 4.0],
    ).grid(0.004)  # fmt: skip
    motion = plan.position, plan.velocity, plan.acceleration
    values = np.append(LINKS, [VISCOUS, COULOMB, 0.0] * 2)
    torque = with_friction(BODY, 'linear').torque(*motion, values)
    torque += 0.05 * np.random.default_rng(1).normal(size=torque.shape)
    recording = Recording(plan.time, BODY.joint_names, plan.position, torque)
    joints = friction_in(recording, model_of_axes(BODY.joint_names, 'linear'))
    assert [each.joint for each in joints] == list(BODY.joint_names)
    for each in joints:
        assert_covers(each, {**TRUTH, 'torque_offset': 0.0})


def test_hysteresis_before_sliding_is_identified_where_the_plant_has_it():
    slips = with_friction(BODY, ['linear', 'slip'])
    values = np.concatenate([LINKS, [0.0, 2.0, 1.0], [0.0, 0.5, 3.0], [1.0, 0.2, 0.1] * 2])
    assert slips.parameters[len(LINKS) + 2].name == 'joint1.coarse_slip_friction'
    recording = record(slips, values, 6000, noise=0.005)
    for each, truth in zip(friction_in(recording, slips), ([3.2, 1.0], [3.7, 3.0]), strict=True):
        values = {item.name: item.value for item in each.values}
        dry = sum(value for name, value in values.items() if 'slip' in name or 'coulomb' in name)
        np.testing.assert_allclose([dry, values['coarse_slip_friction']], truth, rtol=0.1)


def test_a_recording_without_estimate_and_a_model_without_friction_are_refused():
    model = with_friction(BODY, 'linear')
    recording = record(model, np.append(LINKS, [VISCOUS, COULOMB, OFFSET] * 2), 4000)
    with pytest.raises(IdentificationError, match='the model has no friction'):
        friction_in(recording, BODY)
    still = Recording(recording.time, recording.joints, 0.0 * recording.position, recording.torque)
    with pytest.raises(IdentificationError, match='no estimate'):
        friction_in(still, model)


def test_friction_of_a_real_robot():
    model = robot_model('urdf/ur10.urdf', friction='linear')
    recording = read_recording(data_folder('ur10'), joints=model.joint_names)
    for each in friction_in(recording, model):
        braking = [item for item in each.values if item.name != 'torque_offset']
        assert all(item.value > 0.0 for item in braking)
        assert 0.03 < each.share < 1.1 and each.error < 0.35
