# SPDX-License-Identifier: Apache-2.0
"""Errors of the URDF, with friction, and of the result, against those computed by the test."""

from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf

from robodyn_ros.models.catalog import robot_model
from robodyn_ros.report import before_after as before_after_module
from robodyn_ros.report.before_after import before_after
from robodyn_ros.report.numbers import choose_evenly
from robodyn_ros.report.page import page_text
from robodyn_ros.report.source import ReportSignals, ReportSource


def percent(text):
    return float(text.removesuffix(' %'))


def test_errors_of_the_urdf_with_friction_and_of_the_result(source, result):
    kept, model = source.signals, source.model
    facts = source.facts['identification']
    reference = np.divide(facts['rms_error'], facts['relative_error'])
    gain = before_after(source, reference)
    rows = (np.abs(kept.velocity) > facts['velocity_threshold']).any(axis=1)
    motion = kept.position[rows], kept.velocity[rows], kept.acceleration[rows]
    names = [each.name for each in model.parameters]
    ours = np.array([name.startswith('link') for name in names])
    urdf = np.nan_to_num(model.prior())
    for column, values in enumerate((urdf, np.where(ours, urdf, source.values))):
        error = model.torque(*motion, values) - kept.torque[rows]
        expected = 100.0 * np.sqrt(np.mean(error**2, axis=0)) / reference
        shown = [percent(row['texts'][column]) for row in gain['rows']]
        np.testing.assert_allclose(shown, expected, rtol=0.03, atol=0.3)
    table = [100.0 * each for each in facts['relative_error']]
    np.testing.assert_allclose(
        [percent(row['texts'][2]) for row in gain['rows']], table, rtol=6e-3
    )
    assert gain['joint'] in gain['text'] and len(gain['chart']['lines']) == 3


@pytest.mark.parametrize('without', ['signals', 'model'])
def test_there_is_no_such_section_without_signals_or_masses(source, without):
    bare = replace(source, **{without: None})
    assert before_after(bare, np.ones(2)) is None
    assert 'id="gain"' not in page_text(bare) and 'id="gain"' in page_text(source)


def test_a_failure_and_a_payload_gain_nothing(source):
    for facts in ({'success': False}, {'payload': {'mass': 1.0}}):
        changed = replace(source, facts={**source.facts, **facts})
        assert before_after(changed, np.ones(2)) is None


def test_slips_count_although_few_samples_are_looked_at(monkeypatch):
    """The deflection of a slip depends on the samples between."""
    model = robot_model(random_urdf(2, 3, types=('revolute',)), friction=['coulomb', 'slip'])
    urdf = np.nan_to_num(model.prior())
    values = urdf + [float('friction' in item.name) for item in model.parameters]
    phase = np.linspace(0.0, 60.0, 6000)[:, None] * [1.0, 1.7]
    motion = 0.02 * np.sin(phase), 0.02 * np.cos(phase), -0.02 * np.sin(phase)
    torque = model.torque(*motion, values)
    signals = ReportSignals(phase[:, 0], *motion, torque, torque)
    facts = {'success': True, 'joints': model.joint_names,
             'identification': {'velocity_threshold': [0.0, 0.0]}}  # fmt: skip
    monkeypatch.setattr(before_after_module, 'SAMPLES', 40)
    gain = before_after(ReportSource(facts, model, values, signals=signals), np.ones(2))
    left = torque - model.torque(*motion, urdf)
    size = np.sqrt(np.mean(left[choose_evenly(6000, 40)] ** 2, axis=0))
    for row, expected in zip(gain['rows'], size, strict=True):
        assert percent(row['texts'][0]) == pytest.approx(100.0 * expected, rel=6e-3)
        assert [percent(each) for each in row['texts'][1:]] == pytest.approx([0.0, 0.0], abs=1e-6)
