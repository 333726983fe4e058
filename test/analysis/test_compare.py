# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from prg_results import KINDS
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.analysis.compare import CAD, MIXED, RESULT, cad_model, compare
from robodyn_ros.errors import ModelError
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model

XML = random_urdf(3, 40, types=('revolute',))


def identified(model, values, facts=None):
    stddevs = np.full(len(values), np.nan)
    content = {'dynamic_model': model_parameters(model, values, stddevs)}
    return load_identified_model(content | {'identification': facts or {}})


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    """URDF as designed, its model with other links and friction, and a recording of that."""
    urdf = tmp_path_factory.mktemp('cad') / 'cad.urdf'
    urdf.write_text(XML)
    model, truth = arm(XML)
    random = np.random.default_rng(1)
    for _, own in bodies_of(model).links:
        truth[list(own)] *= random.uniform(0.7, 1.4)
    return urdf, model, truth, record(model, truth, 600)


def test_base_parameters_side_by_side(robot):
    urdf, model, truth, recording = robot
    base = base_parameters(model)
    facts = {
        'base_parameter_expressions': list(base.expressions),
        'base_parameter_stddevs': np.linspace(0.1, 0.2, base.rank).tolist(),
    }
    rows = compare(urdf, identified(model, truth, facts), recording).rows
    assert [row.expression for row in rows] == list(base.expressions)
    assert [row.unit for row in rows] == list(base.units)
    np.testing.assert_allclose([row.stddev for row in rows], np.linspace(0.1, 0.2, base.rank))
    np.testing.assert_allclose([row.result for row in rows], base.values(truth))
    designed = base.values(np.nan_to_num(model.prior()))
    for row, value in zip(rows, designed, strict=True):
        about_links = 'link' in row.expression or 'base' in row.expression
        assert np.isnan(row.cad) != about_links
        if about_links:
            assert row.cad == pytest.approx(value)
            assert row.difference == pytest.approx(row.result - value)
    assert sum(np.isnan(row.cad) for row in rows) >= 9  # nine friction parameters


def test_torque_errors_are_those_of_each_robot(robot):
    urdf, model, truth, recording = robot
    comparison = compare(urdf, identified(model, truth), recording)
    assert [each.name for each in comparison.torques] == [CAD, MIXED, RESULT]
    error = {each.name: each.report.rms_error for each in comparison.torques}
    assert error[RESULT].max() < 1e-9
    plain = pin.buildModelFromXML(XML)  # the URDF alone, by another way
    data = plain.createData()
    states = zip(recording.position, recording.velocity, recording.acceleration, strict=True)
    torque = np.array([pin.rnea(plain, data, *state) for state in states])
    expected = np.sqrt(np.mean((recording.torque - torque) ** 2, axis=0))
    np.testing.assert_allclose(error[CAD], expected, rtol=1e-6)
    friction = np.array(truth)
    friction[[index for _, own in bodies_of(model).links for index in own]] = 0.0
    torque += model.torque(
        recording.position, recording.velocity, recording.acceleration, friction
    )
    expected = np.sqrt(np.mean((recording.torque - torque) ** 2, axis=0))
    np.testing.assert_allclose(error[MIXED], expected, rtol=1e-6)
    assert comparison.findings == ()


def test_a_closed_form_result_has_torques_only(tmp_path):
    axis = (
        '<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0.2 0 0"/>'
        '<mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        '</inertial></link><joint name="axis" type="revolute"><parent link="base"/>'
        '<child link="arm"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" '
        'velocity="3"/></joint></robot>'
    )
    (tmp_path / 'axis.urdf').write_text(axis)
    description = {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['axis']}
    model = build_model(description)
    truth = np.array([0.3])
    comparison = compare(
        tmp_path / 'axis.urdf', identified(model, truth), record(model, truth, 300)
    )
    assert comparison.rows == () and [e.name for e in comparison.torques] == [CAD, RESULT]
    assert [finding.code for finding in comparison.findings] == ['no_base_comparison']
    # About the vertical axis the URDF has 0.1 + 2 * 0.2^2 = 0.18 of the 0.3 kg m^2.
    first, second = comparison.torques
    assert first.report.joint_relative_residual[0] == pytest.approx(0.4, rel=1e-6)
    assert second.report.joint_relative_residual[0] < 1e-12


def test_another_robot_is_refused(robot):
    urdf, *_ = robot
    model = build_model({**KINDS['scara'], 'dynamic_model': 1})
    with pytest.raises(ModelError, match='has no moving joint'):
        cad_model(urdf, model)


def test_torque_that_comes_late_is_shifted_as_in_an_identification(robot):
    urdf, model, truth, _ = robot
    recording = record(model, truth, 4000, noise=0.01, derivatives=False, rate=250.0)
    late = np.roll(recording.torque, 3, axis=0)
    shifted = replace(recording, torque=late).slice(slice(100, -100))
    compared = compare(urdf, identified(model, truth), shifted)
    told = [f for f in compared.findings if f.code == 'time_offset']
    assert [f.joint for f in told] == list(model.joint_names)
    times = [float(f.text.split(' ms')[0].split()[-1]) for f in told]
    np.testing.assert_allclose(times, 12.0, rtol=0.15)
    error = {item.name: item.report.relative_residual for item in compared.torques}
    assert error[RESULT] < 0.05
    as_is = IdentifyOptions(time_offset='no')
    without = compare(urdf, identified(model, truth), shifted, options=as_is)
    worse = {item.name: item.report.relative_residual for item in without.torques}
    assert worse[RESULT] > 2.0 * error[RESULT]
    assert not [f for f in without.findings if f.code == 'time_offset']
