# SPDX-License-Identifier: Apache-2.0
"""Healthy sessions: torque errors as the monitor had them, in a folder of NPZ files.

A part has the samples of some seconds; `session_002_part_0005.npz` is the fifth of the second
session. They are written while the robot works, so that a crash loses the last part only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.bounds import parse_json
from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.models.interface import Array
from robodyn_ros.output_files import is_folder, write_file
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.npz_file import read_npz

FORMAT = 'robodyn healthy session 1'
NAME = re.compile(r'session_(\d{3})_part_(\d{4})\.npz')
CHANGE = 'change'
MEASURED = ('residual', 'velocity', 'acceleration', 'position', 'torque')
SIGNALS = (*MEASURED, CHANGE)
"""Torque error, filtered motion, measured position and torque feedback, and change of the torque
error while the reference rests (NaN where it does not), shape (N, n) each, SI."""


@dataclass(frozen=True)
class Owner:
    """Robot and detector that healthy data were recorded with.

    :param detector: values of `thresholds_file.DETECTOR`
    :param gravity: of each joint: its torque feedback includes gravity
    """

    joints: tuple[str, ...]
    model_hash: str
    detector: Mapping[str, Any]
    gravity: tuple[bool, ...]


@dataclass(frozen=True)
class HealthyInput:
    """One session to learn from.

    :param position: shape (N, n), in [rad] or [m]
    :param detector: settings that it was made with; None: those of the command line
    """

    session: Session
    position: Array
    detector: Mapping[str, Any] | None = None


def write_part(
    folder: Path, owner: Owner, session: int, part: int, time: Array, signals: Array,
    started: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write a part, completely or not at all.

    :param time: stamps, shape (N,), in [s], ascending
    :param signals: of `SIGNALS`, shape (6, N, n)
    :param started: samples after a start or gap, shape (N,)
    :raises ControlError: it cannot be written
    """
    facts = np.frombuffer(json.dumps({'format': FORMAT, **vars(owner)}).encode(), np.uint8)
    arrays = dict(zip(SIGNALS, signals.astype(np.float32), strict=True))

    def save(path: Path) -> None:
        with path.open('wb') as file:
            np.savez(file, time=time, started=started, facts=facts, **arrays)

    path = folder / f'session_{session:03d}_part_{part:04d}.npz'
    write_file(path, save, ControlError, what='healthy data')


def parts_of(folder: Path) -> dict[int, list[Path]]:
    """Return the files of each session, in their order; empty: there is no healthy data."""
    found: dict[int, list[Path]] = {}
    if is_folder(folder):
        for path in sorted(folder.iterdir()):
            if name := NAME.fullmatch(path.name):
                found.setdefault(int(name[1]), []).append(path)
    return found


def owner_of(path: Path) -> Owner:
    """Return what a part belongs to.

    :raises RobodynError: it is damaged, or no part
    """
    return _read(path)[0]


def read_healthy(folder: Path) -> tuple[Owner, list[tuple[Session, Recording]]]:
    """Read all sessions of a folder.

    :raises RobodynError: there are none, one is damaged, or they belong to different models
    """
    owners, found = [], []
    for number, paths in parts_of(folder).items():
        rows = [_read(path) for path in paths]
        owners += [owner for owner, _ in rows]
        columns = {key: np.concatenate([part[key] for _, part in rows]) for key in rows[0][1]}
        found.append(_session(f'{folder}, session {number}', owners[0].joints, columns))
    if not found:
        raise ControlError(f'{folder} has no healthy session')
    if other := next((each for each in owners if each != owners[0]), None):
        raise ControlError(
            f'{folder}: the sessions belong to different models, joints or detectors '
            f'({owners[0].model_hash[:12]}, {other.model_hash[:12]}): use one folder for each'
        )
    return owners[0], found


def _session(
    source: str, joints: tuple[str, ...], columns: Mapping[str, Any]
) -> tuple[Session, Recording]:
    time = columns['time'] - columns['time'][0]
    started = columns['started'].astype(bool)
    gaps = int(started[1:].sum())
    notes = (f'{source}: {gaps} gaps, after each of which the detector had to settle',)
    session = Session(
        source, time, np.abs(columns['residual']), columns['velocity'],
        np.abs(columns['acceleration']), np.ones(len(time), dtype=bool), started,
        notes if gaps else (), change=np.abs(columns[CHANGE]),
    )  # fmt: skip
    recording = Recording(
        time, joints, columns['position'].astype(float), columns['torque'].astype(float),
        source=source,
    )  # fmt: skip
    return session, recording


def _read(path: Path) -> tuple[Owner, dict[str, Any]]:
    try:
        table = read_npz(path).columns
        facts = parse_json(bytes(table['facts']).decode())
        if facts.pop('format') != FORMAT:
            raise ValueError(f'the format is not {FORMAT!r}')
        owner = Owner(tuple(map(str, facts['joints'])), str(facts['model_hash']),
                      dict(facts['detector']), tuple(map(bool, facts['gravity'])))  # fmt: skip
        columns = {key: np.asarray(table[key]) for key in ('time', 'started', *MEASURED)}
        shape = (len(columns['time']), len(owner.joints))
        # Earlier versions did not record it.
        columns[CHANGE] = np.asarray(table.get(CHANGE, np.full(shape, np.nan, np.float32)))
        wrong = [key for key in SIGNALS if columns[key].shape != shape]
        if wrong or columns['started'].shape != shape[:1] or not shape[0]:
            raise ValueError(f'expected the shape {shape} of each signal')
        if not all(np.isfinite(columns[key]).all() for key in ('time', *MEASURED)):
            raise ValueError('a value is not finite')
        return owner, columns
    except (KeyError, TypeError, ValueError, IndexError, RobodynError) as error:
        raise ControlError(f'{path} is no part of a healthy session, or damaged: {error}') from (
            error
        )
