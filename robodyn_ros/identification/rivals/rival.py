# SPDX-License-Identifier: Apache-2.0
"""A hypothesis about a recording: a correction with few parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from robodyn_ros.identification.rivals.evidence import Evidence

SURE = 3.0
"""Standard errors by which a correction must be better: about a hundred are tried."""

FEW = 1.5
"""Gain that is asked of corrections that can also absorb what a model lacks: names and zeros move
the axes of the robot, factors take a joint out of the fit."""


@dataclass(frozen=True, eq=False)
class Rival:
    """One hypothesis about a recording, and its samples with that corrected.

    :param key: of the finding that names it
    :param joints: indices of the joints it is about; empty: the robot
    :param values: fields of the finding's text
    :param least: gain that it must have over every other explanation, see `evidence.gain`
    :param certain: the same in standard errors
    :param ordinary: ordinary effects must not explain the recording as well; False: who takes this
        loses nothing, as by another dynamic model of a closed form
    :param fitted: number of its parameters that were fitted: of two that explain the same, the one
        with none is more likely
    :param of_data: the data must show it as well as the masses, as a factor of one joint
    :param last: it is named only where no other one is
    """

    key: str
    joints: tuple[int, ...]
    evidence: Evidence
    values: Mapping[str, object] = field(default_factory=dict)
    least: float = 0.6
    certain: float = SURE
    ordinary: bool = True
    fitted: int = 0
    of_data: bool = False
    last: bool = False

    @property
    def seen(self) -> bool:
        """True if the signal itself shows it, so that the model need only agree."""
        return 0.0 < self.certain < SURE and not self.last
