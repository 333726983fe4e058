# SPDX-License-Identifier: Apache-2.0
"""An identification while it is made: parameters, torque errors and validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from robodyn_ros.errors import InsufficientData
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import SAMPLES_PER_COLUMN
from robodyn_ros.identification.fit.torque_errors import FitReport, Tally, predict
from robodyn_ros.identification.options import LEAVE_ONE_OUT, SAMPLES
from robodyn_ros.identification.physical.extrapolation import torque_uncertainty
from robodyn_ros.identification.result.content import IdentifiedPayload
from robodyn_ros.identification.signals.processed import Processed, constant
from robodyn_ros.identification.signals.segments import Segments
from robodyn_ros.identification.steps.estimation import ParameterEstimate, Regression
from robodyn_ros.identification.steps.held_out import is_repeated
from robodyn_ros.identification.steps.preparation import Clock, ProcessedRecordings, Task, prepare
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload, PayloadModel
from robodyn_ros.recording.recording import Recording


@dataclass
class IdentificationRun:
    """One run of the steps.

    :param without: the same with the known torque alone, where a payload is estimated
    :param expected: RMS torque error to be expected on other motions, shape (n,); NaN: unknown,
        or a joint at rest
    :param tested: signals of the recording that the parameters are validated on; None: there is no
        such recording
    :param repeats: the validation is the motion that was fitted
    :param untested: why there is no validation although it was asked for
    """

    task: Task
    prepared: ProcessedRecordings
    regression: Regression
    estimated: ParameterEstimate
    clock: Clock
    reports: list[FitReport] = field(default_factory=list)
    predicted: list[Array] = field(default_factory=list)
    report: FitReport = field(init=False)
    without: FitReport | None = None
    uncertainty: Array = field(init=False)
    expected: Array = field(init=False)
    validation: FitReport | None = None
    tested: Processed | None = None
    repeats: bool = False
    untested: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, task: Task) -> IdentificationRun:
        """Run the steps in their order."""
        clock = Clock()
        prepared = prepare(task, clock)
        task = prepared.task
        with clock.step('condense'):
            regression = Regression(task, prepared)
        with clock.step('estimate'):
            estimated = regression.estimate()
        values = idle_constants(prepared, estimated.values, range(len(prepared.parts)))
        estimated = replace(estimated, completion=replace(estimated.completion, values=values))
        prepared = prepared.at_level(estimated.level)  # noise above it would count as errors
        run = cls(task, prepared, regression, estimated, clock)
        with clock.step('evaluate'):
            run._evaluate()
        with clock.step('uncertainty'):
            signals, base = prepared.parts[0].shown, regression.base
            run.uncertainty = torque_uncertainty(prepared.model, base, estimated.fit, signals)
            run.expected = run._extrapolate_errors()
        with clock.step('validate'):
            run._validate()
        return run

    @property
    def payload(self) -> IdentifiedPayload | None:
        """The identified payload, if one was estimated."""
        arm, model = self.task.arm, self.prepared.model
        if arm is None or self.without is None or not isinstance(model, PayloadModel):
            return None
        payload = Payload(model, self.estimated.values, self.estimated.completion.stddevs)
        return IdentifiedPayload(payload, self.without, arm.source, arm.hash)

    def _evaluate(self) -> None:
        """Compute the torque errors of each recording and of all together."""
        tallies, every = [], range(len(self.task.recordings))
        for index in every:
            tally, predicted = self._tally(index, self.estimated.values, 'evaluate')
            tallies.append(tally)
            self.predicted.append(predicted)
            shown = self.prepared.parts[index].shown
            self.reports.append(tally.report(shown, self.task.recordings[index].source))
        self.report = self._together(tallies)
        if self.task.arm is not None:
            none = np.zeros(len(self.estimated.values))
            self.without = self._together([self._tally(index, none)[0] for index in every])

    def _extrapolate_errors(self) -> Array:
        """Return the torque error of each joint to be expected on other motions, shape (n,).

        That on data that were not fitted, and the spread of the torque on random states.
        """
        mean, names = self.estimated.mean, self.prepared.model.joint_names
        if mean is None or self.task.arm is not None:
            return np.full(len(names), np.nan)
        rests = [name in self.prepared.frozen for name in names]
        return np.where(rests, np.nan, np.sqrt(mean.held_out + mean.spread))

    def _tally(self, index: int, values: Array, phase: str = '') -> tuple[Tally, Array]:
        """Return torque errors of parameter values (p,) on a recording, and its torque."""
        return tally_all(self.prepared.model, values, self.prepared.parts[index], phase)

    def _together(self, tallies: Sequence[Tally]) -> FitReport:
        """Report of all recordings; velocity thresholds are those of the first."""
        source = ', '.join(recording.source for recording in self.task.recordings)
        return reduce(Tally.__add__, tallies).report(self.prepared.parts[0].shown, source)

    def _validate(self) -> None:
        """Compute torque errors on what the parameters were not fitted to.

        Another recording is processed by the same rules. Time offsets of the torque are those of
        the identification: they are the measurement's.
        """
        given = self.task.validation
        if given == LEAVE_ONE_OUT:
            self._leave_one_out()
        elif isinstance(given, Recording):
            try:
                like, offsets = self.prepared.parts[0].cutoffs, self.prepared.offsets
                other = self.task.process(given, like).correct(offsets)
            except InsufficientData as error:
                self._not_tested(str(error))
                return
            model, values = self.prepared.model, self.estimated.values
            tally, _ = tally_all(model, values, other, 'validate')
            report = tally.report(other.shown, given.source)
            seen = self.regression.base.rank - self.estimated.fit.unseen.shape[1]
            needed = SAMPLES_PER_COLUMN * seen // len(model.joints)
            if not report.samples:
                self._not_tested('gaps and repeated values leave no usable sample of it')
            elif report.samples < needed:
                used = f'{report.samples} of its {len(given)} samples are used'
                self._not_tested(f'{used}, at least {needed} are needed for the parameters')
            else:
                self.validation, self.tested = report, other.shown
                fitted = [parts.shown for parts in self.prepared.parts]
                self.repeats = self.task.arm is None and is_repeated(fitted, other.shown)

    def _leave_one_out(self) -> None:
        """Test each recording with the parameters of all others."""
        recordings, tallies = self.task.recordings, []
        for left_out, recording in enumerate(recordings):
            others = [k for k in range(len(recordings)) if k != left_out]
            try:
                values = self.regression.estimate(others).values
                values = idle_constants(self.prepared, values, others)
            except InsufficientData as error:
                self._not_tested(f'without {recording.source}, {error}')
                return
            tally, _ = self._tally(left_out, values, 'validate')
            if not tally.samples:
                self._not_tested(
                    f'gaps and repeated values leave no usable sample of {recording.source}'
                )
                return
            tallies.append(tally)
        self.validation = replace(self._together(tallies), source=LEAVE_ONE_OUT)

    def _not_tested(self, reason: str) -> None:
        self.untested = (finding('validation_too_short', reason=reason),)


def idle_constants(prepared: ProcessedRecordings, values: Array, chosen: Sequence[int]) -> Array:
    """Return parameter values (p,) with the mean measured torque of idle joints as their constant.

    No sample of an idle joint is fitted. At the position at which it rests, a constant in addition
    to the torque of the links explains what was measured better than the prior does.

    :param chosen: recordings whose torque counts
    """
    names = [item.name for item in prepared.model.parameters]
    result = np.array(values)
    if prepared.task.arm is not None or not prepared.frozen:
        return result
    left: list[Array] = []
    for index in chosen:
        shown = prepared.parts[index].shown
        rows = np.flatnonzero(shown.measured_rows)
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLES).astype(int))]
        modelled = prepared.model.torque(*shown.motion_at(rows), values)
        modelled = modelled if shown.known is None else modelled + shown.known[rows]
        left.append(np.where(constant(shown.measured), np.nan, shown.measured[rows] - modelled))
    for joint, name in enumerate(prepared.model.joint_names):
        missing = float(np.mean(np.concatenate(left)[:, joint]))
        if name in prepared.frozen and f'{name}.torque_offset' in names and np.isfinite(missing):
            result[names.index(f'{name}.torque_offset')] += missing
    return result


def tally_all(
    model: DynamicModel, values: Array, segments: Segments, phase: str = ''
) -> tuple[Tally, Array]:
    """Compare model torque with measured torque on all segments of a recording.

    :param phase: under which the progress is reported; '': it is not
    :return: the errors, and the torque (N, n) on the segment that is shown
    """
    if segments.others is None:
        predicted = predict(model, values, segments.shown, phase)
        return Tally.of(segments.shown, predicted), predicted
    total = reduce(
        Tally.__add__, (Tally.of(part, predict(model, values, part)) for part in segments)
    )
    return total, predict(model, values, segments.shown)
