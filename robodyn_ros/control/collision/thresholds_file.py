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
from numpy.typing import NDArray

from robodyn_ros.control.collision.motion_bands import Bands
from robodyn_ros.control.collision.ramp_law import KINDS, ORDER, SCORES, RampLaw
from robodyn_ros.control.collision.ramp_thresholds import RampThresholds
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.output_files import write_file
from robodyn_ros.schema import Finite, Positive, convert
from robodyn_ros.yaml_file import DUMPER, read_yaml

FORMAT = 'robodyn collision thresholds 2'
Numbers = Annotated[list[Finite], Meta(min_length=1)]
Sizes = Annotated[list[Positive], Meta(min_length=1)]


@dataclass(frozen=True)
class _Detector:
    """Settings of the detector on which thresholds depend."""

    period: Positive
    filter_cutoff: Positive
    torque_error_filter: Positive
    debounce: int


@dataclass(frozen=True)
class _LearnedJoint:
    """Values of a joint; arrays as of `Bands` and `RampLaw`."""

    standstill: Positive
    speed: list[Finite]
    acceleration: list[Finite]
    fastest: Positive
    hardest: Positive
    mean: Numbers
    whitening: list[Numbers]
    scale: list[Sizes]


@dataclass(frozen=True)
class _Content:
    """Content of a thresholds file."""

    format: str
    model_hash: str
    detector: _Detector
    healthy_hours: Positive
    false_alarms_per_hour: Positive
    false_alarms_per_hour_at_most: Positive
    contact_share: Annotated[float, Meta(gt=0.0, le=1.0)]
    threshold_of_one_joint: Positive
    threshold_of_all_joints: Positive
    joints: Annotated[dict[str, _LearnedJoint], Meta(min_length=1)]
    covariance: list[list[Numbers]]


DETECTOR = tuple(item.name for item in fields(_Detector))
JOINT = {
    'standstill': 'still', 'speed': 'speed', 'acceleration': 'acceleration',
    'fastest': 'fastest', 'hardest': 'hardest', 'mean': 'mean', 'whitening': 'whitening',
    'scale': 'scale',
}  # fmt: skip
"""Entries of a joint, and their names in the code."""


@dataclass(frozen=True)
class LearnedThresholds:
    """A law with what it belongs to.

    :param joints: names of the n joints
    :param model_hash: `loaded_hash` of the result whose torque errors it bounds
    :param contact: contact thresholds relative to the collision thresholds, 0..1
    :param hours: healthy motion from which it was learned, in [h]
    :param wanted: false alarms per hour that it was learned for
    :param rate: false alarms per hour that are not exceeded with 95 % confidence, by the healthy
        motion alone
    """

    joints: tuple[str, ...]
    model_hash: str
    detector: Mapping[str, Any]
    law: RampLaw
    contact: float
    hours: float
    wanted: float
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

    def thresholds(self, enabled: NDArray[np.bool_] | None = None) -> RampThresholds:
        """Return the thresholds for a detector; `enabled` as of `RampThresholds`."""
        return RampThresholds(self.law, self.contact, enabled)


def write_thresholds(learned: LearnedThresholds, path: str | Path) -> None:
    """Write a thresholds file, completely or not at all.

    :raises ControlError: it cannot be written
    """
    law = learned.law
    arrays = {name: getattr(law if hasattr(law, name) else law.bands, name)
              for name in JOINT.values()} | {'mean': law.mean.T}  # fmt: skip
    content = {
        'format': FORMAT,
        'model_hash': learned.model_hash,
        'detector': dict(learned.detector),
        'healthy_hours': learned.hours,
        'false_alarms_per_hour': learned.wanted,
        'false_alarms_per_hour_at_most': learned.rate,
        'contact_share': learned.contact,
        'threshold_of_one_joint': law.single,
        'threshold_of_all_joints': law.joint,
        'joints': {
            name: {entry: arrays[key][j].tolist() for entry, key in JOINT.items()}
            for j, name in enumerate(learned.joints)
        },
        'covariance': law.covariance.tolist(),
    }
    text = yaml.dump(content, Dumper=DUMPER, sort_keys=False, width=99)
    write_file(path, lambda file: file.write_text(text, 'utf-8'), ControlError)


def read_thresholds(path: str | Path) -> LearnedThresholds:
    """Read a thresholds file.

    :raises ControlError: it cannot be read, or is no thresholds file with usable values
    """
    content = read_yaml(path, 'the thresholds file', ControlError)
    if not isinstance(content, Mapping) or content.get('format') != FORMAT:
        given = content.get('format') if isinstance(content, Mapping) else None
        raise ControlError(
            f'{path} is no thresholds file: expected format {FORMAT!r}, got {given!r:.60}: learn '
            f'thresholds with `robodyn thresholds`'
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
    detector = convert(content.get('detector'), _Detector, 'detector', ControlError)
    parsed = convert({**content, 'detector': detector}, _Content, 'content', ControlError)
    each = list(parsed.joints.values())
    values = {key: _array(entry, [getattr(joint, entry) for joint in each])
              for entry, key in JOINT.items()}  # fmt: skip
    bands = Bands(*(values.pop(name) for name in ('still', 'speed', 'acceleration')))
    for name in ('speed', 'acceleration'):
        if (np.diff(getattr(bands, name), axis=1) < 0.0).any():
            raise ControlError(f'the edges of {name} must be in ascending order')
    width = len(each)
    covariance = _array('covariance', parsed.covariance)
    shapes = {
        'mean': (width, 1 + KINDS * width), 'whitening': (width, 2, ORDER),
        'scale': (width, bands.cells, SCORES), 'covariance': (SCORES, width, width),
    }  # fmt: skip
    for name, shape in shapes.items():
        if (got := (values | {'covariance': covariance})[name].shape) != shape:
            raise ControlError(f'{name} must have the shape {shape}, got {got}')
    symmetric = np.abs(covariance - covariance.transpose(0, 2, 1)).max() <= 1e-9
    if not symmetric or not (np.linalg.eigvalsh(covariance) > 0.0).all():
        raise ControlError('the covariance must be symmetric and positive definite')
    period, mean = parsed.detector.period, values.pop('mean').T
    law = RampLaw(
        period, bands, mean=mean, covariance=covariance, single=parsed.threshold_of_one_joint,
        joint=parsed.threshold_of_all_joints, **values,
    )  # fmt: skip
    return LearnedThresholds(
        tuple(parsed.joints), parsed.model_hash, asdict(parsed.detector), law,
        parsed.contact_share, parsed.healthy_hours, parsed.false_alarms_per_hour,
        parsed.false_alarms_per_hour_at_most,
    )  # fmt: skip


def _array(name: str, values: Sequence[Any]) -> Array:
    """Return nested lists as an array.

    :raises ControlError: they differ in length
    """
    try:
        return np.array(values, dtype=float)
    except ValueError as reason:
        raise ControlError(f'{name} must have as many values for each joint') from reason
