# SPDX-License-Identifier: Apache-2.0
"""Comparison of a robot's CAD with its identified model.

Hayat, Abhishek and Saha, "Dynamic identification of manipulator: comparison between CAD and
actual parameters", Tables 2 and 3. A URDF has no friction and no rotors: a third torque combines
its links with those of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.fit.time_offset import offset_findings, offsets_of
from robodyn_ros.identification.fit.torque_errors import FitReport, evaluate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.physical.semidefinite import has_usable_inertials
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.signals.processed import Processed, correct_offsets
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.long_work import track
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.recording.recording import Recording

CAD, MIXED, RESULT = 'CAD', 'CAD links', 'result'
"""Compared torques: of the URDF, of its links with friction and rotors of the result, of the
result."""

OTHER_KINEMATICS = 1e-5
"""Largest difference of the regressors, relative to their largest entry, of equal kinematics.
URDF files round lengths and angles to six digits."""


@dataclass(frozen=True)
class BaseRow:
    """One base parameter of both robots; NaN: no value."""

    expression: str
    unit: str
    cad: float
    result: float
    stddev: float

    @property
    def difference(self) -> float:
        """Identified value minus CAD value."""
        return self.result - self.cad


@dataclass(frozen=True)
class TorqueErrors:
    """Torque of one set of parameter values on the recording.

    :param predicted: shape (N, n), in [Nm] or [N]
    """

    name: str
    report: FitReport
    predicted: Array


@dataclass(frozen=True)
class Comparison:
    """CAD and result on one recording.

    :param rows: base parameters of the result; empty if they cannot be compared
    :param torques: errors of CAD, MIXED (if there are rows) and RESULT
    """

    model: DynamicModel
    cad: str
    result: str
    rows: tuple[BaseRow, ...]
    torques: tuple[TorqueErrors, ...]
    signals: Processed
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, object]:
        """Return the facts for JSON, SI units."""
        return {
            'cad': self.cad,
            'result': self.result,
            'recording': self.torques[0].report.source,
            'samples': len(self.signals),
            'joints': list(self.model.joint_names),
            'torque_units': [joint.torque_unit for joint in self.model.joints],
            'base_parameters': [vars(row) | {'difference': row.difference} for row in self.rows],
            'torque_errors': {
                each.name: {
                    'rms_error': each.report.rms_error,
                    'joint_relative_residual': each.report.joint_relative_residual,
                    'relative_residual': each.report.relative_residual,
                }
                for each in self.torques
            },
            'findings': self.findings,
        }


def compare(
    urdf: str | Path,
    identified: IdentifiedModel,
    recording: Recording,
    *,
    options: IdentifyOptions | None = None,
) -> Comparison:
    """Compare the inertials of a URDF with a result, and the torques of both on a recording.

    :param options: processing of the recording; significant time offsets of the torque are
        corrected as in an identification
    :raises RobodynError: the URDF cannot be read or has no such joint, or the recording does not
        fit
    """
    model = identified.model
    cad = cad_model(urdf, model)
    values: Array = np.nan_to_num(cad.prior())  # a URDF has no friction: zero
    signals, offsets = _process_recording(recording, model, options or IdentifyOptions())
    same = len(cad.parameters) == len(model.parameters)
    sets = {CAD: (cad, values)}
    if same:
        sets[MIXED] = (cad, replace_links(cad, identified.loaded, values))
    sets[RESULT] = (model, identified.loaded)
    source = recording.source
    torques = [
        TorqueErrors(name, *evaluate(*each, signals, source=source, phase='torques'))
        for name, each in track(list(sets.items()))
    ]
    return Comparison(
        model=model,
        cad=str(urdf),
        result=identified.source,
        rows=tuple(_rows(cad, values, identified)) if same else (),
        torques=tuple(torques),
        signals=signals,
        findings=(*signals.findings, *_findings(cad, model), *offsets),
    )


def cad_model(urdf: str | Path, model: DynamicModel) -> DynamicModel:
    """Return the model of a URDF with joints, gravity and friction terms of a given model.

    If the given model was not made from a URDF, the result has rigid bodies only.

    :raises ModelError: the URDF cannot be read, or lacks a joint of the model
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


def replace_links(model: DynamicModel, values: Array, others: Array) -> Array:
    """Return parameter values with the links of others; all have shape (p,), SI."""
    links = _link_parameters(model)
    result: Array = values.copy()
    result[links] = others[links]
    return result


def _link_parameters(model: DynamicModel) -> list[int]:
    return [index for _, indices in bodies_of(model).links for index in indices]


def _process_recording(
    recording: Recording, model: DynamicModel, options: IdentifyOptions
) -> tuple[Processed, list[Finding]]:
    """Return the signals of a recording with corrected time offsets, and findings about them."""
    options = options_for(model, options)
    signals = process(recording, model.joint_names, options)
    offsets = offsets_of(model, base_parameters(model), signals, options)
    return correct_offsets(signals, offsets), [*offset_findings(offsets, model, recording.period)]


def _rows(cad: DynamicModel, values: Array, identified: IdentifiedModel) -> Iterator[BaseRow]:
    """Yield the base parameters of the result with the CAD values of the same columns."""
    base, designed = base_parameters(identified.model), base_parameters(cad)
    of_links = np.any(designed.grouping[:, _link_parameters(cad)] != 0.0, axis=1)
    known = np.where(of_links, designed.values(values), np.nan)
    by_column = dict(zip(designed.columns.tolist(), known.tolist(), strict=True))
    stddevs = _stddevs(identified)
    result = base.values(identified.loaded)
    for row, column in enumerate(base.columns):
        yield BaseRow(
            expression=base.expressions[row],
            unit=base.units[row],
            cad=by_column.get(int(column), float('nan')),
            result=float(result[row]),
            stddev=stddevs.get(base.expressions[row], float('nan')),
        )


def _stddevs(identified: IdentifiedModel) -> dict[str, float]:
    """Return the standard deviations of a result file by expression; empty if it has none."""
    expressions = identified.facts.get('base_parameter_expressions', ())
    stddevs = identified.facts.get('base_parameter_stddevs', ())
    return {str(key): float(value) for key, value in zip(expressions, stddevs, strict=False)}


def _findings(cad: DynamicModel, model: DynamicModel) -> Iterator[Finding]:
    if not has_usable_inertials(cad):
        yield finding('cad_inertials')
    if len(cad.parameters) != len(model.parameters):
        yield finding('no_base_comparison')
        return
    difference = _difference(cad, model)
    if difference > OTHER_KINEMATICS:
        yield finding('other_kinematics', difference=difference, limit=OTHER_KINEMATICS)


def _difference(cad: DynamicModel, model: DynamicModel) -> float:
    """Return the largest difference of the regressors, relative to the largest entry."""
    share = np.random.default_rng(0).uniform(-1.0, 1.0, size=(3, 30, len(model.joints)))
    states = model.positions(share[0]), share[1], share[2]
    try:
        ours, theirs = model.regressor(*states), cad.regressor(*states)
    except ModelError:
        return float('inf')
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())
