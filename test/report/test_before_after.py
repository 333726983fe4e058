# SPDX-License-Identifier: Apache-2.0
"""What the identification gained, against errors computed here from the same signals."""

from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.report.before_after import before_after
from robodyn_ros.report.page import page_text


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
