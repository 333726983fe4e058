# SPDX-License-Identifier: Apache-2.0
"""A residual torque as block `residual_torque` of a result file, and reading that again.

The file holds numbers and a few words; their amount is bounded and everything is checked when it
is read, as what is computed from them goes to motors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn_ros.bounds import GEAR_NUMBERS, parse_json
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.gears.maps import MAPS
from robodyn_ros.models.gear_torque import INPUTS, GearTorqueLaw
from robodyn_ros.models.interface import Array

PER_JOINT = ('limit', 'gear_ratio')
PER_INPUT = ('low', 'high')


def residual_block(residual: GearTorqueLaw, model_hash: str) -> dict[str, Any]:
    """Describe a residual torque as flat ROS parameters."""
    arrays = residual.map.arrays()
    block: dict[str, Any] = {
        'kind': residual.kind,
        'joints': list(residual.joints),
        'inputs': list(residual.inputs),
        'cutoff': float(residual.cutoff),
        **{name: getattr(residual, name).ravel().tolist() for name in (*PER_JOINT, *PER_INPUT)},
        'array_names': list(arrays),
        'array_shapes': [json.dumps(values.shape[1:]) for values in arrays.values()],
        'numbers': np.concatenate([values.ravel() for values in arrays.values()]).tolist(),
    }
    block['hash'] = _hash(block, model_hash)
    return block


def read_residual(
    block: object, joints: tuple[str, ...], model_hash: str, name: str
) -> GearTorqueLaw | None:
    """Return the residual torque of a result file's block; None where there is none.

    :param joints: of the model, in its order
    :raises IdentificationError: a key is missing, a number is none or too many, or the block
        belongs to another model or was changed
    """
    if block is None:
        return None
    try:
        return _read(block, joints, model_hash)
    except (LookupError, TypeError, ValueError, OverflowError, np.linalg.LinAlgError) as error:
        reason = f'it has no {error}' if isinstance(error, KeyError) else str(error)
        text = ' '.join(reason.split())
        raise IdentificationError(
            f'{name}: the block residual_torque cannot be used: {text}'
        ) from error


def _read(block: object, joints: tuple[str, ...], model_hash: str) -> GearTorqueLaw:
    if not isinstance(block, Mapping):
        raise ValueError('expected a mapping')
    count, inputs = len(joints), tuple(str(item) for item in block['inputs'])
    kind = block['kind']
    if kind not in MAPS:
        raise ValueError(f'kind {kind!r} is not one of {", ".join(MAPS)}')
    if inputs not in (INPUTS[:2], INPUTS):
        raise ValueError(f'inputs {list(inputs)} are not the first two or three of {INPUTS}')
    if tuple(block['joints']) != joints:
        raise ValueError(f'its joints {list(block["joints"])} are not those of the model')
    per_joint = {key: _finite(block[key], (count,), key) for key in PER_JOINT}
    per_input = {key: _finite(block[key], (count, len(inputs)), key) for key in PER_INPUT}
    cutoff = float(_finite([block['cutoff']], (1,), 'cutoff')[0])
    _check_ranges(cutoff, **per_joint, **per_input)
    residual = MAPS[kind].from_arrays(_arrays(block, count))
    if not np.isfinite(residual.predict(np.zeros((1, count, len(inputs))))).all():
        raise ValueError('it gives no finite torque')
    if _hash(block, model_hash) != block['hash']:
        raise ValueError('its hash does not fit: it was changed, or belongs to another model')
    return GearTorqueLaw(
        joints=joints,
        inputs=inputs,
        map=residual,
        cutoff=cutoff,
        **per_joint,
        **per_input,
    )


def _check_ranges(cutoff: float, limit: Array, gear_ratio: Array, low: Array, high: Array) -> None:
    if not (high > low).all() or (limit < 0.0).any():
        raise ValueError('low must be below high, and a limit must not be negative')
    if (gear_ratio == 0.0).any():
        raise ValueError('a gear_ratio must not be 0')
    if cutoff < 0.0:
        raise ValueError('cutoff must not be negative')


def _arrays(block: Mapping[str, Any], joints: int) -> dict[str, Array]:
    """Return the arrays of the map, by name; the first axis of each is the joint."""
    numbers, names = list(block['numbers']), [str(item) for item in block['array_names']]
    if len(numbers) > GEAR_NUMBERS.most * joints:
        raise ValueError(
            f'{len(numbers)} numbers, at most {GEAR_NUMBERS.most} per joint are possible'
        )
    values = _finite(numbers, (len(numbers),), 'numbers')
    arrays, first = {}, 0
    for key, text in zip(names, block['array_shapes'], strict=True):
        shape = (joints, *(int(size) for size in parse_json(text)))
        if min(shape) < 1 or len(shape) > 5:
            raise ValueError(f'shape {text} of {key}')
        last = first + int(np.prod(shape, dtype=float))
        arrays[key] = values[first:last].reshape(shape)
        first = last
    if first != len(values):
        raise ValueError(f'{len(values)} numbers where the shapes need {first}')
    return arrays


def _finite(given: Any, shape: tuple[int, ...], what: str) -> Array:
    values = np.array([float(value) for value in given])
    if values.size != np.prod(shape) or not np.isfinite(values).all():
        raise ValueError(f'{what} must be {int(np.prod(shape))} finite numbers')
    return values.reshape(shape)


def _hash(block: Mapping[str, Any], model_hash: str) -> str:
    """Return SHA-256 over everything that determines the torque; numbers by their exact value."""
    words = [[str(item) for item in block[key]] for key in ('joints', 'inputs', 'array_names')]
    exact = [
        [float(value).hex() for value in block[key]] for key in (*PER_JOINT, *PER_INPUT, 'numbers')
    ]
    shapes = [parse_json(text) for text in block['array_shapes']]
    parts = [block['kind'], float(block['cutoff']).hex(), words, exact, shapes, model_hash]
    return hashlib.sha256(json.dumps(parts).encode('utf-8')).hexdigest()
