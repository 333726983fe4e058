# SPDX-License-Identifier: Apache-2.0
import csv
import re

import numpy as np
import pytest
from robots import DATA, dh_urdf, random_states, random_urdf

from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.models.serial.urdf_file import UrdfWarning

HALF_PI = np.pi / 2
PUMA = [
    (0, 0, 0),
    (-HALF_PI, 0, 0.15),
    (0, 0.4318, 0.05),
    (HALF_PI, 0.0203, 0.4331),
    (-HALF_PI, 0, 0),
    (HALF_PI, 0, 0),
]
IIWA = [(0.34, 90), (0, -90), (0.4, -90), (0, 90), (0.4, 90), (0, -90), (0.126, 0)]


def chain(joints, inertials=None):
    """URDF of revolute joints at the given origins and axes, with inertial elements."""
    plain = (
        '<inertial><origin xyz="0.02 -0.03 0.1"/><mass value="3"/><inertia ixx="0.05" ixy="0.001" '
        'ixz="0.002" iyy="0.06" iyz="-0.003" izz="0.03"/></inertial>'
    )
    text = '<link name="link0"/>'
    for number, (origin, axis) in enumerate(joints, start=1):
        inertial = plain if inertials is None else inertials[number - 1]
        text += (
            f'<link name="link{number}">{inertial}</link>'
            f'<joint name="joint{number}" type="continuous"><parent link="link{number - 1}"/>'
            f'<child link="link{number}"/><origin {origin}/><axis xyz="{axis}"/></joint>'
        )
    return f'<robot name="chain">{text}</robot>'


def iiwa(inertials=None):
    """iiwa R800 with the link frames of its oracle: distal DH frames, parallel offsets only."""
    joints = []
    for offset, degrees in IIWA:
        angle = np.deg2rad(degrees)
        # Rz(q) Tz(b) Rx(alpha) = Tz(b) Rx(alpha) R(Rx(alpha)^T z, q)
        axis = np.round([0, np.sin(angle), np.cos(angle)], 12)
        joints.append(
            (f'xyz="0 0 {offset}" rpy="{angle} 0 0"', ' '.join(str(float(x)) for x in axis))
        )
    return chain(joints, inertials)


@pytest.mark.parametrize('joints', [1, 2, 5, 9])
def test_base_columns_carry_the_whole_regressor(joints):
    model = robot_model(random_urdf(joints, joints))
    base = base_parameters(model)
    regressor = model.regressor(*random_states(joints, 20, seed=5))
    kept = regressor[:, :, base.columns]
    np.testing.assert_allclose(kept @ base.grouping, regressor, rtol=0, atol=1e-10)
    assert base.rank == np.linalg.matrix_rank(_scaled(model))
    assert list(base.columns) == sorted(base.columns)
    np.testing.assert_array_equal(base.grouping[:, base.columns], np.eye(base.rank))
    values = np.random.default_rng(2).normal(size=len(model.parameters))
    np.testing.assert_allclose(kept @ base.values(values), regressor @ values, atol=1e-9)


def _scaled(model):
    """Column-scaled regressor at states of its own, a second way to the rank (by SVD)."""
    width = len(model.parameters)
    matrix = model.regressor(*random_states(len(model.joints), 120, seed=77)).reshape(-1, width)
    length = np.linalg.norm(matrix, axis=0)
    return matrix / np.where(length > 1e-12 * length.max(), length, np.inf)


def test_a_six_axis_arm_has_36_base_parameters_and_rotors_3_to_6():
    xml = dh_urdf(PUMA)
    base = base_parameters(UrdfModel.from_xml(xml))
    names = [text.split(' ')[0] for text in base.expressions]
    assert base.rank == 40
    assert [name for name in names if 'rotor' in name] == [
        f'joint{k}.rotor_inertia' for k in (3, 4, 5, 6)
    ]
    merged = ' '.join(base.expressions)
    assert 'joint1.rotor_inertia' in merged
    assert 'joint2.rotor_inertia' in merged
    assert base_parameters(UrdfModel.from_xml(xml, rotor_inertia=False)).rank == 36
    assert base_parameters(robot_model(xml)).rank == 58
    assert base.condition_number < 10


def test_rank_survives_rounded_angles():
    literal = dh_urdf([(round(alpha, 4), a, d) for alpha, a, d in PUMA])
    with pytest.warns(UrdfWarning):
        assert base_parameters(UrdfModel.from_xml(literal)).rank == 40


def oracle(name):
    path = DATA.parent / 'oracles' / name
    if not path.is_file():
        pytest.skip(f'no oracle of published figures {path}')
    with path.open(encoding='utf-8') as file:
        return list(csv.DictReader(file))


def iiwa_of_table1():
    """Model with the inertials of Table 1."""
    rows = oracle('kuka_iiwa_table1.csv')
    inertials = [
        f'<inertial><origin xyz="{row["rx"]} {row["ry"]} {row["rz"]}"/>'
        f'<mass value="{row["m"]}"/><inertia ixx="{row["Ixx"]}" iyy="{row["Iyy"]}" '
        f'izz="{row["Izz"]}" ixy="{row["Ixy"]}" iyz="{row["Iyz"]}" ixz="{row["Izx"]}"/>'
        f'</inertial>'
        for row in rows
    ]
    return UrdfModel.from_xml(iiwa(inertials), rotor_inertia=False)


def own_name(symbol):
    """Our name of a symbol of the oracle: Ixx2 is link2.Ixx, m3 is link3.m."""
    return f'link{symbol[-1]}.{symbol[:-1]}'


def coefficients(text):
    """Names and coefficients of a sum such as 'a - 0.4*b' or '+1*a -0.4*b'."""
    found = {}
    for sign, factor, name in re.findall(r'([+-]?) ?(?:([\d.]+)\*)?([A-Za-z][\w.]*)', text):
        found[name] = float(f'{sign}{factor or 1}')
    return found


def test_iiwa_rows_are_the_published_ones_in_value_and_combination():
    """All 43 rows of Table 2: which parameters, with which coefficients, and the value."""
    model = iiwa_of_table1()
    base = base_parameters(model)
    names = [item.name for item in model.parameters]
    rows = {own_name(row['independent_param']): row for row in oracle('kuka_iiwa_bps_oracle.csv')}
    assert [names[column] for column in base.columns] == [
        name for name in names if name in rows
    ] and len(rows) == 43
    values = base.values(model.prior())
    for index, column in enumerate(base.columns):
        row = rows[names[column]]
        expected = {own_name(k): v for k, v in coefficients(row['correct_expression']).items()}
        used = np.flatnonzero(base.grouping[index])
        assert {names[k]: base.grouping[index, k] for k in used} == pytest.approx(
            expected, abs=1e-9
        )
        assert coefficients(base.expressions[index]) == pytest.approx(expected, abs=1e-9)
        assert values[index] == pytest.approx(
            float(row['computed_from_table1']), rel=1e-10, abs=1e-13
        )


def test_a_column_is_independent_from_a_share_of_its_length_on():
    friction = FrictionModel(joints=[Joint('a')], terms=['viscous', 'offset'])
    for tilt, rank in ((1e-3, 2), (1e-6, 2), (1e-8, 1), (0.0, 1)):
        friction.regressor = lambda q, qd, qdd, tilt=tilt: np.stack([qd, qd + tilt * q], axis=2)
        assert base_parameters(friction).rank == rank
