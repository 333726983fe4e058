# SPDX-License-Identifier: Apache-2.0
"""Requests for parameters and transitions that rclpy cannot answer, or not in time."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from robodyn_ros.bounds import Bound, check_bound
from robodyn_ros.errors import ConfigError

MOST = 500
"""Largest number of names in a request. A node has up to 200 parameters, and rclpy compares each
of them with each prefix: 3000 prefixes take it 35 ms."""
VALUES = Bound(
    10_000, 'values', 'elements of the arrays in a request for parameters',
    'a stop waits 200 ns for each; a model of 200 joints has 3000',
)  # fmt: skip
ARRAYS = tuple(f'{name}_array_value' for name in ('byte', 'bool', 'integer', 'double', 'string'))
"""Fields of rcl_interfaces/msg/ParameterValue with many values, which may all be set."""
TYPES = range(10)
"""Values of rcl_interfaces/msg/ParameterType."""


def strict(callback: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """Wrap the callback of a service, so that its request is checked first."""

    @wraps(callback)
    def check_first(request: Any, response: Any) -> Any:
        check(request)
        return callback(request, response)

    return check_first


def check_parameters(request: Any) -> None:
    """Check a request of a parameter service; other requests pass.

    :raises ConfigError: too many names, or a type that does not exist
    :raises BoundError: too long arrays
    """
    for field in ('names', 'prefixes', 'parameters'):
        if (count := len(getattr(request, field, ()))) > MOST:
            raise ConfigError(f'a request may have {MOST} {field} at most, got {count}')
    parameters = getattr(request, 'parameters', ())
    arrays = (getattr(each.value, name) for each in parameters for name in ARRAYS)
    check_bound(VALUES, sum(map(len, arrays)))
    for parameter in parameters:
        kind = parameter.value.type
        if kind not in TYPES:
            raise ConfigError(
                f'parameter {parameter.name!r}: there is no parameter type {kind}, '
                f'the types are {TYPES[0]} to {TYPES[-1]}'
            )


def check_transition(node: Any, request: Any) -> None:
    """Check a request for a transition of a lifecycle node.

    :raises ConfigError: the state of the node has no such transition
    """
    machine, asked = node._state_machine, request.transition
    possible = [tuple(row[:2]) for row in machine.available_transitions]
    if asked.label in [label for _, label in possible]:
        return
    if not asked.label and asked.id in [number for number, _ in possible]:
        return
    known = ', '.join(f'{label} ({number})' for number, label in possible)
    raise ConfigError(
        f'the state {machine.current_state[1]} has no transition {asked.label or asked.id!r}, '
        f'it has: {known}'
    )
