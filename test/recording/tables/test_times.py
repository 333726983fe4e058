# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.columns import signals_from
from robodyn_ros.recording.tables.table import Table

STEPS = np.arange(50)
WAVE = np.sin(0.1 * STEPS)


def read(mapping=None, **columns):
    return signals_from(Table({'q': WAVE, 'tau': 2 * WAVE, **columns}, 'x'), mapping)


@given(st.sampled_from([1, 10**3, 10**6, 10**9]), st.integers(3 * 10**8, 4 * 10**9))
def test_the_unit_of_an_epoch_is_recognised(factor, start):
    stamps = (
        start * factor + np.rint(0.25 * factor * STEPS) if factor > 1 else start + 0.25 * STEPS
    )
    signals = read(stamp=stamps)
    np.testing.assert_allclose(signals.time, 0.25 * STEPS, atol=1e-6)
    assert abs(signals.origin - start * 10**9) < 1000


@given(st.integers(0, 2**16), st.integers(1, 2000))
def test_a_counter_that_wraps_goes_on(start, step):
    ticks = (start + step * STEPS) % 2**16
    signals = read({'time': {'columns': 'ticks', 'unit': 'us'}}, ticks=ticks)
    np.testing.assert_allclose(np.diff(signals.time), 1e-6 * step, atol=1e-11)
    wrapped = (np.diff(ticks) < 0).any()
    assert ('signed_integers' in [each.code for each in signals.findings]) == wrapped


def test_a_restart_is_no_wrap():
    signals = read(time=np.concatenate([STEPS[:30], STEPS[:20]]).astype(float))
    assert (np.diff(signals.time) < 0).sum() == 1


@pytest.mark.parametrize('kind', ['uint16', 'float64'])
def test_signed_integers_of_16_bits(kind):
    torque = np.rint(3000 * WAVE)
    signals = read(time=STEPS * 0.1, tau=(torque % 2**16).astype(kind))
    np.testing.assert_array_equal(signals.values['torque'][:, 0], torque)
    assert signals.findings[-1].code == 'signed_integers'
    position = 65000.0 + 40 * STEPS
    signals = read(time=STEPS * 0.1, q=(position % 2**16).astype(kind))
    np.testing.assert_array_equal(signals.values['position'][:, 0], position - 2**16)


def test_all_joints_of_a_signal_are_signed_if_one_wraps():
    torque = np.rint(3000 * np.stack([WAVE, WAVE - 2, 0.5 * WAVE + 2, 0.1001 * WAVE], axis=1))
    torque[7, 1] = np.nan
    raw = torque % 2**16
    raw[:, 3] = 40000.5  # no integer
    signals = read(time=STEPS * 0.1, q=np.ones((50, 4)), tau=raw)
    np.testing.assert_array_equal(signals.values['torque'][:, :3], torque[:, :3])
    assert (signals.values['torque'][:, 3] == 40000.5).all()
    assert 'joint1, joint2, joint3 has' in signals.findings[-1].text


def test_unsigned_integers_that_do_not_wrap_stay():
    signals = read(time=STEPS * 0.1, tau=np.uint16(40000 + 100 * WAVE))
    assert signals.values['torque'].max() > 40000
    assert 'signed_integers' not in [f.code for f in signals.findings]


def test_seconds_and_nanoseconds_are_exact():
    signals = read(**{'header.stamp.secs': 1_700_000_000 + STEPS // 10, 'header.stamp.nsecs':
                      STEPS % 10 * 10**8 + 1})  # fmt: skip
    np.testing.assert_allclose(signals.time, 0.1 * STEPS + 1e-9, atol=1e-12)


@pytest.mark.parametrize('name', ['data.t', 'log/time', 'Time [s]', 'Zeit', '/js/header/stamp'])
def test_names_of_time(name):
    assert read(**{name: STEPS * 0.5}).time[-1] == 24.5


def table_of_pairs(shift, factor=1.0):
    time = 0.01 * STEPS
    return Table(
        {'time': time, 'q': WAVE, 'time.3': factor * time + shift, 'tau': time + shift}, 'x'
    )


def test_a_signal_with_other_stamps_is_interpolated():
    signals = signals_from(table_of_pairs(0.004))
    np.testing.assert_allclose(signals.values['torque'][1:, 0], signals.time[1:], atol=1e-12)
    assert np.isnan(signals.values['torque'][0, 0])
    assert signals.findings[0].code == 'interpolated_signals'
    assert signals_from(table_of_pairs(1e-9)).findings[0].code == 'joints_unnamed'


def test_a_signal_with_few_samples_is_refused():
    with pytest.raises(RecordingError, match='export all signals with one time'):
        signals_from(table_of_pairs(0.0, factor=1.8))


def test_rows_without_any_signal_are_left_out():
    holes = np.where(STEPS % 2, np.nan, WAVE)
    signals = read(time=STEPS * 0.1, q=holes, tau=holes)
    assert len(signals.time) == 25 and signals.findings[-1].code == 'empty_rows'
