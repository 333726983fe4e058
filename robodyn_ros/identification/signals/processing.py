# SPDX-License-Identifier: Apache-2.0
"""Signals of a recording made ready for identification: filtered, differentiated, masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import scipy  # its parts at their first use: scipy.signal takes half a second

from robodyn_ros.errors import IdentificationError, InsufficientData, RobodynError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import Cutoffs, lowest_cutoff, moving_joints
from robodyn_ros.identification.signals.grid import Grid, mask_gaps
from robodyn_ros.identification.signals.moving_samples import speed_findings, thresholds
from robodyn_ros.identification.signals.processed import Mask, Processed, constant
from robodyn_ros.identification.signals.thinning import Thinning
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import central_differences, check_cutoff, low_pass


def process(
    recording: Recording,
    joints: Sequence[str],
    options: IdentifyOptions,
    *,
    cutoffs: Cutoffs | None = None,
    grid: Grid | None = None,
) -> Processed:
    """Filter, differentiate and mask the signals of the given joints.

    Position and torque go through a zero-phase Butterworth low pass; velocity and acceleration
    are central differences of the filtered position. A requested cut-off is that of both. Else
    that of the torque is the highest one. Two periods of the position's cut-off frequency are cut
    from both ends.

    :param cutoffs: None: by the spectrum
    :param grid: of the recording with these joints, if it is known
    :raises RecordingError: a joint is not in the recording, or a cut-off that its sampling rate
        does not carry
    :raises IdentificationError: too few samples for the filter, or no accelerations where the
        options say that they are given
    """
    if recording.joints != tuple(joints):  # select copies
        recording = recording.select(joints)
    if uses_given(recording, options):
        return _take_recorded(recording, options)
    grid = grid or Grid.of(recording)
    uniform, frozen, rate = grid.recording, ~grid.moving, 1.0 / grid.recording.period
    cutoffs = _choose_cutoffs(grid, options, cutoffs)
    gaps = mask_gaps(grid.gaps, rate, cutoffs.used)
    margin = int(np.ceil(2.0 * rate / cutoffs.used))
    position = low_pass(uniform.position, cutoffs.used, rate)
    position[:, frozen] = position[:, frozen].mean(axis=0)  # the rest is noise
    velocity = central_differences(position, uniform.time)
    motion = (position, velocity, central_differences(velocity, uniform.time))
    torque = low_pass(uniform.torque, cutoffs.highest, rate)
    usable = ~gaps[:, None] & ~frozen
    signals = _mark_samples(uniform, len(recording), options, motion, torque, usable)
    signals = replace(signals, gaps=gaps if gaps.any() else None)
    return replace(
        signals.cut(slice(margin, len(uniform) - margin)),
        cutoff=cutoffs.used,
        thinning=_thinning(rate, options) or thinning_for(rate, cutoffs.highest),
        findings=(
            *grid.findings,
            *signals.findings,
            *standstill_findings(uniform, frozen),
        ),
    )


def thinning_for(rate: float, cutoff: float) -> Thinning:
    """Return low pass and decimation to four times the cut-off, at most the sampling rate.

    Regressor and torque go through the same filter, so that the equation between them stays
    exact although Coulomb friction has corners (parallel decimation; Gautier, "Dynamic
    identification of robots with power model", 1997).

    :param rate: sampling rate, in [Hz]
    :param cutoff: in [Hz]
    """
    stride, step = max(1, int(rate / (4.0 * cutoff))), 1
    if stride >= 4:  # beyond four times its cut-off a motion has nothing
        step = max(each for each in range(1, stride // 2 + 1) if stride % each == 0)
    edge = min(2.0 * cutoff, 0.45 * rate)
    return Thinning(scipy.signal.firwin(8 * stride + 1, edge, fs=rate), stride, step)


def _thinning(rate: float, options: IdentifyOptions) -> Thinning | None:
    """Return the low pass and decimation that the options ask for."""
    stride = options.decimation
    if stride is None or stride == 1:
        return None if stride is None else Thinning()
    return Thinning(scipy.signal.firwin(8 * stride + 1, 0.4 * rate / stride, fs=rate), stride)


def _choose_cutoffs(grid: Grid, options: IdentifyOptions, given: Cutoffs | None = None) -> Cutoffs:
    """Return the cut-off that is asked for, or the given or automatic ones."""
    source, rate, count = grid.recording.source, 1.0 / grid.recording.period, len(grid.gaps)
    shortest, asked = 24, options.filter_cutoff
    if count >= shortest:
        if asked is not None:
            try:
                check_cutoff(asked, rate)
            except RobodynError as error:
                raise IdentificationError(f'{source}: {error}') from error
            result = Cutoffs(asked, asked, asked)
        else:
            result = given or grid.cutoffs
            carried = min(6.0 * rate / (count - 1), lowest_cutoff(rate))
            result = result.at(max(result.used, carried))
        shortest = int(np.ceil(6.0 * rate / result.used))
    if count < shortest:
        raise InsufficientData(
            f'{source}: {count} samples at {rate:g} Hz are too few to filter '
            f'and differentiate, at least {shortest} are needed'
        )
    return result


def uses_given(recording: Recording, options: IdentifyOptions) -> bool:
    """Return True if velocities and accelerations are used as the recording has them.

    Accelerations that do not change while the velocity does, such as a column of zeros, are none.

    :raises IdentificationError: it has none, where the options say that they are given
    """
    velocity, acceleration = recording.velocity, recording.acceleration
    complete = (
        velocity is not None
        and acceleration is not None
        and not (constant(acceleration) & ~constant(velocity)).any()
    )
    if options.derivatives == 'given' and not complete:
        raise IdentificationError(
            f'{recording.source}: it has no velocities and accelerations to be used as given'
        )
    if options.derivatives == 'auto' and options.filter_cutoff is not None:
        return False
    return complete and options.derivatives != 'computed'


def _take_recorded(recording: Recording, options: IdentifyOptions) -> Processed:
    """Return recorded velocities and accelerations unchanged; filter the torque if requested."""
    velocity, acceleration = recording.velocity, recording.acceleration
    assert velocity is not None and acceleration is not None
    torque = recording.torque
    if options.filter_cutoff is not None:
        grid = Grid(recording, np.zeros(len(recording), dtype=bool), ())
        torque = low_pass(torque, _choose_cutoffs(grid, options).used, 1.0 / recording.period)
    frozen = ~moving_joints(recording.position)
    if not (velocity.any() or acceleration.any()):  # static poses
        frozen = constant(recording.position)
    motion = (recording.position, velocity, acceleration)
    signals = _mark_samples(recording, len(recording), options, motion, torque, ~frozen[None, :])
    at_rest = standstill_findings(recording, frozen)
    return replace(
        signals,
        cutoff=options.filter_cutoff,
        thinning=_thinning(1.0 / recording.period, options) or Thinning(),
        findings=(*signals.findings, *at_rest),
    )


def _mark_samples(
    recording: Recording,
    raw_samples: int,
    options: IdentifyOptions,
    motion: tuple[Array, Array, Array],
    torque: Array,
    usable: Mask,
) -> Processed:
    """Return the result of all steps, with the signals in their full length."""
    position, velocity, acceleration = motion
    counted = thresholds(recording.joints, np.where(usable, velocity, 0.0), options)
    usable = usable & ~constant(recording.torque)
    return Processed(
        joints=recording.joints,
        time=recording.time,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
        measured=recording.torque,
        measured_position=recording.position,
        used=counted.used & usable,
        moving=counted.moving & usable,
        threshold=counted.lower,
        upper_threshold=counted.upper,
        resting=_lasting(np.abs(velocity) < counted.still, recording.period),
        cutoff=None,
        thinning=Thinning(),
        raw_samples=raw_samples,
        findings=(
            *torque_findings(recording),
            *speed_findings(recording.joints, velocity, counted),
        ),
    )


def torque_findings(recording: Recording) -> Iterator[Finding]:
    """Name the joints without measured torque: their equations do not count."""
    for index in np.flatnonzero(constant(recording.torque)):
        name, value = recording.joints[index], recording.torque[0, index]
        yield finding('constant_torque' if value else 'zero_torque', joint=name, value=value)


def _lasting(slow: Mask, period: float) -> Mask:
    """Slow samples (N, n) of segments that last: a reversing motion is slow for a shorter time."""
    length = max(3, round(0.05 / period))  # a joint reverses in less than 0.05 s
    if len(slow) < length:
        return np.zeros_like(slow)
    inner = scipy.ndimage.minimum_filter1d(slow, length, axis=0, mode='constant', cval=False)
    kept = scipy.ndimage.maximum_filter1d(inner, length, axis=0, origin=-(1 - length % 2))
    return np.asarray(kept & slow)


def standstill_findings(recording: Recording, frozen: Mask) -> Iterator[Finding]:
    """Name the joints at rest."""
    stroke = np.ptp(recording.position, axis=0)
    if frozen.all():
        yield finding('no_motion', stroke=stroke.max())
    for index in np.flatnonzero(frozen):
        yield finding('frozen_joint', joint=recording.joints[index], stroke=stroke[index])
