# SPDX-License-Identifier: Apache-2.0
"""Remedies of the findings of an identification, in few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robodyn_ros.findings import SEVERITIES, Finding


def by_importance(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with errors first; causes stay before their effects."""
    return sorted(findings, key=lambda item: SEVERITIES.index(item.severity))


def actions(findings: Sequence[Finding], most_joints: int = 3) -> list[str]:
    """Return one sentence for each finding that asks for something; alike joints are one.

    A finding without remedy is described if it is a warning or an error.

    :param most_joints: joints that are listed by name; more are counted
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in by_importance(findings):
        text = item.remedy or item.text
        if item.remedy or item.severity != 'info':
            joints = groups.setdefault((item.severity, item.code, text), [])
            joints += [item.joint] if item.joint else []
    return [
        f'{severity}: {code}{_of(joints, most_joints)}: {text}'
        for (severity, code, text), joints in groups.items()
    ]


def _of(joints: list[str], most: int) -> str:
    if not joints:
        return ''
    return f' ({", ".join(joints) if len(joints) <= most else f"{len(joints)} joints"})'
