# SPDX-License-Identifier: Apache-2.0
"""State of a detector as numbers and arrays, to continue it in another process bit by bit."""

from __future__ import annotations

import base64
import copy
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import RecordingError

State = dict[str, Any]
"""Value of each attribute by its path, such as `_filter.value`."""
SCALARS = (bool, int, float, str, type(None), np.generic)
ARRAYS = ('|b1', '|u1', '<i4', '<i8', '<f8')
"""Types of arrays that a file may hold; numpy takes other texts for code, or for records."""


def capture(detector: object) -> State:
    """Copy all numbers, texts and arrays of a detector, also those of its filters.

    Settings (frozen dataclasses) and the model torque are left out: they do not change by samples.
    """
    return {path: copy.deepcopy(getattr(owner, name)) for path, owner, name in _places(detector)}


def restore(detector: object, state: State) -> None:
    """Write a captured state into a detector that was built in the same way.

    :raises RecordingError: the state is one of another kind of detector
    """
    places = {path: (owner, name) for path, owner, name in _places(detector)}
    owners = {'': detector} | dict(_parts(detector))
    if lacking := sorted(places.keys() - state.keys()):
        raise RecordingError(f'the state of the detector lacks {lacking[0]}')
    for path, value in state.items():
        parent, _, name = path.rpartition('.')
        owner = owners.get(parent)
        present = getattr(owner, name, None)
        if owner is None or hasattr(type(owner), name) or not _is_data(present):
            raise RecordingError(f'the detector of this version has no {path:.80}')
        if isinstance(present, np.ndarray) and present.shape == np.shape(value):
            present[...] = value  # other attributes may share this array
        else:
            setattr(owner, name, copy.deepcopy(value))


def encoded(state: State) -> dict[str, Any]:
    """Convert a state to what JSON can hold; arrays keep every bit."""
    return {path: _encoded(value) for path, value in state.items()}


def decoded(content: Mapping[str, Any]) -> State:
    """Convert the content of a file to a state.

    :raises RecordingError: it is damaged
    """
    try:
        return {path: _decoded(value) for path, value in content.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RecordingError(f'the state of the detector is damaged: {error}') from error


def _places(detector: object) -> Iterator[tuple[str, Any, str]]:
    """Yield path, owner and name of each attribute that holds state."""
    for prefix, owner in [('', detector), *_parts(detector)]:
        for name, value in vars(owner).items():
            if _is_data(value):
                yield f'{prefix}.{name}' if prefix else name, owner, name


def _parts(owner: object, prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Yield path and object of all parts of a detector."""
    for name, value in vars(owner).items():
        if _is_part(value):
            yield f'{prefix}{name}', value
            yield from _parts(value, f'{prefix}{name}.')


def _is_data(value: Any) -> bool:
    if isinstance(value, (list, tuple, deque)):
        return all(_is_data(item) for item in value)
    return isinstance(value, (np.ndarray, *SCALARS))


def _is_part(value: Any) -> bool:
    ours = type(value).__module__.startswith('robodyn_ros.control')
    return ours and hasattr(value, '__dict__') and not (
        is_dataclass(value) or isinstance(value, ModelTorque)
    )  # fmt: skip


def _encoded(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.ascontiguousarray(value)
        data = base64.b64encode(array.tobytes()).decode()
        return {'type': array.dtype.str, 'shape': list(np.shape(value)), 'data': data}
    if isinstance(value, (list, tuple, deque)):
        return {'items': [_encoded(item) for item in value], 'kind': type(value).__name__}
    if isinstance(value, float):
        return {'float': value.hex()}
    return value


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if 'float' in value:
        return float.fromhex(value['float'])
    if 'items' in value:
        kind = {'list': list, 'tuple': tuple, 'deque': deque}[value['kind']]
        return kind(_decoded(item) for item in value['items'])
    if value['type'] not in ARRAYS:
        raise ValueError(f'arrays of {value["type"]!r:.80} are not state')
    data = np.frombuffer(base64.b64decode(value['data']), value['type']).copy()
    array = data.reshape(value['shape'])
    return array if value['shape'] else array[()]
