# SPDX-License-Identifier: Apache-2.0
"""Findings about data and results, with the wordings of `findings.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from robodyn_ros.yaml_file import parse_yaml

Severity = Literal['info', 'warning', 'error']
SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'info')
"""Most important first."""


@dataclass(frozen=True)
class Finding:
    """A fact that affects how far data or a result can be trusted; `finding` builds it.

    :param remedy: advice to the user; empty: nothing has to be done
    """

    code: str
    text: str
    joint: str = ''
    severity: Severity = 'warning'
    remedy: str = ''

    @property
    def message(self) -> str:
        """Observation and remedy."""
        return f'{self.text} {self.remedy}'.rstrip()

    @property
    def line(self) -> str:
        """Severity, sentences and code, as printed."""
        return f'{self.severity}: {self.message} [{self.code}]'


@dataclass(frozen=True)
class Entry:
    """Wording of a finding.

    :param text: observation with value and limit; a template for `str.format`
    :param remedy: advice to the user; a template too; empty: nothing has to be done
    :param severities: the usual severity first; none: a sentence of other findings (`sentence`)
    """

    text: str
    remedy: str = ''
    severities: tuple[Severity, ...] = ()


def finding(
    key: str, joint: str = '', severity: Severity | None = None, **values: object
) -> Finding:
    """Build a finding from the table.

    :param joint: name of the joint, where the finding is about one
    :param severity: one of those in the table; None: the usual one
    :raises KeyError: the table has no such key, or a field has no value
    :raises ValueError: the table does not list this severity
    """
    entry = FINDINGS[key]
    severity = severity or entry.severities[0]
    if severity not in entry.severities:
        raise ValueError(f'{key} cannot be of severity {severity}')
    parts = [entry.text, entry.remedy]
    if joint.startswith('joint'):  # not 'joint joint2'
        parts = [part.replace('joint {joint}', '{joint}') for part in parts]
    text, remedy = (part.format(joint=joint, **values) for part in parts)
    return Finding(code_of(key), text, joint, severity, remedy)


def has_error(findings: Iterable[Finding]) -> bool:
    """Return True if a finding is an error."""
    return any(item.severity == 'error' for item in findings)


def sentence(key: str, **values: object) -> str:
    """Return a sentence that the texts of several findings contain."""
    return FINDINGS[key].text.format(**values)


def code_of(key: str) -> str:
    """Return the code of a key: several wordings can belong to one code."""
    return key.partition('.')[0]


FINDINGS = msgspec.convert(
    parse_yaml(Path(__file__).with_suffix('.yaml').read_text(encoding='utf-8')), dict[str, Entry]
)
"""Wording of each finding: by its code, or by `code.case` where a code has several wordings."""
