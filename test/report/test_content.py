# SPDX-License-Identifier: Apache-2.0
"""Links, friction, coverage, curves and torque errors of one identification."""

from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.identification.result.verdict import JointVerdict, Use, Verdict
from robodyn_ros.report.friction import friction_curves
from robodyn_ros.report.links import links
from robodyn_ros.report.verdict import list_purposes


def test_links_have_urdf_identified_values_and_intervals(source):
    found = links(source.model, source.values, source.stddevs)
    assert [link['name'] for link in found] == ['link1', 'link2']
    names = [item.name for item in source.model.parameters]
    at, prior = names.index('link2.m'), source.model.prior()
    mass, centre = found[1]['rows'][0], found[1]['rows'][1]
    assert (mass['prior'], mass['value']) == (prior[at], source.values[at])
    assert centre['value'] == pytest.approx(source.values[at + 1] / source.values[at])
    assert mass['observable'] == bool(np.isfinite(source.stddevs[at]))
    known = np.full_like(source.stddevs, 0.1)
    row = links(source.model, source.values, known)[1]['rows']
    assert row[0]['interval'] == pytest.approx(0.196) and row[9]['observable']
    # First-order error of a quotient, here by sampling.
    random = np.random.default_rng(0)
    m, mx = (source.values[at + k] + 1e-4 * random.normal(size=20000) for k in range(2))
    small = links(source.model, source.values, np.full_like(known, 1e-4))[1]['rows'][1]
    assert small['interval'] == pytest.approx(1.96 * (mx / m).std(), rel=0.05)


def test_friction_data_of_an_exact_model_lie_on_its_law(source):
    exact = replace(source.signals, torque=source.signals.predicted)
    thresholds = source.facts['identification']['velocity_threshold']
    rows = friction_curves(source.model, source.values, exact, thresholds)
    assert [row['name'] for row in rows] == ['joint1', 'joint2']
    for row, threshold in zip(rows, thresholds, strict=True):
        assert np.abs(row['speed']).min() > threshold
        wanted = np.interp(row['speed'], row['grid'], row['law'])
        np.testing.assert_allclose(row['torque'], wanted, atol=1e-6)


def test_joints_of_one_word_and_reason_are_named_together():
    care = Use('with care', ('sensor_delay',))
    used = {'a': Use(), 'b': care, 'c': care}
    joints = (
        *(JointVerdict(name, use, Use()) for name, use in used.items()),
        JointVerdict('idle', care, care, moved=False),
    )
    feedforward, monitoring, links = list_purposes(Verdict(joints, care))
    rows = [(row['word'], row['joints'], row['why']) for row in feedforward['words']]
    assert rows == [('with care', 'b, c', 'sensor delay'), ('usable', 'a', '')]
    assert [row['joints'] for row in monitoring['words']] == [''], 'all alike: none is named'
    assert links['words'][0]['why'] == 'sensor delay'
