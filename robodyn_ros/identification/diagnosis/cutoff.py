# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of a low pass that was asked for: does it remove part of the motion?

The fit takes the position low-passed and the torque as measured, both thinned by the same filter
(`processing.thinning_for`). A torque low-passed like the position would lose the corners of
friction, which the regressor has, and friction would come out as viscous. Hence
the low pass must not remove motion: a removed part is missing in the regressor only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.signals.cutoff import automatic_cutoff
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.signals import low_pass

MOTION_SHARE = 0.005
"""Share of a joint's motion that a low pass may remove: inertia has an error of this size, and up
to three times as much where gravity acts on the joint too."""


def cutoff_findings(case: Case) -> Iterator[Finding]:
    """Yield joints of whose motion the low pass that was asked for removes a part, most first."""
    automatic = _higher_automatic(case)
    if automatic is None:
        return
    asked, share = case.signals.cutoff, measure_removed_motion(case, automatic)
    for joint in np.argsort(-share, kind='stable'):
        if share[joint] <= MOTION_SHARE:
            return
        gross = share[joint] > 6.0 * MOTION_SHARE  # inertia then has an error of about 10 %
        yield finding(
            'cutoff_too_low',
            joint=case.signals.joints[joint],
            severity='error' if gross else 'warning',
            cutoff=asked,
            share=share[joint],
            limit=MOTION_SHARE,
            automatic=automatic,
        )


def measure_removed_motion(case: Case, automatic: float) -> Array:
    """Share of each joint's motion (n,) above the cut-off used; 0 for joints that do not move.

    Of what the automatic low pass would leave; what noise there is in it is taken off.
    """
    signals, rate = case.signals, case.rate
    wide = low_pass(signals.measured_position, automatic, rate)
    margin = min(int(2.0 * rate / automatic), len(wide) // 4)
    inner = slice(margin, len(wide) - margin)
    noise = (signals.measured_position - wide)[inner].var(axis=0)
    noise *= automatic / (0.5 * rate - automatic)  # if white, what passes of it
    removed = np.mean((wide - signals.position)[inner] ** 2, axis=0)
    size = np.maximum(wide[inner].std(axis=0), 1e-300)
    share = np.sqrt(np.maximum(removed - noise, 0.0)) / size
    return np.where(signals.used.any(axis=0), share, 0.0)


def with_harmonics(case: Case) -> Case:
    """Return the same case with the torque low-passed no lower than automatically.

    Friction and gravity make harmonics of the motion: without them a torque looks late, or cut
    off, to a regressor that has them.
    """
    automatic = _higher_automatic(case)
    if automatic is None:
        return case
    torque = low_pass(case.signals.measured, automatic, case.rate)
    return replace(case, signals=replace(case.signals, torque=torque))


def _higher_automatic(case: Case) -> float | None:
    """Return the automatic cut-off, if a lower one was asked for and used on the positions."""
    signals = case.signals
    if case.options.filter_cutoff is None or len(signals.thinning.taps) == 1:
        return None
    automatic = automatic_cutoff(signals.measured_position, case.rate)
    return automatic if signals.cutoff is not None and signals.cutoff < automatic else None
