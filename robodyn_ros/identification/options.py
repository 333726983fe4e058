# SPDX-License-Identifier: Apache-2.0
"""Options of an identification: one table for the command line, the node and the documentation.

Every entry of `OPTIONS` is a field of `IdentifyOptions`, a flag of `robodyn identify` and a
parameter of the node `identification`. `tools/pages/options.py` makes
docs/reference/options_identification.md of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from robodyn_ros.errors import IdentificationError

Method = Literal['wls', 'ols', 'covariance', 'robust']
METHODS: tuple[Method, ...] = get_args(Method)
Derivatives = Literal['auto', 'given', 'computed']
DERIVATIVES: tuple[Derivatives, ...] = get_args(Derivatives)
Consistent = Literal['auto', 'yes', 'no']
CONSISTENT: tuple[Consistent, ...] = get_args(Consistent)
Prior = Literal['urdf', 'none']
PRIORS: tuple[Prior, ...] = get_args(Prior)
TimeOffset = Literal['auto', 'no']
TIME_OFFSETS: tuple[TimeOffset, ...] = get_args(TimeOffset)
Loss = Literal['tukey', 'huber']
LOSSES: tuple[Loss, ...] = get_args(Loss)
GearTorque = Literal['auto', 'rbf', 'gmr', 'none']
GEAR_TORQUES: tuple[GearTorque, ...] = get_args(GearTorque)
SuccessRule = Literal['torque', 'softmc']
SUCCESS_RULES: tuple[SuccessRule, ...] = get_args(SuccessRule)
LeaveOneOut = Literal['leave-one-out']
LEAVE_ONE_OUT: LeaveOneOut = 'leave-one-out'

SAMPLES = 4000
"""Samples at most of fits that are repeated many times, evenly chosen: this bounds their time for
any recording, and the error of a variance from so many is 2 %."""

FOLDS = 5
"""Segments of a recording that cross-validation leaves out in turn: enough that four fifths of the
samples are fitted, few enough that a segment is longer than the motion is correlated."""


@dataclass(frozen=True)
class Option:
    """One option.

    :param kind: of its value, or of each of several values
    :param unit: shown in place of a value; with choices it is not needed
    :param flag: of `robodyn identify`, without the leading dashes; '': there is none
    :param switch: value that a flag without value stands for; two: those of --flag and --no-flag
    :param alone: value that the flag stands for where it is given without one
    :param parameter: of the node; '': there is none
    :param unset: value of the parameter that means None
    :param per_joint: one value for all joints, or one per joint
    :param default_text: behaviour without the option, if the default does not show it
    """

    kind: type
    text: str
    unit: str = ''
    choices: tuple[str, ...] = ()
    flag: str = ''
    switch: tuple[Any, ...] = ()
    alone: Any = None
    parameter: str = ''
    unset: Any = None
    per_joint: bool = False
    default_text: str = ''


OPTIONS = {
    'estimator': Option(
        str, "weights of the samples: wls: each joint by its residual; ols: all joints alike; "
        "covariance: by the covariance of the joints' residuals; robust: outliers (contact) have "
        'little or no weight', choices=METHODS, flag='estimator', parameter='estimator',
    ),
    'loss': Option(
        str, 'loss of the robust estimator: tukey ignores far outliers, huber bounds them',
        choices=LOSSES, flag='loss', parameter='loss',
    ),
    'time_offset': Option(
        str, "auto: shift torque that clearly comes before or after its joint's motion; no: leave "
        'it', choices=TIME_OFFSETS, flag='no-time-offset', switch=('no',),
        parameter='time_offset',
    ),
    'gear_torque': Option(
        str, 'torque that the deflection of the gears explains, where recordings have encoders on '
        'the motors too: radial basis functions (rbf), Gaussian mixtures (gmr), the better one or '
        'none', choices=GEAR_TORQUES, flag='residual', parameter='residual',
    ),
    'consistent': Option(
        str, 'yes: export the estimate of a physically possible robot; no: the unconstrained one; '
        'auto: that of a possible robot, unless the recording contradicts it',
        choices=CONSISTENT, flag='consistent', switch=('yes', 'no'), parameter='consistent',
    ),
    'prior': Option(
        str, 'values of what the recording does not excite: urdf: the inertias of the URDF; none: '
        'zero', choices=PRIORS, flag='prior', parameter='prior',
    ),
    'filter_cutoff': Option(
        float, 'zero-phase low pass on position and torque', 'HZ', flag='filter-cutoff',
        parameter='filter_cutoff_frequency', unset=0.0, default_text='from the data',
    ),
    'decimation': Option(
        int, 'fit every N-th sample of regressor and torque, low-passed for that; 1: all samples',
        'N', flag='decimation', parameter='decimation', unset=0,
        default_text='4 samples per period of the cut-off frequency',
    ),
    'velocity_threshold': Option(
        float, 'samples of a joint below this velocity do not count, for the fit and for relative '
        'errors, rad/s or m/s', 'SPEED', flag='velocity-threshold',
        parameter='velocity_threshold', unset=0.0, per_joint=True,
        default_text='the fit leaves out standstill, relative errors 5 % of the largest velocity',
    ),
    'upper_velocity_threshold': Option(
        float, 'samples where a joint is above this velocity do not count, rad/s or m/s', 'SPEED',
        flag='upper-velocity-threshold', parameter='upper_velocity_threshold', unset=0.0,
        per_joint=True, default_text='none; semi-static model: 0.5 rad/s',
    ),
    'derivatives': Option(
        str, 'given: velocities and accelerations of the recording; computed: from filtered '
        'positions; auto: given ones if the recording has accelerations', choices=DERIVATIVES,
        flag='computed-derivatives', switch=('computed',), parameter='derivatives',
    ),
    'max_relative_error': Option(
        float, 'share of its torque that the model may leave unexplained for a joint to be usable '
        'with care; half of it for a joint that is usable', 'SHARE', flag='max-relative-error',
        parameter='max_relative_torque_error',
    ),
    'success_rule': Option(
        str, 'torque: the RMS torque error over the RMS torque or 5 % of the rated torque, the '
        'larger one, decides on a joint; softmc: its largest error over its largest torque must '
        'be at most max_relative_error too', choices=SUCCESS_RULES, flag='success-rule',
        parameter='success_rule',
    ),
    'payload_gain_uncertainty': Option(
        float, 'standard deviation of the factor between measured and true torque, as a share: '
        "part of the uncertainty of a payload's values", 'SHARE', flag='payload-gain-uncertainty',
        parameter='payload_gain_uncertainty', unset=-1.0,
        default_text="the relative residual of the arm's identification",
    ),
    'keep_signals': Option(
        bool, 'write the signals of the identification as a rosbag2 beside the result',
        flag='no-signals', switch=(False,), parameter='write_signals',
        default_text='written where there is a folder for the result',
    ),
}  # fmt: skip
"""All options that users can set, by field of `IdentifyOptions`."""


@dataclass(frozen=True)
class IdentifyOptions:
    """Settings of the processing and of the fit; `OPTIONS` explains the fields.

    The fields that are not in that table:

    :param velocity_share: samples of a joint slower than this share of its largest velocity do
        not count for relative torque errors (softMC's velocity threshold): near a reversal
        friction follows no Coulomb law
    :param position_limits: lower and upper limit of joints by name, in [rad] or [m], for the
        diagnosis (see `position_limits`)
    :raises IdentificationError: when built with a value outside its range
    """

    filter_cutoff: float | None = None
    decimation: int | None = None
    velocity_threshold: float | Sequence[float] | None = None
    upper_velocity_threshold: float | Sequence[float] | None = None
    velocity_share: float = 0.05
    estimator: Method = 'wls'
    loss: Loss = 'tukey'
    time_offset: TimeOffset = 'auto'
    derivatives: Derivatives = 'auto'
    max_relative_error: float = 0.5
    success_rule: SuccessRule = 'torque'
    consistent: Consistent = 'auto'
    prior: Prior = 'urdf'
    position_limits: Mapping[str, tuple[float, float]] | None = None
    keep_signals: bool = False
    payload_gain_uncertainty: float | None = None
    gear_torque: GearTorque = 'auto'

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if option.choices and value not in option.choices:
                raise IdentificationError(
                    f'there is no {name} {value!r}, there are {", ".join(option.choices)}'
                )
        _check_positive('the filter cut-off must be positive', self.filter_cutoff, ' Hz')
        for limit in (self.velocity_threshold, self.upper_velocity_threshold):
            _check_positive('a velocity threshold must be positive', limit)
        if not 0.0 <= self.velocity_share < 1.0:
            raise IdentificationError(
                f'a velocity threshold must be a share from 0 to 1, got {self.velocity_share:g}'
            )
        if not 0.0 < self.max_relative_error < np.inf:
            raise IdentificationError(
                f'the largest relative error must be positive, got {self.max_relative_error:g}'
            )
        gain = self.payload_gain_uncertainty
        if gain is not None and not 0.0 <= gain < 1.0:
            raise IdentificationError(
                f'the uncertainty of the torque gain must be a share from 0 to 1, got {gain:g}'
            )
        if self.decimation is not None and self.decimation < 1:
            raise IdentificationError(f'the decimation must be at least 1, got {self.decimation}')


def default_of(name: str) -> Any:
    """Return the default of an option."""
    return next(item.default for item in fields(IdentifyOptions) if item.name == name)


def _check_positive(text: str, given: float | Sequence[float] | None, unit: str = '') -> None:
    values = np.atleast_1d(np.asarray(() if given is None else given, dtype=np.float64))
    for value in values:
        if not (np.isfinite(value) and value > 0.0):
            raise IdentificationError(f'{text}, got {value:g}{unit}')
