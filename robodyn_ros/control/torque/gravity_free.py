"""Model torque without the gravity part, for drivers whose effort has none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array


class GravityFree(ModelTorque):
    """Another model torque, less what its body needs at standstill in the same position.

    Feedback without gravity is comparable with it, and it is what to command to a driver that
    adds gravity by itself.
    """

    def __init__(self, torque: ModelTorque, where: ArrayLike) -> None:
        """Wrap.

        :param where: joints without gravity, bool of shape (n,)
        """
        self.joints = torque.joints
        self.velocity_window = torque.velocity_window
        self._whole = torque
        self._share = np.asarray(where, dtype=float)

    def set_values(self, values: ArrayLike) -> None:
        """Take other parameter values, as of the whole."""
        self._whole.set_values(values)

    def blend_to(self, values: ArrayLike) -> None:
        """Begin to blend other values in, as of the whole."""
        self._whole.blend_to(values)

    def blend(self, share: float) -> None:
        """Advance the blending, as in `ModelTorque`."""
        self._whole.blend(share)

    def body(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torque of everything but friction and gravity; units as of `torque`."""
        still = np.zeros_like(q)
        gravity = self._whole.body(q, still, still)
        result: Array = self._whole.body(q, qd, qdd) - self._share * gravity
        return result

    def load(self, q: Array, qd: Array, qdd: Array) -> Array | None:
        """Load of friction, as of the whole: gravity loads a gear whoever carries it."""
        return self._whole.load(q, qd, qdd)

    def friction(self, qd: Array, load: Array | None = None) -> Array:
        """Friction torque, as of the whole."""
        return self._whole.friction(qd, load)

    @property
    def friction_step(self) -> Array:
        """Half the friction jump, as of the whole."""
        return self._whole.friction_step

    @property
    def friction_step_per_load(self) -> Array:
        """What load adds to it, as of the whole."""
        return self._whole.friction_step_per_load
