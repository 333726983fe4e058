# SPDX-License-Identifier: Apache-2.0
"""Options of an identification as flags of `robodyn identify`."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn_ros.cli.robot_model import refuse
from robodyn_ros.identification.options import OPTIONS, Option, default_of


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add a flag for every option; its value is None where the flag is not given."""
    for name, option in OPTIONS.items():
        if option.flag:
            _add_option(group, name, option)


def _add_option(group: argparse._ArgumentGroup, name: str, option: Option) -> None:
    flag, text = f'--{option.flag}', option.text.replace('%', '%%')
    default = (option.default_text or str(default_of(name))).replace('%', '%%')
    if len(option.switch) == 2:
        text = f'{text} (default: {default})'
        group.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, help=text)
    elif option.switch:
        value = option.switch[0]
        if option.kind is not bool:
            text = f'set {name.replace("_", " ")} to {value!r}: {text}'
        elif not value:
            text = f'do not {text}'
        group.add_argument(flag, dest=name, action='store_const', const=value, help=text)
    else:
        group.add_argument(
            flag,
            dest=name,
            type=option.kind,
            choices=option.choices or None,
            metavar=option.unit or None,
            nargs='+' if option.per_joint else '?' if option.alone is not None else None,
            const=option.alone,
            help=f'{text} (default: {default})',
        )


def read_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that are given, by field of `IdentifyOptions`.

    :raises ConfigError: a flag that has no effect
    """
    if arguments.estimator != 'robust':
        refuse(arguments, ('loss',), 'is of the robust estimator: add --estimator robust')
    values = {}
    for name, option in OPTIONS.items():
        value = getattr(arguments, name, None)
        if value is not None:
            values[name] = value
            if len(option.switch) == 2:
                values[name] = option.switch[0] if value else option.switch[1]
    return values
