"""Identification with a second encoder per joint: parameters and residual torque in turn.

The third loop of the document's scheme (section 5): what the deflection of the gears explains of
the torque that the model leaves is taken off the measured torque, and the model is identified
again, until both hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.passes import Progress
from robodyn_ros.identification.gears.selection import Residual, fit_residual
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result import (
    FitReport,
    GearCandidate,
    IdentificationResult,
    IdentifiedResidual,
    Signals,
)
from robodyn_ros.identification.signals.grid import on_grid, sample_times
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.gear_torque import ResidualTorque
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding, Recording
from robodyn_ros.recording.signals import central_differences, low_pass

LOOPS = 3
"""Turns; more gained little on the simulated arm."""
ROWS = 20_000
"""Most samples in these turns; the parameters of the result are from all of them again."""


def identify_double(
    recording: Recording,
    model: DynamicModel,
    *,
    options: IdentifyOptions | None = None,
    residual: Residual = 'auto',
    inputs: Sequence[int] = (2, 3),
    validation: Recording | None = None,
    progress: Progress | None = None,
) -> IdentificationResult:
    """Identify, with a residual torque where the recording has the motor side; else as `identify`.

    Parameters and errors in the result are those with the residual torque; `result.residual` has
    it, and the errors without.

    :param residual: kind of it; 'auto': the better one, 'none': without
    :param inputs: numbers of inputs to try, see `residual.INPUTS`
    :raises IdentificationError: a kind is asked for, and the recording has no motor side
    :raises RobodynError: as `identify`
    """
    options = options or IdentifyOptions()
    common: dict[str, Any] = {'validation': validation, 'progress': progress}
    if residual == 'none' or recording.motor_position is None:
        if residual in ('rbf', 'gmr'):
            raise IdentificationError(
                f'{recording.source}: a residual torque needs the positions of the motors, which '
                f'this recording does not have'
            )
        return identify(recording, model, options=options, **common)
    recording = recording.select(model.joint_names)
    kept = replace(options, keep_signals=True)
    plain = identify(recording, model, options=kept, **common)
    if not plain.has_estimate:
        return plain
    found = with_residual(plain, recording, validation, kept, kind=residual, inputs=inputs)
    return found if options.keep_signals else replace(found, signals=None)


def with_residual(
    plain: IdentificationResult,
    recording: Recording,
    validation: Recording | None,
    options: IdentifyOptions,
    *,
    kind: Residual = 'auto',
    inputs: Sequence[int] = (2, 3),
) -> IdentificationResult:
    """Add a residual torque to a result, and identify its parameters again beside it.

    :param plain: result without, with its signals
    :param recording: what it was identified from, with the motor side and the model's joints
    :param options: with `keep_signals`
    :raises RobodynError: as `identify`
    """
    torque, candidates, _ = in_turn(plain, recording, kind=kind, inputs=inputs)
    if torque is None:
        return replace(plain, findings=(*plain.findings, _no_gain(candidates)))
    known = torque.torque(*motor_side(recording, torque.cutoff))
    other = None if validation is None else validation.select(plain.model.joint_names)
    result = identify(
        replace(recording, torque=recording.torque - known),
        plain.model,
        options=options,
        validation=None if other is None else without_residual(other, torque),
    )
    return _completed(plain, result, recording, torque, known, candidates)


def in_turn(
    plain: IdentificationResult,
    recording: Recording,
    *,
    kind: Residual = 'auto',
    inputs: Sequence[int] = (2, 3),
) -> tuple[ResidualTorque | None, tuple[GearCandidate, ...], Array]:
    """Fit the residual torque to what parameters leave, and parameters to what it leaves.

    :param plain: result without, with its signals
    :param recording: what it was identified from, with the motor side and the model's joints
    :return: the residual torque, what was tried, and the parameter values (p,) beside it
    """
    assert plain.signals is not None
    signals, cutoff = plain.signals.processed, plain.filter_cutoff or 0.0
    every = np.arange(len(signals))[signals.thinning.centres(len(signals))]
    stride = max(1, -(-len(every) // ROWS))
    centres = every[::stride]
    at = _rows(recording.time, signals.time)[centres]
    deflection, rate, velocity = (each[at] for each in motor_side(recording, cutoff))
    left = signals.thinning.apply(signals.measured - plain.signals.predicted)[::stride]
    columns = base_parameters(plain.model).columns
    design = plain.model.regressor(*(each[centres] for each in signals.motion))[:, :, columns]
    torque: ResidualTorque | None = None
    candidates: tuple[GearCandidate, ...] = ()
    values = plain.values.copy()
    for _ in range(LOOPS):
        torque, tried = fit_residual(
            recording.joints,
            (deflection, rate, velocity),
            left,
            signals.used[centres],
            kind=kind,
            inputs=inputs,
            gear_ratio=recording.gear_ratio,
            cutoff=cutoff,
        )
        candidates = candidates or tried
        if torque is None:
            break
        kind, inputs = tried[0].kind, (len(torque.inputs),)
        unexplained = left - torque.torque(deflection, rate, velocity)
        change = _weighted(design, unexplained, signals.used[centres])
        left = left - design @ change
        values[columns] += change
    return torque, candidates, values


def _weighted(design: Array, torque: Array, used: NDArray[np.bool_]) -> Array:
    """Weighted least squares of all joints (document, Eq. 21, 22).

    :param design: shape (N, n, b)
    :param torque: shape (N, n)
    :param used: samples that count, shape (N, n)
    """
    spread = np.sqrt((torque**2 * used).mean(axis=0))
    weight = np.where(used, 1.0 / np.maximum(spread, 1e-12), 0.0)
    rows = (design * weight[:, :, None]).reshape(-1, design.shape[2])
    found = np.linalg.lstsq(rows, (torque * weight).ravel(), rcond=None)[0]
    return np.asarray(found, dtype=float)


def motor_side(recording: Recording, cutoff: float) -> tuple[Array, Array, Array]:
    """Deflection, its rate and the motor's velocity at every sample, each (N, n), joint side.

    Filtered and differentiated like the position of the link, so that both fit together; with
    `cutoff` 0 they are taken as they are, and velocities of the recording if it has both.

    :param cutoff: of the low pass, in [Hz]
    """
    assert recording.motor_position is not None
    if not cutoff and recording.velocity is not None and recording.motor_velocity is not None:
        speed = recording.motor_velocity
        deflection = recording.motor_position - recording.position
        return deflection, speed - recording.velocity, speed
    time = sample_times(recording)
    uniform, _, _ = on_grid(recording, time)
    motor, _, _ = on_grid(replace(recording, position=recording.motor_position), time)
    signals = np.hstack([motor.position - uniform.position, motor.position])
    if cutoff:
        signals = low_pass(signals, cutoff, 1.0 / uniform.period)
    rates = central_differences(signals, uniform.time)
    count = len(recording.joints)
    rows = _rows(uniform.time, recording.time)
    return signals[rows, :count], rates[rows, :count], rates[rows, count:]


def without_residual(recording: Recording, residual: ResidualTorque) -> Recording:
    """The recording with the residual torque taken off its torque; as it is without motor side."""
    if recording.motor_position is None:
        return recording
    known = residual.torque(*motor_side(recording, residual.cutoff))
    return replace(recording, torque=recording.torque - known)


def _rows(time: Array, wanted: Array) -> Array:
    """Index of the sample nearest to each wanted time."""
    after = np.clip(np.searchsorted(time, wanted), 1, len(time) - 1)
    return np.asarray(after - (wanted - time[after - 1] < time[after] - wanted))


def _completed(
    plain: IdentificationResult,
    result: IdentificationResult,
    recording: Recording,
    torque: ResidualTorque,
    known: Array,
    candidates: tuple[GearCandidate, ...],
) -> IdentificationResult:
    """The result with its residual torque, and signals whose torque is the measured one again."""
    signals = result.signals
    if plain.signals is not None and signals is not None:
        processed = plain.signals.processed
        rows = _rows(recording.time, signals.processed.time)
        if len(processed) == len(signals.processed):
            whole = signals.predicted + known[rows]
            signals = Signals(processed, whole, plain.signals.origin)
    found = IdentifiedResidual(torque, candidates, plain.identification, plain.validation)
    text = (
        f'the deflection of the gears explains torque that the model does not have '
        f'({torque.kind} over {", ".join(torque.inputs).replace("_", " ")}): the RMS error fell '
        f'from {_mean(plain.identification):.3g} to {_mean(result.identification):.3g} in the '
        f'mean over the joints'
    )
    finding = Finding('residual_torque', text, severity='info')
    return replace(
        result,
        residual=found,
        signals=signals,
        findings=(*result.findings, finding),
        timings={**result.timings, 'plain': plain.timings['total']},
    )


def _mean(report: FitReport) -> float:
    return float(report.rms_error.mean())


def _no_gain(candidates: Sequence[GearCandidate]) -> Finding:
    best = min((each.mean for each in candidates), default=1.0)
    text = (
        f'the deflection of the gears explains nothing that the model does not have (error left '
        f'on other stretches of the motion: {best:.0%}), so there is no residual torque'
    )
    return Finding('no_residual_torque', text, severity='info')
