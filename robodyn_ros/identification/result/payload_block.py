# SPDX-License-Identifier: Apache-2.0
"""A payload in a result: its facts, its block of the result file, and reading that again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn_ros.errors import IdentificationError, ModelError
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import Payload, PayloadModel
from robodyn_ros.schema import Finite, convert


@dataclass(frozen=True)
class _PayloadBlock:
    """Schema of the block; standard deviations that are not known are NaN."""

    parameter_names: list[str]
    parameter_values: list[Finite]
    parameter_stddevs: list[float] = field(default_factory=list)
    parameter_units: list[str] = field(default_factory=list)
    frame: str = ''


def payload_block(payload: Payload) -> dict[str, object]:
    """Describe a payload as flat ROS parameters: the block `payload` of a result file."""
    parameters = payload.model.parameters
    spread = np.full(len(parameters), np.nan) if payload.stddevs is None else payload.stddevs
    return {
        'frame': payload.model.frame,
        'parameter_names': [item.name for item in parameters],
        'parameter_units': [item.unit for item in parameters],
        'parameter_values': payload.values.tolist(),
        'parameter_stddevs': spread.tolist(),
    }


def payload_figures(block: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and text of mass and centre of mass, with 95 % intervals, or of other values.

    Errors of moment and mass are taken as independent.

    :param block: see `payload_block`; unknown standard deviations may be NaN or None
    """
    names = [str(name).removeprefix('payload.') for name in block['parameter_names']]
    values = [float(value) for value in block['parameter_values']]
    spread = [np.nan if std is None else float(std) for std in block['parameter_stddevs']]
    if names[:4] != ['m', 'mx', 'my', 'mz']:
        units = block['parameter_units']
        return [
            (name, _with_interval(value, std, f' {unit}'))
            for name, value, std, unit in zip(names, values, spread, units, strict=True)
        ]
    mass = values[0]
    figures = [('mass', _with_interval(mass, spread[0], ' kg'))]
    if mass > 0.0:
        centre = [moment / mass for moment in values[1:4]]
        std = np.hypot(spread[1:4], np.multiply(centre, spread[0])) / mass
        texts = ', '.join(map(_with_interval, centre, std))
        figures.append(('centre of mass', f'{texts} m in {block["frame"]}'))
    return figures


def is_within_zero(payload: Payload) -> bool:
    """Return True if the 95 % interval of the mass contains 0; else of the first known value."""
    spread = np.array([]) if payload.stddevs is None else payload.stddevs
    known = np.flatnonzero(spread > 0.0)[:1]
    return bool((np.abs(payload.values[known]) <= 1.96 * spread[known]).sum())


def _with_interval(value: float, std: float, unit: str = '') -> str:
    if not np.isfinite(std):
        return f'{value:.4g}{unit} (not determined alone)'
    digits = int(np.ceil(-np.log10(1.96 * std))) + 1 if std > 0.0 else 6
    places = min(max(digits, 0), 6)
    return f'{value:.{places}f} ± {1.96 * std:.{places}f}{unit}'


def read_payload(block: object, arm: DynamicModel, name: str) -> Payload | None:
    """Return the payload of a result file's block; None where there is none.

    :raises IdentificationError: a block that does not fit the arm
    """
    if block is None:
        return None
    given = convert(block, _PayloadBlock, f'{name}: payload', IdentificationError)
    try:
        model = PayloadModel(arm=arm, frame=given.frame)
    except ModelError as error:
        raise IdentificationError(f'{name}: payload: {error}') from error
    expected = [item.name for item in model.parameters]
    if given.parameter_names != expected:
        raise IdentificationError(
            f'{name}: the payload of this model has the parameters {expected}, got '
            f'{given.parameter_names}'
        )
    if len(given.parameter_values) != len(expected):
        raise IdentificationError(
            f'{name}: the payload needs {len(expected)} parameter_values, got '
            f'{given.parameter_values}'
        )
    spread = given.parameter_stddevs or [np.nan] * len(expected)
    return Payload(
        model=model,
        values=np.array(given.parameter_values, float),
        stddevs=np.array(spread, float),
    )


def beside(content: Mapping[str, Any], key: str) -> Any:
    """Return the block `key` beside `dynamic_model` in the content of a result file, or None."""
    if 'dynamic_model' in content:
        return content.get(key)
    for inner in content.values():
        block = beside(inner, key) if isinstance(inner, Mapping) else None
        if block is not None:
            return block
    return None
