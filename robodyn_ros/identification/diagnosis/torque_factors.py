# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of torque factors: scale, sign and unit of each joint's torque.

Three witnesses, none of which needs the others: joints that share parameters must agree about
them; every inertia is positive and friction takes power away; and a URDF (or a closed-form model
with prior values) says roughly how large torques are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.findings import Finding, Severity, finding
from robodyn_ros.identification.diagnosis.case import Case, Sample
from robodyn_ros.identification.diagnosis.other_models import by_prior, reason
from robodyn_ros.identification.diagnosis.trial import (
    Trial,
    confirmed,
    folds,
    share_left,
)
from robodyn_ros.identification.factors.joint_fit import OwnFit
from robodyn_ros.identification.fit.choice import FOUR, MOST
from robodyn_ros.models.friction_terms import BRAKING
from robodyn_ros.models.interface import Array

DISAGREE = 1.06
"""`Shared.excess` from which on joints do not agree about the parameters they share."""


SMALLEST_PRIOR_FACTOR = 3.0
"""The same for factors that a prior tells: masses in a URDF are often guesses."""


NEGATIVE = -5.0
"""Standard deviations below 0 at which inertia and friction are negative for certain."""


@dataclass(frozen=True)
class Shared:
    """Agreement of the joints on the parameters that they share.

    :param joints: those compared
    :param excess: RMS residual of all joints together over that of each alone, at least about 1
    :param factors: per joint, what its torque must be divided by to agree best with the others
    :param excesses: `excess` once it is
    """

    joints: tuple[int, ...]
    excess: float
    factors: Array
    excesses: Array


def sign_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Yield joints with a wrong torque sign, by inertia, friction and the prior's masses."""
    known = by_prior(case, sample)
    physical = signs(case, sample)
    mount = _mount_finding(known, [friction for _, friction in physical.values()])
    if mount is not None:
        yield mount
        return
    for joint, (inertia, friction) in physical.items():
        told, clear = _turned(inertia, friction, *known.get(joint, (0.0, np.inf)))
        if told:
            name = case.signals.joints[joint]
            severity: Severity = 'error' if clear else 'warning'
            evidence = ' and '.join(told)
            found = finding('torque_sign', joint=name, severity=severity, evidence=evidence)
            present = Trial.of(case, sample)
            yield confirmed(case, found, present, present.scaled(joint, -1.0))


def _mount_finding(
    known: dict[int, tuple[float, float]], friction: Sequence[float]
) -> Finding | None:
    """Return that gravity points upwards, if all joints that feel it say so, and more than one.

    :param friction: in standard deviations (see `signs`): where it drives, torques are turned
    """
    if any(value < NEGATIVE for value in friction):
        return None
    felt = [factor for factor, spread in known.values() if abs(factor) > FOUR * spread]
    if len(felt) < 2 or max(felt) > 0.0:
        return None
    return finding('wrong_dynamic_model', count=len(felt))


def _turned(
    inertia: float, friction: float, factor: float, spread: float
) -> tuple[list[str], bool]:
    """Return what says that a torque has the wrong sign, and whether it says so clearly.

    Inertia and friction say so together; one of them or the prior, where none contradicts.

    :param inertia: in standard deviations, as friction (see `signs`)
    :param factor: between the torque and the prior's, with its standard deviation
    """
    prior = factor / max(FOUR * spread, 1e-300)
    both = inertia < NEGATIVE and (friction < NEGATIVE or np.isnan(friction))
    against = inertia > -NEGATIVE or friction > -NEGATIVE or prior > 1.0
    by_prior_alone = prior < -1.0 and abs(np.log(-factor)) < np.log(SMALLEST_PRIOR_FACTOR)
    if against and not both:
        return [], False
    told = {
        'by it the inertia is negative': inertia < NEGATIVE,
        'by it friction drives the joint': friction < NEGATIVE,
        f"it is {factor:.2g} times what the model's prior masses give": by_prior_alone,
    }
    # A delay makes a little of inertia or friction negative, but not three times as much.
    clear = both or inertia < 3.0 * NEGATIVE or friction < 3.0 * NEGATIVE or by_prior_alone
    return [text for text, said in told.items() if said], bool(clear)


def factor_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Yield joints with a wrong torque factor, by shared parameters, then by the prior."""
    found = _shared_finding(case, sample)
    if found is not None:
        yield found
        return
    known = by_prior(case, sample)
    # Held-out errors cannot distinguish a wrong unit from wrong masses of the URDF. But a unit is
    # wrong for all joints, and masses are hardly all wrong by more than ten to the same side.
    clear = [factor for factor, spread in known.values() if factor > FOUR * spread]
    enough = len(clear) >= min(2, len(case.model.joints))
    unit = enough and (min(clear) > 10.0 or max(clear) < 0.1)
    for joint, (factor, spread) in known.items():
        if factor > FOUR * spread and abs(np.log(factor)) > np.log(SMALLEST_PRIOR_FACTOR):
            yield finding(
                'torque_factor',
                joint=case.signals.joints[joint],
                severity='error' if unit else 'warning',
                factor=factor,
                spread=spread,
                causes=reason(factor),
            )


def _shared_finding(case: Case, sample: Sample) -> Finding | None:
    """Return the joint whose factor explains why joints do not agree about shared parameters."""
    result = shared(case, sample)
    if result.excess < DISAGREE:
        return None
    rest = result.excesses**2 - 1.0
    best = int(np.argmin(rest))
    factor = float(result.factors[best])
    small = factor <= 0.0 or abs(np.log(factor)) < np.log(1.25)  # no model is that exact
    if small or rest[best] > 0.25 * (result.excess**2 - 1.0):  # it explains three quarters
        return None
    names = [case.signals.joints[joint] for joint in result.joints]
    near = 3.0 * max(rest[best], 0.003 * (result.excess**2 - 1.0))
    others = [k for k in np.argsort(rest) if k != best and rest[k] < near]
    doubt = ''.join(f', or that of joint {names[k]} {result.factors[k]:.3g} times' for k in others)
    joint, present = result.joints[best], Trial.of(case, sample)
    corrected = present.scaled(joint, factor)
    found = finding(
        'torque_factor.shared',
        joint=names[best],
        severity='error' if case.others is not None or _agrees(present, corrected) else 'warning',
        factor=factor,
        alternatives=doubt,
        excess=result.excess,
        corrected=result.excesses[best],
        causes=reason(factor),
    )
    return confirmed(case, found, present, corrected)


def _agrees(present: Trial, corrected: Trial) -> bool:
    """Return True if a factor makes joints agree on samples that were left out of the fit.

    It must remove most of the error, and leave no more than twice that of each joint alone: if
    joints then still contradict each other, their model is wrong in another way, and any factor
    that takes one joint out of the fit helps.
    """
    division, count = folds(present), int(np.count_nonzero(present.weight))
    after = corrected.held_out(division)
    if share_left(present.held_out(division), after, count, FOUR) > MOST:
        return False
    return share_left(after, present.apart(division), count) > MOST


def disagreement(case: Case, sample: Sample) -> float:
    """Return the `Shared.excess`, without looking for its reason."""
    rows = _Rows.of(case, sample)
    return rows.excess()


def shared(case: Case, sample: Sample) -> Shared:
    """Compare joints, and try for each a factor of its torque."""
    rows = _Rows.of(case, sample)
    excess = rows.excess()
    factors, excesses = np.ones(len(rows.joints)), np.full(len(rows.joints), excess)
    if excess > DISAGREE and len(rows.joints) > 1:
        for index in range(len(rows.joints)):
            factors[index], excesses[index] = rows.best_factor(index)
    return Shared(rows.joints, excess, factors, excesses)


@dataclass(frozen=True)
class _Rows:
    """Condensed rows (A_j, y_j) of each joint in units of its own residual."""

    joints: tuple[int, ...]
    matrices: tuple[Array, ...]
    targets: tuple[Array, ...]

    @classmethod
    def of(cls, case: Case, sample: Sample) -> _Rows:
        matrices, targets, joints = [], [], []
        for joint, own in sample.fits():
            weight = 1.0 / (own.sigma * np.sqrt(len(own.torque)))
            full = np.zeros((own.basis.shape[1], case.base.rank))
            full[:, own.columns] = own.basis.T @ own.matrix
            joints.append(joint)
            matrices.append(weight * full)
            targets.append(weight * (own.basis.T @ own.torque))
        return cls(tuple(joints), tuple(matrices), tuple(targets))

    def excess(self) -> float:
        """See `Shared`; in these units the residual of each joint alone is 1."""
        nothing = np.zeros((0, self.matrices[0].shape[1] + 1))
        return self._excess(_solve(nothing, *self._stacked(range(len(self.joints))))[1])

    def _excess(self, square: float) -> float:
        return float(np.sqrt(1.0 + square / len(self.joints)))

    def _stacked(self, joints: Iterable[int]) -> tuple[Array, Array]:
        chosen = list(joints)
        matrix = np.vstack([self.matrices[k] for k in chosen])
        return matrix, np.concatenate([self.targets[k] for k in chosen])

    def best_factor(self, index: int) -> tuple[float, float]:
        """Return the factor with which a joint agrees best with the others, and its `excess`."""
        others = self._stacked(k for k in range(len(self.joints)) if k != index)
        rest = np.asarray(np.linalg.qr(np.column_stack(others), mode='r'), dtype=np.float64)
        matrix, target = self.matrices[index], self.targets[index]
        tried, factor = [], self._start(index, rest)
        for _ in range(12):
            values, square = _solve(rest, factor * matrix, target)
            tried.append((square, factor))
            seen = matrix @ values
            fresh = float(seen @ target) / max(float(seen @ seen), 1e-300)
            if fresh == 0.0 or abs(fresh - factor) < 1e-3 * abs(fresh):
                break
            factor = fresh
        square, factor = min(tried)
        return factor, self._excess(square)

    def _start(self, index: int, rest: Array) -> float:
        """Return the factor to start from: linear least squares for 1 / factor."""
        own, target = self.matrices[index], self.targets[index]
        columns = np.vstack([np.zeros((len(rest), 1)), -target[:, None]])
        both = np.column_stack([np.vstack([rest[:, :-1], own]), columns])
        wanted = np.concatenate([rest[:, -1], np.zeros(len(own))])
        inverse = float(_least_squares(both, wanted)[-1])
        return 1.0 / inverse if inverse != 0.0 else 1.0


def _least_squares(matrix: Array, target: Array) -> Array:
    """Solve with columns scaled."""
    length = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    result: Array = np.linalg.lstsq(matrix / length, target, rcond=1e-8)[0] / length
    return result


def _solve(rest: Array, matrix: Array, target: Array) -> tuple[Array, float]:
    """Return the fit of rows [A | y] and a further matrix and target, and its square."""
    stacked = np.vstack([rest[:, :-1], matrix])
    wanted = np.concatenate([rest[:, -1], target])
    values = _least_squares(stacked, wanted)
    return values, float(np.sum((stacked @ values - wanted) ** 2))


def signs(case: Case, sample: Sample) -> dict[int, tuple[float, float]]:
    """Return per joint, in standard deviations, mean own inertia and friction by its torque alone.

    Both are positive for every robot; NaN: the model has none. A delay can make viscous friction
    negative, so it counts only where friction is most of the torque.
    """
    columns = np.array(case.base.columns)
    suffixes = [item.name.rpartition('.')[2] for item in case.model.parameters]
    braking = set(BRAKING) - {'viscous_friction'}
    friction = np.array([suffixes[k] in braking for k in columns])
    every = np.array([suffixes[k] in BRAKING for k in columns])
    rows = sample.rows[np.linspace(0, len(sample.rows) - 1, 40).astype(int)]
    position = case.signals.position[rows]
    still = np.zeros_like(position)
    gravity = case.model.regressor(position, still, still)[:, :, columns]
    result = {}
    for joint, own in sample.fits():
        unit = still.copy()
        unit[:, joint] = 1.0
        inertia = case.model.regressor(position, still, unit)[:, joint][:, columns]
        inertia = (inertia - gravity[:, joint]).mean(axis=0)[own.columns]
        speed = case.signals.velocity[sample.rows[own.rows], joint]
        acting = every[own.columns]
        rest = own.torque - own.matrix[:, acting] @ own.values[acting]
        mostly = rest @ rest < (1.0 - MOST) * (own.torque @ own.torque)
        rubs = acting if mostly else friction[own.columns]
        rubbing = (own.matrix * speed[:, None]).mean(axis=0) * rubs
        result[joint] = (_in_deviations(own, inertia), _in_deviations(own, rubbing))
    return result


def _in_deviations(own: OwnFit, weights: Array) -> float:
    """Return a combination of a joint's values in standard deviations; NaN for none.

    Residuals are taken as correlated over a hundredth of the samples.
    """
    if not weights.any():
        return float('nan')
    spread = own.sigma * np.linalg.norm(weights @ own.inverse) * np.sqrt(len(own.torque) / 100)
    return float(weights @ own.values / max(spread, 1e-300))
