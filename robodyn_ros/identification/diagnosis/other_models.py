# SPDX-License-Identifier: Apache-2.0
"""Other dynamic models that a recording could have been made for, and other units of torque."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case, Sample
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS
from robodyn_ros.models.interface import DynamicModel, SumModel
from robodyn_ros.models.springs import SPRING_PARAMETERS

_NUMBERS = {('axis', 'rotary'): (1, 2, 3), ('axis', 'linear'): (1, 2), ('puma', None): (1, 2)}
_DIRECTIONS = {
    'upside down': (0.0, 0.0, 1.0),
    'with gravity along its x axis': (1.0, 0.0, 0.0),
    'with gravity against its x axis': (-1.0, 0.0, 0.0),
    'with gravity along its y axis': (0.0, 1.0, 0.0),
    'with gravity against its y axis': (0.0, -1.0, 0.0),
    'upright': (0.0, 0.0, -1.0),
}


REASONS = (
    (1000.0, 'the unit is mNm or per mille of a torque, not Nm'),
    (0.001, 'the unit is kNm, or a unit was converted twice'),
    (100.0, 'the unit is Ncm or per cent of a torque, not Nm'),
    (2.0, 'a lead screw was computed with pi instead of 2 pi, or two motors count as one'),
    (0.5, 'a lead screw was computed with pi instead of 2 pi, or one of two motors is missing'),
    (np.sqrt(2.0), 'peak current was taken for RMS current'),
    (np.sqrt(0.5), 'RMS current was taken for peak current'),
    (8.8507, 'the unit is lbf in, not Nm'),
    (0.73756, 'the unit is lbf ft, not Nm'),
    (141.61, 'the unit is ozf in, not Nm'),
    (0.10197, 'the unit is kgf m, not Nm'),
    (10.197, 'the unit is kgf cm or dNm, not Nm'),
)
"""Factors that have a usual reason."""

_NOT_LINKS = ('rotor_inertia', *FRICTION_PARAMETERS, *SPRING_PARAMETERS)


@dataclass(frozen=True)
class Variant:
    """Another model.

    :param finding: builds the finding if it is the right one, from its evidence
    """

    finding: Callable[..., Finding]
    model: DynamicModel


def parts_of(model: DynamicModel) -> tuple[DynamicModel, ...]:
    """Return the parts of a sum, or the model itself."""
    return model.parts if isinstance(model, SumModel) else (model,)


def variants(model: DynamicModel) -> Iterator[Variant]:
    """Yield the other models that the same recording could have been made for."""
    description = model.describe()
    parts = description['parts'] if description['kind'] == 'sum' else [description]
    assert isinstance(parts, list)
    for index, part in enumerate(parts):
        for described, other in _other_parts(part):
            fresh = deepcopy(parts)
            fresh[index] = other
            try:
                built = build_model({'kind': 'sum', 'parts': fresh})
            except RobodynError:
                continue  # it needs what this model's description does not tell
            yield Variant(described, built)


Other = tuple[Callable[..., Finding], dict[str, Any]]


def _other_parts(part: dict[str, Any]) -> Iterator[Other]:
    kind = part['kind']
    if kind == 'urdf':
        yield from _other_urdfs(part)
        return
    options = {key: value for key, value in part.items() if key not in ('prior', 'fifth_term')}
    for number in _NUMBERS.get((kind, part.get('type')), ()):
        if number != part['dynamic_model']:
            described = partial(finding, 'wrong_dynamic_model.other', kind=kind, number=number)
            yield described, {**options, 'dynamic_model': number}
    if kind == 'puma' and part['dynamic_model'] == 2 and not part.get('fifth_term'):
        yield partial(finding, 'wrong_dynamic_model.fifth_term'), {**part, 'fifth_term': True}


def _other_urdfs(part: dict[str, Any]) -> Iterator[Other]:
    gravity = np.array(part['gravity'])
    size = float(np.linalg.norm(gravity)) or 9.81
    for words, direction in _DIRECTIONS.items():
        turned = size * np.array(direction)
        if float(turned @ gravity) < 0.9 * size**2:
            described = partial(finding, 'wrong_dynamic_model.gravity', mounting=words)
            yield described, {**part, 'gravity': turned.tolist()}


def without_gravity(model: DynamicModel) -> DynamicModel | None:
    """Return the same model without gravity; None if it has no gravity that could be changed."""
    description = model.describe()
    parts = description['parts'] if description['kind'] == 'sum' else [description]
    assert isinstance(parts, list)
    if not any(part['kind'] == 'urdf' and any(part['gravity']) for part in parts):
        return None
    still = [{**part, 'gravity': [0.0, 0.0, 0.0]} if part['kind'] == 'urdf' else part
             for part in parts]  # fmt: skip
    return build_model({'kind': 'sum', 'parts': still})


def reason(factor: float) -> str:
    """Return the usual cause of a factor between measured and true torque."""
    texts = [text for value, text in REASONS if abs(np.log(factor / value)) < 0.06]
    if factor < 0.05:
        texts.append(f"torque is the motor's, a gear of ratio {1.0 / factor:.0f} is missing")
    if factor > 20.0:
        texts.append(f'a gear of ratio {factor:.0f} was counted twice')
    return ': perhaps ' + ', or '.join(texts) if texts else ''


def by_prior(case: Case, sample: Sample) -> dict[int, tuple[float, float]]:
    """Return per joint the factor between its torque and the prior's, and its standard deviation.

    Friction and rotors, which no prior knows, are fitted beside it. Empty without prior.
    """
    prior = case.model.prior()
    suffixes = [item.name.rpartition('.')[2] for item in case.model.parameters]
    links = np.array([suffix not in _NOT_LINKS for suffix in suffixes])
    if not np.isfinite(prior[links]).all() or not prior[links].any():
        return {}
    base = case.base.grouping @ np.nan_to_num(prior)
    result = {}
    for joint, own in sample.fits():
        torque = own.matrix @ base[own.columns]
        motion = [
            values[sample.rows[own.rows], joint]
            for values in (case.signals.acceleration, case.signals.velocity)
        ]
        beside = np.column_stack([*motion, np.sign(motion[1]), np.ones(len(torque))])
        basis = np.linalg.qr(beside / np.maximum(np.linalg.norm(beside, axis=0), 1e-300))[0]
        clear = torque - basis @ (basis.T @ torque)
        size = float(clear @ clear)
        if size <= 1e-6 * float(torque @ torque):
            continue
        factor = float(clear @ own.torque) / size
        rest = own.torque - basis @ (basis.T @ own.torque) - factor * clear
        # The error of the prior is no noise: it does not average out.
        spread = float(np.linalg.norm(rest)) / np.sqrt(size) / np.sqrt(3.0)
        result[joint] = (factor, spread)
    return result
