# SPDX-License-Identifier: Apache-2.0
"""The result file: writing a result, and reading its model again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.files.gear_torque_block import read_residual, residual_block
from robodyn_ros.identification.files.parameter_text import parameter_text, write_text
from robodyn_ros.identification.result.facts import header_facts
from robodyn_ros.identification.result.fingerprint import FORMAT, fingerprint
from robodyn_ros.identification.result.payload_block import beside, payload_block, read_payload
from robodyn_ros.identification.result.result import IdentificationResult, IdentifiedModel
from robodyn_ros.identification.result.verdict import read_verdict, verdict_hash
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.yaml_file import DUMPER, parse_yaml, read_yaml


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
    content: dict[str, Any] = {
        'format': FORMAT,
        'description': yaml.dump(model.describe(), Dumper=DUMPER, sort_keys=False, width=10**6),
        'joints': list(model.joint_names),
        'parameter_names': [item.name for item in model.parameters],
        'parameter_units': [item.unit for item in model.parameters],
        'parameter_values': values.tolist(),
        'parameter_stddevs': stddevs.tolist(),
    }
    content['hash'] = _hash(content)
    return content


def load_identified_model(source: str | Path | Mapping[str, Any]) -> IdentifiedModel:
    """Read a model and its values from a result file.

    :param source: the file, its content, or just its `dynamic_model` parameters
    :raises IdentificationError: the file cannot be read, a key is missing, a list has the wrong
        length, a value is not finite, the hash does not fit, or the model cannot be built
    """
    name = 'result' if isinstance(source, Mapping) else str(source)
    document = _read(source) if not isinstance(source, Mapping) else source
    content = _dynamic_model(document, name)
    for key, kind in _KEYS.items():
        if key not in content:
            raise IdentificationError(f'{name}: dynamic_model has no "{key}"')
        if _kind(content[key]) != kind:
            raise IdentificationError(f'{name}: {key} must be a {kind}, not {content[key]!r:.60}')
    if type(content['format']) is not int or content['format'] != FORMAT:
        raise IdentificationError(
            f'{name}: format {content["format"]} is not known, expected {FORMAT}'
        )
    try:
        model = build_model(parse_yaml(content['description']))
    except (RobodynError, yaml.YAMLError, AttributeError) as error:
        text = ' '.join(str(error).split())
        raise IdentificationError(f'{name}: the model cannot be built: {text}') from error
    _check_names(name, content, model)
    values = _numbers(name, content, 'parameter_values', len(model.parameters))
    stddevs = _numbers(name, content, 'parameter_stddevs', len(model.parameters))
    if not np.isfinite(values).all():
        bad = content['parameter_names'][int(np.argmin(np.isfinite(values)))]
        raise IdentificationError(f'{name}: the value of parameter {bad} is not finite')
    if _hash(content) != content['hash']:
        raise IdentificationError(
            f'{name}: the hash does not fit the content: the file was changed or is damaged'
        )
    facts = _facts(beside(document, 'identification'), len(model.joints), name)
    return IdentifiedModel(
        model=model,
        values=values,
        stddevs=stddevs,
        hash=content['hash'],
        source=name,
        payload=read_payload(beside(document, 'payload'), model, name),
        facts=facts,
        given_verdict=read_verdict(facts.get('verdict'), model.joint_names, content['hash'], name),
        residual=read_residual(
            beside(document, 'residual_torque'), model.joint_names, content['hash'], name
        ),
    )


_KEYS = {
    'format': 'number',
    'description': 'text',
    'joints': 'list',
    'parameter_names': 'list',
    'parameter_values': 'list',
    'parameter_stddevs': 'list',
    'hash': 'text',
}


_FACTS = {
    'number': ('filter_cutoff', 'relative_residual', 'max_relative_error_allowed', 'moving_mass',
               'moving_mass_of_urdf'),
    'text': ('success_rule', 'friction_law'),
    'list of numbers': ('base_parameter_stddevs',),
    'list of numbers for each joint': (
        'rms_error', 'decisive_error', 'max_relative_torque_error', 'usual_torque',
    ),
    'list of texts': ('base_parameter_expressions', 'findings', 'actions'),
}  # fmt: skip
"""Facts that are read again, also of a validation, by the kind of their values."""


def _facts(block: object, joints: int, name: str) -> Mapping[str, Any]:
    """Return the block `identification`.

    :raises IdentificationError: it is no mapping, or a value that is read again is of another kind
    """
    block = {} if block is None else block
    if not isinstance(block, Mapping):
        raise IdentificationError(f'{name}: identification must be a mapping, got {block!r:.60}')
    kinds = {key: kind for kind, keys in _FACTS.items() for key in keys}
    for key, value in block.items():
        kind = kinds.get(str(key).removeprefix('validation_'), '')
        items = value if isinstance(value, list) else [value]
        fits = isinstance(value, list) == kind.startswith('list') and (
            all(isinstance(each, (int, float) if 'number' in kind else str) for each in items)
        )
        if kind and not (fits and (len(items) == joints or not kind.endswith('joint'))):
            raise IdentificationError(
                f'{name}: identification.{key} must be a {kind}, got {value!r:.60}'
            )
    return block


def _kind(value: object) -> str:
    if isinstance(value, str):
        return 'text'
    return 'list' if isinstance(value, Iterable) else 'number'


def _hash(content: Mapping[str, Any]) -> str:
    return fingerprint(
        str(content['description']), content['parameter_names'], content['parameter_values']
    )


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


def _check_names(name: str, content: Mapping[str, Any], model: DynamicModel) -> None:
    if list(content['joints']) != list(model.joint_names):
        raise IdentificationError(
            f'{name}: the joints {list(content["joints"])} are not those of the model, '
            f'{list(model.joint_names)}'
        )
    names = list(content['parameter_names'])
    expected = [item.name for item in model.parameters]
    if len(names) != len(expected):
        raise IdentificationError(
            f'{name}: parameter_names has {len(names)} entries, the model has {len(expected)}'
        )
    for got, wanted in zip(names, expected, strict=True):
        if got != wanted:
            raise IdentificationError(f'{name}: expected parameter {wanted}, got {got}')


def _numbers(name: str, content: Mapping[str, Any], key: str, length: int) -> Array:
    try:
        values = np.array([float(value) for value in content[key]])
    except (TypeError, ValueError) as error:
        raise IdentificationError(f'{name}: {key} must be a list of numbers') from error
    if len(values) != length:
        raise IdentificationError(f'{name}: {key} has {len(values)} entries, expected {length}')
    return values
