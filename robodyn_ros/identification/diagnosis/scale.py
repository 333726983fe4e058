# SPDX-License-Identifier: Apache-2.0
"""Scale of gravity against inertia: tells a wrong scale of time, or a URDF of another size.

Accelerations and products of velocities go with 1 / time^2, which gravity does not. If all
lengths are wrong by one factor, other masses give the right torque of inertia, but gravity is
then wrong by that factor. So both flaws are one factor of gravity, and cannot be distinguished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.other_models import without_gravity
from robodyn_ros.identification.diagnosis.trial import Trial, fitted_to, squared_error
from robodyn_ros.models.interface import Array

LARGEST = 20.0
"""Largest factor of time that is looked for, and the inverse of the smallest one: beyond it, the
torque of inertia is below a 400th of what it was, or hides that of gravity."""

OTHER_SIZE = 2.0
"""Factor of lengths, up to which another size of the robot is the more likely cause: robots of one
family differ by less, and a scale of time by more than its root."""


def scaled_gravity(present: Trial) -> tuple[Callable[..., Finding], Trial] | None:
    """Return the flaw for which gravity suits inertia best, and the samples without it.

    :return: None for a model without gravity
    """
    model = without_gravity(present.model)
    if model is None:
        return None
    inertia = present.explained_by(model).regressor
    gravity = present.regressor - inertia
    weight = present.weight[:, :, None]
    fixed = np.concatenate([inertia, present.torque[:, :, None]], axis=2) * weight
    varied = np.concatenate([gravity, np.zeros_like(weight)], axis=2) * weight
    one, other = (each.reshape(-1, each.shape[2]) for each in (fixed, varied))
    grams = one.T @ one, one.T @ other + other.T @ one, other.T @ other

    def error(times: float) -> float:
        factor = np.exp(-2.0 * times)
        gram: Array = grams[0] + factor * grams[1] + factor**2 * grams[2]
        return squared_error(gram, fitted_to(gram))

    span = np.linspace(-np.log(LARGEST), np.log(LARGEST), 21)
    best = int(np.clip(np.argmin([error(each) for each in span]), 1, len(span) - 2))
    bounds = (span[best - 1], span[best + 1])
    found = minimize_scalar(error, bounds=bounds, method='bounded', options={'xatol': 1e-2})
    times = float(np.exp(found.x))
    described = partial(finding, 'time_scale.correction', factor=times)
    if 1.0 / OTHER_SIZE < times**2 < OTHER_SIZE:
        described = partial(finding, 'wrong_size', factor=times**2)
    return described, replace(present, regressor=inertia + gravity / times**2)
