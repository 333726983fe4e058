# SPDX-License-Identifier: Apache-2.0
"""File of learned collision thresholds, which belong to one model and one residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import Bands, MappedThresholds, ThresholdMap
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.output_files import write_file
from robodyn_ros.yaml_file import DUMPER, read_yaml

FORMAT = 'robodyn collision thresholds 1'
DETECTOR = (
    'residual', 'period', 'filter_cutoff', 'torque_error_filter', 'observer_bandwidth', 'debounce',
)  # fmt: skip
"""Settings of the detector on which thresholds depend."""
BANDS = ('speed', 'acceleration', 'reversal')
CHANGE = 'change_at_rest'
"""Threshold of the change of the torque error at rest; it is there only if it was learned."""


@dataclass(frozen=True)
class LearnedThresholds:
    """A threshold map with what it belongs to.

    :param joints: names of the n joints
    :param model_hash: `loaded_hash` of the result whose torque errors it bounds
    :param hours: healthy motion from which it was learned, in [h]
    :param rate: false alarms per hour that are not exceeded with 95 % confidence, by the healthy
        motion alone: none in T hours is at most 3 / T
    """

    joints: tuple[str, ...]
    model_hash: str
    detector: Mapping[str, Any]
    map: ThresholdMap
    hours: float
    rate: float

    def check_model(self, model_hash: str, joints: Sequence[str], source: str) -> None:
        """Refuse another model, or the same one with another payload in its result.

        :raises ControlError: hash or joints of the model are other ones
        """
        if tuple(joints) != self.joints:
            raise ControlError(
                f'{source}: the thresholds are those of the joints {list(self.joints)!s:.300}, '
                f'the model has {list(joints)!s:.300}'
            )
        if model_hash != self.model_hash:
            raise ControlError(
                f'{source}: the thresholds were learned with another model or payload (hash '
                f'{self.model_hash[:12]}, this result has {model_hash[:12]}): learn them again '
                f'with `robodyn thresholds`, from recordings with its payload'
            )

    def settings(self, given: CollisionSettings) -> CollisionSettings:
        """Return settings with the residual, filters and period of these thresholds."""
        return replace(given, **self.detector)

    def thresholds(self) -> MappedThresholds:
        """Return the thresholds for a detector."""
        return MappedThresholds(self.map)


def write_thresholds(learned: LearnedThresholds, path: str | Path) -> None:
    """Write a thresholds file, completely or not at all.

    :raises ControlError: it cannot be written
    """
    given = learned.map
    content = {
        'format': FORMAT,
        'model_hash': learned.model_hash,
        'detector': dict(learned.detector),
        'healthy_hours': learned.hours,
        'false_alarms_per_hour_at_most': learned.rate,
        'contact_share': given.contact,
        'rest_after': given.bands.rest,
        'joints': {
            name: {
                'standstill': float(given.bands.still[j]),
                **{band: getattr(given.bands, band)[j].tolist() for band in BANDS},
                'fastest': float(given.fastest[j]),
                'hardest': float(given.hardest[j]),
                'collision': given.collision[j].tolist(),
                **({} if given.change is None else {CHANGE: float(given.change[j])}),
            }
            for j, name in enumerate(learned.joints)
        },
    }
    text = yaml.dump(content, Dumper=DUMPER, sort_keys=False, width=99)
    write_file(path, lambda file: file.write_text(text, 'utf-8'), ControlError)


def read_thresholds(path: str | Path) -> LearnedThresholds:
    """Read a thresholds file.

    :raises ControlError: it cannot be read, or is no thresholds file with usable values
    """
    content = read_yaml(path, 'the thresholds file', ControlError)
    if not isinstance(content, Mapping) or content.get('format') != FORMAT:
        raise ControlError(
            f'{path} is no thresholds file: expected format {FORMAT!r}, as `robodyn thresholds` '
            f'writes it'
        )
    try:
        learned = _parse(content)
        timeout = 3.0 * float(learned.detector['period'])  # it belongs to the node
        CollisionSettings(learned.joints, 1.0, stale_timeout=timeout, **learned.detector)
    except (
        KeyError, TypeError, ValueError, AttributeError, OverflowError, ControlError,
    ) as reason:  # fmt: skip
        raise ControlError(
            f'{path}: the thresholds file is damaged ({type(reason).__name__}: {reason}): write '
            f'it again with `robodyn thresholds`'
        ) from reason
    return learned


def _parse(content: Mapping[str, Any]) -> LearnedThresholds:
    joints: Mapping[str, Any] = content['joints']
    each = list(joints.values())
    if not each:
        raise ValueError('it has no joints')

    def numbers(key: str) -> Array:
        return np.array([_number(joint[key], key) for joint in each])

    def lists(key: str) -> Array:
        return np.array([_numbers(joint[key], key) for joint in each], dtype=float)

    speed, acceleration, reversal = map(lists, BANDS)
    given = ThresholdMap(
        bands=Bands(
            numbers('standstill'), speed, acceleration, reversal,
            _number(content['rest_after'], 'rest_after'),
        ),
        collision=lists('collision'),
        contact=_number(content['contact_share'], 'contact_share'),
        fastest=numbers('fastest'),
        hardest=numbers('hardest'),
        change=numbers(CHANGE) if any(CHANGE in joint for joint in each) else None,
    )  # fmt: skip
    _check(given)
    facts = ('healthy_hours', 'false_alarms_per_hour_at_most')
    hours, rate = (_number(content[fact], fact) for fact in facts)
    return LearnedThresholds(
        joints=tuple(map(str, joints)),
        model_hash=str(content['model_hash']),
        detector=_detector({key: content['detector'][key] for key in DETECTOR}),
        map=given,
        hours=hours,
        rate=rate,
    )


def _number(given: Any, name: str) -> float:
    """Return a number; text and booleans, which `float` would take, are refused."""
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError(f'{name} must be a number, got {given!r:.40}')
    return float(given)


def _numbers(given: Any, name: str) -> list[float]:
    """Return a list of numbers; errors as of `_number`."""
    if not isinstance(given, list):
        raise TypeError(f'{name} must be a list of numbers, got {given!r:.40}')
    return [_number(value, name) for value in given]


def _detector(given: dict[str, Any]) -> dict[str, Any]:
    """Check values of `DETECTOR`."""
    for key, value in given.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if key != 'residual' and not (number and 0.0 < value < np.inf):
            raise ValueError(f'{key} must be a finite number above 0, got {value!r:.40}')
    if not isinstance(given['debounce'], int):
        raise ValueError(f'debounce must be a whole number, got {given["debounce"]!r:.40}')
    return given


def _check(given: ThresholdMap) -> None:
    """Refuse values that would hide collisions or raise alarms for nothing."""
    count = len(given.fastest)
    if given.collision.shape != (count, given.bands.cells):
        raise ValueError(
            f'expected {given.bands.cells} thresholds for each of {count} joints, got '
            f'{given.collision.shape}'
        )
    for name, values in (
        ('thresholds', given.collision),
        ('fastest', given.fastest),
        ('hardest', given.hardest),
        ('standstill', given.bands.still),
        (CHANGE, np.ones(1) if given.change is None else given.change),
    ):
        if not (np.isfinite(values) & (values > 0.0)).all():
            raise ValueError(f'{name} must be finite and above 0')
    if not 0.0 <= given.bands.rest < np.inf:
        raise ValueError(f'rest_after must be finite and not below 0, got {given.bands.rest}')
    if not 0.0 < given.contact <= 1.0:
        raise ValueError(f'contact_share must be above 0 and at most 1, got {given.contact}')
    for name in BANDS:
        edges = getattr(given.bands, name)
        if not np.isfinite(edges).all() or (np.diff(edges, axis=1) < 0.0).any():
            raise ValueError(f'the edges of {name} must be finite and in ascending order')
