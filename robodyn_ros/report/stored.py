# SPDX-License-Identifier: Apache-2.0
"""Content of a report, read from the folder of a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robodyn_ros.bounds import parse_json, read_text
from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.files.result_folder import FACTS, MODEL, SIGNALS
from robodyn_ros.identification.files.signals_bag import read_signals
from robodyn_ros.report.source import ReportSignals, ReportSource


def folder_of(path: str | Path) -> Path:
    """Return the folder of a result: the path, or where the named file is.

    :raises IdentificationError: it does not exist
    """
    path = Path(path)
    if not path.exists():
        raise IdentificationError(f'{path}: no such file or folder')
    return path if path.is_dir() else path.parent


def load_source(path: str | Path) -> ReportSource:
    """Read facts, model and signals; a failed identification may have no model.

    :param path: folder of a result, or its result.yaml or result.json
    :raises RobodynError: there is no result.json, a file is damaged, or both are of other robots
    """
    folder = folder_of(path)
    facts = _facts(folder / FACTS)
    signals, missing = _signals(folder / SIGNALS, facts)
    if not (folder / MODEL).exists():
        return ReportSource(facts, signals=signals, missing=missing)
    robot = load_identified_model(folder / MODEL)
    _check_same(folder, facts, robot.joints)
    return ReportSource(
        facts, robot.model, robot.loaded, robot.stddevs, signals, missing, folder / MODEL
    )


def _facts(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_text(path))
    except (OSError, ValueError) as error:
        raise IdentificationError(
            f'{path} cannot be read, expected the file that robodyn identify --out writes: {error}'
        ) from error
    wanted = {'success', 'joints', 'identification', 'findings', 'parameters'}
    if not isinstance(content, dict) or not wanted <= content.keys():
        raise IdentificationError(
            f'{path} is no result.json: it needs {", ".join(sorted(wanted))}'
        )
    return content


def _check_same(folder: Path, facts: dict[str, Any], joints: Sequence[str]) -> None:
    named = [str(name) for name in facts['joints']]
    if named != list(joints):
        raise IdentificationError(
            f'{folder}: {MODEL} has the joints {", ".join(joints)}, {FACTS} has '
            f'{", ".join(named)}: they are of different identifications, so keep the files of '
            f'one in a folder'
        )


def _signals(bag: Path, facts: dict[str, Any]) -> tuple[ReportSignals | None, str]:
    """Return the signals, or None and why there are none."""
    if not bag.exists():
        return None, f'The folder {bag} with the signals of the identification is not there.'
    try:
        content = read_signals(bag, [str(name) for name in facts['joints']])
    except RobodynError as error:
        return None, f'The signals of the identification cannot be read: {error}'
    content['time'] = content['time'] + float(facts.get('signals_start') or 0.0)
    return ReportSignals(**content), ''
