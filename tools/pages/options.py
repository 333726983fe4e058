# SPDX-License-Identifier: Apache-2.0
"""Page of the options of an identification, made from their table."""

from __future__ import annotations

from robodyn_ros.identification.options import OPTIONS, Option, default_of

PAGE = 'reference/options_identification.md'

HEAD = """# Options of an identification

Made from `robodyn_ros/identification/options.py` by `python -m tools.pages`; do not edit.
`robodyn identify` has the flags, the node `identification` the parameters (read-only), and
`IdentifyOptions` the fields. A field is named where it differs from the parameter.

| flag | parameter | meaning | default |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    return HEAD + ''.join(_row(name, option) for name, option in OPTIONS.items())


def _row(name: str, option: Option) -> str:
    flag = f'`{_flag(option)}`' if option.flag else '-'
    parameter = f'`{option.parameter}`' if option.parameter else '-'
    if name != option.parameter:
        parameter += f', field `{name}`'
    if option.unset is not None:
        parameter += f' ({option.unset:g}: default)'
    text = option.text
    if option.per_joint:
        text += '; one value, or one per joint'
    default = option.default_text or f'`{default_of(name)}`'
    return f'| {flag} | {parameter} | {text} | {default} |\n'


def _flag(option: Option) -> str:
    """Return a flag with its values."""
    if len(option.switch) == 2:
        return f'--{option.flag}, --no-{option.flag}'
    if option.switch:
        return f'--{option.flag}'
    value = option.unit or ' or '.join(option.choices)
    if option.alone is not None:
        value = f'[{value}]'
    return f'--{option.flag} {value}' + (' ...' if option.per_joint else '')
