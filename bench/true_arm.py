# SPDX-License-Identifier: Apache-2.0
"""Parameters of a simulated robot whose links differ from its URDF."""

from __future__ import annotations

import numpy as np
from simulation import random_values

from robodyn_ros.models.interface import Array, DynamicModel


def truth(model: DynamicModel, seed: int = 0) -> Array:
    """Return values of a robot whose links are scaled by up to 20 % from the URDF."""
    random, values = np.random.default_rng(seed), random_values(model)
    scale: dict[str, float] = {}
    for index, item in enumerate(model.parameters):
        body, _, suffix = item.name.rpartition('.')
        if not suffix.endswith(('inertia', 'friction', 'offset')):
            values[index] *= scale.setdefault(body, random.uniform(0.8, 1.2))
    return values
