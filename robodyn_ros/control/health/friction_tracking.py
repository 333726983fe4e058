# SPDX-License-Identifier: Apache-2.0
"""Slow correction of the friction of a model in use, as a robot warms up. Off by default.

It follows only what explains the torque error better than no change over times and places, within
a share of the identified friction. A contact that drags on every joint alike for the complete
window could be taken for friction: the limit bounds what it can hide.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, parts_of

DRY = ('coulomb_friction', 'smooth_coulomb_friction')
"""Parameters of dry friction, one of which each joint must have."""


class FrictionTracking:
    """Correction of dry and viscous friction of each joint.

    :ivar correction: dry and viscous friction of one joint after the other, shape (2 n,)
    """

    def __init__(
        self, model: DynamicModel, values: Array, *, most: float, step: float = 0.3
    ) -> None:
        """Find the parameters.

        :param values: identified parameter values, shape (p,), SI
        :param most: largest correction, relative to the identified friction
        :param step: share of an unexplained change that is added at a time
        :raises ControlError: a joint without a parameter of dry and of viscous friction
        """
        self._step, self._width = step, len(values)
        places = _places(model)
        self._columns = np.array(
            [column for joint in model.joint_names for column in _pair(joint, places)]
        )
        self._most = most * np.abs(values[self._columns])
        self.correction = np.zeros(len(self._columns))

    def follow(self, change: Array) -> Array:
        """Add a part of a change, shape (2 n,), and return what was added."""
        before = self.correction
        wanted = before + self._step * change
        self.correction = np.clip(wanted, -self._most, self._most)
        added: Array = self.correction - before
        return added

    @property
    def at_limit(self) -> bool:
        """True if a correction cannot grow any more."""
        return bool(((np.abs(self.correction) >= self._most) & (self._most > 0.0)).any())

    def added(self) -> Array:
        """Return what the correction adds to the parameter values, shape (p,)."""
        result = np.zeros(self._width)
        result[self._columns] = self.correction
        return result


def _places(model: DynamicModel) -> dict[str, int]:
    """Return the column of each friction parameter by its name."""
    return {
        item.name: place.start + number
        for part, place in parts_of(model)
        if isinstance(part, FrictionModel)
        for number, item in enumerate(part.parameters)
    }


def _pair(joint: str, places: dict[str, int]) -> tuple[int, int]:
    dry = [places[f'{joint}.{name}'] for name in DRY if f'{joint}.{name}' in places]
    viscous = places.get(f'{joint}.viscous_friction')
    if not dry or viscous is None:
        raise ControlError(
            f'friction_tracking needs a model with Coulomb and viscous friction of every joint; '
            f'joint {joint} has {[name for name in places if name.startswith(f"{joint}.")]}: '
            f'identify with another friction law, or set friction_tracking to 0'
        )
    return dry[0], viscous
