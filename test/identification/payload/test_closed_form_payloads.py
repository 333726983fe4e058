# SPDX-License-Identifier: Apache-2.0
"""Payloads of the closed-form models: mass, inertia, and products with unknown levers."""

import numpy as np
import pytest
from payloads import (
    KINDS,
    base_of,
    built,
    identify_payload,
    motion,
    recorded,
)

from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.models.payload import payload_of


@pytest.mark.parametrize('name', KINDS)
def test_mass_and_inertia_of_the_documents_models(name, tmp_path):
    kind, joints, options, (mass, inertia) = KINDS[name]
    model = built(kind, joints, options)
    slower = 25.0 if kind == 'puma' else 1.0  # dynamic model 2 is for slow motion
    levers = model.prior()
    values = np.where(
        np.isnan(levers), np.random.default_rng(1).uniform(0.5, 1.5, len(levers)), levers
    )
    base = base_of(recorded(model, values, 1, slower=slower), model, tmp_path)
    payload = payload_of(model, mass, inertia=[inertia])
    loaded = recorded(model, values + payload.added, 2, slower=slower)
    result = identify_payload(loaded, base)
    assert result.success, result.findings
    np.testing.assert_array_equal(result.values, base.values)
    found = result.payload.payload
    known = np.isfinite(found.stddevs)
    assert known[0]
    error = np.abs(found.values - payload.values)[known]
    assert (error < 4.0 * found.stddevs[known]).all()
    assert (found.stddevs[known] < 0.1 * np.maximum(payload.values[known], 1.0)).all()
    reported = result.payload.without.relative_residual
    assert result.identification.relative_residual < 0.03 < reported
    write_result(result, tmp_path / 'loaded.yaml')
    back = load_identified_model(tmp_path / 'loaded.yaml')
    np.testing.assert_array_equal(back.values, base.values)
    _, *states = motion(model, 5.0, 1.3 * slower)
    expected = model.torque(*states, values + payload.added)
    deviation = np.linalg.norm(back.torque(*states) - expected, axis=0)
    assert (deviation < 0.02 * np.linalg.norm(expected, axis=0)).all()
    assert np.linalg.norm(base.torque(*states) - expected) > 0.02 * np.linalg.norm(expected)


def test_a_lever_that_is_not_known_leaves_the_products(tmp_path):
    model = built('axis', 1, {'type': 'rotary', 'dynamic_model': 3})
    values = np.array([0.8, 0.0, 3.0, 0.0, 0.4, 0.5])
    base = base_of(recorded(model, values, 1), model, tmp_path)
    added = np.array([4.0 * 0.09, 0.0, 4.0 * 2.943, 0.0, 0.0, 0.0])
    result = identify_payload(recorded(model, values + added, 2), base)
    assert result.success, result.findings
    found = result.payload.payload
    assert [item.name for item in found.model.parameters] == ['payload.I', 'payload.M*g*A']
    assert (np.abs(found.values - added[[0, 2]]) < 4.0 * found.stddevs).all()
    texts = {item.code: item.message for item in result.findings}
    assert 'To get its mass, give L^2, g*L in "prior"' in texts['payload_products']
    assert np.isnan(found.mass)


def test_a_point_is_assumed_where_mass_and_inertia_are_one_column(tmp_path):
    model = built('axis', 1, KINDS['rotary2'][2])
    values = np.array([0.8, 0.09, 0.4, 0.5])
    base = base_of(recorded(model, values, 1), model, tmp_path)
    added = payload_of(model, 4.0, inertia=[0.018]).added
    result = identify_payload(recorded(model, values + added, 2), base)
    found = result.payload.payload
    # 0.018 kg m^2 look like 0.2 kg on the lever
    assert abs(found.values[0] - 4.2) < 4.0 * found.stddevs[0]
    assert found.values[1] == 0.0 and np.isnan(found.stddevs[1])
    texts = {item.code: item.message for item in result.findings}
    assert "not distinguishable from the payload's mass" in texts['payload_partly_visible']
    assert result.base_expressions == ('payload.mass + 11.1111*payload.inertia',)
