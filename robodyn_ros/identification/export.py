"""The files of a result in one folder: what `robodyn identify` and the node write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.consistency import links_are_consistent
from robodyn_ros.identification.result import IdentificationResult, write_result, write_text
from robodyn_ros.identification.urdf_export import rigid_part, write_urdf


@dataclass(frozen=True)
class Exported:
    """The files written; None: not written."""

    facts: Path
    result: Path | None = None
    urdf: Path | None = None

    def to_json(self) -> dict[str, object]:
        """Return the file names as plain facts."""
        return {
            'result_file': None if self.result is None else str(self.result),
            'urdf_file': None if self.urdf is None else str(self.urdf),
        }


def export(
    result: IdentificationResult, folder: str | Path, *, export_failed: bool = False
) -> Exported:
    """Write result.json always, result.yaml of a success, robot.urdf if its links can exist.

    :param export_failed: write the model of a failed identification too
    :raises IdentificationError: a file cannot be written
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IdentificationError(f'the folder {folder} cannot be made: {error}') from error
    parameters, urdf = None, None
    if result.success or export_failed:
        parameters = folder / 'result.yaml'
        write_result(result, parameters, export_failed=export_failed)
        possible = links_are_consistent(result.model, result.values)
        if possible and rigid_part(result.model) is not None:
            urdf = folder / 'robot.urdf'
            write_urdf(result.model, result.values, urdf)
    files = Exported(facts=folder / 'result.json', result=parameters, urdf=urdf)
    content = json.dumps(result.to_json() | files.to_json(), indent=2, allow_nan=False)
    write_text(content + '\n', files.facts)
    return files
