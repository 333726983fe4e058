# SPDX-License-Identifier: Apache-2.0
"""Table of the fault codes, `faults.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from robodyn_ros.errors import Fault, RobodynError
from robodyn_ros.yaml_file import parse_yaml


@dataclass(frozen=True)
class FaultRow:
    """Row of the table.

    :param number: in messages, from 0 to 65535
    :param states: messages that have a constant of it, beside FaultCode
    """

    number: int
    states: tuple[str, ...]
    meaning: str
    remedy: str


FAULTS = msgspec.convert(
    parse_yaml(Path(__file__).with_suffix('.yaml').read_text(encoding='utf-8')),
    dict[str, FaultRow],
)
"""Meaning of each code, by its name."""
_NAMES = {entry.number: name for name, entry in FAULTS.items()}


def number_of(text: str) -> int:
    """Return the number of a `Fault`; 0 for any other text.

    :raises KeyError: the table has no such code
    """
    return FAULTS[text.name].number if isinstance(text, Fault) else 0


def decode_fault(number: int, text: str) -> Fault:
    """Return a fault of another node; a number that is not known counts as `refused`."""
    return Fault(_NAMES.get(number, 'refused'), text)


def fault_of(error: BaseException, text: str) -> Fault:
    """Return the fault of an exception, with this sentence."""
    if isinstance(error, RobodynError):
        return Fault(error.fault, text)
    return Fault('file_error' if isinstance(error, OSError) else 'unexpected', text)
