# SPDX-License-Identifier: Apache-2.0
"""Page of messages, services and actions, made from their files."""

from __future__ import annotations

from pathlib import Path

from tools.common import ROOT

PAGE = 'reference/messages.md'

HEAD = """# Messages, services and actions

Made from `msg/`, `srv/` and `action/` by `python -m tools.pages`; do not edit. `---` separates
request and response of a service; goal, result and feedback of an action. The constants `FAULT_*`
are in [fault codes](faults.md), and left out here. The nodes that have them are in
[architecture](../architecture.md#nodes-topics-and-services).
"""
KINDS = {'msg': 'Messages', 'srv': 'Services', 'action': 'Actions'}


def page() -> str:
    """Return the text of the page."""
    return HEAD + ''.join(_chapter(kind, title) for kind, title in KINDS.items())


def _chapter(kind: str, title: str) -> str:
    files = sorted((ROOT / kind).iterdir())
    blocks = (f'\n### {file.stem}\n\n```text\n{_definition(file)}\n```\n' for file in files)
    return f'\n## {title}\n{"".join(blocks)}'


def _definition(file: Path) -> str:
    """Return the text of a definition without the constants of faults."""
    lines = file.read_text().strip().splitlines()
    return '\n'.join(line for line in lines if not line.startswith('uint16 FAULT_'))
