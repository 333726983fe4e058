# SPDX-License-Identifier: Apache-2.0
"""Parameters and torques that a recording can determine, by an identification that is not kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.diagnosis.position_limits import position_limits
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

HOW = ('determined', 'weak', 'from the prior')
"""Words for what the recording says of a value, see `status.classify`."""


def assess_recording(
    recording: Recording, model: DynamicModel, options: IdentifyOptions
) -> tuple[dict[str, dict[str, Any]], dict[str, int], tuple[Finding, ...]]:
    """Return what a recording can determine of a model, and what looks wrong in it.

    It is identified, so that the verdict is the one that an identification gives.

    :return: facts by joint: `coverage` of its range (NaN: it has none), `expected_error` of its
        torque on other motions, relative to the torque (NaN: at rest, or not measured), `verdict`
        on its feed-forward, on `monitoring`, and `reason`; numbers of parameter combinations by
        how they are determined; findings
    :raises RobodynError: a joint is not in the recording, or an option cannot be used
    """
    result = identify(recording, model, options=replace(options, keep_signals=False))
    coverage = _coverage(recording.select(model.joint_names), model, options)
    joints = {
        each.joint: {
            'coverage': share,
            'expected_error': each.expected,
            'verdict': each.feedforward.word,
            'monitoring': each.monitoring.word,
            'reason': '; '.join(each.reasons),
        }
        for each, share in zip(result.verdict.joints, coverage.tolist(), strict=True)
    }
    count = Counter(result.base_status)
    return joints, {how: count[how] for how in HOW} if count else {}, result.findings


def _coverage(recording: Recording, model: DynamicModel, options: IdentifyOptions) -> Array:
    """Return the share of each joint's range that it moves in, shape (n,); NaN: no range."""
    limits = position_limits(model) | dict(options.position_limits or {})
    ends = np.array([limits.get(name, (np.nan, np.nan)) for name in model.joint_names])
    turn = [np.inf if joint.type == 'prismatic' else 2.0 * np.pi for joint in model.joints]
    width = np.minimum(ends[:, 1] - ends[:, 0], turn)
    return np.asarray(np.minimum(np.ptp(recording.position, axis=0) / width, 1.0))
