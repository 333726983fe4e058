# SPDX-License-Identifier: Apache-2.0
"""Files of an identification together with its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.export import Exported, export
from robodyn_ros.identification.files.result_folder import MODEL, PAGE, is_page
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.output_files import write_file
from robodyn_ros.recording.recording import Recording
from robodyn_ros.report.coverage import Stated, list_limits
from robodyn_ros.report.page import page_text
from robodyn_ros.report.repeat import repeat_facts
from robodyn_ros.report.source import source_of
from robodyn_ros.report.stored import folder_of, load_source
from robodyn_ros.robot_file import lasting_reference
from robodyn_ros.runs.file_set import sole_writer


def export_with_page(
    result: IdentificationResult,
    folder: str | Path,
    *,
    command: str,
    robot: str = '',
    limits: Stated | None = None,
    export_failed: bool = False,
    page: bool = True,
    driven: Recording | None = None,
) -> Exported:
    """Write the files of a result and report.html, see `identification.files.export`.

    :param command: how the identification was started, for the page
    :param robot: robot file that was named, for the next commands
    :param limits: of the joints, for the page; None: those of the model
    :param page: False: no report.html
    :param driven: see `identification.files.export.export`
    :raises IdentificationError: a file cannot be written; the folder is then as it was
    """

    def text(facts: Mapping[str, Any]) -> str:
        return page_text(source_of(result, facts, Path(folder) / MODEL))

    robot = robot and lasting_reference(robot)
    files = export(
        result,
        folder,
        export_failed=export_failed,
        page=text if page else None,
        driven=driven,
        more_facts={
            'repeat': repeat_facts(result, command, robot),
            'signals_start': _start(result),
            'joint_limits': list_limits(result.model) if limits is None else limits,
        },
    )
    return replace(files, robot=robot, command=command)


def _start(result: IdentificationResult) -> float:
    """Return the time of the first kept sample in the recording, in [s]."""
    kept = result.signals
    return 0.0 if kept is None or not len(kept.processed) else float(kept.processed.time[0])


def write_page(result: str | Path, path: str | Path | None = None) -> Path:
    """Write the page of a result that is in a folder; return its path.

    :param result: folder of a result, or its result.yaml or result.json
    :param path: of the page; None: report.html in the same folder
    :raises RobodynError: the result cannot be read, the page cannot be written, or would replace
        a file that is no report
    """
    folder = folder_of(result)
    path = folder / PAGE if path is None else Path(path)
    if path.exists() and not is_page(path):
        raise IdentificationError(
            f'{path}: it exists already, is no report of an identification and is kept: choose '
            'another name with --out'
        )
    with sole_writer(folder, IdentificationError):  # no other run replaces the result meanwhile
        try:
            text = page_text(load_source(result))
        except (
            ArithmeticError, AttributeError, LookupError, TypeError, UndefinedError, ValueError,
        ) as error:  # fmt: skip
            raise IdentificationError(
                f'{folder}: the result is damaged, or of another version '
                f'({type(error).__name__}: {error}): repeat the identification'
            ) from error
        write_file(path, lambda file: file.write_text(text, 'utf-8'), IdentificationError)
    return path
