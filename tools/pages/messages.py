# SPDX-License-Identifier: Apache-2.0
"""Page of messages, services and actions, made from their files."""

from __future__ import annotations

from tools.common import ROOT

PAGE = 'reference/messages.md'

HEAD = """# Messages, services and actions

Made from `msg/`, `srv/` and `action/` by `python -m tools.pages`; do not edit. Parts of a service
are separated by `---`: request and response; those of an action: goal, result and feedback.
Which node has which is in [architecture](../architecture.md#nodes-topics-and-services).
"""
KINDS = {'msg': 'Messages', 'srv': 'Services', 'action': 'Actions'}


def page() -> str:
    """Return the text of the page."""
    return HEAD + ''.join(_chapter(kind, title) for kind, title in KINDS.items())


def _chapter(kind: str, title: str) -> str:
    files = sorted((ROOT / kind).iterdir())
    blocks = (f'\n### {file.stem}\n\n```text\n{file.read_text().strip()}\n```\n' for file in files)
    return f'\n## {title}\n{"".join(blocks)}'
