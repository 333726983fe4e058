# SPDX-License-Identifier: Apache-2.0
"""Inertias of a simulated arm against the masses of its URDF."""

import re
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis import plausibility
from robodyn_ros.identification.diagnosis.case import draw, thinned
from robodyn_ros.identification.diagnosis.plausibility import (
    _mass_and_reach,
    inertia_findings,
)
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.serial.urdf import rigid_part

TWO = """
<robot name="two"><link name="base"/>
  <link name="one"><inertial><origin xyz="0 0.2 0"/><mass value="4"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="two"><inertial><origin xyz="0 0 0.3"/><mass value="2"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 1"/><limit lower="-3" upper="3" effort="50" velocity="3"/></joint>
  <joint name="b" type="revolute"><parent link="one"/><child link="two"/><axis xyz="0 1 0"/>
    <origin xyz="0.7 0 0"/><limit lower="-3" upper="3" effort="50" velocity="3"/></joint>
</robot>"""
XML = random_urdf(4, 12, types=('revolute',))
MODEL, TRUTH = arm(XML)
GOOD = record(MODEL, TRUTH, 3000, noise=0.02)


@pytest.mark.parametrize('unit', [1e3, 1e6])
@pytest.mark.parametrize('light', [1.0, 1e-3])
def test_times_in_another_unit_are_an_inertia_that_no_robot_has(unit, light):
    """A URDF whose masses are placeholders too: gravity shows more."""
    model = robot_model(with_masses(XML, light))
    case = case_of(model, replace(GOOD, time=unit * GOOD.time, velocity=None, acceleration=None))
    (found,) = inertia_findings(case, draw(case))
    assert (found.code, found.severity) == ('time_scale', 'error')
    shown = float(re.search(r'is (\S+) kg', found.text)[1])
    assert shown == pytest.approx(unit**2 * mean_inertias().max(), rel=0.2)
    right = case_of(model, GOOD)
    assert not list(inertia_findings(right, draw(right)))


@pytest.mark.parametrize(('longer', 'heavier'), [(2.0, 3.0), (0.5, 10.0)])
def test_mass_at_its_reach_goes_with_the_square_of_the_lengths(longer, heavier):
    mass, reach = mass_and_reach(XML)
    changed = mass_and_reach(with_masses(with_lengths(XML, longer), heavier))
    assert changed == pytest.approx((heavier * mass, longer * reach))
    recording = replace(GOOD, time=1e6 * GOOD.time, velocity=None, acceleration=None)
    case = case_of(robot_model(with_masses(XML, 1e3)), recording)
    (found,) = inertia_findings(case, draw(case))
    shown = float(re.search(r'has (\S+) at its reach', found.text)[1])
    assert shown == pytest.approx(1e3 * mass * reach**2, rel=0.01)


@pytest.mark.parametrize(
    ('times', 'gravity', 'driven', 'named'),
    [
        (0.95, 0.0, 9.0, False),
        (1.05, 0.0, 9.0, True),
        (1.05, 0.9, 9.0, True),
        (1.95, 2.0, 9.0, False),  # gravity shows twice the mass of the URDF
        (2.05, 2.0, 9.0, True),
        (1.05, 0.0, 0.11, True),
        (1.05, 0.0, 0.09, False),  # an inertia that is hardly felt may be wrong by any factor
    ],
)
def test_an_inertia_is_compared_with_the_mass_of_the_robot(
    monkeypatch, times, gravity, driven, named
):
    """The limit is a thousand times the mass at its reach."""
    case = case_of(MODEL, GOOD)
    sample, (mass, reach) = draw(case), mass_and_reach(XML)
    inertia = times * 1e3 * mass * reach**2 * np.eye(4)[1]
    held = gravity * mass * 9.80665 * reach * np.eye(4)[2]
    monkeypatch.setattr(plausibility, '_inertia_and_held_torque', lambda *_: (inertia, held))
    rows = thinned(sample.rows)
    torque = np.abs(case.signals.torque[rows, 1]).mean()
    acceleration = np.abs(case.signals.acceleration[rows, 1]).mean()
    slower = case.signals.acceleration * driven * torque / acceleration / inertia[1]
    case = replace(case, signals=replace(case.signals, acceleration=slower))
    found = [(item.code, item.joint) for item in inertia_findings(case, sample)]
    assert found == [('time_scale', 'joint2')] * named


def test_inertia_and_torque_at_rest_are_those_of_the_robot():
    found, held = plausibility._inertia_and_held_torque(case_of(MODEL, GOOD), GOOD.position)
    np.testing.assert_allclose(found, mean_inertias(), rtol=0.05)
    still = np.zeros_like(GOOD.position)
    gravity = MODEL.torque(GOOD.position, still, still, TRUTH)
    np.testing.assert_allclose(held, np.abs(gravity).mean(axis=0), rtol=0.05)


def mass_and_reach(xml):
    return _mass_and_reach(rigid_part(robot_model(xml)))


def with_lengths(xml, factor):
    return re.sub(
        r'(?<=<origin )xyz="([^"]*)"',
        lambda found: f'xyz="{" ".join(str(factor * float(each)) for each in found[1].split())}"',
        xml,
    )


def test_the_reach_ends_at_the_farthest_centre_of_mass():
    assert mass_and_reach(TWO) == pytest.approx((6.0, 0.7 + 0.3))


def mean_inertias():
    still, inertias = np.zeros_like(GOOD.position), []
    held = MODEL.torque(GOOD.position, still, still, TRUTH)
    for joint, unit in enumerate(np.eye(4)):
        pushed = MODEL.torque(GOOD.position, still, still + unit, TRUTH)
        inertias.append((pushed - held)[:, joint].mean())
    return np.array(inertias)


def with_masses(xml, factor):
    return re.sub(
        r'(mass value|i[xyz]{2})="([^"]*)"',
        lambda found: f'{found[1]}="{factor * float(found[2])}"',
        xml,
    )
