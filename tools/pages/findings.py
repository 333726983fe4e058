# SPDX-License-Identifier: Apache-2.0
"""Page of all findings, made from their table."""

from __future__ import annotations

import re

from robodyn_ros.findings import FINDINGS, SEVERITIES, Entry, code_of
from tools.pages import row

PAGE = 'reference/findings.md'

HEAD = """# Findings

Made from `robodyn_ros/findings.yaml` by `python -m tools.pages`; do not edit.
A finding is a fact about a recording, an identification or an analysis. An identification with a
finding of severity *error* has failed. If a code has several texts, this page has the first one.
[Recordings](../recordings.md) and [diagnosis](../diagnosis.md) explain the checks.

| code | severity | meaning | remedy |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    cases: dict[str, list[Entry]] = {}
    for key, entry in FINDINGS.items():
        if entry.severities:
            cases.setdefault(code_of(key), []).append(entry)
    return HEAD + ''.join(_row(code, cases[code]) for code in sorted(cases))


def _row(code: str, entries: list[Entry]) -> str:
    """Return the row of a code: all its severities, text and remedy of its first case."""
    present = {severity for entry in entries for severity in entry.severities}
    severity = ', '.join(each for each in SEVERITIES if each in present)
    return row(f'`{code}`', severity, *map(_readable, (entries[0].text, entries[0].remedy)))


def _readable(template: str) -> str:
    """Return a template with its fields in italics."""
    return re.sub(r'{(\w*)[^}]*}', r'*\1*', template)
