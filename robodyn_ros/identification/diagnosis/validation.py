# SPDX-License-Identifier: Apache-2.0
"""Intervals of a validation whose torque the model does not explain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.fit.torque_errors import predict
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.interface import Array, DynamicModel

PARTS = 40
"""Blocks of time that are compared: a disturbance lasts for some of them."""


def validation_findings(
    model: DynamicModel, values: Array, signals: Processed, source: str
) -> Iterator[Finding]:
    """Name the interval that most of the error on a validation comes from.

    Its blocks have four times the usual squared error and are at most a third of all. A model that
    lacks something has errors of different size all over the recording: the logarithm of the worst
    one is beyond four standard deviations.

    :param values: parameter values that the validation tests, shape (p,)
    """
    rest = (signals.torque - predict(model, values, signals)) * signals.used
    size = np.sqrt(np.mean(signals.torque**2, axis=0))
    square = np.sum((rest / np.maximum(size, 1e-3 * max(size.max(), 1e-300))) ** 2, axis=1)
    block = np.arange(len(square)) * PARTS // max(len(square), 1)
    mean = np.bincount(block, square) / np.bincount(block)
    bad = mean > 4.0 * np.median(mean)
    if not bad.any() or bad.sum() > PARTS // 3:
        return
    log = np.log(mean + 1e-300)
    scatter = float(np.median(np.abs(log - np.median(log)))) / 0.6745
    share = float(square[~bad[block]].sum() / max(square.sum(), 1e-300))
    if log.max() < np.median(log) + 4.0 * scatter or share > 0.5:
        return
    start, end = signals.time[np.flatnonzero(bad[block])[[0, -1]]]
    where, why = f'from {start:.3f} s to {end:.3f} s', 'contact, another load or a fault'
    yield finding('disturbed_validation', source=source, where=where, reason=why, share=share)
