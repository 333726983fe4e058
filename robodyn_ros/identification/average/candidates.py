# SPDX-License-Identifier: Apache-2.0
"""Candidates of an estimate: a cut-off, a friction law, and how strong the prior is.

Each is linear least squares in the same base values; it holds those at zero that its law lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.physical.semidefinite import WEAKEST, WEIGHTS
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS, TERMS
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.springs import (
    SLIP_PARAMETERS,
    SLIPS,
    SPRING_PARAMETERS,
    SPRING_TERMS,
)

ALWAYS = ('viscous', 'offset')
"""Terms of every law."""

SLIPPING = ('coulomb', *SLIPS['slip'])
"""Dry friction with hysteresis before sliding. A smooth sign of the velocity fits recordings
nearly as well, because a joint rests for a moment where it turns. A reference does not rest, and
lacks friction at every reversal with it."""

LAWS: dict[str, tuple[str, ...]] = {
    'linear': ('coulomb',),
    'slip': SLIPPING,
    'linear+load': ('coulomb', 'load'),
    'slip+load': (*SLIPPING, 'load'),
    'power+asymmetric+load': ('coulomb', 'root', 'asymmetry', 'load'),
    'linear+spring': ('coulomb', 'spring'),
    'slip+load+spring': (*SLIPPING, 'load', 'spring'),
}
"""Friction laws and springs that are averaged where none is named: terms beside `ALWAYS`."""

EVERY = tuple(dict.fromkeys((*ALWAYS, *(term for terms in LAWS.values() for term in terms))))
"""Terms of the model that holds all laws."""

GIVEN = 'as given'
"""Name of the law of a model that has all its friction."""


@dataclass(frozen=True)
class EstimateCandidate:
    """One candidate.

    :param law: in `LAWS`, or `GIVEN`
    :param kept: base values that it fits, the others are zero, shape (b,)
    :param prior_weight: of the squared distance to the prior
    :param cutoff: number of its cut-off, 0 the highest
    :param slips: base values of slips, which are left out where they would drive the joint
    """

    law: str
    kept: NDArray[np.bool_]
    prior_weight: float
    cutoff: int = 0
    slips: tuple[int, ...] = ()


def list_candidates(
    model: DynamicModel, base: BaseParameters, cutoffs: int, *, automatic: bool, known: bool
) -> list[EstimateCandidate]:
    """Return the candidates, plain least squares first.

    :param cutoffs: how many there are
    :param known: the prior is that of the URDF; a made-up one only decides what nothing else does
    :param automatic: the laws of `LAWS` are candidates; otherwise that of the model alone
    """
    laws = dict(_laws(model, base)) if automatic else {GIVEN: np.ones(base.rank, dtype=bool)}
    weights: Sequence[float] = sorted(WEIGHTS) if known else (WEAKEST,)
    names = [model.parameters[column].name.rpartition('.')[2] for column in base.columns]
    slips = tuple(np.flatnonzero(np.isin(names, SLIP_PARAMETERS)).tolist())
    return [
        EstimateCandidate(law, kept, weight, cutoff, slips)
        for cutoff in range(cutoffs)
        for law, kept in laws.items()
        for weight in weights
    ]


def _laws(model: DynamicModel, base: BaseParameters) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the laws that the model has all terms of, and the base values that they keep."""
    names = [model.parameters[column].name.rpartition('.')[2] for column in base.columns]
    every = {item.name.rpartition('.')[2] for item in model.parameters}  # not all in the base
    of_joints = np.isin(names, [*FRICTION_PARAMETERS, *SPRING_PARAMETERS])
    for law, terms in LAWS.items():
        kinds = [_parameter(term) for term in (*ALWAYS, *terms)]
        if set(kinds) <= every:
            yield law, ~of_joints | np.isin(names, kinds)


def _parameter(term: str) -> str:
    return SPRING_TERMS[term].parameter if term in SPRING_TERMS else TERMS[term].parameter
