# SPDX-License-Identifier: Apache-2.0
"""Learned thresholds and momentum observer of the controller plugin against those of the node."""

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from controller_build import program
from controller_models import MODELS
from detector_law import COUNT, PERIOD, Samples, by_plugin, check, learned, trouble
from writers import result_file

from robodyn_ros.control.collision.detector import Level
from robodyn_ros.control.collision.settings import RESIDUALS
from robodyn_ros.control.collision.thresholds_file import write_thresholds

BOTH = pytest.mark.parametrize('residual', RESIDUALS)
REST, PASSING = slice(2000, 2400), slice(4000, 4040)


def stop(samples):
    """Let all joints rest, and later pass standstill for a moment."""
    random = np.random.default_rng(7)
    for place in (REST, PASSING):
        samples.q[place] = samples.q[place.start]
        samples.qd[place] = 1e-6 * random.normal(size=samples.qd[place].shape)


def without_change(learn):
    """Thresholds that do not look for a change while the reference rests."""

    def changed(*given):
        made = learn(*given)
        return replace(made, map=replace(made.map, change=None))

    return changed


@BOTH
@pytest.mark.parametrize('name', ['load of six axes', 'scara', 'springs', 'delta3', 'rotary 2'])
def test_learned_thresholds_are_those_of_the_node(name, residual, tmp_path):
    level, threshold, fault = check(tmp_path, name, learn=learned(residual))
    assert set(np.unique(level)) == set(map(float, Level))
    assert set(fault) == {'none', 'settling'}
    assert (np.ptp(threshold[100:], axis=0) > 0.1).any()
    # Of pushes at rest, too.
    without = check(tmp_path, name, learn=without_change(learned(residual)))[0]
    assert (without <= level).all() and (without < level).any()


@pytest.mark.parametrize(
    ('seed', 'edges'),
    list(enumerate([(0, 0, 0), (3, 0, 0), (0, 2, 0), (0, 0, 3), (3, 2, 1), (5, 4, 3)])),
)
def test_any_layout_of_bands_gives_the_same_thresholds_in_motion_and_at_standstill(
    seed, edges, tmp_path
):
    made = []

    def learn(model, path, samples):
        made.append(learned(RESIDUALS[seed % 2], edges=edges, seed=seed)(model, path, samples))
        assert (np.abs(samples.qd).max(axis=0) > 1.1 * made[0].map.fastest).all()
        return made[0]

    _, threshold, _ = check(tmp_path, 'scara', stop, learn=learn, seed=seed)
    cells = made[0].map.collision
    np.testing.assert_allclose(threshold[REST.stop - 5], cells[:, -1], rtol=1e-12)
    passing, resting = np.isclose(threshold[PASSING.stop - 5], cells.T[[-2, -1]], rtol=1e-12)
    assert passing.any() and (passing | resting).all()  # some are slow before, too


@BOTH
@pytest.mark.parametrize('name', ['load of six axes', 'scara'])
def test_gaps_bad_and_frozen_samples_clocks_and_payloads_are_as_in_the_node(
    name, residual, tmp_path
):
    level, threshold, fault = check(tmp_path, name, trouble, learn=learned(residual))
    assert set(fault) == {'none', 'settling', 'state_refused', 'state_frozen', 'state_time_back'}
    assert not (level[fault != 'none'] == Level.OK).any()
    assert np.isfinite(threshold).all() and (threshold > 0.0).all()
    check(tmp_path, name, trouble, learn=learned(residual), frozen_timeout=0.0)


@pytest.mark.parametrize('name', ['load of six axes', 'scara', 'springs', 'delta3', 'rotary 2'])
def test_the_observer_with_constant_thresholds_is_that_of_the_node(name, tmp_path):
    level, _, _ = check(tmp_path, name, residual='observer', observer_bandwidth=22.0)
    assert set(np.unique(level)) == set(map(float, Level))


@pytest.mark.parametrize('name', ['load of six axes', 'scara'])
def test_the_observer_with_gaps_bad_samples_and_payloads_is_that_of_the_node(name, tmp_path):
    level, _, fault = check(tmp_path, name, trouble, residual='observer')
    assert set(fault) == {'none', 'settling', 'state_refused', 'state_frozen', 'state_time_back'}
    assert not (level[fault != 'none'] == Level.OK).any()


@BOTH
@pytest.mark.parametrize('ratio', [0.95, 1.05])
def test_a_file_of_a_slightly_other_period_is_used_with_its_period(residual, ratio, tmp_path):
    learn = learned(residual, period=ratio * PERIOD)
    level, _, _ = check(tmp_path, 'scara', learn=learn)
    assert set(np.unique(level)) == set(map(float, Level))


@BOTH
def test_debounce_of_the_file_holds(residual, tmp_path):
    first = []
    for debounce in (2, 80):
        (tmp_path / str(debounce)).mkdir()
        learn = learned(residual, debounce=debounce)
        level, _, _ = check(tmp_path / str(debounce), 'scara', learn=learn)
        first.append(int((level > Level.OK).any(axis=1).argmax()))
    assert first[1] >= first[0] + 78


def with_file(tmp_path, name, residual):
    """Return result file, samples, settings and thresholds file."""
    model = MODELS[name]()
    values = np.random.default_rng(1).uniform(0.1, 2.0, len(model.parameters))
    samples, path = Samples(model, values), result_file(tmp_path, model, values)
    trouble(samples)
    file = tmp_path / 'thresholds.yaml'
    write_thresholds(learned(residual)(model, path, samples), file)
    return path, samples, samples.settings(model), file


@BOTH
def test_the_same_under_the_sanitizers(residual, tmp_path):
    if not (Path(program('detector_check')).parent / 'sanitized').exists():
        pytest.skip('the plugin was built without ROBODYN_SANITIZERS')
    *given, file = with_file(tmp_path, 'load of six axes', residual)
    quiet = {**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'}
    name = 'sanitized/detector_check'
    found = by_plugin(*given, thresholds=file, name=name, env=quiet)
    expected = by_plugin(*given, thresholds=file)
    assert len(found[0]) == COUNT
    for one, other in zip(found[:4], expected[:4], strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


@BOTH
def test_time_of_a_sample_of_six_axes(residual, tmp_path):
    *given, file = with_file(tmp_path, 'six_axis', residual)
    runs = [by_plugin(*given, thresholds=file)[4] for _ in range(3)]
    # The quietest of three: what else runs on the machine is not the detector's.
    assert min(float(re.search(r'p99 ([\d.]+)', said)[1]) for said in runs) < 20.0, runs
