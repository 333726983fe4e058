# SPDX-License-Identifier: Apache-2.0
"""Names of the phases in the feedback of actions."""

from __future__ import annotations

from typing import Any


def phase_name(feedback: Any) -> str:
    """Return the name of the phase of a feedback, as its constant in the .action file."""
    kind = type(feedback)
    for name in dir(kind):
        if name.isupper() and getattr(kind, name) == feedback.phase:
            return name.lower().replace('_', ' ')
    return f'phase {feedback.phase}'
