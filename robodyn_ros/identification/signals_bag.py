"""A recording of the identification itself, as a rosbag2 that PlotJuggler opens."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn_ros.identification.processing import Processed
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class Signals:
    """What was identified from, and what the model makes of it.

    :param processed: signals, raw and filtered
    :param predicted: torque of the identified model, shape (N, n), in [Nm] or [N]
    :param origin: what time 0 means, in [ns] since the epoch
    """

    processed: Processed
    predicted: Array
    origin: int = 0
