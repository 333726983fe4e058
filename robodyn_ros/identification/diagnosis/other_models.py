"""Diagnosis of the dynamic model: does another one of its kind fit clearly better?"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.diagnosis.case import Case, Sample
from robodyn_ros.identification.diagnosis.torque_factors import disagreement
from robodyn_ros.identification.findings import finding
from robodyn_ros.identification.fit.cross_validation import folds_of, unseen_errors
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import Array, DynamicModel, SumModel
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.recording.recording import Finding

CLEARLY = 0.6
"""Unseen error of the joint that gains most, as a share of the present one, that is clear."""

ALTOGETHER = 0.85
"""The same for the geometric mean over all joints."""

WHERE_FITTED = 0.9
"""Error of some joint where fitted, as a share of the present one: a fit of a short recording does
not extrapolate, so that unseen errors alone, many times the torque, tell nothing."""

NEGLIGIBLE = 0.02
"""Errors well below this share of a joint's torque do not count: no model is exact."""

SUSPICIOUS = 0.1
"""Other models are only tried if a joint's residual is above this share of its torque, ..."""

CONTRADICTION = 1.1
"""... or the joints disagree by more than this factor: a fit that is good has the right model."""

FOLDS = 3
CHECKED = 1000
"""Samples that models are compared on."""

_DEPENDENT = 1e-5

Variant = tuple[str, str, DynamicModel]
"""Kind of change, what it is in words, and the model."""

_NUMBERS = {('axis', 'rotary'): (1, 2, 3), ('axis', 'linear'): (1, 2), ('puma', None): (1, 2)}
_DIRECTIONS = {
    'upside down': (0.0, 0.0, 1.0),
    'with gravity along its x axis': (1.0, 0.0, 0.0),
    'with gravity against its x axis': (-1.0, 0.0, 0.0),
    'with gravity along its y axis': (0.0, 1.0, 0.0),
    'with gravity against its y axis': (0.0, -1.0, 0.0),
    'upright': (0.0, 0.0, -1.0),
}


def model_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """The model that fits clearly better than the one identified, if there is one."""
    costly = any(isinstance(part, UrdfModel) for part in parts_of(case.model))
    if costly and not _suspicious(case, sample):
        return
    present, fitted = errors(case, sample, case.model)
    floor = np.array([NEGLIGIBLE * own.rms if own else 0.0 for own in sample.own])
    floor = np.maximum(floor, 1e-12)  # no torque at all
    best: tuple[float, str, str, Array] | None = None
    for change, words, model in variants(case.model):
        unseen, seen = errors(case, sample, model)
        ratio = (unseen + floor) / (present + floor)
        score = float(np.exp(np.mean(np.log(ratio))))
        if ((seen + floor) / (fitted + floor)).min() > WHERE_FITTED:
            continue
        if ratio.min() < CLEARLY and score < ALTOGETHER and (best is None or score < best[0]):
            best = (score, change, words, ratio)
    if best is not None:
        _, change, words, ratio = best
        joint = int(np.argmin(ratio))
        yield finding(
            'wrong_dynamic_model',
            joint=case.signals.joints[joint],
            severity='warning' if change == 'option' else 'error',
            model=words,
            ratio=ratio[joint],
            error=present[joint] * ratio[joint],
            present=present[joint],
            unit=case.model.joints[joint].torque_unit,
        )


def _suspicious(case: Case, sample: Sample) -> bool:
    residual = max((own.sigma / max(own.rms, 1e-300) for _, own in sample.fits()), default=0.0)
    return residual > SUSPICIOUS or disagreement(case, sample) > CONTRADICTION


def parts_of(model: DynamicModel) -> tuple[DynamicModel, ...]:
    """Parts of a sum, or the model itself."""
    return model.parts if isinstance(model, SumModel) else (model,)


def variants(model: DynamicModel) -> Iterator[Variant]:
    """Other models that the same recording could have been made for."""
    description = model.describe()
    parts = description['parts'] if description['kind'] == 'sum' else [description]
    assert isinstance(parts, list)
    for index, part in enumerate(parts):
        for change, words, other in _other_parts(part):
            fresh = deepcopy(parts)
            fresh[index] = other
            try:
                built = build_model({'kind': 'sum', 'parts': fresh})
            except RobodynError:
                continue  # it needs what this model's description does not tell
            yield change, words, built


def _other_parts(part: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    kind = part['kind']
    if kind == 'urdf':
        yield from _turned(part)
        return
    options = {key: value for key, value in part.items() if key not in ('prior', 'fifth_term')}
    for number in _NUMBERS.get((kind, part.get('type')), ()):
        if number != part['dynamic_model']:
            other = {**options, 'dynamic_model': number}
            yield 'dynamic_model', f'dynamic model {number} of {kind}', other
    if kind == 'puma' and part['dynamic_model'] == 2 and not part.get('fifth_term'):
        yield 'option', 'the fifth term of dynamic model 2', {**part, 'fifth_term': True}


def _turned(part: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    gravity = np.array(part['gravity'])
    size = float(np.linalg.norm(gravity)) or 9.81
    for words, direction in _DIRECTIONS.items():
        turned = size * np.array(direction)
        if float(turned @ gravity) < 0.9 * size**2:
            yield 'gravity', f'a robot mounted {words}', {**part, 'gravity': turned.tolist()}


def errors(case: Case, sample: Sample, model: DynamicModel) -> tuple[Array, Array]:
    """RMS errors of each joint (n,): on stretches left out of the fit in turn, and of the fit.

    More parameters alone do not make the first smaller, so that models can be compared by it.
    Joints weigh as the case's own model fits them.
    """
    rows = sample.rows[:: max(1, len(sample.rows) // CHECKED)]
    signals = case.signals
    q, qd, qdd = (values[rows] for values in signals.motion)
    regressor = model.selected(q, qd, qdd, base_parameters(model).columns)
    weights = [0.0 if own is None else 1.0 / own.sigma for own in sample.own]
    fold = folds_of(len(rows), FOLDS)
    triangles = [
        [
            weight * _triangle(regressor[kept, joint], signals.torque[rows, joint][kept])
            for kept in ((fold == part) & signals.used[rows, joint] for part in range(FOLDS))
        ]
        for joint, weight in enumerate(weights)
    ]

    def fit(left_out: int) -> Array:
        return _fitted([t for own in triangles for k, t in enumerate(own) if k != left_out])

    def square(values: Array, part: int) -> Array:
        return np.array([_square(own[part], values) for own in triangles])

    unseen = unseen_errors(FOLDS, fit, square).sum(axis=0)
    everything = fit(FOLDS)
    seen = np.sum([square(everything, part) for part in range(FOLDS)], axis=0)
    scale = np.where(np.array(weights) > 0.0, weights, np.inf) * np.sqrt(len(rows))
    return np.sqrt(unseen) / scale, np.sqrt(seen) / scale


def _fitted(triangles: list[Array]) -> Array:
    """Values that suit rows [matrix | torque] best."""
    rows = np.vstack(triangles)
    length = np.maximum(np.linalg.norm(rows[:, :-1], axis=0), 1e-300)
    found = np.linalg.lstsq(rows[:, :-1] / length, rows[:, -1], rcond=_DEPENDENT)[0]
    return np.asarray(found / length)


def _square(triangle: Array, values: Array) -> float:
    """Squared error of values on rows [matrix | torque]."""
    return float(np.sum((triangle[:, :-1] @ values - triangle[:, -1]) ** 2))


def _triangle(matrix: Array, torque: Array) -> Array:
    """Triangular factor of [matrix | torque]."""
    return np.asarray(np.linalg.qr(np.column_stack([matrix, torque]), mode='r'), dtype=float)
