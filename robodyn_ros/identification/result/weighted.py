# SPDX-License-Identifier: Apache-2.0
"""The candidates of a result and their weights, and the finding on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robodyn_ros.findings import Finding, finding

NAMED = 3
"""So many candidates are named in a finding."""

COUNTS = 0.01
"""Weight from which on a candidate counts."""


@dataclass(frozen=True)
class WeightedCandidate:
    """A candidate with its weight in the mean.

    :param law: friction law and springs
    :param cutoff: in [Hz]; None: nothing was filtered
    :param prior_weight: weight of the prior
    :param error: held-out error, relative to the torque
    """

    law: str
    cutoff: float | None
    prior_weight: float
    weight: float
    error: float

    @property
    def name(self) -> str:
        """Its settings in short."""
        at = '' if self.cutoff is None else f' at {self.cutoff:.3g} Hz'
        return f'{self.law}{at}, prior {self.prior_weight:g}'


@dataclass(frozen=True)
class Weighted:
    """The candidates whose mean is the result, and what their mean is worth.

    :param candidates: all of them, the heaviest first
    :param error: held-out error of the mean, relative to the torque
    :param plain: that of plain least squares
    :param excess: RMS residual of the exported robot over that of the mean
    """

    candidates: tuple[WeightedCandidate, ...] = ()
    error: float = float('nan')
    plain: float = float('nan')
    excess: float = 1.0

    @property
    def counted(self) -> tuple[WeightedCandidate, ...]:
        """The candidates with a weight that counts, the heaviest first."""
        return tuple(each for each in self.candidates if each.weight >= COUNTS)


def weight_findings(weighted: Weighted) -> Iterator[Finding]:
    """Name the heaviest candidates and the held-out error of their mean."""
    if len(weighted.candidates) > 1:
        heaviest = [f'{each.name} ({each.weight:.0%})' for each in weighted.candidates[:NAMED]]
        yield finding(
            'mean_of_candidates',
            count=len(weighted.candidates),
            error=weighted.error,
            plain=weighted.plain,
            heaviest='; '.join(heaviest),
        )
