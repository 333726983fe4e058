"""How a recording is processed and fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robodyn_ros.errors import IdentificationError

Method = Literal['wls', 'ols', 'covariance', 'robust']
METHODS: tuple[Method, ...] = ('wls', 'ols', 'covariance', 'robust')

Derivatives = Literal['auto', 'given', 'computed']
DERIVATIVES: tuple[Derivatives, ...] = ('auto', 'given', 'computed')
Consistent = Literal['auto', 'yes', 'no']
CONSISTENT: tuple[Consistent, ...] = ('auto', 'yes', 'no')
Prior = Literal['urdf', 'none']
PRIORS: tuple[Prior, ...] = ('urdf', 'none')
TimeOffset = Literal['auto', 'no']
TIME_OFFSETS: tuple[TimeOffset, ...] = ('auto', 'no')

Loss = Literal['tukey', 'huber']

LOSSES: tuple[Loss, ...] = ('tukey', 'huber')

GearTorque = Literal['auto', 'rbf', 'gmr', 'none']
GEAR_TORQUES: tuple[GearTorque, ...] = ('auto', 'rbf', 'gmr', 'none')

FOLDS = 5
"""Segments of a recording that cross-validation leaves out in turn: enough that four fifths of the
samples are fitted, few enough that a segment is longer than the motion is correlated."""


@dataclass(frozen=True)
class IdentifyOptions:
    """How a recording is processed and fitted; the defaults suit most robots.

    The fit leaves out standstill only: leaving out all slow samples made estimates worse on the
    real robots tried (UR10, next motion: 7.8 % with 0.1 %, 8.7 % with 5 % of the largest
    velocity). Relative torque errors are computed on moving samples, as in softMC, since near a
    reversal friction follows no Coulomb law.

    :param filter_cutoff: zero-phase low pass on position and torque, in [Hz], above the fastest
        sine seen in the positions (see `cutoff.fastest_sine`); None: from the data (see
        `cutoff.automatic_cutoff`)
    :param decimation: regressor and measured torque are low-passed to 0.8 of the Nyquist frequency
        that is left and every so many samples are fitted, as published identifications do
        (document EMPS: 10); 1: all are, nothing is low-passed further; None: to four times the
        cut-off frequency (see `processing.thinning_for`)
    :param velocity_share: samples of a joint slower than this share of its largest velocity do
        not count for relative torque errors (softMC's velocity threshold)
    :param velocity_threshold: the same as a velocity, in [rad/s] or [m/s], one for all joints or
        one per joint; holds for the fit too, as in softMC (see `thresholds`)
    :param upper_velocity_threshold: samples where a joint is faster do not count at all, in
        [rad/s] or [m/s], one or one per joint; None: only for a semi-static model, 0.5 rad/s
    :param keep_signals: keep the signals in the result, for `signals_bag`
    :param standstill_share: the same for the fit
    :param estimator: 'ols'; 'wls': each joint weighted by its own residual; 'covariance': by the
        covariance of the joints' residuals (see `covariance`); 'robust': outliers have little or
        no say (see `robust`). Residuals of real robots are mostly what the model does not have
        (friction near standstill, flexibility): on another motion these are no less important,
        and they go together between joints for no reason that holds there, so that 'wls' is the
        default
    :param loss: of 'robust': 'tukey' ignores far outliers, 'huber' only bounds them
    :param ridge: export the estimate drawn to the prior with this weight, 0: chosen by
        cross-validation (see `physical.selection`); None: do not
    :param time_offset: 'auto': shift torque that clearly comes later or earlier than the motion
        (see `time_offset`); 'no': do not
    :param derivatives: 'given': velocities and accelerations of the recording as they are, and
        nothing filtered; 'computed': position filtered and differentiated; 'auto': given ones
        when the recording has accelerations
    :param max_relative_error: largest max relative torque error of a joint that counts as
        success (softMC: 0.5)
    :param segments: stretches of time condensed separately, for cross-validation; None: as many
        as it needs
    :param consistent: 'yes': export the estimate of a robot that can exist (see `physical`);
        'no': the unconstrained one; 'auto': what cross-validation favours (see `choice`)
    :param prior: 'urdf': what the recording does not show is the model's prior values' choice;
        'none': nobody's
    :param position_limits: lower and upper limit of joints by name, in [rad] or [m], for the
        diagnosis (see `position_limits`); default: those of the model's URDF, if it has one
    :param recording_offsets: several recordings have torque offsets of their own; the offsets of
        the result are those of the first recording
    :param gear_torque: kind of the torque that the deflection of the gears explains, where
        recordings have the motor side; 'auto': the one that generalises better; 'none': without
    :param gear_inputs: numbers of inputs of that torque to try, see `models.gear_torque.INPUTS`
    :raises IdentificationError: when built with a value outside its range
    """

    filter_cutoff: float | None = None
    decimation: int | None = None
    velocity_threshold: float | Sequence[float] | None = None
    upper_velocity_threshold: float | Sequence[float] | None = None
    velocity_share: float = 0.05
    standstill_share: float = 0.001
    estimator: Method = 'wls'
    loss: Loss = 'tukey'
    ridge: float | None = None
    time_offset: TimeOffset = 'auto'
    derivatives: Derivatives = 'auto'
    max_relative_error: float = 0.5
    segments: int | None = None
    consistent: Consistent = 'auto'
    prior: Prior = 'urdf'
    position_limits: Mapping[str, tuple[float, float]] | None = None
    keep_signals: bool = False
    recording_offsets: bool = False
    gear_torque: GearTorque = 'auto'
    gear_inputs: Sequence[int] = (2, 3)

    def __post_init__(self) -> None:
        """Check the ranges."""
        _check_positive('the filter cut-off must be positive', self.filter_cutoff, ' Hz')
        for limit in (self.velocity_threshold, self.upper_velocity_threshold):
            _check_positive('a velocity threshold must be positive', limit)
        for share in (self.velocity_share, self.standstill_share):
            if not 0.0 <= share < 1.0:
                raise IdentificationError(
                    f'a velocity threshold must be a share from 0 to 1, got {share:g}'
                )
        _check_choice('estimator', self.estimator, METHODS)
        _check_choice('loss', self.loss, LOSSES)
        _check_choice('choice of time offset', self.time_offset, TIME_OFFSETS)
        self._check_together()
        _check_choice('way to get derivatives', self.derivatives, DERIVATIVES)
        _check_choice('choice of consistency', self.consistent, CONSISTENT)
        _check_choice('prior', self.prior, PRIORS)
        _check_choice('gear torque', self.gear_torque, GEAR_TORQUES)
        if not self.max_relative_error > 0.0:
            raise IdentificationError(
                f'the largest relative error must be positive, got {self.max_relative_error:g}'
            )
        if self.decimation is not None and self.decimation < 1:
            raise IdentificationError(f'the decimation must be at least 1, got {self.decimation}')
        if self.segments is not None and self.segments < 1:
            raise IdentificationError(f'at least 1 segment is needed, got {self.segments}')

    def _check_together(self) -> None:
        """Refuse options that exclude each other."""
        if self.ridge is not None and not (np.isfinite(self.ridge) and self.ridge >= 0.0):
            raise IdentificationError(f'the ridge weight must not be negative, got {self.ridge:g}')
        if self.ridge is not None and self.consistent == 'yes':
            raise IdentificationError(
                'ridge and consistent name different estimates to be exported: choose one'
            )


def _check_positive(text: str, given: float | Sequence[float] | None, unit: str = '') -> None:
    values = np.atleast_1d(np.asarray(() if given is None else given, dtype=np.float64))
    for value in values:
        if not (np.isfinite(value) and value > 0.0):
            raise IdentificationError(f'{text}, got {value:g}{unit}')


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise IdentificationError(f'there is no {what} {value!r}, there are {", ".join(choices)}')
