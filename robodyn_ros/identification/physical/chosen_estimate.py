# SPDX-License-Identifier: Apache-2.0
"""Selected estimate, and the parameters of the softMC document: data only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.options import Prior
from robodyn_ros.models.interface import Array

EstimateKind = Literal['unconstrained', 'consistent', 'consistent_links', 'ridge']
Status = Literal['identified', 'combination', 'prior', 'unseen', 'given', 'absent', 'impossible']


@dataclass(frozen=True)
class Selection:
    """Which estimate a result holds, and what it was compared with.

    Errors are root mean squares over all joints, each in units of the standard deviation of its
    unconstrained residual; NaN: not computed.

    :param estimate: 'unconstrained'; 'consistent': a robot that can exist; 'consistent_links':
        the links can exist, but rotor inertias and friction are what fits best; 'ridge': drawn
        to the prior without constraints (see `ridge`)
    :param prior: 'urdf' or 'none'
    :param unseen_error: of the consistent estimate, on segments it was not fitted to
    :param excess: residual of the consistent estimate on the recording, over the smallest
    :param growth: of the error on parts that were left out, over that of the fit to all samples;
        without such parts, what so few independent samples hide
    :param doubt: why the recording does not determine the weight of the prior; empty: it does
    :param unconstrained_residual: relative residual of the unconstrained estimate
    """

    estimate: EstimateKind = 'unconstrained'
    prior: Prior = 'none'
    prior_weight: float = float('nan')
    unseen_error: float = float('nan')
    unseen_error_unconstrained: float = float('nan')
    excess: float = float('nan')
    growth: float = 1.0
    doubt: str = ''
    unconstrained_residual: float = float('nan')


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


COMPARED = (
    ' On held-out parts of the recording its error is {:.2%} of the torque, that of the '
    'unconstrained estimate {:.2%}.'
)
"""Sentence on held-out errors."""

UNDETERMINED = ' The weight of the prior is not determined by this recording: {}.'
"""Sentence on doubts."""

PRIORS = {
    'urdf': 'regularised towards the URDF with weight {weight:.3g}',
    'ridge': 'regularised towards a plain prior',
    'none': 'without prior',
}
"""Prior of an estimate."""


def selection_findings(selection: Selection, residual: float) -> Iterator[Finding]:
    """Say which estimate was selected and why.

    :param residual: relative residual of the selected estimate on the recording
    """
    if np.isnan(selection.prior_weight):
        return
    errors = selection.unseen_error, selection.unseen_error_unconstrained
    compared = '' if np.isnan(errors[0]) else COMPARED.format(*errors)
    compared += UNDETERMINED.format(selection.doubt) if selection.doubt else ''
    ridge = 'ridge' if selection.estimate == 'ridge' else 'none'
    prior = PRIORS['urdf' if selection.prior == 'urdf' else ridge]
    yield finding(
        f'estimate_chosen.{selection.estimate}',
        compared=compared,
        prior=prior.format(weight=selection.prior_weight),
        residual=residual,
        unconstrained=selection.unconstrained_residual,
    )
