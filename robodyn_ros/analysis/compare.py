"""A robot as its CAD has it beside the robot as it was identified.

Hayat, Abhishek and Saha, "Dynamic identification of manipulator: comparison between CAD and
actual parameters": base parameters of both side by side (Table 2) and the error of both torques
on the same recording (Table 3). A URDF says nothing about friction and rotors, so a third torque
has the links of the URDF, and all else of the result: what is left of its error is the links'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.time_offset import offset_findings, offsets_of
from robodyn_ros.identification.fit.torque_errors import evaluate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.physical.semidefinite import has_usable_inertials
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.identification.signals.torque_shift import corrected
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.recording.recording import Finding, Recording

CAD, MIXED, RESULT = 'CAD', 'CAD links', 'result'
"""Torques compared: of the URDF alone, of its links with all else of the result, of the result."""

OTHER_KINEMATICS = 1e-5
"""Largest difference of the regressors at random states, as a share, that is rounding."""


@dataclass(frozen=True)
class BaseRow:
    """One base parameter of both robots; NaN: it has no value there.

    :param stddev: of the identified value
    """

    expression: str
    unit: str
    cad: float
    result: float
    stddev: float

    @property
    def difference(self) -> float:
        """Identified value minus that of the CAD."""
        return self.result - self.cad


@dataclass(frozen=True)
class TorqueErrors:
    """Torque of one set of values on the recording.

    :param predicted: shape (N, n), in [Nm] or [N]
    """

    name: str
    report: FitReport
    predicted: Array


@dataclass(frozen=True)
class Comparison:
    """Both robots on one recording.

    :param rows: base parameters, those of the result; empty if they cannot be compared
    :param torques: errors of CAD, MIXED (where there are rows) and RESULT
    :param signals: the recording as it was processed
    """

    model: DynamicModel
    cad: str
    result: str
    rows: tuple[BaseRow, ...]
    torques: tuple[TorqueErrors, ...]
    signals: Processed
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, object]:
        """Plain facts, SI; numbers that do not exist are None."""
        return {
            'cad': self.cad,
            'result': self.result,
            'recording': self.torques[0].report.source,
            'samples': len(self.signals),
            'joints': list(self.model.joint_names),
            'torque_units': [joint.torque_unit for joint in self.model.joints],
            'base_parameters': [
                {
                    key: _plain(value)
                    for key, value in (*asdict(row).items(), ('difference', row.difference))
                }
                for row in self.rows
            ],
            'torque_errors': {
                each.name: {
                    'rms_error': [_plain(value) for value in each.report.rms_error.tolist()],
                    'joint_relative_residual': [
                        _plain(value) for value in each.report.joint_relative_residual.tolist()
                    ],
                    'relative_residual': _plain(each.report.relative_residual),
                }
                for each in self.torques
            },
            'findings': [asdict(finding) for finding in self.findings],
        }


def compare(
    urdf: str | Path,
    identified: IdentifiedModel,
    recording: Recording,
    *,
    options: IdentifyOptions | None = None,
) -> Comparison:
    """Compare the inertials of a URDF with a result, and the torques of both on a recording.

    :param urdf: file of the robot as designed
    :param options: how the recording is processed; a torque that clearly comes before or after
        its motion is shifted, as the identification does it
    :raises RobodynError: the URDF cannot be read or lacks a joint, or the recording does not fit
    """
    model = identified.model
    cad = cad_model(urdf, model)
    values = _prior(cad)
    signals, offsets = _processed(recording, model, options or IdentifyOptions())
    same = len(cad.parameters) == len(model.parameters)
    findings = [*_findings(cad, model), *offsets]
    sets = [(CAD, cad, values)]
    if same:
        sets.append((MIXED, cad, _mixed(cad, values, identified.loaded)))
    sets.append((RESULT, model, identified.loaded))
    torques = []
    for name, each, parameters in sets:
        report, predicted = evaluate(each, parameters, signals, source=recording.source)
        torques.append(TorqueErrors(name, report, predicted))
    return Comparison(
        model=model,
        cad=str(urdf),
        result=identified.source,
        rows=tuple(_rows(cad, values, identified)) if same else (),
        torques=tuple(torques),
        signals=signals,
        findings=(*signals.findings, *findings),
    )


def cad_model(urdf: str | Path, model: DynamicModel) -> DynamicModel:
    """Model of a URDF that is in all else as a given one: joints, gravity, friction terms.

    Beside a model that is of no URDF it is the rigid body alone.

    :raises ModelError: the URDF cannot be read, or has not the joints of the model
    """
    if rigid_part(model) is None:
        return robot_model(urdf, joints=model.joint_names, rotor_inertia=False, friction=())
    return build_model(_with_urdf(model.describe(), read_urdf(urdf).xml))


def _with_urdf(description: Any, xml: str) -> Any:
    """Replace the URDF in the description of a model, at any depth."""
    if isinstance(description, Mapping):
        inner = {key: _with_urdf(value, xml) for key, value in description.items()}
        return {**inner, 'urdf': xml} if inner.get('kind') == 'urdf' else inner
    if isinstance(description, list):
        return [_with_urdf(item, xml) for item in description]
    return description


def _prior(cad: DynamicModel) -> Array:
    """Values of the URDF (p,); friction, which it says nothing about, is zero."""
    result: Array = np.nan_to_num(cad.prior())
    return result


def _mixed(cad: DynamicModel, values: Array, identified: Array) -> Array:
    """Links of the URDF, all else of the result, shape (p,)."""
    result = np.array(identified)
    links = _link_parameters(cad)
    result[links] = values[links]
    return result


def _link_parameters(model: DynamicModel) -> list[int]:
    return [index for _, own in bodies_of(model).links for index in own]


def _processed(
    recording: Recording, model: DynamicModel, options: IdentifyOptions
) -> tuple[Processed, list[Finding]]:
    """Signals of a recording, time offsets set right as in an identification, and which."""
    options = options_for(model, options)
    signals = process(recording, model.joint_names, options)
    offsets = offsets_of(model, base_parameters(model), signals, options)
    told = list(offset_findings(offsets, model, recording.period))
    return corrected(signals, offsets), told


def _rows(cad: DynamicModel, values: Array, identified: IdentifiedModel) -> Iterator[BaseRow]:
    """Yield the base parameters of the result beside those of CAD with the same kept column.

    Those of CAD are grouped by the lengths of its URDF.
    """
    base, own = base_parameters(identified.model), base_parameters(cad)
    place = {int(column): row for row, column in enumerate(own.columns)}
    told = _told(own, cad)
    stddevs = _stddevs(identified)
    result, designed = base.values(identified.loaded), own.values(values)
    for row, column in enumerate(base.columns):
        at = place.get(int(column), -1)
        yield BaseRow(
            expression=base.expressions[row],
            unit=base.units[row],
            cad=float(designed[at]) if at >= 0 and told[at] else float('nan'),
            result=float(result[row]),
            stddev=stddevs.get(base.expressions[row], float('nan')),
        )


def _told(base: BaseParameters, cad: DynamicModel) -> Array:
    """Return which base parameters contain link parameters, which a URDF gives, shape (b,)."""
    links = _link_parameters(cad)
    told: Array = np.any(base.grouping[:, links] != 0.0, axis=1)
    return told


def _stddevs(identified: IdentifiedModel) -> dict[str, float]:
    """Return the standard deviations in a result file by expression; empty if it has none."""
    expressions = identified.facts.get('base_parameter_expressions', ())
    stddevs = identified.facts.get('base_parameter_stddevs', ())
    return {str(key): float(value) for key, value in zip(expressions, stddevs, strict=False)}


def _findings(cad: DynamicModel, model: DynamicModel) -> Iterator[Finding]:
    if not has_usable_inertials(cad):
        yield Finding(
            'cad_inertials',
            'the URDF does not give every moving link a mass and an inertia that a body can have',
        )
    if len(cad.parameters) != len(model.parameters):
        yield Finding(
            'no_base_comparison',
            'the model of the result is of no URDF: only torques are compared',
            severity='info',
        )
        return
    difference = _difference(cad, model)
    if difference > OTHER_KINEMATICS:
        yield Finding(
            'other_kinematics',
            f'the URDF and the result differ in lengths, axes or link frames (regressors by '
            f'{difference:.2g}): each has base parameters by its own, and those of frames that '
            f'lie elsewhere cannot be compared',
        )


def _difference(cad: DynamicModel, model: DynamicModel) -> float:
    """Largest difference of the regressors at random states, as a share of the largest entry."""
    share = np.random.default_rng(0).uniform(-1.0, 1.0, size=(3, 30, len(model.joints)))
    states = model.positions(share[0]), share[1], share[2]
    try:
        ours, theirs = model.regressor(*states), cad.regressor(*states)
    except ModelError:
        return float('inf')
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
