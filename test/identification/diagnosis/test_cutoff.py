# SPDX-License-Identifier: Apache-2.0
"""A low pass too close to the motion is named as the cause, and nothing else is."""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.identification.diagnosis.cutoff import measure_removed_motion
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import build_model
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import low_pass

LINEAR = ({'type': 'linear', 'dynamic_model': 1}, [5.0, 8.0, 6.0], 2.0, 0.1)
CRANK = ({'type': 'rotary', 'dynamic_model': 3}, [0.8, 0.0, 3.0, 0.0, 0.4, 0.5], 0.5, 1.5)
"""Model, its parameters, frequency of the sine in [Hz], amplitude."""


def identified(axis, cutoff, noise=0.02):
    description, values, frequency, amplitude = axis
    friction = ['viscous', 'coulomb']
    model = build_model({'kind': 'axis', 'joints': ['j'], 'friction': friction, **description})
    time, omega = np.arange(20000) / 1000.0, 2.0 * np.pi * frequency
    q = amplitude * np.sin(omega * time)[:, None]
    qd = amplitude * omega * np.cos(omega * time)[:, None]
    torque = model.torque(q, qd, -(omega**2) * q, np.array(values))
    random = np.random.default_rng(0)
    recording = Recording(
        time=time,
        joints=('j',),
        position=q + 1e-6 * random.normal(size=q.shape),
        torque=torque + noise * torque.std() * random.normal(size=q.shape),
    )
    return identify(
        recording, model, options=IdentifyOptions(filter_cutoff=cutoff, consistent='no')
    )


@pytest.mark.parametrize(
    ('axis', 'cutoff', 'severity'),
    [
        (LINEAR, 2.2, 'error'),
        (LINEAR, 2.5, 'error'),
        (LINEAR, 3.0, 'error'),
        (CRANK, 0.6, 'error'),
        (CRANK, 0.9, 'warning'),
    ],
)
def test_a_cutoff_that_removes_motion_is_the_first_and_only_cause(axis, cutoff, severity):
    result = identified(axis, cutoff)
    first = result.findings[0]
    assert (first.code, first.joint, first.severity) == ('cutoff_too_low', 'j', severity)
    others = {item.code for item in result.findings[1:] if item.severity != 'info'}
    assert others <= {'too_few_samples'}
    assert result.success == (severity == 'warning')
    # The Butterworth filter of order 4 forwards and backwards, from its definition.
    removed = 1.0 - 1.0 / (1.0 + (axis[2] / cutoff) ** 8)
    shown = float(first.text.split(' removes ')[1].split('%')[0]) / 100.0
    assert shown == pytest.approx(removed, rel=0.1, abs=1e-4)
    assert f'at {cutoff:g} Hz' in first.message and '20 Hz' in first.message


@pytest.mark.parametrize('noise', [0.0, 0.02])
@pytest.mark.parametrize(
    ('axis', 'cutoff'), [(LINEAR, c) for c in (4.0, 6.0, 20.0)] + [(CRANK, c) for c in (1.5, 3.0)]
)
def test_a_cutoff_above_the_motion_gives_the_right_numbers_and_no_cause(axis, cutoff, noise):
    """Friction too: the torque of the fit keeps its corners, whatever the cut-off."""
    result = identified(axis, cutoff, noise)
    assert result.success and result.findings == ()
    expected = [value for value in axis[1] if value != 0.0]
    np.testing.assert_allclose(result.base_values, expected, rtol=0.025)


def test_noise_and_joints_at_rest_are_no_motion_that_is_removed():
    time = np.arange(20000) / 1000.0
    motion = np.sin(2.0 * np.pi * 2.0 * time)
    random = np.random.default_rng(3)
    noisy = motion + 0.05 * random.normal(size=20000)
    signals = SimpleNamespace(
        measured_position=np.column_stack([noisy, noisy, motion]),
        position=np.column_stack([0.98 * motion, low_pass(noisy, 20.0, 1000.0), 0.98 * motion]),
        used=np.ones((20000, 3), bool) & [True, True, False],
    )
    case = SimpleNamespace(signals=signals, rate=1000.0)
    np.testing.assert_allclose(measure_removed_motion(case, 20.0), [0.02, 0.0, 0.0], rtol=0.06)
    signals.position[:100] += 1.0  # a low pass has errors at both ends
    signals.position[-100:] += 1.0
    np.testing.assert_allclose(measure_removed_motion(case, 20.0), [0.02, 0.0, 0.0], rtol=0.06)
