# SPDX-License-Identifier: Apache-2.0
"""Findings on which estimate is selected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.physical.chosen_estimate import Selection

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
