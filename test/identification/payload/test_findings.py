# SPDX-License-Identifier: Apache-2.0
"""Findings on payloads, from values and standard deviations made up for each."""

from types import SimpleNamespace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm

from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.payload.estimate import scalar_findings
from robodyn_ros.identification.payload.findings import (
    arm_findings,
    base_findings,
    body_findings,
    payload_data_findings,
    share_findings,
)
from robodyn_ros.identification.result.verdict import (
    JointVerdict,
    Use,
    Verdict,
    make_unknown_verdict,
)
from robodyn_ros.identification.result.weighted import Weighted
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.payload import PayloadModel, payload_of

ARM, _ = arm(random_urdf(2, 5, types=('revolute',)))
BODY = payload_of(ARM, 2.0, center_of_mass=[0.1, 0.0, 0.2], inertia=[0.01, 0, 0, 0.01, 0, 0.01])
SCARA = PayloadModel(
    arm=build_model(
        {
            'kind': 'scara',
            'dynamic_model': 1,
            'joints': ['a', 'b', 'c', 'd'],
            'geometry': {'L1': 0.3, 'L2': 0.25},
        }
    )
)
BOTH = SimpleNamespace(columns=np.array([0, 1]), grouping=np.eye(2))


def test_bodies():
    assert not list(body_findings(BODY.model, BODY.values, Weighted(excess=1.0)))
    (found,) = body_findings(BODY.model, BODY.values, Weighted(excess=1.4))
    assert (found.code, found.severity) == ('payload_contradicted', 'warning')
    assert 'is 1.40 times that' in found.text
    (found,) = body_findings(BODY.model, -BODY.values, Weighted())
    assert (found.code, found.severity) == ('payload_not_physical', 'error')
    assert 'mass -2 kg' in found.text
    flat = np.array(BODY.values)
    flat[4:] = 0.0  # no inertia although the mass is off the origin
    (found,) = body_findings(BODY.model, flat, Weighted())
    assert found.severity == 'warning'


def held_out(*errors):
    return HeldOut((np.array(errors),), (np.ones(len(errors)),))


@pytest.mark.parametrize(
    ('free', 'named'), [((1.0, 1.1, 0.9, 1.0), True), ((8.0, 9.0, 7.0, 8.0), False)]
)
def test_an_arm_that_is_not_that_of_the_base(free, named):
    found = list(arm_findings((held_out(10.0, 11.0, 9.0, 10.0), held_out(*free))))
    assert [item.code for item in found] == ['arm_changed'] * named
    if named:
        assert found[0].severity == 'warning' and '10.0%' in found[0].text
    assert not list(arm_findings(None))


@pytest.mark.parametrize(
    ('mass', 'severity', 'text'),
    [
        (-0.1, 'info', '0 within its standard deviation 0.1, and 0 is used'),
        (-0.29, 'info', '0 within its standard deviation 0.1'),
        (-0.31, 'error', 'which no body has'),
        (
            -0.5,
            'error',
            'which no body has. Check that the base result was identified without payload.',
        ),
    ],
)
def test_negative_masses(mass, severity, text):
    values, spread = np.array([mass, 0.2]), np.array([0.1, 0.01])
    (found,) = scalar_findings(SCARA, BOTH, values, spread)
    assert (found.code, found.severity) == ('payload_not_physical', severity)
    assert text in found.message and "payload's mass is" in found.text


def test_parameters_that_are_not_seen():
    merged = SimpleNamespace(columns=np.array([0]), grouping=np.array([[1.0, 11.1]]))
    (found,) = scalar_findings(SCARA, merged, np.array([1.0, 0.0]), np.array([0.1, np.nan]))
    assert "payload's inertia is not distinguishable from the payload's mass" in found.text
    hidden = SimpleNamespace(columns=np.array([0]), grouping=np.array([[1.0, 0.0]]))
    (found,) = scalar_findings(SCARA, hidden, np.array([1.0, 0.0]), np.array([0.1, np.nan]))
    assert 'inertia has no effect in this motion' in found.text
    assert not list(scalar_findings(SCARA, BOTH, np.ones(2), np.ones(2)))


def test_failed_bases_and_short_recordings():
    bad = Use('not usable')
    verdict = Verdict((JointVerdict('a', bad, bad), JointVerdict('b', bad, Use())), Use())
    (found,) = base_findings(SimpleNamespace(verdict=verdict, source='base.yaml'))
    assert found.code == 'base_failed' and 'base.yaml is not usable for a.' in found.text
    assert not list(base_findings(SimpleNamespace(verdict=make_unknown_verdict(['a']), source='')))
    seen = SimpleNamespace(rank=2)
    (found,) = payload_data_findings(seen, SimpleNamespace(samples=np.array([9, 10])))
    assert (found.code, found.severity) == ('too_few_samples', 'error')
    assert not list(payload_data_findings(seen, SimpleNamespace(samples=np.array([10, 10]))))


@pytest.mark.parametrize(('mass', 'visible'), [(0.29, False), (-0.29, False), (0.31, True)])
@pytest.mark.parametrize('alone', [True, False])
def test_a_payload_is_visible_from_three_standard_deviations(mass, visible, alone):
    """Of a parameter, or of a combination that only the fit has."""
    model, report = SimpleNamespace(products=(), parameters=()), SimpleNamespace
    single = np.array([0.1 if alone else np.nan])
    payload = SimpleNamespace(model=model, values=np.array([mass]), stddevs=single)
    facts = SimpleNamespace(payload=payload, without=report(relative_residual=0.2))
    fit = SimpleNamespace(values=np.array([0.0 if alone else mass]), stddevs=np.array([0.1]))
    found = share_findings(facts, BOTH, fit, report(relative_residual=0.1))
    assert ('payload_not_visible' in {item.code for item in found}) is not visible
