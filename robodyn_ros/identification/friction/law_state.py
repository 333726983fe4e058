# SPDX-License-Identifier: Apache-2.0
"""A friction law while it is fitted, and fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from robodyn_ros.models.friction_terms import TERMS
from robodyn_ros.models.interface import Array

SHARES = tuple(0.004 * 2.0**k for k in range(8))
"""Velocities that are tried as shape coefficients, as shares of a joint's largest one."""


@dataclass(frozen=True)
class LawFit:
    """A friction law fitted to a sample, with the rigid body.

    :param shapes: shape coefficients of each joint
    :param rigid_values: base values of the body, shape (b,)
    :param rigid_torque: of the body, shape (M, n), in [Nm] or [N]
    :param load: absolute torque that load-dependent friction was fitted to, (M, n), or None
    :param residuals: RMS residual of each joint, shape (n,)
    """

    terms: tuple[str, ...]
    shapes: tuple[dict[str, float], ...]
    rigid_values: Array
    rigid_torque: Array
    load: Array | None
    residuals: Array

    @property
    def rigid_load(self) -> Array:
        """Load that the fitted body puts on the gears, shape (M, n), in [Nm] or [N]."""
        return np.abs(self.rigid_torque)

    @property
    def coefficients(self) -> dict[str, list[float]]:
        """Shape coefficients by name, one number per joint."""
        return {name: [shape[name] for shape in self.shapes] for name in self.shapes[0]}


@dataclass
class LawState:
    """Current values of a fit, see `LawFit`.

    :param bounded: values that `mixing` makes amplitudes of, shape (n, k)
    """

    terms: tuple[str, ...]
    wanted: tuple[str, ...]
    shapes: list[dict[str, float]]
    load: Array | None = None
    values: Array = field(default_factory=lambda: np.zeros(0))
    torque: Array = field(default_factory=lambda: np.zeros((0, 0)))
    bounded: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def begin(
        cls,
        terms: tuple[str, ...],
        known: Sequence[Mapping[str, float]],
        start: LawFit | None,
        reach: Array,
    ) -> LawState:
        """Start with known shape coefficients, those of a similar law, or the usual ones."""
        wanted = tuple(name for name in list_coefficients(terms) if name not in known[0])
        uses = {name for term in terms if term in TERMS for name in TERMS[term].uses}
        shapes = []
        for joint, given in enumerate(known):
            size = float(reach[joint])
            usual = {name: grid_of(name, 0.0, size, None)[len(SHARES) // 2 - 1] for name in wanted}
            if 'reach' in uses:
                usual['reach'] = size
            before = {} if start is None else start.shapes[joint]
            kept = {name: value for name, value in before.items() if name in usual}
            shapes.append({**usual, **kept, **given})
        return cls(terms, wanted, shapes)

    @property
    def loaded(self) -> bool:
        """True if friction depends on the load."""
        return any(term in TERMS and TERMS[term].load for term in self.terms)


def list_coefficients(terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shape coefficients that a law needs, and the threshold if it may have one."""
    known = [TERMS[term] for term in terms if term in TERMS]
    names = [name for term in known for name in term.needs]
    if any('threshold' in term.uses for term in known):
        names.append('threshold')
    return tuple(dict.fromkeys(names))


def grid_of(
    name: str, now: float, reach: float, factors: Sequence[float] | None
) -> tuple[float, ...]:
    """Return values to try: shares of the largest velocity, or multiples of the current one."""
    none = (0.0,) if name == 'threshold' else ()
    if factors is None:
        return (*none, *(share * reach for share in SHARES))
    return tuple(dict.fromkeys(factor * now for factor in factors))
