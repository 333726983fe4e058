# SPDX-License-Identifier: Apache-2.0
import re
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record
from writers import write_csv

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.steps.held_out import check_held_out
from robodyn_ros.recording.readers import read_recording

MODEL, TRUTH = arm(random_urdf(2, 90, types=('revolute',)))
FIRST, SECOND, THIRD = (record(MODEL, TRUTH, 1500, noise=0.02, seed=k) for k in range(3))
JOINTS = MODEL.joint_names
LITTLE = r'the validation on .* has samples of .*, so its error says little .*--split'


def refused(recordings, validation):
    with pytest.raises(IdentificationError, match=LITTLE) as caught:
        check_held_out(recordings, validation, JOINTS)
    return str(caught.value)


def test_the_recording_of_the_fit_is_no_validation_whatever_its_file_or_order(tmp_path):
    write_csv(FIRST, tmp_path / 'again.csv')
    table = read_recording(tmp_path / 'again.csv')
    told = refused([SECOND, replace(FIRST, source='first')], table)
    assert 'again.csv has samples of first (about 100%' in told
    turned = FIRST.select(FIRST.joints[::-1])
    later = replace(turned, time=turned.time + 5.0)
    refused([FIRST], later)
    refused([FIRST, SECOND, FIRST], 'leave-one-out')


def test_another_run_of_the_same_motion_is_one():
    again = record(MODEL, TRUTH, 1500, noise=0.02, seed=0)
    noise = 1e-3 * np.random.default_rng(3).normal(size=again.torque.shape)
    for other in (SECOND, replace(again, torque=again.torque + noise)):
        check_held_out([FIRST], other, JOINTS)
    check_held_out([FIRST, SECOND], 'leave-one-out', JOINTS)
    check_held_out([FIRST, FIRST], None, JOINTS)


def test_a_part_of_the_recording_of_the_fit_is_no_validation():
    first, last = FIRST.split(0.7)
    refused([FIRST], last)
    refused([SECOND, first], replace(FIRST, time=FIRST.time + 9.0))
    assert check_held_out([first], last, JOINTS) == ()


def joined(*parts):
    """Return one recording of parts, one after the other."""
    signals = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ('position', 'velocity', 'acceleration', 'torque')
    }
    return replace(
        FIRST, time=FIRST.period * np.arange(len(signals['torque'])), source='joined', **signals
    )


def test_less_than_half_in_common_is_a_warning_with_its_share():
    (told,) = check_held_out([FIRST.split(0.7)[0]], FIRST.slice(slice(800, None)), JOINTS)
    assert told.severity == 'warning' and told.code == 'validation_shares_samples'
    share = float(re.search(r'about (\d+)%', told.text)[1])
    assert share == pytest.approx(100 * 250 / 700, abs=6)


def test_the_share_is_of_the_validation_and_of_all_that_is_fitted():
    fitted = [each.slice(slice(0, 500)) for each in (FIRST, SECOND)]
    long = joined(fitted[0], THIRD)
    (told,) = check_held_out(fitted, long, JOINTS)
    assert 'about 25% of it' in told.text
    told = refused(fitted, joined(*fitted, THIRD.slice(slice(0, 600))))
    assert 'about 62% of it' in told


def test_two_recordings_that_begin_at_the_same_standstill_are_different():
    still = 100

    def begun(own):
        position, torque = own.position.copy(), own.torque.copy()
        position[:still], torque[:still] = FIRST.position[0], FIRST.torque[0]
        return replace(own, position=position, torque=torque)

    check_held_out([begun(FIRST)], begun(SECOND), JOINTS)


def test_an_identification_refuses_it_before_the_fit():
    with pytest.raises(IdentificationError, match=LITTLE):
        identify(FIRST, MODEL, validation=FIRST)


ARM, VALUES = arm(random_urdf(3, 52, types=('revolute',)))


def validated(other):
    fitted = record(ARM, VALUES, 4000, noise=0.05, seed=1)
    result = identify(fitted, ARM, validation=other(fitted))
    repeats = any(item.code == 'validation_repeats' for item in result.findings)
    return repeats, result.verdict


@pytest.mark.parametrize('shift', [0, 700])
def test_a_repeated_motion_counts_with_errors_on_parts_left_out(shift):
    """Also from another moment on."""
    noise = np.random.default_rng(3)

    def repeat(recording):
        torque = recording.torque + noise.normal(0.0, 0.05, recording.torque.shape)
        rows = slice(shift, None)
        return replace(recording, torque=torque).slice(rows)

    repeats, verdict = validated(repeat)
    assert repeats and verdict.tested == 'held-out blocks'


def test_another_motion_is_no_repeat():
    repeats, verdict = validated(lambda _: record(ARM, VALUES, 4000, noise=0.05, seed=2))
    assert not repeats and verdict.tested == 'the validation'
