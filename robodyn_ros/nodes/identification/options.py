# SPDX-License-Identifier: Apache-2.0
"""Options of an identification as parameters of the node `identification`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.node import Node

from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.options import OPTIONS, Option, default_of
from robodyn_ros.nodes.base.common import declare


def declare_options(node: Node, joints: Sequence[str]) -> dict[str, Any]:
    """Declare a read-only parameter for every option, and return the values by field.

    :param joints: names of the joints of the model
    :raises ConfigError: a parameter has a wrong value, or the wrong number of values
    """
    return {
        name: _declare(node, name, option, joints)
        for name, option in OPTIONS.items()
        if option.parameter
    }


def _declare(node: Node, name: str, option: Option, joints: Sequence[str]) -> Any:
    default = default_of(name) if option.unset is None else option.unset
    if name == 'keep_signals':  # the node has a folder for them
        default = True
    text = f'{option.text}: {", ".join(option.choices)}' if option.choices else option.text
    if option.unset is not None:
        text += f'; {option.unset:g}: {option.default_text}'
    value = declare(
        node,
        option.parameter,
        [default] if option.per_joint else default,
        text,
        read_only=True,
        minimum=0.0 if option.kind in (int, float) and default >= 0 else None,
    )
    if option.choices and value not in option.choices:
        raise ConfigError(
            f'parameter {option.parameter!r} must be one of {", ".join(option.choices)}, got '
            f'{value!r}'
        )
    if option.per_joint:
        return _per_joint(option.parameter, value, joints)
    if option.unset is None:
        return value
    unset = value < 0.0 if option.unset < 0.0 else value == option.unset  # each negative one
    return None if unset else value


def _per_joint(
    name: str, values: Sequence[float], joints: Sequence[str]
) -> float | Sequence[float] | None:
    """Return one value, one per joint, or None; said at once, not after a motion."""
    if len(values) not in (1, len(joints)):
        raise ConfigError(
            f'parameter {name!r} must have 1 value or {len(joints)}, one for each of '
            f'{list(joints)}, got {len(values)}'
        )
    if not any(values):
        return None
    return values[0] if len(values) == 1 else values
