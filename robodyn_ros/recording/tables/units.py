# SPDX-License-Identifier: Apache-2.0
"""Units of signals, and units in the names of columns such as `q1 [deg]` or `time_ms`."""

from __future__ import annotations

import re

import numpy as np

_TIME_UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9, 'min': 60.0}
_LENGTHS = {
    'rad': 1.0, 'mrad': 1e-3, 'deg': np.pi / 180, 'rev': 2 * np.pi, 'm': 1.0, 'cm': 1e-2,
    'mm': 1e-3,
}  # fmt: skip
_RATES = {f'{unit}/s': factor for unit, factor in _LENGTHS.items()} | {'rpm': np.pi / 30}
# Units of the second row need a scale (Nm/A, N/V, rated torque) to give Nm or N.
_TORQUES = {
    'Nm': 1.0, 'N': 1.0, 'mNm': 1e-3, 'Ncm': 1e-2, 'cNm': 1e-2, 'Nmm': 1e-3, 'kNm': 1e3, 'kN': 1e3,
}  # fmt: skip
_DRIVES = {'A': 1.0, 'mA': 1e-3, 'V': 1.0, 'mV': 1e-3, 'percent': 1e-2, 'permille': 1e-3}
UNITS: dict[str, dict[str, float]] = {
    'time': _TIME_UNITS,
    'position': _LENGTHS | {'count': 1.0},
    'velocity': _RATES | {'count/s': 1.0},
    'acceleration': {f'{unit}/s^2': factor for unit, factor in _LENGTHS.items()},
    'torque': _TORQUES | _DRIVES,
    'motor_position': _LENGTHS | {'count': 1.0},
    'command': _LENGTHS | {'count': 1.0},
    'motor_velocity': _RATES | {'count/s': 1.0},
}
TIMES = ('time', 't', 'times', 'timestamp', 'timestamps', '__time', '%time', 'stamp', 'zeit',
         'elapsed', 'elapsed_time')  # fmt: skip
"""Names of a column of time, in lower case."""
NEEDS_SCALE = {*_DRIVES, 'count', 'count/s'}

_SPELLINGS = {unit.lower(): unit for units in UNITS.values() for unit in units} | {
    '°': 'deg', 'degree': 'deg', 'degrees': 'deg', 'grad': 'deg', 'radian': 'rad',
    'radians': 'rad', 'revolutions': 'rev', 'turns': 'rev', 'sec': 's', 'seconds': 's',
    'second': 's', 'minute': 'min', 'minutes': 'min', 'msec': 'ms', 'usec': 'us', 'nsec': 'ns',
    '°/s': 'deg/s', 'dps': 'deg/s', 'grad/s': 'deg/s', 'rads': 'rad/s', '1/min': 'rpm',
    'u/min': 'rpm', 'amp': 'A', 'ampere': 'A', 'newtonmeter': 'Nm', '%': 'percent',
    '‰': 'permille', 'counts': 'count', 'cnt': 'count', 'inc': 'count', 'incs': 'count',
    'increments': 'count', 'ticks': 'count', '°/s^2': 'deg/s^2',
}  # fmt: skip
"""Units by their usual spellings in lower case, without spaces, dots and asterisks."""
_WORDS = ('deg', 'degree', 'degrees', 'grad', 'rad', 'mrad', 'nm', 'mnm', 'ncm', 'cnm', 'nmm',
          'knm', 'ms', 'us', 'ns', 'rpm', 'sec')  # fmt: skip
"""Spellings that need no bracket to be the unit at the end of a name."""
_BRACKETED = re.compile(r'(.*[^\s_(\[{<])[\s_]*[(\[{<]([^()\[\]{}<>]+)[)\]}>]\s*')
_LAST = re.compile(r'(.*[^\W_])[\s_/]([^\W_]+)')


def unit_of(text: str) -> str | None:
    """Return the unit that a text with or without brackets spells; None: it is no unit."""
    short = re.sub(r'[\s.·*⋅]|^[(\[{<]+|[)\]}>]+$', '', text).lower()
    short = re.sub(r'/sec\b', '/s', short.replace('²', '^2').replace('s2', 's^2'))
    return _SPELLINGS.get(re.sub('[µμ]', 'u', short))


def split_unit(name: str) -> tuple[str, str | None]:
    """Return the name of a column without the unit at its end, and that unit."""
    if (match := _BRACKETED.fullmatch(name)) and (unit := unit_of(match[2])):
        return match[1], unit
    if (match := _LAST.fullmatch(name)) and match[2].lower() in _WORDS:
        return match[1], unit_of(match[2])
    if match and match[1].lower() in TIMES and (unit := unit_of(match[2])) in _TIME_UNITS:
        return match[1], unit
    return name, unit_of(name) if name.lower() in ('ms', 'us', 'ns') else None


def find_unknown_unit(name: str) -> str | None:
    """Return a text in brackets at the end of a name that is no unit and no number, or None."""
    match = _BRACKETED.fullmatch(name)
    return (
        match[2] if match and re.search(r'[^\W\d_]', match[2]) and not unit_of(match[2]) else None
    )


def is_time(name: str) -> bool:
    """Return True for the name of a column of time, with or without its unit."""
    return split_unit(name)[0].strip().lower() in TIMES
