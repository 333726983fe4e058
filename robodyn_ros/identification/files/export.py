# SPDX-License-Identifier: Apache-2.0
"""The files of a result in one folder, as `robodyn identify` and the node write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.files.prg import PrgError, prg_text
from robodyn_ros.identification.files.result_file import write_result, write_text
from robodyn_ros.identification.files.result_folder import (
    FACTS,
    MODEL,
    PAGE,
    PREVIOUS,
    SIGNALS,
    ResultFolder,
)
from robodyn_ros.identification.files.signals_bag import write_signals
from robodyn_ros.identification.options import SAMPLES
from robodyn_ros.identification.physical.consistency import links_are_consistent
from robodyn_ros.identification.result.closed_loop import add_actuators, replay_error
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.identification.result.mjcf import (
    isaac_lab_values,
    joint_dynamics,
    measure_omissions,
    write_mjcf,
)
from robodyn_ros.identification.result.payload_forms import payload_forms
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.result.urdf import inertials_yaml
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.output_files import json_text, make_folder
from robodyn_ros.recording.recording import Recording

URDF, INERTIALS, PRG_FILE = 'robot.urdf', 'inertials.yaml', 'IDNT1.PRG'
MJCF, ISAAC_LAB = 'robot.xml', 'isaac_lab.yaml'

Page = Callable[[Mapping[str, Any]], str]
"""Function from the content of result.json to the text of report.html."""


@dataclass(frozen=True)
class Exported:
    """The files written; None: not written.

    :param prg: result in softMC's format, for the models that softMC has
    :param notes: why a file was not written that could be expected, one sentence each
    :param robot: robot file for the next commands; '': none was named
    :param command: how the identification was started, for the next commands
    """

    facts: Path
    result: Path | None = None
    urdf: Path | None = None
    inertials: Path | None = None
    mjcf: Path | None = None
    isaac_lab: Path | None = None
    prg: Path | None = None
    signals: Path | None = None
    page: Path | None = None
    notes: tuple[str, ...] = ()
    robot: str = ''
    command: str = ''

    @property
    def paths(self) -> list[Path]:
        """All files that were written, result.json last."""
        facts, *others = (getattr(self, item.name) for item in fields(self))
        return [path for path in (*others, facts) if isinstance(path, Path)]

    def to_json(self) -> dict[str, object]:
        """Return the file names as plain facts."""
        files = {
            'result': self.result, 'urdf': self.urdf, 'inertials': self.inertials,
            'mjcf': self.mjcf, 'isaac_lab': self.isaac_lab, 'prg': self.prg,
            'signals': self.signals, 'report': self.page,
        }  # fmt: skip
        named = {f'{kind}_file': path and str(path) for kind, path in files.items()}
        return {**named, 'notes': list(self.notes)}


def export(
    result: IdentificationResult,
    folder: str | Path,
    *,
    export_failed: bool = False,
    page: Page | None = None,
    more_facts: Mapping[str, Any] | None = None,
    driven: Recording | None = None,
) -> Exported:
    """Write the files of a result, in place of those of an earlier run.

    result.json, report.html if there is a page, and `identification`, a rosbag2 of the signals if
    the result has them. If any joint can be used, result.yaml, robot.urdf, inertials.yaml,
    robot.xml and isaac_lab.yaml if its links can exist, and IDNT1.PRG if it is a model that softMC
    has. An earlier model goes to `previous/` (`result_folder.py`), also when this run failed.

    :param more_facts: plain facts that result.json has in addition
    :param driven: validation, or recording, with drives that control position: robot.xml gets
        actuators, with which MuJoCo repeats its motion; None: there is none
    :raises IdentificationError: a file cannot be written; the folder is then as it was
    """
    folder = make_folder(folder, IdentificationError)
    with ResultFolder(folder) as target:
        files = Exported(facts=folder / FACTS)
        if target.has_model:
            note = f'the model of the run before is now in {folder / PREVIOUS}'
            files = replace(files, notes=(note,))
        if export_failed and not result.has_estimate:
            files = _add_note(files, 'no model is written: nothing could be identified')
        elif result.verdict.worth_writing or export_failed:
            write_result(result, target.partial / MODEL, export_failed=export_failed)
            files = replace(files, result=folder / MODEL)
            files = _with_urdf(files, result, target, forced=export_failed)
            files, more_facts = _with_simulators(files, result, target, more_facts, driven)
            files = _with_prg(files, result, target)
        files = _with_signals(files, result, target)
        facts = json_facts(result) | dict(more_facts or {})
        if result.carried is not None:
            facts['payload_forms'] = payload_forms(result.carried)
        files = _with_page(files, facts, target, page)
        write_text(json_text(facts | files.to_json()) + '\n', target.partial / FACTS)
    return files


def _add_note(files: Exported, note: str) -> Exported:
    return replace(files, notes=(*files.notes, note))


def _with_urdf(
    files: Exported, result: IdentificationResult, target: ResultFolder, *, forced: bool
) -> Exported:
    """Write the URDF, if the links can exist and the verdict on them allows it."""
    possible = links_are_consistent(result.model, result.values)
    if not possible or rigid_part(result.model) is None:
        return files
    use = result.verdict.inertials
    if use.word == 'not usable' and not forced:
        return _add_note(files, f'no URDF is written: its inertials are {use.text}')
    if target.is_taken(URDF):
        return _add_note(files, f'no URDF is written: {target.folder / URDF} is another file')
    result.to_urdf(target.partial / URDF)
    files = replace(files, urdf=target.folder / URDF)
    if target.is_taken(INERTIALS):
        return _add_note(files, f'{target.folder / INERTIALS} is another file and is kept')
    write_text(inertials_yaml(result.model, result.values), target.partial / INERTIALS)
    return replace(files, inertials=target.folder / INERTIALS)


def _with_simulators(
    files: Exported,
    result: IdentificationResult,
    target: ResultFolder,
    more_facts: Mapping[str, Any] | None,
    driven: Recording | None,
) -> tuple[Exported, Mapping[str, Any]]:
    """Write MJCF and values for Isaac Lab beside the URDF, with what they cannot express."""
    facts, model, values = dict(more_facts or {}), result.model, result.values
    if files.urdf is None:
        return files, facts
    motion, fastest = None, None
    if result.signals is not None:
        shown = result.signals.processed
        rows = np.unique(np.linspace(0, len(shown) - 1, SAMPLES).astype(int))
        motion = shown.motion_at(rows)
        speeds = np.abs(shown.velocity).max(axis=0).tolist()
        fastest = dict(zip(model.joint_names, speeds, strict=True))
    try:
        dynamics = joint_dynamics(model, values, fastest)
        joints = {'joints': isaac_lab_values(dynamics)}
        texts = {
            MJCF: write_mjcf(model, values, dynamics),
            ISAAC_LAB: yaml.safe_dump(joints, sort_keys=False),
        }
        if driven is not None and driven.drive is not None:
            gain = dict(zip(driven.joints, driven.drive.gain.tolist(), strict=True))
            texts[MJCF] = add_actuators(texts[MJCF], gain)
            facts['closed_loop'] = {
                name: replay_error(texts[MJCF], driven, delayed=late)
                for name, late in (('rms', True), ('rms_without_delay', False))
            }
    except Exception as error:  # a recording and its fit must not be lost with an export
        return _add_note(files, f'no {MJCF} is written: {error}'), facts
    taken = [name for name in texts if target.is_taken(name)]
    if taken:
        return _add_note(files, f'{target.folder / taken[0]} is another file and is kept'), facts
    for name, text in texts.items():
        write_text(text, target.partial / name)
    if motion is not None:
        facts['simulators'] = measure_omissions(model, values, dynamics, motion)
    return replace(files, mjcf=target.folder / MJCF, isaac_lab=target.folder / ISAAC_LAB), facts


def _with_prg(files: Exported, result: IdentificationResult, target: ResultFolder) -> Exported:
    """Write the result in softMC's format, if it can be."""
    if closed_form_part(result.model) is None:
        return files
    if target.is_taken(PRG_FILE):
        note = f'no .PRG file is written: {target.folder / PRG_FILE} is another file'
        return _add_note(files, note)
    try:
        text = prg_text(result)
    except PrgError as error:
        return _add_note(files, f'no .PRG file is written: {error}')
    write_text(text, target.partial / PRG_FILE)
    return replace(files, prg=target.folder / PRG_FILE)


def _with_signals(files: Exported, result: IdentificationResult, target: ResultFolder) -> Exported:
    """Write the signals, which never costs a result."""
    if result.signals is None:
        return files
    path, note = target.folder / SIGNALS, 'no recording of the identification is written'
    if target.is_taken(SIGNALS):
        return _add_note(files, f'{note}: {path} is no recording of an identification and is kept')
    try:
        write_signals(result.signals, target.partial / SIGNALS)
    except RobodynError as error:
        return _add_note(files, f'{note}: {error}')
    return replace(files, signals=path)


def _with_page(
    files: Exported, facts: Mapping[str, Any], target: ResultFolder, page: Page | None
) -> Exported:
    """Write the report for a browser, which never costs a result."""
    if page is None:
        return files
    path, note = target.folder / PAGE, f'no {PAGE} is written'
    if target.is_taken(PAGE):
        return _add_note(files, f'{note}: {path} is another file')
    try:
        text = page(facts)
    except Exception as error:  # a recording and its fit must not be lost with their picture
        return _add_note(files, f'{note}: {type(error).__name__}: {error}')
    write_text(text, target.partial / PAGE)
    return replace(files, page=path)
