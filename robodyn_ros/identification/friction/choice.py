"""Selected friction law, and the laws it was compared with: data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrictionCandidate:
    """A law that was tried.

    :param name: of the law, or its terms; with `+load` load-dependent friction too
    :param terms: parameters per joint
    :param error: geometric mean over the joints of the RMS error on stretches left out in turn,
        over that of the first candidate
    :param residual: the same of the residual
    """

    name: str
    terms: int
    error: float
    residual: float


@dataclass(frozen=True)
class FrictionChoice:
    """Selected friction law, and the laws it was compared with.

    :param law: the law that the model has now
    :param candidates: what it was compared with, in the order tried; the law itself among them
    :param loops: how often the three loops of the search ran for it
    :param automatic: chosen by its error; otherwise it was asked for and only its figures found
    :param doubt: why the recording does not determine the law; empty: it does
    """

    law: str
    candidates: tuple[FrictionCandidate, ...]
    loops: int
    automatic: bool
    doubt: str = ''
