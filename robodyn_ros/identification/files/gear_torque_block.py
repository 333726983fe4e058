# SPDX-License-Identifier: Apache-2.0
"""A residual torque as block `residual_torque` of a result file, and reading that again.

The file holds numbers and a few words; their amount is bounded and everything is checked when it
is read, as what is computed from them goes to motors.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from robodyn_ros.bounds import GEAR_NUMBERS, parse_json
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.gears.maps import MAPS
from robodyn_ros.models.gear_torque import INPUTS, GearTorqueLaw
from robodyn_ros.models.interface import Array
from robodyn_ros.schema import Finite, NotNegative, convert


@dataclass(frozen=True)
class _GearBlock:
    """Schema of the block: flat ROS parameters, numbers per joint and per joint and input."""

    kind: Literal['rbf', 'gmr']
    joints: list[str]
    inputs: list[str]
    cutoff: NotNegative
    limit: list[NotNegative]
    gear_ratio: list[Finite]
    low: list[Finite]
    high: list[Finite]
    array_names: list[str]
    array_shapes: list[str]
    numbers: list[Finite]
    hash: str = ''


def residual_block(residual: GearTorqueLaw, model_hash: str) -> dict[str, Any]:
    """Describe a residual torque as flat ROS parameters."""
    arrays = residual.map.arrays()
    block = _GearBlock(
        kind=residual.kind,  # type: ignore[arg-type]
        joints=list(residual.joints),
        inputs=list(residual.inputs),
        cutoff=float(residual.cutoff),
        limit=residual.limit.tolist(),
        gear_ratio=residual.gear_ratio.tolist(),
        low=residual.low.ravel().tolist(),
        high=residual.high.ravel().tolist(),
        array_names=list(arrays),
        array_shapes=[json.dumps(values.shape[1:]) for values in arrays.values()],
        numbers=np.concatenate([values.ravel() for values in arrays.values()]).tolist(),
    )
    return asdict(replace(block, hash=_hash(block, model_hash)))


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
    where = f'{name}: the block residual_torque cannot be used'
    given = convert(block, _GearBlock, where, IdentificationError)
    try:
        return _read(given, joints, model_hash)
    except (LookupError, TypeError, ValueError, OverflowError, np.linalg.LinAlgError) as error:
        reason = f'it has no {error}' if isinstance(error, KeyError) else str(error)
        raise IdentificationError(f'{where}: {" ".join(reason.split())}') from error


def _read(block: _GearBlock, joints: tuple[str, ...], model_hash: str) -> GearTorqueLaw:
    count, inputs = len(joints), tuple(block.inputs)
    if inputs not in (INPUTS[:2], INPUTS):
        raise ValueError(f'inputs {block.inputs} are not the first two or three of {INPUTS}')
    if tuple(block.joints) != joints:
        raise ValueError(f'its joints {block.joints} are not those of the model')
    one, pair = (count,), (count, len(inputs))
    shapes: dict[str, tuple[int, ...]] = {
        'limit': one, 'gear_ratio': one, 'low': pair, 'high': pair,
    }  # fmt: skip
    numbers = {key: _reshape(getattr(block, key), shape, key) for key, shape in shapes.items()}
    if not (numbers['high'] > numbers['low']).all():
        raise ValueError('low must be below high')
    if 0.0 in block.gear_ratio:
        raise ValueError('a gear_ratio must not be 0')
    residual = MAPS[block.kind].from_arrays(_arrays(block, count))
    if not np.isfinite(residual.predict(np.zeros((1, count, len(inputs))))).all():
        raise ValueError('it gives no finite torque')
    if _hash(block, model_hash) != block.hash:
        raise ValueError('its hash does not fit: it was changed, or belongs to another model')
    return GearTorqueLaw(
        joints=joints, inputs=inputs, map=residual, cutoff=block.cutoff, **numbers
    )


def _arrays(block: _GearBlock, joints: int) -> dict[str, Array]:
    """Return the arrays of the map, by name; the first axis of each is the joint."""
    values = np.array(block.numbers, dtype=float)
    if len(values) > GEAR_NUMBERS.most * joints:
        raise ValueError(
            f'{len(values)} numbers, at most {GEAR_NUMBERS.most} per joint are possible'
        )
    arrays, first = {}, 0
    for key, text in zip(block.array_names, block.array_shapes, strict=True):
        shape = (joints, *(int(size) for size in parse_json(text)))
        if min(shape) < 1 or len(shape) > 5:
            raise ValueError(f'shape {text} of {key}')
        last = first + int(np.prod(shape, dtype=float))
        arrays[key] = values[first:last].reshape(shape)
        first = last
    if first != len(values):
        raise ValueError(f'{len(values)} numbers where the shapes need {first}')
    return arrays


def _reshape(given: list[float], shape: tuple[int, ...], what: str) -> Array:
    if len(given) != np.prod(shape):
        raise ValueError(f'{what} must be {int(np.prod(shape))} numbers, got {len(given)}')
    return np.array(given, dtype=float).reshape(shape)


def _hash(block: _GearBlock, model_hash: str) -> str:
    """Return SHA-256 over everything that determines the torque; numbers by their exact value."""
    exact = [
        [float(value).hex() for value in values]
        for values in (block.limit, block.gear_ratio, block.low, block.high, block.numbers)
    ]
    shapes = [parse_json(text) for text in block.array_shapes]
    words = [block.joints, block.inputs, block.array_names]
    parts = [block.kind, float(block.cutoff).hex(), words, exact, shapes, model_hash]
    return hashlib.sha256(json.dumps(parts).encode('utf-8')).hexdigest()
