"""Findings on which estimate is selected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.identification.result import Selection
from robodyn_ros.recording.finding import Finding


def selection_findings(selection: Selection, residual: float) -> Iterator[Finding]:
    """Say which estimate was selected and why.

    :param residual: relative residual of the selected estimate on the recording
    """
    if np.isnan(selection.prior_weight):
        return
    compared = ''
    if not np.isnan(selection.unseen_error):
        compared = (
            f': on parts of the recording left out in turn its error is '
            f'{selection.unseen_error:.2%} of the torque, that of the unconstrained one '
            f'{selection.unseen_error_unconstrained:.2%}'
        )
    prior, ridge = 'without prior', 'drawn to a plain prior'
    if selection.prior == 'urdf':
        prior = ridge = f'drawn to the URDF with weight {selection.prior_weight:.0e}'
    texts = {
        'unconstrained': f'the unconstrained estimate is selected{compared}',
        'consistent': f'the physically consistent estimate is selected, {prior}{compared}; '
        f'its relative residual is {residual:.2%}, unconstrained '
        f'{selection.unconstrained_residual:.2%}',
        'consistent_links': f'the links of the physically consistent estimate are selected, '
        f'{prior}{compared}; friction and rotor inertias were fitted again, these and viscous '
        f'friction without limits '
        f'(relative residual {residual:.2%}, unconstrained '
        f'{selection.unconstrained_residual:.2%})',
        'ridge': f'the ridge estimate, {ridge}, without constraints, is selected'
        f'{compared}; its relative residual is '
        f'{residual:.2%}, unconstrained {selection.unconstrained_residual:.2%}',
    }
    yield Finding('estimate_chosen', texts[selection.estimate], severity='info')
