# SPDX-License-Identifier: Apache-2.0
"""Cases for the tests of the diagnosis's parts, without the identification around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.fit.torque_errors import evaluate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import base_parameters


def case_of(model, recording, **options):
    """Case of a recording identified by weighted least squares."""
    chosen = IdentifyOptions(**options)
    signals = process(recording, model.joint_names, chosen)
    base = base_parameters(model)
    condensed = condense(model, signals.motion, signals.torque, signals.used, base.columns)
    fit = estimate(condensed.merged(), base.rank)
    values = np.linalg.pinv(base.grouping) @ fit.values
    report, _ = evaluate(model, values, signals, source='case')
    errors = report.max_relative_torque_error
    return Case(recording, model, chosen, signals, base, condensed, values, errors)


def with_torque(recording, factor):
    """The same recording with its torques times a factor (n,)."""
    return replace(recording, torque=recording.torque * np.asarray(factor))
