"""The files of a result in one folder: what `robodyn identify` and the node write."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.files.parameter_text import write_text
from robodyn_ros.identification.files.prg import PrgError, prg_text
from robodyn_ros.identification.files.result_file import write_result
from robodyn_ros.identification.files.result_folder import (
    FACTS,
    MODEL,
    PREVIOUS,
    SIGNALS,
    ResultFolder,
)
from robodyn_ros.identification.files.signals_bag import write_signals
from robodyn_ros.identification.physical.consistency import links_are_consistent
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.output_files import made_folder

URDF = 'robot.urdf'


@dataclass(frozen=True)
class Exported:
    """The files written; None: not written.

    :param prg: result in softMC's format, for the models that softMC has
    :param signals: rosbag2 of the identification itself, see `signals_bag`
    :param notes: why a file was not written that could be expected, one sentence each
    """

    facts: Path
    result: Path | None = None
    urdf: Path | None = None
    prg: Path | None = None
    signals: Path | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the file names as plain facts."""
        return {
            'result_file': None if self.result is None else str(self.result),
            'urdf_file': None if self.urdf is None else str(self.urdf),
            'prg_file': None if self.prg is None else str(self.prg),
            'signals_file': None if self.signals is None else str(self.signals),
            'notes': list(self.notes),
        }


def export(
    result: IdentificationResult,
    folder: str | Path,
    *,
    export_failed: bool = False,
    group: int = 1,
) -> Exported:
    """Write the files of a result, in place of those of an earlier run.

    result.json, and `identification`, a rosbag2 of the signals if the result has them; of a
    success result.yaml, robot.urdf if its links can exist, and
    IDNT<group>.PRG if it is a model that softMC has. An earlier model goes to `previous/`
    (`result_folder.py`), also when this run failed.

    :param export_failed: write the model of a failed identification too
    :param group: number in the name of the .PRG file
    :raises IdentificationError: a file cannot be written; the folder is then as it was
    """
    folder = made_folder(folder, IdentificationError)
    with ResultFolder(folder) as target:
        files = Exported(facts=folder / FACTS)
        if target.has_model:
            note = f'the model of the run before is now in {folder / PREVIOUS}'
            files = replace(files, notes=(note,))
        if export_failed and not result.has_estimate:
            files = _noted(files, 'no model is written: nothing could be identified')
        elif result.success or export_failed:
            write_result(result, target.partial / MODEL, export_failed=export_failed)
            files = replace(files, result=folder / MODEL)
            files = _with_urdf(files, result, target)
            files = _with_prg(files, result, target, f'IDNT{group}.PRG')
        files = _with_signals(files, result, target)
        content = json.dumps(json_facts(result) | files.to_json(), indent=2, allow_nan=False)
        write_text(content + '\n', target.partial / FACTS)
    return files


def _noted(files: Exported, note: str) -> Exported:
    return replace(files, notes=(*files.notes, note))


def _with_urdf(files: Exported, result: IdentificationResult, target: ResultFolder) -> Exported:
    """Write the URDF, if the links can exist."""
    possible = links_are_consistent(result.model, result.values)
    if not possible or rigid_part(result.model) is None:
        return files
    if target.taken(URDF):
        return _noted(files, f'no URDF is written: {target.folder / URDF} is another file')
    result.to_urdf(target.partial / URDF)
    return replace(files, urdf=target.folder / URDF)


def _with_prg(
    files: Exported, result: IdentificationResult, target: ResultFolder, name: str
) -> Exported:
    """Write the result in softMC's format, if it can be."""
    if closed_form_part(result.model) is None:
        return files
    if target.taken(name):
        return _noted(files, f'no .PRG file is written: {target.folder / name} is another file')
    try:
        text = prg_text(result)
    except PrgError as error:
        return _noted(files, f'no .PRG file is written: {error}')
    write_text(text, target.partial / name)
    return replace(files, prg=target.folder / name)


def _with_signals(files: Exported, result: IdentificationResult, target: ResultFolder) -> Exported:
    """Write the signals, which never costs a result."""
    if result.signals is None:
        return files
    path, note = target.folder / SIGNALS, 'no recording of the identification is written'
    if target.taken(SIGNALS):
        return _noted(files, f'{note}: {path} is no recording of an identification and is kept')
    try:
        write_signals(result.signals, target.partial / SIGNALS)
    except RobodynError as error:
        return _noted(files, f'{note}: {error}')
    return replace(files, signals=path)
