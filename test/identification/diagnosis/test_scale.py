# SPDX-License-Identifier: Apache-2.0
"""Gravity against inertia of a simulated arm."""

import re
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.case import draw
from robodyn_ros.identification.diagnosis.scale import inertia_findings, scaled_gravity
from robodyn_ros.identification.diagnosis.trial import Trial
from robodyn_ros.models.catalog import robot_model

XML = random_urdf(4, 12, types=('revolute',))
MODEL, TRUTH = arm(XML)
GOOD = record(MODEL, TRUTH, 3000, noise=0.02)


def found_in(factor, model=MODEL):
    stretched = replace(
        GOOD,
        time=factor * GOOD.time,
        velocity=GOOD.velocity / factor,
        acceleration=GOOD.acceleration / factor**2,
    )
    case = case_of(model, stretched)
    present = Trial.of(case, draw(case))
    return present, scaled_gravity(present)


@pytest.mark.parametrize('factor', [0.1, 0.5, 0.65, 1.5, 3.0, 10.0])
def test_a_wrong_scale_of_time_is_measured(factor):
    present, found = found_in(factor)
    described, corrected = found
    item = described(evidence='')
    assert item.code == 'time_scale' and f'about {factor:.2g} times' in item.text, item.text
    assert corrected.fitted()[1] < 0.1 * present.fitted()[1]


@pytest.mark.parametrize('factor', [0.8, 1.3])
def test_near_one_it_is_the_size_of_the_robot(factor):
    """Lengths that are wrong by a factor, and times by its root, are the same to torques."""
    _, (described, _) = found_in(factor)
    item = described(evidence='')
    assert item.code == 'wrong_size'
    assert f'about {factor**2:.2g} times' in item.text, item.text


def test_without_gravity_there_is_nothing_to_compare():
    floating, _ = arm(XML, gravity=(0.0, 0.0, 0.0))
    assert found_in(1.0, floating)[1] is None
    assert np.isfinite(found_in(1.0)[1][1].regressor).all()


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
