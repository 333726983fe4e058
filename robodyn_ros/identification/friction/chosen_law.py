# SPDX-License-Identifier: Apache-2.0
"""Selected friction law, and the laws it was compared with: data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrictionCandidate:
    """A law that was tried.

    :param name: of the law, or its terms; with `+load` load-dependent friction too
    :param terms: parameters per joint
    :param error: RMS held-out error of all joints, relative to that of the first candidate
    """

    name: str
    terms: int
    error: float
    residual: float


@dataclass(frozen=True)
class FrictionChoice:
    """Selected friction law, and the laws it was compared with.

    :param candidates: what it was compared with, in the order tried; the law itself among them
    :param automatic: True: selected by its error; False: requested, only its shape fitted
    :param doubt: why the recording does not determine the law; empty: it does
    :param springs_or_masses: True: other masses explain the recording as well as its springs
    """

    law: str
    candidates: tuple[FrictionCandidate, ...]
    loops: int
    automatic: bool
    doubt: str = ''
    springs_or_masses: bool = False
