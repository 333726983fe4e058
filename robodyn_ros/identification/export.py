"""The files of a result in one folder: what `robodyn identify` and the node write."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.consistency import links_are_consistent
from robodyn_ros.identification.files import write_text
from robodyn_ros.identification.prg import PrgError, prg_text
from robodyn_ros.identification.result import IdentificationResult, write_result
from robodyn_ros.identification.signals_bag import write_signals
from robodyn_ros.identification.urdf_export import rigid_part, write_urdf
from robodyn_ros.models.closed_form import closed_form_part
from robodyn_ros.output_files import made_folder


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
    """Write the files of a result.

    result.json, and `identification`, a rosbag2 of the signals if the result has them; of a
    success result.yaml, robot.urdf if its links can exist, and
    IDNT<group>.PRG if it is a model that softMC has.

    :param export_failed: write the model of a failed identification too
    :param group: number in the name of the .PRG file
    :raises IdentificationError: a file cannot be written
    """
    folder = made_folder(folder, IdentificationError)
    files = Exported(facts=folder / 'result.json')
    if export_failed and not result.has_estimate:
        files = replace(files, notes=('no model is written: nothing could be identified',))
    elif result.success or export_failed:
        parameters = folder / 'result.yaml'
        write_result(result, parameters, export_failed=export_failed)
        files = replace(files, result=parameters)
        possible = links_are_consistent(result.model, result.values)
        if possible and rigid_part(result.model) is not None:
            files = replace(files, urdf=folder / 'robot.urdf')
            write_urdf(result.model, result.values, folder / 'robot.urdf')
        files = _with_prg(files, result, folder / f'IDNT{group}.PRG')
    files = _with_signals(files, result, folder / 'identification')
    content = json.dumps(result.to_json() | files.to_json(), indent=2, allow_nan=False)
    write_text(content + '\n', files.facts)
    return files


def _with_prg(files: Exported, result: IdentificationResult, path: Path) -> Exported:
    """Write the result in softMC's format, if it can be."""
    if closed_form_part(result.model) is None:
        return files
    try:
        text = prg_text(result)
    except PrgError as error:
        return replace(files, notes=(*files.notes, f'no .PRG file is written: {error}'))
    write_text(text, path)
    return replace(files, prg=path)


def _with_signals(files: Exported, result: IdentificationResult, path: Path) -> Exported:
    """Write the signals, which never costs a result."""
    if result.signals is None:
        return files
    try:
        write_signals(result.signals, path)
    except RobodynError as error:
        note = f'no recording of the identification is written: {error}'
        return replace(files, notes=(*files.notes, note))
    return replace(files, signals=path)
