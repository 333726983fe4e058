"""Torque that comes later or earlier than the motion it belongs to: how much, and set right.

Position and torque often take different ways: through filters, buses and drivers. A joint's
torque is shifted in time until the model, fitted to this joint alone, explains it best. That is
done on two halves of the recording: only what both of them show, about the same, is taken as an
offset. Friction near standstill, flexibility and noise can look like one in a single motion.

Less than a sample is told, but not set right unless it is most of the residual. It comes from how
signals are sampled (a command is held for a sample, a position latched within it), so that it is
in all signals of this robot, and what predicts them, feed-forward and monitor, cannot shift by
parts of a sample: parameters that fit the signals as they are sampled suit it best.

Where an offset is set right, all errors, on the validation recording too, are those of the torque
shifted back by as much: the model gives the torque that belongs to a motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robodyn_ros.identification.factors.condense import Indices, acting_columns
from robodyn_ros.identification.factors.joint_fit import LONGEST_SHIFT, OwnFit, own_fit
from robodyn_ros.identification.factors.torque_shift import smoothed, torque_shift
from robodyn_ros.identification.findings import finding
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.torque_shift import TimeOffset
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding

SAMPLES = 2000
"""Samples that are looked at, whatever the length of the recording."""

GAIN = 0.2
"""Share of the squared residual that shifting must remove, in both halves of a recording."""

GAIN_PER_SAMPLE = 0.05
"""And more for each sample of the offset, up to four times as much ..."""

AGREEMENT = 0.25
"""Largest difference between the halves' offsets, as a share of their mean."""

ENOUGH = 10
"""Samples per column of the joint's regressor in each half, at least."""

EXACT = 1e-3
"""Residuals below this share of a joint's RMS torque leave nothing to be set right."""

SHORTEST = 0.05
"""Offsets of fewer samples are not worth telling ..."""

WHOLE = 0.9
"""... and those of fewer not set right: a whole sample, found to a tenth ..."""

MOST = 0.5
"""... unless they are the largest error, with this share of the squared residual."""


def offsets_of(
    model: DynamicModel, base: BaseParameters, signals: Processed, options: IdentifyOptions
) -> dict[int, TimeOffset]:
    """Offsets that can clearly be seen, by the number of the joint; none if not asked for."""
    if options.time_offset == 'no':
        return {}
    period = float(signals.time[1] - signals.time[0]) if len(signals) > 1 else 1.0
    reach = int(min(np.ceil(LONGEST_SHIFT / period), len(signals) // 8))
    count = min(SAMPLES, len(signals) - 2 * reach)
    if reach < 1 or count < 8:
        return {}
    rows = np.linspace(reach, len(signals) - 1 - reach, count).astype(np.intp)
    q, qd, qdd = (values[rows] for values in signals.motion)
    regressor = model.selected(q, qd, qdd, base.columns)
    found = {}
    for joint, columns in enumerate(acting_columns(model, base.columns)):
        smooth = smoothed(signals.torque[:, joint])
        halves = []
        for part in np.array_split(np.arange(count), 2):
            torque = smooth[rows[part]]
            own = own_fit(regressor[part, joint], columns, torque, signals.used[rows[part], joint])
            enough = own is not None and len(own.rows) >= ENOUGH * len(columns)
            halves.append(_best(own, smooth, rows[part], reach) if own and enough else None)
        one, other = halves
        if one is not None and other is not None and _agree(one, other):
            shift = 0.5 * (one[0] + other[0])
            gain = min(one[1], other[1])
            found[joint] = TimeOffset(
                shift * period, gain, applied=abs(shift) >= WHOLE or gain >= MOST
            )
    return found


def common_offsets(found: Sequence[dict[int, TimeOffset]]) -> dict[int, TimeOffset]:
    """Return the offsets of all recordings of a robot: the medians of those that have one.

    :param found: offsets of each recording, by the number of the joint
    """
    if len(found) == 1:
        return found[0]
    result = {}
    for joint in sorted({joint for each in found for joint in each}):
        own = [each[joint] for each in found if joint in each]
        seconds = float(np.median([each.seconds for each in own]))
        applied = sum(each.applied for each in own) > len(own) / 2
        result[joint] = TimeOffset(seconds, min(each.gain for each in own), applied)
    return result


def _best(own: OwnFit, torque: Array, rows: Indices, reach: int) -> tuple[float, float] | None:
    """Shift in samples that explains a joint's torque best, and its gain; None: not observable."""
    found = torque_shift(own, torque, rows[own.rows], reach)
    still = found.residual(0.0)
    if found.shift is None or still <= (EXACT * own.rms) ** 2 * len(own.rows):
        return None
    return found.shift, 1.0 - found.residual(found.shift) / still


def _agree(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether both halves show the same offset clearly."""
    shift, gain = 0.5 * (one[0] + other[0]), min(one[1], other[1])
    least = min(GAIN + GAIN_PER_SAMPLE * abs(shift), 4.0 * GAIN)
    alike = abs(one[0] - other[0]) <= AGREEMENT * abs(shift)
    return gain >= least and alike and abs(shift) >= SHORTEST


def offset_findings(
    offsets: dict[int, TimeOffset], model: DynamicModel, period: float
) -> Iterator[Finding]:
    """Say what was seen, and what was set right.

    :param period: sampling period, in [s]
    """
    for joint, offset in offsets.items():
        yield finding(
            'time_offset' if offset.applied else 'time_offset.kept',
            joint=model.joint_names[joint],
            offset=abs(offset.seconds) * 1e3,
            samples=abs(offset.seconds) / period,
            direction='after' if offset.seconds > 0.0 else 'before',
            gain=offset.gain,
        )
