# SPDX-License-Identifier: Apache-2.0
"""Comparison of rival hypotheses: which one explains a recording better than all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn_ros.identification.rivals import conventions, delays, positions, torque_signal
from robodyn_ros.identification.rivals.evidence import (
    EXPLAINED,
    Evidence,
    agreement,
    gain,
    residual_shares,
)
from robodyn_ros.identification.rivals.reading import EXACT, FOREIGN, Reading
from robodyn_ros.identification.rivals.rival import SURE, Rival

Hypothesis = Callable[[Reading], Iterator[Rival]]

OF_SIGNAL: tuple[Hypothesis, ...] = (
    torque_signal.losses,
    torque_signal.sources,
    torque_signal.wraps,
    torque_signal.saturations,
)
"""Hypotheses about the torque signal, for any recording."""

RIVALS: tuple[Hypothesis, ...] = (
    *OF_SIGNAL,
    torque_signal.missing_signs,
    torque_signal.disturbances,
    conventions.gravity,
    conventions.orders,
    conventions.signs,
    conventions.reversals,
    conventions.unit,
    conventions.factors,
    conventions.models,
    conventions.times,
    positions.zeros,
    positions.couplings,
    positions.ratios,
    positions.units,
    delays.delays,
    delays.filters,
)
"""Hypotheses about a recording: one function for each kind."""

ALWAYS: tuple[Hypothesis, ...] = (
    *OF_SIGNAL,
    torque_signal.missing_signs,
    torque_signal.disturbances,
    conventions.gravity,
    conventions.unit,
    delays.delays,
)
"""Those that a fit without errors can hide."""

ORDINARY: tuple[dict[str, Any], ...] = (
    {},
    {'beside': ('friction',)},
    {'beside': ('springs',)},
    {'beside': ('friction', 'springs')},
    {'ridge': 1e-9},
)
"""Ordinary effects that linear friction and rigid bodies lack, or that the ridge takes away
from them where its motion shows it weakly: it is no flaw."""

FINALISTS = 6
"""Rivals that are compared in full: those that gain most over the recording as it is."""

ENOUGH = 3
"""Samples per parameter from which on folds say what explains a recording."""

SIMPLER = 0.8
"""Share of the gain that counts of a rival with fitted parameters: others have less freedom. More
than a gain of 1 per parameter is not lost by it."""

LIKELY = 0.8
"""Share of the gain that a rival needs from which on it is doubtful whether nothing is wrong."""

DOUBTED = 0.6
"""Gain that makes a rival likely where the complete model leaves much of a joint's torque, and the
masses of the URDF are those of the robot: it is the right model otherwise."""

CHANCE = 0.7
"""Part of `Evidence.optimism` that the gain of a clear rival is more than: a few seconds of motion
gain as much by many readings that are wrong."""

OF_DATA = 0.3
"""Part of the gain that is not by the masses, see `Rival.of_data`: those may be wrong as well."""

CONTRADICTED = -0.25
"""Gain by the masses of the URDF below which they contradict a rival: then it is not clear."""


@dataclass(frozen=True)
class Named:
    """A rival that explains a recording better than everything ordinary.

    :param gain: over the best ordinary explanation, and by the masses, see `gain`, `agreement`
    :param certainty: the gain in standard errors
    :param masses: part of the gain that is by the masses
    :param evidence: joint that gains most, and the share of its squared error that is left
    :param clear: it explains it much better; False: it is likely
    """

    rival: Rival
    gain: float
    certainty: float
    masses: float
    evidence: tuple[int, float]
    clear: bool = True


def compare(reading: Reading, hypotheses: Sequence[Hypothesis] = RIVALS) -> tuple[Named, ...]:
    """Return the rivals that explain a recording better than ordinary effects, best first."""
    present = reading.present
    if present.used.sum() < ENOUGH * len(present.base.columns):
        return ()
    if not reading.suspicious:
        hypotheses = [each for each in hypotheses if each in ALWAYS]
    rivals = (rival for hypothesis in hypotheses for rival in hypothesis(reading))
    named = _compare(present, _choose(present, rivals), ORDINARY)
    likely = DOUBTED if reading.doubted and present.rough <= FOREIGN else np.inf
    share = LIKELY if reading.contradicted else 1.0
    good = [
        replace(each, clear=each.gain >= needed and _is_clear(each, needed))
        for each in named
        if each.gain >= min(share * (needed := _least_gain(each.rival, len(present.size))), likely)
        and each.certainty >= each.rival.certain
        and residual_shares(each.rival.evidence)[1] < EXPLAINED
    ]
    return tuple(sorted(good, key=_rank))


def _choose(present: Evidence, rivals: Iterator[Rival]) -> list[Rival]:
    """Return the rivals that are compared in full; the others are not kept, as they are large."""
    chosen: list[Rival] = []
    best: list[tuple[float, Rival]] = []
    for rival in rivals:
        if not rival.evidence.error < np.inf:
            continue
        if rival.certain < SURE or rival.last:
            chosen.append(rival)
            continue
        best.append((_compare(present, [rival])[0].gain, rival))
        best.sort(key=lambda pair: -pair[0])
        del best[FINALISTS:]
    return chosen + [rival for _, rival in best]


def _is_clear(named: Named, needed: float) -> bool:
    """Return False for a rival that the masses contradict, or that gains by chance or by them."""
    rival, of_data = named.rival, named.gain - named.masses
    if named.masses <= CONTRADICTED or (rival.of_data and of_data < OF_DATA * named.gain):
        return False
    shown = rival.certain < SURE or rival.last  # by the signal, whatever the model says
    return shown or named.masses >= needed or named.gain > CHANCE * rival.evidence.optimism


def _least_gain(rival: Rival, joints: int) -> float:
    """Return the gain that a rival needs; the errors of a single joint have another unit."""
    return min(rival.least, 0.3 * joints + 0.1) if joints > 1 else min(rival.least / 0.6, 1.6)


def _rank(named: Named) -> tuple[bool, bool, float]:
    """Return what rivals are sorted by: what the signal shows first, then by their gain."""
    share = SIMPLER * 0.9 ** (named.rival.fitted - 1) if named.rival.fitted else 1.0
    counts = max(share * named.gain, named.gain - named.rival.fitted)
    return not named.clear, not named.rival.seen, -counts * (0.5 if named.rival.last else 1.0)


def _unit(present: Evidence) -> float:
    """Return the squared error that counts little, in squares of the `size`.

    The fit of a single joint alone has its flaw in it; 3 % of its torque has not.
    """
    if len(present.size) > 1:
        return 1.0
    rms = float(np.sqrt(np.mean(present.torque**2)))
    return max(EXACT * rms / float(present.size[0]), 1e-9) ** 2


def _compare(
    present: Evidence, rivals: Sequence[Rival], ordinary: Sequence[dict[str, Any]] = ORDINARY[:1]
) -> list[Named]:
    """Return the least gain of rivals over the recording as it is and every ordinary effect.

    A rival may have the ordinary effect beside it or not.
    """
    gains: list[list[tuple[float, float]]] = [[] for _ in rivals]
    for beside in ordinary:
        without = replace(present, **beside) if beside else present
        for rival, results in zip(rivals, gains, strict=True):
            if rival.ordinary or not beside:
                results.append(_gain(present, without, rival, beside))
    return [_name(present, rival, min(each)) for rival, each in zip(rivals, gains, strict=True)]


def _name(present: Evidence, rival: Rival, least: tuple[float, float]) -> Named:
    before = _count_as_in(present, rival).held_out.sum(axis=0)
    left = rival.evidence.held_out.sum(axis=0) / np.maximum(before, 1e-300)
    joint = int(np.argmin(left))
    return Named(rival, *least, _agreement(present, rival), (joint, float(left[joint])))


def _gain(
    present: Evidence, ordinary: Evidence, rival: Rival, beside: Mapping[str, Any]
) -> tuple[float, float]:
    """Return the gain of a rival over an ordinary effect, and the same in standard errors."""
    unit, masses = _unit(present), _agreement(present, rival)
    readings = [rival.evidence, *([_vary(rival, present, ordinary, beside)] if beside else [])]
    without = _count_as_in(ordinary, rival).held_out / unit
    return max(gain(without, each.held_out / unit, masses) for each in readings)


def _agreement(present: Evidence, rival: Rival) -> float:
    return 0.0 if rival.last else agreement(present.masses, rival.evidence.masses)


def _count_as_in(present: Evidence, rival: Rival) -> Evidence:
    """Return a reading whose errors count on the samples of a rival's."""
    compared = rival.evidence.compared
    return present if compared is None else replace(present, compared=compared)


def _vary(
    rival: Rival, present: Evidence, ordinary: Evidence, beside: Mapping[str, Any]
) -> Evidence:
    """Return the samples of a rival with an ordinary effect beside it."""
    origin, factor = rival.evidence.origin
    scaled = origin is present and origin is not rival.evidence
    return ordinary.scale(factor) if scaled else replace(rival.evidence, **beside)
