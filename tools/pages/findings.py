"""Page of the findings of an identification, made from their table."""

from __future__ import annotations

import re

from robodyn_ros.identification.findings import FINDINGS, Entry, code_of

PAGE = 'findings.md'

HEAD = """# Findings of an identification

Made from `robodyn_ros/identification/findings.yaml` by `python -m tools.pages`;
do not edit.
An identification with a finding of severity *error* has failed. A code can have several texts.
Findings about a recording (`robodyn info`) are in [recordings](recordings.md).

| code | severity | text | remedy |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    rows = sorted(FINDINGS.items(), key=lambda each: code_of(each[0]))
    return HEAD + ''.join(_row(key, entry) for key, entry in rows)


def _row(key: str, entry: Entry) -> str:
    severities = ' or '.join(entry.severities)
    cells = (f'`{code_of(key)}`', severities, _readable(entry.text), _readable(entry.remedy))
    return f'| {" | ".join(cells)} |\n'


def _readable(template: str) -> str:
    """Return a template with its fields in italics."""
    return re.sub(r'{(\w*)[^}]*}', r'*\1*', template)
