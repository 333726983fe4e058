# SPDX-License-Identifier: Apache-2.0
"""Other dynamic models that a recording could have been made for, and other units of torque."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import DynamicModel

_NUMBERS = {('axis', 'rotary'): (1, 2, 3), ('axis', 'linear'): (1, 2), ('puma', None): (1, 2)}
_DIRECTIONS = {
    'upside down': (0.0, 0.0, 1.0),
    'with gravity along its x axis': (1.0, 0.0, 0.0),
    'with gravity against its x axis': (-1.0, 0.0, 0.0),
    'with gravity along its y axis': (0.0, 1.0, 0.0),
    'with gravity against its y axis': (0.0, -1.0, 0.0),
    'upright': (0.0, 0.0, -1.0),
}


REASONS = (
    (1000.0, 'the unit is mNm or per mille of a torque, not Nm'),
    (0.001, 'the unit is kNm, or a unit was converted twice'),
    (100.0, 'the unit is Ncm or per cent of a torque, not Nm'),
    (2.0, 'a lead screw was computed with pi instead of 2 pi, or two motors count as one'),
    (0.5, 'a lead screw was computed with pi instead of 2 pi, or one of two motors is missing'),
    (np.sqrt(2.0), 'peak current was taken for RMS current'),
    (np.sqrt(0.5), 'RMS current was taken for peak current'),
    (8.8507, 'the unit is lbf in, not Nm'),
    (0.73756, 'the unit is lbf ft, not Nm'),
    (141.61, 'the unit is ozf in, not Nm'),
    (0.10197, 'the unit is kgf m, not Nm'),
    (10.197, 'the unit is kgf cm or dNm, not Nm'),
)
"""Factors that have a usual reason."""


@dataclass(frozen=True)
class Variant:
    """Another model.

    :param key: of the finding if it is the right one
    :param values: fields of its text
    """

    key: str
    values: Mapping[str, object]
    model: DynamicModel


def variants(model: DynamicModel) -> Iterator[Variant]:
    """Yield the other models that the same recording could have been made for."""
    description = model.describe()
    parts = description['parts'] if description['kind'] == 'sum' else [description]
    assert isinstance(parts, list)
    for index, part in enumerate(parts):
        for key, values, other in _other_parts(part):
            fresh = deepcopy(parts)
            fresh[index] = other
            try:
                built = build_model({'kind': 'sum', 'parts': fresh})
            except RobodynError:
                continue  # it needs what this model's description does not tell
            yield Variant(key, values, built)


Other = tuple[str, dict[str, object], dict[str, Any]]


def _other_parts(part: dict[str, Any]) -> Iterator[Other]:
    kind = part['kind']
    if kind == 'urdf':
        yield from _other_urdfs(part)
        return
    options = {key: value for key, value in part.items() if key not in ('prior', 'fifth_term')}
    for number in _NUMBERS.get((kind, part.get('type')), ()):
        if number != part['dynamic_model']:
            values: dict[str, object] = {'kind': kind, 'number': number}
            yield 'wrong_dynamic_model.other', values, {**options, 'dynamic_model': number}
    if kind == 'puma' and part['dynamic_model'] == 2 and not part.get('fifth_term'):
        yield 'wrong_dynamic_model.fifth_term', {}, {**part, 'fifth_term': True}


def _other_urdfs(part: dict[str, Any]) -> Iterator[Other]:
    gravity = np.array(part['gravity'])
    size = float(np.linalg.norm(gravity)) or 9.81
    for words, direction in _DIRECTIONS.items():
        turned = size * np.array(direction)
        if float(turned @ gravity) < 0.9 * size**2:
            mounted: dict[str, object] = {'mounting': words}
            yield 'wrong_dynamic_model.gravity', mounted, {**part, 'gravity': turned.tolist()}


def reason(factor: float) -> str:
    """Return the usual cause of a factor between measured and true torque."""
    texts = [text for value, text in REASONS if abs(np.log(factor / value)) < 0.06]
    if factor < 0.05:
        texts.append(f"torque is the motor's, a gear of ratio {1.0 / factor:.0f} is missing")
    if factor > 20.0:
        texts.append(f'a gear of ratio {factor:.0f} was counted twice')
    return ': perhaps ' + ', or '.join(texts) if texts else ''
