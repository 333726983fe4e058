# SPDX-License-Identifier: Apache-2.0
"""Page of all fault codes, made from their table."""

from __future__ import annotations

from robodyn_ros.faults import FAULTS
from tools.pages import row

PAGE = 'reference/faults.md'

HEAD = """# Fault codes

Made from `robodyn_ros/faults.yaml` by `python -m tools.pages`; do not edit.

`fault_code` of messages, results and answers has the number; the sentence beside it (`fault`,
`message` or `problem`) has names, values and limits. In a program, use the constants `FAULT_NAME`
of `robodyn_ros/msg/FaultCode`, not the numbers or sentences. Services of std_srvs have no code.

| number | FAULT_ | meaning | what to do |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    rows = sorted((entry.number, name, entry) for name, entry in FAULTS.items())
    return HEAD + ''.join(
        row(str(number), f'`{name.upper()}`', entry.meaning, entry.remedy)
        for number, name, entry in rows
    )
