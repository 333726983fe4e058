# SPDX-License-Identifier: Apache-2.0
"""Verdicts of results, changed for tests."""

from __future__ import annotations

from dataclasses import replace

from robodyn_ros.identification.result.verdict import Use, Verdict

BAD = Use('not usable', ('because',))


def with_bad(verdict: Verdict, *names: str) -> Verdict:
    """Return a verdict in which these joints, or all, are not usable."""
    joints = tuple(
        replace(each, feedforward=BAD, monitoring=BAD)
        if each.joint in names or not names
        else each
        for each in verdict.joints
    )
    return replace(verdict, joints=joints)
