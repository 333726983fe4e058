# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.case import draw
from robodyn_ros.identification.diagnosis.saturation import (
    _bent,
    _cut_off,
    _held_out,
    _with_friction,
    limit_of,
    saturation_findings,
)
from robodyn_ros.identification.factors.joint_fit import fit_joint

TIME = np.arange(3000) / 100.0
USED = np.ones(3000, dtype=bool)
BLOCKS = (np.arange(3000) // 300, np.arange(3000) // 100 % 6)
NOISE = 0.02 * np.random.default_rng(0).normal(size=3000)


VELOCITY = np.sin(TIME) + 0.6 * np.cos(1.7 * TIME)


def found(matrix, torque):
    fit = fit_joint(matrix, np.arange(matrix.shape[1]), torque + NOISE, USED)
    return limit_of(fit, BLOCKS, VELOCITY)


def test_a_limit_is_found_at_its_height():
    matrix = np.stack([np.sin(TIME), np.cos(1.7 * TIME), np.ones(3000)], axis=1)
    torque = matrix @ [3.0, 2.0, 0.5]
    assert found(matrix, torque) is None
    limit, beyond, share, friction = found(matrix, np.clip(torque, -4.0, 4.0))
    assert not friction
    assert limit == pytest.approx(4.0, rel=0.02)
    assert 4.2 < beyond <= 5.5
    assert share == pytest.approx(np.mean(np.abs(torque) > 4.0), rel=0.2)


def test_torque_near_a_limit_is_left_out_of_the_fit():
    matrix = np.stack([np.sin(TIME), np.cos(1.7 * TIME), np.ones(3000)], axis=1)
    torque = matrix @ [3.0, 2.0, 0.5]
    fit = fit_joint(matrix, np.arange(3), np.clip(torque, -4.0, 4.0) + NOISE, USED)
    size = np.abs(fit.torque)
    found = list(_cut_off(fit, BLOCKS, size))
    assert len(found) == 5 and 0.9 * 4.0 < size[found[-1][2]].max() < 0.95 * 4.0
    for errors, model, _ in found[1:]:
        assert errors.mean < 1.2 * np.sum(NOISE**2)  # cut off, nothing but noise is left
        np.testing.assert_allclose(model, np.abs(torque), atol=0.05)


def test_torque_that_bends_down_is_that_of_a_model_that_does_not():
    matrix = np.stack([np.sin(TIME), np.ones(3000)], axis=1)
    straight = matrix @ [4.0, 0.5]
    fit = fit_joint(matrix, np.arange(2), straight - 0.02 * straight**3 + NOISE, USED)
    ((errors, model, inside),) = _bent(fit, BLOCKS, np.abs(fit.torque))
    assert inside is None and errors.mean < 0.1 * np.sum(fit.rest**2)
    np.testing.assert_allclose(model, np.abs(straight), atol=0.2)
    fit = fit_joint(matrix, np.arange(2), straight + 0.02 * straight**3 + NOISE, USED)
    assert not list(_bent(fit, BLOCKS, np.abs(fit.torque)))


def test_friction_is_any_function_of_the_velocity():
    matrix = np.stack([np.cos(3.0 * TIME), np.ones(3000)], axis=1)
    knots = np.quantile(VELOCITY, np.linspace(0.0, 1.0, 11))
    friction = np.interp(VELOCITY, knots, np.random.default_rng(0).normal(size=11))
    fit = fit_joint(matrix, np.arange(2), matrix @ [2.0, 0.5] + friction, USED)
    basis = _with_friction(fit, VELOCITY).basis
    left = fit.torque - basis @ np.linalg.lstsq(basis, fit.torque, rcond=None)[0]
    np.testing.assert_allclose(left, 0.0, atol=1e-9)
    assert basis.shape[1] == 2 + 11


def test_errors_are_those_of_the_samples_that_were_left_out():
    matrix = np.stack([np.sin(TIME), np.cos(1.7 * TIME)], axis=1)
    fit = fit_joint(matrix, np.arange(2), matrix @ [3.0, 2.0] + 20.0 * NOISE, USED)
    kept, judged = TIME % 1.0 < 0.7, TIME % 1.0 > 0.4
    found = _held_out(fit, BLOCKS, kept, judged, limit=2.5)
    for kind, errors, samples in zip(BLOCKS, found.kinds, found.samples, strict=True):
        for fold in np.unique(kind):
            others, here = kept & (kind != fold), judged & (kind == fold)
            values = np.linalg.lstsq(matrix[others], fit.torque[others], rcond=None)[0]
            rest = np.clip(matrix[here] @ values, -2.5, 2.5) - fit.torque[here]
            assert errors[fold] == pytest.approx(rest @ rest) and samples[fold] == here.sum()


def test_torque_that_goes_on_is_not_cut_off():
    """Torque that the model lacks at its peaks is no saturation, nor a small loss within noise."""
    matrix = np.stack([np.sin(TIME), np.ones(3000)], axis=1)
    assert found(matrix, 4.0 * np.sin(TIME) + 0.8 * np.sin(TIME) ** 3) is None
    ripple = 0.3 * np.sin(20.0 * TIME)
    assert found(matrix, 4.0 * np.sin(TIME) - 0.2 * np.sin(TIME) ** 3 + ripple) is None
    assert found(matrix, np.clip(4.0 * matrix[:, 0], -2.6, 2.6)) is not None


@pytest.mark.parametrize('viscous', [0.0, 0.1, 0.3])
def test_a_plateau_of_friction_is_no_error_and_a_limit_on_it_is(viscous):
    acceleration = np.gradient(VELOCITY, TIME)
    matrix = np.stack([acceleration, np.sign(VELOCITY), VELOCITY, np.ones(3000)], axis=1)
    torque = np.tanh(VELOCITY / 0.3) + viscous * VELOCITY + 0.05 * acceleration
    limit = found(matrix, torque)
    assert limit is None or limit.friction
    carried = torque + 2.0 * acceleration
    assert not found(matrix, np.clip(carried, -1.5, 1.5)).friction


def test_a_fit_that_does_not_extrapolate_shows_no_limit():
    """A direction that only the largest torques show."""
    first = 4.0 * np.sin(TIME)
    second = np.where(np.abs(first) > 3.5, np.sin(9.0 * TIME), 0.0)
    assert found(np.stack([first, second], axis=1), first + 2.0 * second) is None


def test_a_healthy_recording_has_no_limit():
    model, truth = arm(random_urdf(2, 54, types=('revolute',)))
    case = case_of(model, record(model, truth, 2000, noise=0.02))
    assert not list(saturation_findings(case, draw(case)))
