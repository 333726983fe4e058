# SPDX-License-Identifier: Apache-2.0
"""Text that an operator reads after an identification: result, files, next commands."""

from __future__ import annotations

from robodyn_ros.identification.files.export import Exported
from robodyn_ros.identification.files.next_steps import next_steps
from robodyn_ros.identification.files.report import text_report
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.result.summary import LINES


def format_result(
    result: IdentificationResult, files: Exported | None, *, verbose: bool = False
) -> str:
    """Return what an operator reads: the result, the files and the next commands.

    :param verbose: all parameters and findings in full; otherwise at most `LINES` lines
    """
    end = list_files(result, files)
    text = text_report(result) if verbose else result.summary(LINES - len(end) - 1)
    return '\n'.join([text, '', *end])


def list_files(result: IdentificationResult, files: Exported | None) -> list[str]:
    """Return which files were written, and the next commands."""
    if files is None:
        return [_next_without_files(result)]
    names = ', '.join(path.name for path in files.paths)
    lines = [f'written to {files.facts.parent}: {names}']
    if files.result is None:
        return ['no model is exported, as nothing of it can be used', *lines, _AGAIN]
    if not result.verdict.worth_writing:
        return [f'{lines[0]} (forced: nothing of it can be used)', _AGAIN]
    bad = [each.joint for each in result.verdict.joints if each.moved and not each.works]
    if bad:
        lines.append(f'{", ".join(bad)}: no feed-forward and no monitoring (allowed_joints)')
    steps = next_steps(files.result, files.robot, files.command)
    return [*lines, *(f'next, {purpose}: {command}' for purpose, command in steps)]


_AGAIN = 'next: correct what is listed above, then repeat the command'


def _next_without_files(result: IdentificationResult) -> str:
    return (
        _AGAIN
        if not result.verdict.worth_writing
        else 'next: add --out DIR, which writes the model'
    )
