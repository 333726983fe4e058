"""Model torque without gravity, for drivers whose effort excludes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array


class GravityFree(ModelTorque):
    """A model torque minus the torque of its body at standstill in the same position.

    It is comparable with feedback without gravity, and it is the command for a driver that adds
    gravity itself.
    """

    def __init__(self, torque: ModelTorque, where: ArrayLike) -> None:
        """Wrap a model torque.

        :param where: joints without gravity, bool of shape (n,)
        """
        self.joints = torque.joints
        self.velocity_window = torque.velocity_window
        self._whole = torque
        self._share = np.asarray(where, dtype=float)

    def set_values(self, values: ArrayLike) -> None:
        """Set other parameter values of the complete model."""
        self._whole.set_values(values)

    def blend_to(self, values: ArrayLike) -> None:
        """Start to blend in other values of the complete model."""
        self._whole.blend_to(values)

    def blend(self, share: float) -> None:
        """Advance the blending, as in `ModelTorque`."""
        self._whole.blend(share)

    def body(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the torque without friction and gravity; units as of `torque`."""
        still = np.zeros_like(q)
        gravity = self._whole.body(q, still, still)
        result: Array = self._whole.body(q, qd, qdd) - self._share * gravity
        return result

    def load(self, q: Array, qd: Array, qdd: Array) -> Array | None:
        """Compute the load of friction of the complete model: gravity always loads the gears."""
        return self._whole.load(q, qd, qdd)

    def friction(self, qd: Array, load: Array | None = None) -> Array:
        """Compute the friction torque of the complete model."""
        return self._whole.friction(qd, load)

    @property
    def friction_step(self) -> Array:
        """Return half the friction jump of the complete model."""
        return self._whole.friction_step

    @property
    def friction_step_per_load(self) -> Array:
        """Return the increase of the friction jump per load of the complete model."""
        return self._whole.friction_step_per_load
