# SPDX-License-Identifier: Apache-2.0
import delta_mjcf
import numpy as np
import pinocchio as pin
import pytest
import yaml
from closed_form_oracle import body, urdf

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.delta import DeltaModel
from robodyn_ros.models.closed_forms.scara import ScaraModel
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import SumModel
from robodyn_ros.models.kinematics import (
    DeltaKinematics,
    ScaraKinematics,
    build_kinematics,
    kinematics_of,
)

ARMS = {'L1': 0.35, 'L2': 0.25}
RODS = {'R_b': 0.2, 'r_p': 0.045, 'L_AB': 0.35, 'L_BC': 0.8}
NAMES = ['one', 'two', 'three', 'four']
SENSES = [(3, 1, 1), (3, 1, -1), (4, 1, 1), (4, 1, -1), (4, -1, 1), (4, -1, -1)]


def scara(axes=4, s4=1, z=1):
    return ScaraKinematics(axes=axes, geometry={**ARMS, 's4': s4, 'z_sense': z})


def chain(axes, s4, z):
    """The same robot as a URDF in Pinocchio; the last body's frame is the tool."""
    bodies = [
        body('revolute', (0, 0, 0), (0, 0, 1), 1.0, (0, 0, 0), (1, 1, 1)),
        body('revolute', (ARMS['L1'], 0, 0), (0, 0, 1), 1.0, (0, 0, 0), (1, 1, 1)),
        body('prismatic', (ARMS['L2'], 0, 0), (0, 0, z), 1.0, (0, 0, 0), (1, 1, 1)),
        body('revolute', (0, 0, 0), (0, 0, s4), 1.0, (0, 0, 0), (1, 1, 1)),
    ]
    return pin.buildModelFromXML(urdf(bodies[:axes]))


def tool(model, q, qd, qdd):
    """Pose, velocity and acceleration of the last body by Pinocchio, each of n numbers."""
    data = model.createData()
    pin.forwardKinematics(model, data, q, qd, qdd)
    frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    last, turned = model.njoints - 1, model.nq > 3
    spot = data.oMi[last]
    speed = pin.getVelocity(model, data, last, frame)
    change = pin.getClassicalAcceleration(model, data, last, frame)
    return [
        np.append(linear, angular if turned else [])
        for linear, angular in (
            (spot.translation, np.arctan2(spot.rotation[1, 0], spot.rotation[0, 0])),
            (speed.linear, speed.angular[2]),
            (change.linear, change.angular[2]),
        )
    ]


def states(axes, count=25, seed=0, q2=(0.3, 2.8)):
    random = np.random.default_rng(seed)
    q = random.uniform(-1.0, 1.0, (count, axes))
    q[:, 1] = random.uniform(*q2, count)
    return q, *random.normal(size=(2, count, axes)) * [[[2.0]], [[8.0]]]


@pytest.mark.parametrize(('axes', 's4', 'z'), SENSES)
def test_a_scara_moves_as_its_urdf_does(axes, s4, z):
    kinematics, model = scara(axes, s4, z), chain(axes, s4, z)
    q, qd, qdd = states(axes, q2=(-2.8, -0.3) if z < 0 else (0.3, 2.8))
    moved = [tool(model, *state) for state in zip(q, qd, qdd, strict=True)]
    x, xd, xdd = (np.array(rows) for rows in zip(*moved, strict=True))
    if axes > 3:  # Pinocchio's matrix knows no whole turns
        x[:, 3] += 2 * np.pi * np.round((kinematics.forward(q)[:, 3] - x[:, 3]) / (2 * np.pi))
    np.testing.assert_allclose(kinematics.forward(q), x, rtol=0, atol=1e-12)
    found = [
        kinematics.motion(*(v[k : k + 1] for v in (x, xd, xdd)), near=q[k]) for k in range(25)
    ]
    for rows, expected in zip(zip(*found, strict=True), (q, qd, qdd), strict=True):
        np.testing.assert_allclose(np.concatenate(rows), expected, rtol=0, atol=1e-9)


def test_a_scaras_first_joint_keeps_whole_turns_and_its_elbows_side():
    kinematics = scara(3)
    q = np.array([[2.5 * np.pi, -1.0, 0.1]])
    pose = kinematics.forward(q)
    np.testing.assert_allclose(kinematics.inverse(pose, near=q[0]), q, atol=1e-12)
    usual = kinematics.inverse(pose)[0]
    assert usual[1] == pytest.approx(1.0)
    assert abs(usual[0]) < np.pi
    np.testing.assert_allclose(kinematics.forward(usual[None]), pose, atol=1e-12)


def delta_states(axes, count=15, seed=1):
    random = np.random.default_rng(seed)
    model = DeltaModel(joints=NAMES[:axes], geometry={**RODS, 'h_O': 0.1} if axes > 3 else RODS)
    q = model.positions(random.uniform(-1, 1, (count, axes)))
    return q, *random.normal(size=(2, count, axes)) * [[[2.0]], [[20.0]]]


def test_a_deltas_platform_is_where_mujoco_closes_its_loops():
    plant = delta_mjcf.DeltaPlant(RODS, delta_mjcf.random_bodies(3, False))
    kinematics = DeltaKinematics(axes=3, geometry=RODS)
    q, _, _ = delta_states(3)
    x = np.array([plant.torque(row, 0 * row, 0 * row)[1] for row in q])
    np.testing.assert_allclose(kinematics.forward(q), x, rtol=0, atol=1e-10)
    np.testing.assert_allclose(kinematics.inverse(x), q, rtol=0, atol=1e-9)


@pytest.mark.parametrize('axes', [3, 4])
def test_a_deltas_joint_motion_is_the_derivative_of_its_positions(axes):
    """Five-point differences of positions that the closure of the loops above has proved."""
    kinematics = DeltaKinematics(axes=axes, geometry=RODS)
    q, _, _ = delta_states(axes, count=8)
    centre = kinematics.forward(q)
    random = np.random.default_rng(2)
    speed, change = random.normal(size=(2, 8, axes)) * [[[0.8]], [[6.0]]]
    h = 1e-3
    rows = [
        kinematics.inverse(centre + t * speed + 0.5 * t * t * change)
        for t in h * np.array([-2, -1, 0, 1, 2])
    ]
    m2, m1, here, p1, p2 = rows
    found = kinematics.motion(centre, speed, change)
    np.testing.assert_allclose(found[0], here, atol=1e-12)
    np.testing.assert_allclose(found[1], (m2 - 8 * m1 + 8 * p1 - p2) / (12 * h), atol=1e-6)
    second = (-m2 + 16 * m1 - 30 * here + 16 * p1 - p2) / (12 * h**2)
    np.testing.assert_allclose(found[2], second, atol=1e-4)
    assert np.abs(found[2]).max() > 5.0


@pytest.mark.parametrize(
    ('kinematics', 'pose', 'message'),
    [
        (scara(3), [0.7, 0.0, 0.1], 'a scara cannot reach x, y, z = 700.0, 0.0, 100.0 mm'),
        (scara(3), [0.05, 0.0, 0.1], 'a scara cannot reach x, y, z = 50.0'),
        (scara(3), [np.nan, 0.0, 0.1], 'a scara cannot reach'),
        (DeltaKinematics(axes=3, geometry=RODS), [0.9, 0, -0.5], 'a delta cannot reach .* 900.0'),
        (DeltaKinematics(axes=3, geometry=RODS), [0, 0, -1.3], 'cannot reach .*-1300.0 mm'),
        (
            DeltaKinematics(axes=3, geometry=RODS),
            [0, 0, 0.7],
            'cannot reach .* 700.0 mm .sample 1',
        ),
    ],
)
def test_refuses_what_it_cannot_reach_and_says_where(kinematics, pose, message):
    fine = [[0.3, 0.1, 0.0]] if isinstance(kinematics, ScaraKinematics) else [[0, 0, -0.6]]
    kinematics.inverse(np.array(fine))
    with pytest.raises(ModelError, match=message):
        kinematics.inverse(np.array([*fine, pose]))


def test_refuses_a_velocity_where_the_robot_is_singular():
    stretched = np.array([[0.6, 0.0, 0.0]])
    np.testing.assert_allclose(scara(3).inverse(stretched), [[0, 0, 0]], atol=1e-7)
    with pytest.raises(ModelError, match=r'a scara is singular at x, y, z = 600.0, 0.0, 0.0 mm'):
        scara(3).motion(stretched, 0 * stretched, 0 * stretched)
    kinematics = DeltaKinematics(axes=3, geometry={**RODS, 'R_b': 0.045})
    low = np.array([[0.0, 0.0, -(RODS['L_AB'] + RODS['L_BC'])]])
    with pytest.raises(ModelError, match=r'a delta is singular at x, y, z = 0.0, 0.0, -1150.0 mm'):
        kinematics.motion(low, 0 * low, 0 * low)


@pytest.mark.parametrize('kinematics', [scara(3), scara(4, -1, -1)])
def test_is_found_from_models_and_descriptions(kinematics):
    assert build_kinematics(yaml.safe_load(yaml.safe_dump(kinematics.describe()))).describe() == (
        kinematics.describe()
    )
    joints = NAMES[: kinematics.axes]
    model = ScaraModel(joints=joints, geometry=kinematics.describe()['geometry'])
    friction = FrictionModel(joints=model.joints)
    assert kinematics_of(SumModel(parts=[model, friction])).describe() == kinematics.describe()
    delta = DeltaModel(joints=NAMES, geometry={**RODS, 'h_O': 0.1})
    assert kinematics_of(delta).describe() == {'kind': 'delta', 'axes': 4, 'geometry': RODS}


def test_refuses_other_robots_and_shapes_with_one_sentence():
    axis = build_model({'kind': 'axis', 'type': 'rotary', 'dynamic_model': 3, 'joints': ['one']})
    good = scara(3).describe()
    for wrong, message in (
        ({**good, 'kind': 'puma'}, "there are no kinematics of 'puma', there are: scara, delta"),
        ({**good, 'axes': 5}, 'a scara has 3 or 4 axes, got 5'),
        ({**good, 'geometry': 7}, 'kinematics: geometry must be a mapping .*, got 7'),
        ({**good, 'geometry': {'L1': 1.0}}, "the geometry of a scara: entry 'L2' is missing"),
        ({'urdf': 'a.urdf', 'axes': 6}, 'kinematics need kind, axes, geometry, or urdf'),
        ({'model': 6}, 'kinematics: model must be a text, got 6'),
        ({'kind': 'scara'}, 'kinematics need kind, axes, geometry, or urdf .* or model, got'),
    ):
        with pytest.raises(ModelError, match=message):
            build_kinematics(wrong)
    with pytest.raises(ModelError, match='there are no kinematics of'):
        kinematics_of(axis)
    with pytest.raises(ModelError, match=r'needs poses of shape \(N, 3\), got \(4, 4\)'):
        scara(3).inverse(np.zeros((4, 4)))
