# SPDX-License-Identifier: Apache-2.0
"""Page of all findings, made from their table."""

from __future__ import annotations

import re

from robodyn_ros.findings import FINDINGS, Entry, code_of

PAGE = 'findings.md'

HEAD = """# Findings

Made from `robodyn_ros/findings.yaml` by `python -m tools.pages`; do not edit.
These are the findings about recordings, of an identification, and of what is analysed afterwards.
An identification with a finding of severity *error*, also one about its recording, has failed.
A code can have several texts. [Recordings](recordings.md) and [diagnosis](diagnosis.md) explain
the checks.

| code | severity | text | remedy |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    rows = sorted(FINDINGS.items(), key=lambda each: code_of(each[0]))
    return HEAD + ''.join(_row(key, entry) for key, entry in rows if entry.severities)


def _row(key: str, entry: Entry) -> str:
    severities = ' or '.join(entry.severities)
    cells = (f'`{code_of(key)}`', severities, _readable(entry.text), _readable(entry.remedy))
    return f'| {" | ".join(cells)} |\n'


def _readable(template: str) -> str:
    """Return a template with its fields in italics."""
    return re.sub(r'{(\w*)[^}]*}', r'*\1*', template)
