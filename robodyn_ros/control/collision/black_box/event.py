# SPDX-License-Identifier: Apache-2.0
"""Event: a collision with all that is needed to run the detector again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from robodyn_ros.control.collision.black_box.call_ring import Rows
from robodyn_ros.control.collision.black_box.reported import Reported
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.thresholds_file import (
    LearnedThresholds,
    content_of,
    thresholds_of,
)
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class Setup:
    """All that a detector is built from.

    :param model: with the values of its identification; the state has those in use
    :param velocity_window: shape (n,), in [rad/s] or [m/s]
    :param thresholds: learned ones; None: the constant ones of the settings
    """

    model: IdentifiedModel
    velocity_window: Array
    settings: CollisionSettings
    effort: EffortDeclaration
    thresholds: LearnedThresholds | None = None

    def content(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        model = self.model
        return {
            'model': model_parameters(model.model, model.values, model.stddevs),
            'velocity_window': self.velocity_window.tolist(),
            'settings': {
                name: np.asarray(value).tolist() if name != 'joints' else list(value)
                for name, value in asdict(self.settings).items()
                if value is not None
            },
            'thresholds': None if self.thresholds is None else content_of(self.thresholds),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any], effort: EffortDeclaration) -> Setup:
        """Read what `content` returned.

        :raises RobodynError: it is damaged, or of another version
        """
        try:
            model = load_identified_model({'dynamic_model': content['model']})
            window = np.array(content['velocity_window'], dtype=float)
            settings = CollisionSettings(**content['settings'])
            learned = content['thresholds']
            thresholds = None if learned is None else thresholds_of(learned, 'the event')
            return cls(model, window, settings, effort, thresholds)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RecordingError(
                f'the setup of the detector is damaged, or of another version: {error}'
            ) from error


@dataclass(frozen=True)
class Event:
    """Calls of a detector around a collision.

    :param reported: what the node reported about it
    """

    reason: str
    setup: Setup
    rows: Rows
    reported: Reported = field(default_factory=Reported)
