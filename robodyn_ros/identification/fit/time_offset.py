# SPDX-License-Identifier: Apache-2.0
"""Time offset of torque relative to its motion: estimate and correction.

A joint's torque is shifted in time until the model, fitted to this joint alone, explains it best.
The shift is an offset if it lowers the held-out error by more than four standard errors, and by
more than the drive's answer to disturbances does (`shift_search.extract_vibration`).

Less than a sample is reported, but not corrected: it comes from how the signals of this robot are
sampled, and feed-forward and monitor cannot shift by parts of a sample. All errors, on the
validation too, are those of the corrected torque.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise

import numpy as np
from scipy.ndimage import map_coordinates

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import Indices, acting_columns
from robodyn_ros.identification.factors.joint_fit import LONGEST_SHIFT, JointFit, fit_joint
from robodyn_ros.identification.factors.shift_search import (
    extract_vibration,
    smooth_torque,
    torque_shift,
)
from robodyn_ros.identification.fit.choice import FOUR, ONE, HeldOut, is_better
from robodyn_ros.identification.fit.folds import Folds, Labels, labels_of, least_squares
from robodyn_ros.identification.options import SAMPLES, IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed, TimeOffset
from robodyn_ros.identification.signals.thinning import Thinning
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel, SumModel


def offsets_of(
    model: DynamicModel, base: BaseParameters, signals: Processed, options: IdentifyOptions
) -> dict[int, TimeOffset]:
    """Return significant offsets by joint number; none if not requested."""
    if options.time_offset == 'no' or not signals.velocity.any():
        return {}
    period = float(signals.time[1] - signals.time[0]) if len(signals) > 1 else 1.0
    half = len(signals.thinning.taps) // 2
    reach = int(min(np.ceil(LONGEST_SHIFT / period), len(signals) // 8))
    ends = max(reach, half)
    count = len(signals) - 2 * ends
    if reach < 1 or count < 8:
        return {}
    rows = np.arange(ends, len(signals) - ends, -(-count // SAMPLES))
    q = signals.position[rows]
    columns = acting_columns(model, base.columns)
    regressor = _columns(model, signals, [base.columns[indices] for indices in columns], rows)
    bounds = np.cumsum([0, *map(len, columns)])
    taps = signals.thinning.taps
    measured = signals.torque if half == 0 else signals.measured
    answers, labels, trials = cache(lambda: extract_vibration(signals)[rows]), labels_of(q), {}
    for joint, (first, last) in enumerate(pairwise(bounds)):
        torque = smooth_torque(np.convolve(measured[:, joint], taps, mode='same'))
        used, local = signals.used[rows, joint], np.arange(last - first)
        fit = fit_joint(regressor[:, first:last], local, torque[rows], used)
        if fit is not None:
            answer = partial(_answer, answers, fit.rows, joint)
            trials[joint] = OffsetTrial(fit, labels, torque, rows[fit.rows], answer)
    return {
        joint: TimeOffset(shift * period, gain, applied=round(abs(shift), 1) >= 1.0)
        for joint, (shift, gain) in _shifts(trials, reach).items()
    }


def _answer(answers: Callable[[], Array], rows: Indices, joint: int) -> Array:
    answer: Array = answers()[rows, joint]
    return answer


def _columns(
    model: DynamicModel, signals: Processed, columns: Sequence[Indices], rows: Indices
) -> Array:
    """Return columns of each joint (`DynamicModel.pack_columns`) at some rows, shape (m, k)."""
    if isinstance(model, SumModel):
        result = np.empty((len(rows), sum(map(len, columns))))
        for part, share, place in model.shares(columns):
            result[:, place] = _columns(part, signals, share, rows)
        return result
    if model.smooth:
        q, qd, qdd = (values[rows] for values in signals.motion)
        return model.pack_columns(q, qd, qdd, columns)
    taps = signals.thinning.taps
    q, qd, qdd = (values[int(rows[0]) - len(taps) // 2 :] for values in signals.motion)
    every = Thinning(taps, int(rows[1] - rows[0]))
    return every.apply(model.pack_columns(q, qd, qdd, columns))[: len(rows)]


def _shifts(trials: dict[int, OffsetTrial], reach: int) -> dict[int, tuple[float, float]]:
    """Shift of each joint that has one, and its gain.

    A shift that others show by four standard errors is likely that of all joints, whose torques
    mostly come by one bus: then one standard error is enough. Where the joints agree on one, it is
    that of all joints that do not contradict it.
    """
    best = {joint: trial.best(reach) for joint, trial in trials.items()}
    result = _gains(trials, best, FOUR)
    sure, level = [shift for shift, _ in result.values()], ONE
    likely = [shift for shift, _ in _gains(trials, best, ONE).values()]
    if _agree(likely, len(trials)):
        sure, level = likely, 0.0
    if sure:
        common = dict.fromkeys(trials.keys() - result.keys(), float(np.median(sure)))
        result |= _gains(trials, common, level)
    return result


def _gains(
    trials: Mapping[int, OffsetTrial], shifts: Mapping[int, float | None], level: float
) -> dict[int, tuple[float, float]]:
    """Return those shifts, with their gains, that are significant; each is known to a tenth."""
    result = {}
    for joint, shift in shifts.items():
        if shift is not None and round(shift, 1):
            gain = trials[joint].gain(shift, level)
            if gain is not None:
                result[joint] = (shift, gain)
    return result


def _agree(shifts: Sequence[float], count: int) -> bool:
    """Return True if most joints show one shift, by four standard errors of its mean."""
    if len(shifts) < 3 or len(shifts) <= count / 2:
        return False
    error = float(np.std(shifts, ddof=1)) / np.sqrt(len(shifts))
    return bool(abs(np.mean(shifts)) > FOUR * error)


@dataclass(frozen=True)
class OffsetTrial:
    """A joint that is fitted alone, to test shifts of its torque.

    :param labels: fold of each looked-at sample, for every kind
    :param torque: of the joint, smoothed, shape (N,)
    :param rows: samples of the fit among these, shape (m,)
    :param answer: gives the column that explains early torque too, shape (m,), see
        `extract_vibration`; None: there is none
    """

    fit: JointFit
    labels: Sequence[Labels]
    torque: Array
    rows: Indices
    answer: Callable[[], Array] | None = None
    _known: dict[float, HeldOut | None] = field(default_factory=dict, repr=False)

    def best(self, reach: int) -> float | None:
        """Return the shift in samples that the joint's model explains best; None: out of reach."""
        return torque_shift(self.fit, self.torque, self.rows, reach).shift

    def gain(self, shift: float, level: float) -> float | None:
        """Return the share of the squared error that a shift removes; None: not significant."""
        still, shifted = self._held_out(0.0), self._held_out(shift)
        if still is None or shifted is None or not is_better(still, shifted, level):
            return None
        if self.answer is not None and shift < 0.0:
            answered = self._errors_of(np.column_stack([self.fit.matrix, self.answer()]), 0.0)
            if answered is not None and answered.mean < shifted.mean:
                return None
        return 1.0 - shifted.mean / still.mean

    def _held_out(self, shift: float) -> HeldOut | None:
        if shift not in self._known:
            self._known[shift] = self._errors_of(self.fit.matrix, shift)
        return self._known[shift]

    def _errors_of(self, matrix: Array, shift: float) -> HeldOut | None:
        torque = self.fit.torque
        if shift:
            torque = map_coordinates(self.torque, [self.rows + shift], order=3, mode='nearest')
        columns = np.arange(matrix.shape[1])
        folds = Folds.of(
            [np.column_stack([matrix, torque])],
            [columns],
            len(columns),
            [kind[self.fit.rows] for kind in self.labels],
            np.ones((len(torque), 1), dtype=bool),
            np.ones(1),
        )
        if folds is None:
            return None
        return folds.held_out(lambda gram: least_squares(gram)[None])[0]


def common_offsets(offsets: Sequence[dict[int, TimeOffset]]) -> dict[int, TimeOffset]:
    """Return the offsets of all recordings of a robot: the medians of those that have one.

    :param offsets: offsets of each recording, by the number of the joint
    """
    if len(offsets) == 1:
        return offsets[0]
    result = {}
    for joint in sorted({joint for each in offsets for joint in each}):
        of_joint = [each[joint] for each in offsets if joint in each]
        seconds = float(np.median([each.seconds for each in of_joint]))
        applied = sum(each.applied for each in of_joint) > len(of_joint) / 2
        result[joint] = TimeOffset(seconds, min(each.gain for each in of_joint), applied)
    return result


def offset_findings(
    offsets: dict[int, TimeOffset], model: DynamicModel, period: float
) -> Iterator[Finding]:
    """Return findings on offsets that were seen and offsets that were corrected.

    :param period: sampling period, in [s]
    """
    for joint, offset in offsets.items():
        yield finding(
            'time_offset' if offset.applied else 'time_offset.kept',
            joint=model.joint_names[joint],
            offset=abs(offset.seconds) * 1e3,
            samples=abs(offset.seconds) / period,
            direction='after' if offset.seconds > 0.0 else 'before',
            gain=offset.gain,
        )
