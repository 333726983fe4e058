# SPDX-License-Identifier: Apache-2.0
"""Words for what a recording says of a value; values of the softMC document's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from robodyn_ros.models.interface import Array

Status = Literal['identified', 'combination', 'prior', 'unseen', 'given', 'absent', 'impossible']


@dataclass(frozen=True)
class NamedParameters:
    """Parameters in the order of the softMC document, section 5.4.

    :param values: shape (k,), SI; NaN for what has neither an effect on torque nor a prior
    :param stddevs: shape (k,); NaN where the parameter is not identified on its own
    :param status: how each value is known, see `files.report.MEANING`
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    stddevs: Array
    status: tuple[Status, ...]


def classify(
    values: Array, stddevs: Array, fitted: Array | None = None, prior: Array | None = None
) -> tuple[str, ...]:
    """Return how each value is known: determined, weak, or from the prior.

    A determined value is beyond two standard deviations, so that its sign at least is known. A
    value that is nearer to the prior than to what the data alone give is from the prior.

    :param stddevs: shape (k,); NaN: the data do not determine the value
    :param fitted, prior: by the data alone and by the prior alone, shape (k,); None: not compared
    """
    known = np.isfinite(stddevs)
    determined = known & (np.abs(values) > 2.0 * np.where(known, stddevs, 0.0))
    drawn = ~known
    if fitted is not None and prior is not None:
        drawn |= np.abs(values - prior) < np.abs(values - fitted)
    words = np.where(determined, 'determined', np.where(drawn, 'from the prior', 'weak'))
    return tuple(words.tolist())
