# SPDX-License-Identifier: Apache-2.0
"""Healthy data of `robodyn thresholds`: recordings, sessions of ~/learn, and events."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from robodyn_ros.analysis.thresholds.drives_off import drives_off
from robodyn_ros.analysis.thresholds.event_session import event_input
from robodyn_ros.analysis.thresholds.healthy_data import HealthyInput, parts_of, read_healthy
from robodyn_ros.analysis.thresholds.session import Mask, Session, session_of
from robodyn_ros.cli.collision.model import rests_in
from robodyn_ros.cli.effort import read_in_si_units
from robodyn_ros.control.collision.black_box.event_file import is_event, read_event
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.thresholds_file import DETECTOR
from robodyn_ros.control.torque.low_pass import HIGHEST_SHARE
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.long_work import track
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording


def healthy_inputs(
    arguments: argparse.Namespace, identified: IdentifiedModel, torque: ModelTorque
) -> tuple[CollisionSettings, list[HealthyInput]]:
    """Return the settings of the detector, and all sessions.

    Sessions of ~/learn and events have the settings of their monitor, and all else uses them.

    :raises RobodynError: a file cannot be used, or the settings differ
    """
    paths = [Path(path) for path in arguments.recording]
    stored: list[HealthyInput] = []
    for path in track(paths, 'reading'):
        if parts_of(path):
            stored += _of_folder(path, identified, torque)
        elif is_event(path):
            stored.append(event_input(read_event(path), path, identified))
    plain = [path for path in paths if not parts_of(path) and not is_event(path)]
    recordings = [
        read_in_si_units(arguments, str(path), identified.joints, identified.model)
        for path in track(plain, 'reading')
    ]
    rests = [
        rests_in(arguments, str(path), each, torque.joints)
        for path, each in zip(plain, recordings, strict=True)
    ]
    _check_copies(recordings)
    settings = _settings(arguments, recordings, torque, stored)
    pairs = list(zip(recordings, rests, strict=True))
    plain_inputs = [_of_recording(*each, torque, settings) for each in track(pairs)]
    return settings, [*stored, *plain_inputs]


def _check_copies(recordings: Sequence[Recording]) -> None:
    """Refuse a recording that is given twice: copies would vouch for each other."""
    seen: dict[bytes, str] = {}
    for each in recordings:
        digest = blake2b(each.torque.tobytes()).digest()
        if digest in seen:
            raise ControlError(f'{seen[digest]} and {each.source} are the same recording')
        seen[digest] = each.source


def _of_folder(
    folder: Path, identified: IdentifiedModel, torque: ModelTorque
) -> list[HealthyInput]:
    owner, sessions = read_healthy(folder)
    if owner.model_hash != identified.loaded_hash or owner.joints != torque.joints:
        raise ControlError(
            f'{folder}: the sessions belong to another model or payload (hash '
            f'{owner.model_hash[:12]}, this one has {identified.loaded_hash[:12]}): '
            f'learn again with this model'
        )
    found = []
    for session, recording in sessions:
        still = np.zeros_like(recording.position)
        gravity = np.array(owner.gravity) * torque.body(recording.position, still, still)
        healthy = _without_drives_off(session, recording, gravity)
        found.append(HealthyInput(healthy, recording.position, owner.detector))
    return found


def _of_recording(
    recording: Recording, rests: Mask | None, torque: ModelTorque, settings: CollisionSettings
) -> HealthyInput:
    session = session_of(recording, torque, settings, rests)
    data = recording.select(torque.joints)
    still = np.zeros_like(data.position)
    gravity = torque.body(data.position, still, still)
    return HealthyInput(_without_drives_off(session, data, gravity), data.position)


def _without_drives_off(session: Session, recording: Recording, gravity: Array) -> Session:
    """Return a session without samples of drives that are off."""
    off = drives_off(recording, gravity)
    if off.any():
        session = session.without(
            off,
            f'{recording.source}: {off.sum()} of {len(off)} samples left out: the torque of a '
            f'joint does not change although it moves or carries weight; are the drives off?',
        )
    if not session.used.any():
        raise ControlError(f'{recording.source} has no healthy sample: {"; ".join(session.notes)}')
    return session


def _settings(
    arguments: argparse.Namespace,
    recordings: Sequence[Recording],
    torque: ModelTorque,
    stored: Sequence[HealthyInput],
) -> CollisionSettings:
    """Return the settings of the detector for the period of the recordings."""
    periods = [recording.period for recording in recordings]
    given = {**stored[0].detector} if stored and stored[0].detector else {}
    if other := next((each for each in stored if each.detector != stored[0].detector), None):
        raise ControlError(
            f'{stored[0].session.source} and {other.session.source} were made with different '
            f'detectors: {given} and {dict(other.detector or {})}'
        )
    periods += [float(given['period'])] if given else []
    if max(periods) > 1.1 * min(periods):
        raise ControlError(
            f'the recordings have {1.0 / max(periods):.4g} to {1.0 / min(periods):.4g} samples '
            f'per second: thresholds belong to one rate'
        )
    # Stamps jitter, rates are round: 0.009998 s is 0.01 s.
    period = float(f'{np.median(periods):.3g}')
    cutoff = arguments.filter_cutoff
    settings = CollisionSettings(
        torque.joints,
        1.0,
        residual=arguments.residual,
        period=period,
        filter_cutoff=cutoff or min(CollisionSettings.filter_cutoff, HIGHEST_SHARE / period),
        observer_bandwidth=arguments.observer_bandwidth,
        debounce=arguments.debounce,
        stale_timeout=max(CollisionSettings.stale_timeout, 3.0 * period),
    )
    return replace(settings, **{name: given[name] for name in DETECTOR}) if given else settings
