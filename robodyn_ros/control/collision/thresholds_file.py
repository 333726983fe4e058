# SPDX-License-Identifier: Apache-2.0
"""File of learned collision thresholds, which belong to one model and one residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from msgspec import Meta

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import Bands, MappedThresholds, ThresholdMap
from robodyn_ros.errors import ControlError
from robodyn_ros.output_files import write_file
from robodyn_ros.schema import Finite, NotNegative, Positive, convert
from robodyn_ros.yaml_file import DUMPER, read_yaml

FORMAT = 'robodyn collision thresholds 1'
BANDS = ('speed', 'acceleration', 'reversal')


@dataclass(frozen=True)
class _Detector:
    """Settings of the detector on which thresholds depend."""

    period: Positive
    filter_cutoff: Positive
    torque_error_filter: Positive
    debounce: int


@dataclass(frozen=True)
class _LearnedJoint:
    """Bands and thresholds of a joint; without `change_at_rest`, that was not learned."""

    standstill: Positive
    speed: list[Finite]
    acceleration: list[Finite]
    reversal: list[Finite]
    fastest: Positive
    hardest: Positive
    collision: list[Positive]
    change_at_rest: Positive | None = None


@dataclass(frozen=True)
class _Content:
    """Content of a thresholds file."""

    format: str
    model_hash: str
    detector: _Detector
    healthy_hours: Finite
    false_alarms_per_hour_at_most: Finite
    contact_share: Annotated[float, Meta(gt=0.0, le=1.0)]
    rest_after: NotNegative
    joints: Annotated[dict[str, _LearnedJoint], Meta(min_length=1)]


DETECTOR = tuple(item.name for item in fields(_Detector))


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
                **({} if given.change is None else {'change_at_rest': float(given.change[j])}),
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
    except ControlError as reason:
        raise ControlError(
            f'{path}: the thresholds file is damaged ({reason}): write it again with `robodyn '
            f'thresholds`'
        ) from reason
    return learned


def _parse(content: Mapping[str, Any]) -> LearnedThresholds:
    detector = content.get('detector')
    if isinstance(detector, Mapping) and detector.get('residual') == 'filtered':
        # As files had it while there was a momentum observer, too.
        detector = {
            k: v for k, v in detector.items() if k not in ('residual', 'observer_bandwidth')
        }
    detector = convert(detector, _Detector, 'detector', ControlError)
    parsed = convert({**content, 'detector': detector}, _Content, 'content', ControlError)
    each = list(parsed.joints.values())
    for name in (*BANDS, 'collision', 'change_at_rest'):
        values = [getattr(joint, name) for joint in each]
        lengths = {len(value) if isinstance(value, list) else value is None for value in values}
        if len(lengths) > 1:
            raise ControlError(f'{name} must have as many values for each joint')
    edges = {name: np.array([getattr(joint, name) for joint in each], float) for name in BANDS}
    bands = Bands(np.array([joint.standstill for joint in each]), **edges, rest=parsed.rest_after)
    for name in BANDS:
        if (np.diff(edges[name], axis=1) < 0.0).any():
            raise ControlError(f'the edges of {name} must be in ascending order')
    collision = np.array([joint.collision for joint in each])
    if collision.shape[1] != bands.cells:
        raise ControlError(
            f'expected {bands.cells} thresholds for each joint, got {collision.shape[1]}'
        )
    change = [joint.change_at_rest for joint in each if joint.change_at_rest is not None]
    given = ThresholdMap(
        bands,
        collision,
        parsed.contact_share,
        np.array([joint.fastest for joint in each]),
        np.array([joint.hardest for joint in each]),
        np.array(change) if change else None,
    )
    return LearnedThresholds(
        tuple(parsed.joints), parsed.model_hash, asdict(detector), given,
        parsed.healthy_hours, parsed.false_alarms_per_hour_at_most,
    )  # fmt: skip
