# SPDX-License-Identifier: Apache-2.0
"""The facts of a result: plain for JSON, and flat as the header of the result file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robodyn_ros.findings import SEVERITIES, Finding
from robodyn_ros.identification.fit.torque_errors import FitReport, relative_error
from robodyn_ros.identification.physical.named_parameters import NamedParameters, classify
from robodyn_ros.identification.result.content import (
    IdentifiedPayload,
    IdentifiedResidual,
    ResultContent,
)
from robodyn_ros.identification.result.payload_block import payload_block
from robodyn_ros.identification.result.weighted import Weighted
from robodyn_ros.models.friction_terms import TERMS
from robodyn_ros.models.gear_torque import facts as gear_torque_facts
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.springs import SPRING_TERMS
from robodyn_ros.output_files import plain


def json_facts(result: ResultContent) -> dict[str, object]:
    """Return the plain facts for `robodyn identify --json`; NaN and infinity become None.

    Lists per joint are in the order of `joints`; timings are in [s].
    """
    checked, named = result.validation, result.named
    facts: dict[str, object] = plain({
        **_common(result),
        'model': str(result.model.describe()['kind']),
        'joints': result.model.joint_names,
        'samples': result.identification.samples,
        'moving_samples': result.identification.moving_samples,
        'filter_cutoff': result.filter_cutoff,
        'candidates': result.weighted.candidates,
        'identification': _report_facts(result.identification, result),
        'recordings': [_report_facts(report, result) for report in result.recordings],
        'validation': None if checked is None else _report_facts(checked, result),
        'dynamic_parameters': [] if named is None else _softmc_rows(named),
        'friction': friction_facts(result.model, result.values),
        **_parameter_rows(result),
        'findings': by_importance(result.findings),
        'actions': actions(result.findings),
        'timings': result.timings,
        'payload': None if result.payload is None else _payload_facts(result.payload),
        'residual_torque': None if result.residual is None else _gear_facts(result.residual),
    })  # fmt: skip
    return facts


def header_facts(result: ResultContent) -> dict[str, object]:
    """Return the facts of the softMC result file and some more, as flat ROS parameters."""
    header: dict[str, object] = {
        **_common(result),
        'filter_cutoff': float(result.filter_cutoff or 0.0),
        **_weights(result.weighted),
        **_report_facts(result.identification, result),
        'validated': result.validation is not None,
    }
    if len(result.recordings) > 1:
        header['recording_sources'] = [each.source for each in result.recordings]
        header['recording_samples'] = [each.samples for each in result.recordings]
        residuals = [each.relative_residual for each in result.recordings]
        header['recording_relative_residuals'] = residuals
    if result.validation is not None:
        facts = _report_facts(result.validation, result)
        header.update({f'validation_{key}': value for key, value in facts.items()})
    if result.named is not None:
        header.update(softmc_facts(result.named))
    header.update(friction_facts(result.model, result.values))
    if result.payload is not None:
        header['base_result'] = result.payload.base_source
        header['base_hash'] = result.payload.base_hash
    if result.residual is not None:
        header['residual_torque'] = result.residual.torque.kind
        header['rms_error_without_residual_torque'] = result.residual.without.rms_error.tolist()
    header['base_parameter_expressions'] = list(result.base_expressions)
    header['base_parameter_values'] = result.base_values.tolist()
    header['base_parameter_stddevs'] = result.base_stddevs.tolist()
    if result.base_status:
        header['base_parameter_status'] = list(result.base_status)
    ordered = by_importance(result.findings)
    texts = {
        'findings': [f'{f.severity} {f.code}: {f.message}' for f in ordered],
        'actions': actions(ordered),
    }
    # An empty list has no type, which ROS parameters need.
    return header | {name: listed for name, listed in texts.items() if listed}


def _common(result: ResultContent) -> dict[str, object]:
    return {
        'success': result.success,
        'verdict': result.verdict.to_block(),
        'date': result.date,
        'estimator': result.estimator,
        'max_relative_error_allowed': result.max_relative_error,
        'success_rule': result.success_rule,
        'raw_samples': result.raw_samples,
        'condition_number': result.condition_number,
        'condition_number_scaled': result.condition_number_scaled,
        'torque_uncertainty': result.torque_uncertainty.tolist(),
        'physically_consistent': result.physically_consistent,
        'completion_rule': result.completion_rule,
        **moving_masses(result.model, result.values, result.stddevs),
    }


def moving_masses(model: DynamicModel, values: Array, stddevs: Array) -> dict[str, float | bool]:
    """Return the total mass of the moving links, identified and by the URDF, in [kg].

    It is empty for models without a URDF. `moving_mass_determined` is False where the torque shows
    only combinations of masses, as on most arms: then the sum is partly that of the URDF.

    :param values, stddevs: of the parameters, shape (p,); NaN: not identifiable on its own
    """
    if rigid_part(model) is None:
        return {}
    of_links = [item.name.endswith('.m') for item in model.parameters]
    every = {'moving_mass': values, 'moving_mass_of_urdf': model.prior()}
    masses: dict[str, float | bool] = {
        name: float(each[of_links].sum()) for name, each in every.items()
    }
    return masses | {'moving_mass_determined': bool(np.isfinite(stddevs[of_links]).all())}


def softmc_facts(named: NamedParameters) -> dict[str, object]:
    """Return the parameters of the softMC document in its order, as flat ROS parameters."""
    return {
        'dynamic_parameter_names': list(named.names),
        'dynamic_parameter_units': list(named.units),
        'dynamic_parameter_values': named.values.tolist(),
        'dynamic_parameter_stddevs': named.stddevs.tolist(),
        'dynamic_parameter_status': list(named.status),
    }


def friction_facts(model: DynamicModel, values: Array) -> dict[str, dict[str, float]]:
    """Return friction and springs by term and joint, of the terms that the model has.

    :param values: parameter values, shape (p,)
    """
    by_name = dict(zip((item.name for item in model.parameters), values.tolist(), strict=True))
    result: dict[str, dict[str, float]] = {}
    names = [term.parameter for term in TERMS.values()]
    for parameter in (*names, *(term.parameter for term in SPRING_TERMS.values())):
        for joint in model.joint_names:
            name = f'{joint}.{parameter}'
            if name in by_name:
                result.setdefault(parameter, {})[joint] = by_name[name]
    return result


def _weights(weighted: Weighted) -> dict[str, object]:
    """Return the candidates that count and their weights, as flat ROS parameters."""
    shown = weighted.counted
    if not shown:
        return {}
    return {
        'held_out_error': weighted.error,
        'held_out_error_plain': weighted.plain,
        'candidate_names': [each.name for each in shown],
        'candidate_weights': [each.weight for each in shown],
        'candidate_errors': [each.error for each in shown],
    }


def _payload_facts(payload: IdentifiedPayload) -> dict[str, object]:
    return {
        **payload_block(payload.payload),
        'mass': payload.payload.mass,
        'center_of_mass': payload.payload.center_of_mass,
        'relative_residual_without': payload.without.relative_residual,
        'joint_relative_residual_without': payload.without.joint_relative_residual,
        'base_result': payload.base_source,
        'base_hash': payload.base_hash,
    }


def _gear_facts(residual: IdentifiedResidual) -> dict[str, object]:
    other = residual.validation_without
    return {
        **gear_torque_facts(residual.torque),
        'candidates': [
            {'kind': each.kind, 'inputs': each.inputs, 'rms_share': each.rms_share}
            for each in residual.candidates
        ],
        'rms_error_without': residual.without.rms_error,
        'validation_rms_error_without': None if other is None else other.rms_error,
    }


def _softmc_rows(named: NamedParameters) -> list[dict[str, object]]:
    return [
        {'name': name, 'value': value, 'stddev': stddev, 'unit': unit, 'status': status}
        for name, unit, value, stddev, status in zip(
            named.names, named.units, named.values, named.stddevs, named.status, strict=True
        )
    ]


def _parameter_rows(result: ResultContent) -> dict[str, list[dict[str, object]]]:
    status = classify(result.values, result.stddevs)
    base_status = result.base_status or classify(result.base_values, result.base_stddevs)
    parameters = zip(result.model.parameters, result.values, result.stddevs, status, strict=True)
    base = zip(
        result.base_expressions, result.base_values, result.base_stddevs, result.base_units,
        base_status, strict=True,
    )  # fmt: skip
    return {
        'parameters': [
            {
                'name': item.name,
                'value': value,
                'stddev': stddev,
                'unit': item.unit,
                'status': known,
            }
            for item, value, stddev, known in parameters
        ],
        'base_parameters': [
            {
                'expression': expression,
                'value': value,
                'stddev': stddev,
                'unit': unit,
                'status': known,
            }
            for expression, value, stddev, unit, known in base
        ],
    }


def _report_facts(report: FitReport, result: ResultContent) -> dict[str, object]:
    facts = {**vars(report), 'relative_error': relative_error(report, result.model)}
    if not np.isfinite(report.upper_velocity_threshold).any():
        del facts['upper_velocity_threshold']
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in facts.items()
    }


def by_importance(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with errors first; causes stay before their effects."""
    return sorted(findings, key=lambda item: SEVERITIES.index(item.severity))


def actions(findings: Sequence[Finding]) -> list[str]:
    """Return one sentence for each finding that asks for something; alike joints are one.

    A warning or an error without remedy, and an error alone, is described. More than three joints
    are counted, not named.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for item in by_importance(findings):
        if item.remedy or item.severity != 'info':
            key = item.severity, item.code, item.remedy or item.text
            groups.setdefault(key, []).append(item)
    lines = []
    for (severity, code, text), group in groups.items():
        joints = [each for item in group if item.joint for each in item.joint.split(', ')]
        described = severity == 'error' and len(group) == 1
        lines.append(f'{severity}: {code}{_of(joints)}: {group[0].message if described else text}')
    return lines


def _of(joints: list[str]) -> str:
    if not joints:
        return ''
    return f' ({", ".join(joints) if len(joints) <= 3 else f"{len(joints)} joints"})'
