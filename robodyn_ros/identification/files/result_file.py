# SPDX-License-Identifier: Apache-2.0
"""The result file: writing a result, and reading its model again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.files.gear_torque_block import read_residual, residual_block
from robodyn_ros.identification.result.facts import header_facts
from robodyn_ros.identification.result.fingerprint import FORMAT, fingerprint
from robodyn_ros.identification.result.payload_block import beside, payload_block, read_payload
from robodyn_ros.identification.result.result import IdentificationResult, IdentifiedModel
from robodyn_ros.identification.result.verdict import read_verdict, verdict_hash
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.output_files import write_file
from robodyn_ros.schema import convert
from robodyn_ros.yaml_file import DUMPER, parse_yaml, read_yaml


def parameter_text(parameters: Mapping[str, Any]) -> str:
    """Lay out a ROS parameter file for all nodes (`/**`)."""
    content = {'/**': {'ros__parameters': dict(parameters)}}
    return str(
        yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=10**6, allow_unicode=True)
    )


def write_text(text: str, path: str | Path) -> None:
    """Write a text file so that it appears complete or not at all.

    :raises IdentificationError: it cannot be written
    """
    write_bytes(text.encode('utf-8'), path)


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file so that it appears complete or not at all.

    :raises IdentificationError: it cannot be written
    """
    write_file(path, lambda file: file.write_bytes(content), IdentificationError)


class _Dumper(yaml.SafeDumper):
    """Writes lists in one line, and text with line breaks as a block."""

    def represent_list(self, data: Any) -> Any:
        """Represent a list in one line."""
        return self.represent_sequence('tag:yaml.org,2002:seq', data, flow_style=True)

    def represent_text(self, data: str) -> Any:
        """Represent a string, as a block when it has several lines."""
        style = '|' if '\n' in data else None
        return self.represent_scalar('tag:yaml.org,2002:str', data, style=style)


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(str, _Dumper.represent_text)


def write_result(
    result: IdentificationResult, path: str | Path, *, export_failed: bool = False
) -> None:
    """Write the result as a ROS parameter file, which the nodes and `load_identified_model` read.

    The file appears complete or not at all.

    :raises IdentificationError: the identification failed, or the file cannot be written
    """
    refuse_failed(result, export_failed)
    parameters: dict[str, dict[str, Any]] = {
        'dynamic_model': model_parameters(result.model, result.values, result.stddevs),
        'identification': header_facts(result),
    }
    verdict: dict[str, Any] = parameters['identification']['verdict']
    verdict['hash'] = verdict_hash(verdict, parameters['dynamic_model']['hash'])
    if result.payload is not None:
        parameters['payload'] = payload_block(result.payload.payload)
    residual = result.residual_of_base if result.residual is None else result.residual.torque
    if residual is not None:
        model_hash = str(parameters['dynamic_model']['hash'])
        parameters['residual_torque'] = residual_block(residual, model_hash)
    write_text(parameter_text(parameters), path)


def refuse_failed(result: IdentificationResult, export_failed: bool) -> None:
    """Refuse to export a result of which nothing can be used, unless asked to.

    :raises IdentificationError: it has nothing to export
    """
    if not (result.verdict.worth_writing or (export_failed and result.has_estimate)):
        reasons = [item.message for item in result.findings if item.severity == 'error']
        raise IdentificationError(
            f'the identification failed and is not exported: {"; ".join(reasons)}'
        )


def model_parameters(model: DynamicModel, values: Array, stddevs: Array) -> dict[str, Any]:
    """Describe a model and its values as flat ROS parameters (scalars and lists), with a hash."""
    description = yaml.dump(model.describe(), Dumper=DUMPER, sort_keys=False, width=10**6)
    names = [item.name for item in model.parameters]
    return {
        'format': FORMAT,
        'description': description,
        'joints': list(model.joint_names),
        'parameter_names': names,
        'parameter_units': [item.unit for item in model.parameters],
        'parameter_values': values.tolist(),
        'parameter_stddevs': stddevs.tolist(),
        'hash': fingerprint(description, names, values),
    }


@dataclass(frozen=True)
class _ModelBlock:
    """Schema of the block `dynamic_model`."""

    format: Literal[1]
    description: str
    joints: list[str]
    parameter_names: list[str]
    parameter_values: list[float]
    parameter_stddevs: list[float]
    hash: str
    parameter_units: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Facts:
    """Schema of what is read again of the block `identification`; not given: not there."""

    filter_cutoff: float = nan
    relative_residual: float = nan
    max_relative_error_allowed: float = nan
    moving_mass: float = nan
    moving_mass_of_urdf: float = nan
    success_rule: str = ''
    candidate_names: list[str] = field(default_factory=list)
    base_parameter_stddevs: list[float] = field(default_factory=list)
    base_parameter_expressions: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    rms_error: list[float] = field(default_factory=list)
    max_relative_torque_error: list[float] = field(default_factory=list)
    usual_torque: list[float] = field(default_factory=list)


PER_JOINT = ('rms_error', 'max_relative_torque_error', 'usual_torque')
"""Facts with a number for each joint."""


def load_identified_model(source: str | Path | Mapping[str, Any]) -> IdentifiedModel:
    """Read a model and its values from a result file.

    :param source: the file, its content, or just its `dynamic_model` parameters
    :raises IdentificationError: the file cannot be read, a key is missing, a list has the wrong
        length, a value is not finite, the hash does not fit, or the model cannot be built
    """
    name = 'result' if isinstance(source, Mapping) else str(source)
    document = _read(source) if not isinstance(source, Mapping) else source
    block = convert(
        _dynamic_model(document, name), _ModelBlock, f'{name}: dynamic_model', IdentificationError
    )
    try:
        model = build_model(parse_yaml(block.description))
    except (RobodynError, yaml.YAMLError, AttributeError) as error:
        text = ' '.join(str(error).split())
        raise IdentificationError(f'{name}: the model cannot be built: {text}') from error
    _check_names(name, block, model)
    for key in ('parameter_values', 'parameter_stddevs'):
        count, expected = len(getattr(block, key)), len(model.parameters)
        if count != expected:
            raise IdentificationError(f'{name}: {key} has {count} entries, expected {expected}')
    values = np.array(block.parameter_values, dtype=float)
    if not np.isfinite(values).all():
        bad = block.parameter_names[int(np.argmin(np.isfinite(values)))]
        raise IdentificationError(f'{name}: the value of parameter {bad} is not finite')
    if fingerprint(block.description, block.parameter_names, values) != block.hash:
        raise IdentificationError(
            f'{name}: the hash does not fit the content: the file was changed or is damaged'
        )
    facts = _facts(beside(document, 'identification'), len(model.joints), name)
    of_model = model.joint_names, block.hash, name
    return IdentifiedModel(
        model=model,
        values=values,
        stddevs=np.array(block.parameter_stddevs, dtype=float),
        hash=block.hash,
        source=name,
        payload=read_payload(beside(document, 'payload'), model, name),
        facts=facts,
        given_verdict=read_verdict(facts.get('verdict'), *of_model),
        residual=read_residual(beside(document, 'residual_torque'), *of_model),
    )


def _facts(block: object, joints: int, name: str) -> Mapping[str, Any]:
    """Return the block `identification`, checked by `_Facts`; {} for none."""
    block = {} if block is None else block
    where = f'{name}: identification'
    if not isinstance(block, Mapping):
        raise IdentificationError(f'{where} must be a mapping, got {block!r:.60}')
    for start in ('', 'validation_'):
        names = [item.name for item in fields(_Facts) if start + item.name in block]
        given = {key: block[start + key] for key in names}
        convert(given, _Facts, f'{where}{start and " (validation)"}', IdentificationError)
        for key in {*PER_JOINT} & {*names}:
            if len(given[key]) != joints:
                raise IdentificationError(
                    f'{where}.{start}{key} must be a list of numbers for each joint, got '
                    f'{given[key]!r:.60}'
                )
    return block


def _read(path: str | Path) -> Mapping[str, Any]:
    content = read_yaml(path, 'the result file', IdentificationError)
    if not isinstance(content, Mapping):
        raise IdentificationError(f'{path} is no result file: expected a mapping')
    return content


def _dynamic_model(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Unwrap `<node>: ros__parameters: dynamic_model:`, as far as it is there."""
    if 'parameter_values' in content or 'description' in content:
        return content
    for key in ('dynamic_model', 'ros__parameters', '/**', *content):
        inner = content.get(key)
        if isinstance(inner, Mapping) and key != 'identification':
            return _dynamic_model(inner, name)
    raise IdentificationError(f'{name} is no result file: it has no "dynamic_model"')


def _check_names(name: str, block: _ModelBlock, model: DynamicModel) -> None:
    if block.joints != list(model.joint_names):
        raise IdentificationError(
            f'{name}: the joints {block.joints} are not those of the model, '
            f'{list(model.joint_names)}'
        )
    names, expected = block.parameter_names, [item.name for item in model.parameters]
    if len(names) != len(expected):
        raise IdentificationError(
            f'{name}: parameter_names has {len(names)} entries, the model has {len(expected)}'
        )
    for got, wanted in zip(names, expected, strict=True):
        if got != wanted:
            raise IdentificationError(f'{name}: expected parameter {wanted}, got {got}')
