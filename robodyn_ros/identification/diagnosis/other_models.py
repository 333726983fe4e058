"""Other dynamic models that a recording could have been made for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import DynamicModel, SumModel
from robodyn_ros.recording.finding import Severity

_NUMBERS = {('axis', 'rotary'): (1, 2, 3), ('axis', 'linear'): (1, 2), ('puma', None): (1, 2)}
_DIRECTIONS = {
    'upside down': (0.0, 0.0, 1.0),
    'with gravity along its x axis': (1.0, 0.0, 0.0),
    'with gravity against its x axis': (-1.0, 0.0, 0.0),
    'with gravity along its y axis': (0.0, 1.0, 0.0),
    'with gravity against its y axis': (0.0, -1.0, 0.0),
    'upright': (0.0, 0.0, -1.0),
}


@dataclass(frozen=True)
class Variant:
    """Another model.

    :param code: of the finding if it is the right one
    :param words: the flaw and its remedy
    """

    code: str
    words: str
    model: DynamicModel
    severity: Severity = 'error'


def parts_of(model: DynamicModel) -> tuple[DynamicModel, ...]:
    """Return the parts of a sum, or the model itself."""
    return model.parts if isinstance(model, SumModel) else (model,)


def variants(model: DynamicModel) -> Iterator[Variant]:
    """Yield the other models that the same recording could have been made for."""
    description = model.describe()
    parts = description['parts'] if description['kind'] == 'sum' else [description]
    assert isinstance(parts, list)
    for index, part in enumerate(parts):
        for code, words, other, severity in _other_parts(part):
            fresh = deepcopy(parts)
            fresh[index] = other
            try:
                built = build_model({'kind': 'sum', 'parts': fresh})
            except RobodynError:
                continue  # it needs what this model's description does not tell
            yield Variant(code, words, built, severity)


Other = tuple[str, str, dict[str, Any], Severity]


def _other_parts(part: dict[str, Any]) -> Iterator[Other]:
    kind, code = part['kind'], 'wrong_dynamic_model'
    if kind == 'urdf':
        yield from _other_urdfs(part)
        return
    options = {key: value for key, value in part.items() if key not in ('prior', 'fifth_term')}
    for number in _NUMBERS.get((kind, part.get('type')), ()):
        if number != part['dynamic_model']:
            other = {**options, 'dynamic_model': number}
            yield (
                code,
                f'dynamic model {number} of {kind} is the right one; use it',
                other,
                'error',
            )
    if kind == 'puma' and part['dynamic_model'] == 2 and not part.get('fifth_term'):
        words = 'the fifth term of dynamic model 2 is missing; use it'
        yield code, words, {**part, 'fifth_term': True}, 'warning'


def _other_urdfs(part: dict[str, Any]) -> Iterator[Other]:
    gravity = np.array(part['gravity'])
    size = float(np.linalg.norm(gravity)) or 9.81
    for words, direction in _DIRECTIONS.items():
        turned = size * np.array(direction)
        if float(turned @ gravity) < 0.9 * size**2:
            text = f'the robot is mounted {words}; give the direction of gravity'
            other = {**part, 'gravity': turned.tolist()}
            yield 'wrong_dynamic_model', text, other, 'error'
    for times in (0.5, 2.0):
        # Accelerations and products of velocities go with 1 / time^2, which gravity does not.
        text = (
            f'times are about {times:g} times as long as they were, by gravity and inertia; check '
            f'the unit of the stamps'
        )
        other = {**part, 'gravity': (gravity / times**2).tolist()}
        yield 'time_scale', text, other, 'warning'
    for scale in (0.7, 1.4):
        text = f'the URDF is of another size: lengths are about {scale:g} times those of the URDF'
        yield 'wrong_size', text, {**part, 'urdf': _scaled(str(part['urdf']), scale)}, 'error'


def _scaled(xml: str, scale: float) -> str:
    """Return a URDF with the origins of its joints and links scaled."""

    def longer(match: re.Match[str]) -> str:
        values = ' '.join(repr(scale * float(value)) for value in match[2].split())
        return f'{match[1]}{values}"'

    return re.sub(r'(<origin[^>]*xyz=")([^"]*)"', longer, xml)
