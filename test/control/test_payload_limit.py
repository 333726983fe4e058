# SPDX-License-Identifier: Apache-2.0
"""The largest payload against hand calculations, and against a dense search of the worst pose."""

import numpy as np
import pytest
from closed_form_oracle import body, urdf
from robots import SIX_AXIS

from robodyn_ros.control.payload_limit import PayloadLimit
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.payload import Payload, PayloadModel, payload_of
from robodyn_ros.models.serial.urdf import joint_limits

G = 9.81
CRANK = """<robot name="crank"><link name="base"/><link name="arm"><inertial>
<origin xyz="0.5 0 0"/><mass value="4"/>
<inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="joint1" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="100" velocity="1"/></joint>
<link name="tool"/><joint name="fixed" type="fixed"><parent link="arm"/><child link="tool"/>
<origin xyz="1 0 0"/></joint></robot>"""


def limit_of(model, effort, **options):
    values = np.nan_to_num(model.prior())
    return PayloadLimit(PayloadModel(arm=model), values, effort=effort, **options)


def carries(limit, payload):
    try:
        limit.check(payload)
    except ControlError as error:
        assert 'check the unit' in str(error)
        return False
    return True


def test_a_crank_carries_what_its_effort_limit_leaves_at_the_horizontal():
    crank = build_model(
        {'kind': 'urdf', 'urdf': CRANK, 'joints': ['joint1'], 'rotor_inertia': False}
    )  # fmt: skip
    limit = limit_of(crank, [100.0])
    most = (100.0 - 4.0 * G * 0.5) / G  # at 1 m
    for factor, expected in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
        payload = payload_of(crank, factor * most, center_of_mass=[1.0, 0.0, 0.0])
        assert carries(limit, payload) == expected
        assert carries(limit, payload_of(crank, factor * most, frame='tool')) == expected
    heavy = r'payload of 2500 kg with .* is above max_payload of 8.194 kg, at which joint joint1'
    with pytest.raises(ControlError, match=heavy):
        limit.check(payload_of(crank, 2500.0, frame='tool'))
    weak = limit_of(crank, [19.0])
    with pytest.raises(ControlError, match=r'joint1 needs 19.62 for the arm alone, its effort'):
        weak.check(payload_of(crank, 0.1, frame='tool'))
    weak.check(payload_of(crank, 0.0))
    arm = robot_model(SIX_AXIS)
    weak = limit_of(arm, [1e5, 1e5, 1.0, 1e5, 1e5, 1e5])
    with pytest.raises(ControlError, match=r'joint3 needs .* for the arm alone.* limit is 1\.'):
        weak.check(payload_of(arm, 0.1))


def test_a_joint_without_gravity_must_accelerate_the_payload():
    """A horizontal linear axis: 1 g. An axis that feels inertia only: 9.81 rad/s^2."""
    rest = {'kind': 'axis', 'joints': ['joint1'], 'dynamic_model': 1}
    slide = build_model({**rest, 'type': 'linear'})
    limit = limit_of(slide, [50.0])
    most = 50.0 / G
    assert carries(limit, payload_of(slide, most))
    assert not carries(limit, payload_of(slide, most * (1.0 + 1e-6)))
    table = build_model({**rest, 'type': 'rotary'})
    limit = limit_of(table, [50.0])
    assert carries(limit, payload_of(table, 1.0, inertia=[5.09]))
    with pytest.raises(ControlError, match=r'inertia of 5.11 kg m\^2 is above its limit of 5.097'):
        limit.check(payload_of(table, 1.0, inertia=[5.11]))


def test_mass_and_inertia_are_those_of_one_body_within_the_reach():
    arm = robot_model(SIX_AXIS)
    limit = limit_of(arm, [1e5] * 6)
    for radius, expected in ((0.9, True), (1.1, False)):
        moment = 0.5 * (radius * limit.reach) ** 2
        payload = payload_of(arm, 0.5, inertia=[moment, 0.0, 0.0, moment, 0.0, moment])
        assert carries(limit, payload) == expected
    centre = [limit.reach, limit.reach, 0.0]  # far from the flange: parallel axes
    assert carries(limit, payload_of(arm, 0.5, center_of_mass=centre, inertia=[0.01] * 0))
    model = PayloadModel(arm=arm)
    for values, stddev, expected in (
        ([-1.0, *[0.0] * 9], 0.1, False),
        ([-0.1, *[0.0] * 9], 0.1, True),  # an empty gripper, identified
        ([0.0, *[0.0] * 3, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], 0.0, False),
        ([0.0, *[0.0] * 3, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], np.nan, True),  # not known alone
    ):
        identified = Payload(model, np.array(values), np.full(10, stddev))
        try:
            limit.check(identified)
            assert expected
        except ControlError as error:
            assert not expected and ('negative mass' in str(error) or 'no body of' in str(error))


def test_a_small_robot_may_carry_a_body_that_is_wider_than_its_reach():
    plain = (0.2, [0.0, 0.0, 0.0], [0.01, 0.01, 0.01])
    xml = urdf([body('revolute', [x, 0.0, 0.0], [0, 0, 1], *plain) for x in (0.0, 0.05)])
    small = robot_model(xml)
    limit = limit_of(small, [100.0, 100.0])
    assert limit.reach == pytest.approx(0.05)
    for radius, expected in ((0.25, True), (0.35, False)):
        moment = 0.3 * radius**2
        payload = payload_of(small, 0.3, inertia=[moment, 0.0, 0.0, moment, 0.0, moment])
        assert carries(limit, payload) == expected


def test_horizontal_joints_must_accelerate_the_payload_with_g_at_the_reach():
    plain = (1.0, [0.0, 0.0, 0.0], [0.1, 0.1, 0.1])
    xml = urdf([body('revolute', [x, 0.0, 0.0], [0, 0, 1], *plain) for x in (0.0, 0.5)])
    arm = robot_model(xml, friction=())
    # Joint 1 accelerates (0.5 + 0.2)^2 m^2 at a reach of 0.5 m, joint 2 holds 0.2 m.
    for effort, most in (([50.0, 50.0], 50.0 * 0.5 / 0.49), ([50.0, 3.0], 3.0 / 0.2)):
        limit = limit_of(arm, effort)
        assert limit.reach == pytest.approx(0.5)
        for factor, expected in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
            payload = payload_of(arm, factor * most / G, center_of_mass=[0.2, 0.0, 0.0])
            assert carries(limit, payload) == expected


def test_no_random_pose_of_six_axes_is_worse_than_the_one_found():
    arm = robot_model(SIX_AXIS)
    effort = np.array([1e5, 1400.0, 650.0, 1e5, 1e5, 1e5])
    limit = limit_of(arm, effort)
    payload = PayloadModel(arm=arm)
    low, high = joint_limits(payload.arm).T
    q = low + (high - low) * np.random.default_rng(5).uniform(size=(60000, 6))
    own = arm.torque(q, 0 * q, 0 * q, np.nan_to_num(arm.prior()))
    per_kg = payload.torque(q, 0 * q, 0 * q, payload.values_of(1.0))
    room = (effort - np.abs(own)) / np.maximum(np.abs(per_kg), 1e-12)
    found = room[:, 1:3].min()
    assert not carries(limit, payload_of(arm, 1.001 * found))
    assert carries(limit, payload_of(arm, 0.95 * found))


def test_the_limit_that_is_named_does_not_depend_on_what_was_tried():
    arm = robot_model(SIX_AXIS)
    limit = limit_of(arm, [1100.0, 1400.0, 650.0, 110.0, 100.0, 55.0])
    for mass in (2500.0, 1e9, 1e300, 1e308):
        with pytest.raises(ControlError, match=r'max_payload of 75\.07 kg') as refused:
            limit.check(payload_of(arm, mass))
        assert f'payload of {mass:.4g} kg is above' in str(refused.value)


@pytest.mark.parametrize('effort', [None, [1.0] * 6])
def test_a_given_max_payload_counts_in_place_of_efforts(effort):
    arm = robot_model(SIX_AXIS)
    limit = limit_of(arm, effort, max_payload=200.0)
    assert carries(limit, payload_of(arm, 200.0))
    assert not carries(limit, payload_of(arm, 200.0 * (1.0 + 1e-6)))
    reach = limit.reach
    for size, words in (
        ({'mass': 2500.0}, r'payload of 2500 kg is above max_payload of 200 kg: check the unit'),
        (
            {'mass': 10.0, 'center_of_mass': [0.0, 0.0, 21.0 * reach]},
            f'limit of {200 * reach:.4g} kg m ',
        ),
        (
            {'mass': 0.1, 'center_of_mass': [0.0, 0.0, 60.0 * reach]},
            rf'inertia of .* is above its limit of {200 * reach**2:.4g} kg',
        ),
    ):
        with pytest.raises(ControlError, match=words):
            limit.check(payload_of(arm, **size))


def test_without_effort_limits_a_max_payload_is_needed():
    arm = robot_model(SIX_AXIS)
    limit = limit_of(arm, None)
    limit.check(payload_of(arm, 0.0))
    with pytest.raises(ControlError, match=r'Set the parameter max_payload \(kg\)'):
        limit.check(payload_of(arm, 0.1))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ControlError, match='max_payload must be 0 kg or more'):
            limit_of(arm, None, max_payload=bad)
