# SPDX-License-Identifier: Apache-2.0
"""Healthy sessions of `robodyn thresholds`, from recordings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from robodyn_ros.analysis.collision_thresholds import friction_at
from robodyn_ros.analysis.thresholds.session import Mask, Session, drives_off, session_of
from robodyn_ros.cli.collision.model import rests_in
from robodyn_ros.cli.effort import read_in_si_units
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.low_pass import HIGHEST_SHARE
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.long_work import track
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording


def healthy_sessions(
    arguments: argparse.Namespace, identified: IdentifiedModel, torque: ModelTorque
) -> tuple[CollisionSettings, list[Session], Array]:
    """Return the settings of the detector, the sessions, and the friction at rest.

    :return: the friction is the largest one of all positions, shape (n,), in [Nm] or [N]
    :raises RobodynError: a file cannot be used
    """
    paths = [str(path) for path in arguments.recording]
    recordings = [
        read_in_si_units(arguments, path, identified.joints, identified.model)
        for path in track(paths, 'reading')
    ]
    rests = [
        rests_in(arguments, path, each, torque.joints)
        for path, each in zip(paths, recordings, strict=True)
    ]
    _check_copies(recordings)
    settings = _settings(arguments, recordings, torque)
    pairs = list(zip(recordings, rests, strict=True))
    sessions = [_session(*each, torque, settings) for each in track(pairs)]
    positions = (each.select(torque.joints).position for each in recordings)
    return settings, sessions, np.max([friction_at(q, torque) for q in positions], axis=0)


def _check_copies(recordings: Sequence[Recording]) -> None:
    """Refuse a recording that is given twice: copies would vouch for each other."""
    seen: dict[bytes, str] = {}
    for each in recordings:
        digest = blake2b(each.torque.tobytes()).digest()
        if digest in seen:
            raise ControlError(f'{seen[digest]} and {each.source} are the same recording')
        seen[digest] = each.source


def _session(
    recording: Recording, rests: Mask | None, torque: ModelTorque, settings: CollisionSettings
) -> Session:
    """Return the session of a recording, without samples of drives that are off."""
    session = session_of(recording, torque, settings, rests)
    data = recording.select(torque.joints)
    still = np.zeros_like(data.position)
    off = drives_off(data, torque.body(data.position, still, still))
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
    arguments: argparse.Namespace, recordings: Sequence[Recording], torque: ModelTorque
) -> CollisionSettings:
    """Return the settings of the detector for the period of the recordings."""
    periods = [recording.period for recording in recordings]
    if max(periods) > 1.1 * min(periods):
        raise ControlError(
            f'the recordings have {1.0 / max(periods):.4g} to {1.0 / min(periods):.4g} samples '
            f'per second: thresholds belong to one rate'
        )
    # Stamps jitter, rates are round: 0.009998 s is 0.01 s.
    period = float(f'{np.median(periods):.3g}')
    cutoff = arguments.filter_cutoff
    return CollisionSettings(
        torque.joints,
        1.0,
        period=period,
        filter_cutoff=cutoff or min(CollisionSettings.filter_cutoff, HIGHEST_SHARE / period),
        # The scores of the law filter and need no second sample.
        debounce=1,
        torque_error_filter=1.0,
        stale_timeout=max(CollisionSettings.stale_timeout, 3.0 * period),
    )
