"""Where the tool of a robot is, and which joint motion moves it: what all kinds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import article
from robodyn_ros.models.interface import Array

SINGULAR = 1e-6
"""Leverage, as a share of the arm's length, below which a position counts as singular."""

JointMotion = tuple[Array, Array, Array]
"""Joint positions, velocities and accelerations, each of shape (N, n)."""


class Kinematics(ABC):
    """Forward and inverse kinematics of a robot with n axes.

    A pose has p = `pose_size` numbers: x, y, z in [m] in the robot's base frame and, where
    `rotates`, a quaternion x, y, z, w (else none); what follows is in proportion to the way.
    """

    kind: ClassVar[str]
    rotates: ClassVar[bool] = False
    axes: int
    geometry: Mapping[str, Any]

    @property
    def label(self) -> str:
        """What messages call it."""
        return article(self.kind)

    @property
    def pose_size(self) -> int:
        """Numbers of a pose."""
        return self.axes

    @abstractmethod
    def forward(self, q: Array) -> Array:
        """Poses, shape (N, p), at joint positions (N, n) in [rad] or [m].

        :raises ModelError: an argument of another shape, or positions that cannot be reached
        """

    @abstractmethod
    def inverse(self, poses: Array, *, near: Array | None = None) -> Array:
        """Joint positions, shape (N, n), in [rad] or [m], at poses (N, p).

        :param near: joint positions (n,), or (N, n), whose configuration and whole turns are
            kept; None: the robot's usual configuration, angles within half a turn of 0
        :raises ModelError: an argument of another shape, or poses that cannot be reached
        """

    @abstractmethod
    def motion(self, x: Array, xd: Array, xdd: Array, *, near: Array | None = None) -> JointMotion:
        """Joint motion of a motion of the tool: poses and their two derivatives, each (N, p).

        :raises ModelError: as `inverse`, or where the robot is singular
        """

    def describe(self) -> dict[str, object]:
        """Plain description from which `build_kinematics` builds this again."""
        return {'kind': self.kind, 'axes': self.axes, 'geometry': dict(self.geometry)}

    def _checked(self, what: str, values: Array, size: int | None = None) -> Array:
        values = np.asarray(values, dtype=float)
        size = self.axes if size is None else size
        if values.ndim != 2 or values.shape[1] != size:
            raise ModelError(
                f'{self.label} with {self.axes} axes needs {what} of shape '
                f'(N, {size}), got {values.shape}'
            )
        return values

    def _refuse(self, bad: NDArray[np.bool_], poses: Array, why: str) -> None:
        """Raise if any row is bad, naming the first."""
        if bad.any():
            row = int(np.argmax(bad))
            place = ', '.join(f'{1e3 * value:.1f}' for value in poses[row, :3])
            raise ModelError(f'{self.label} {why} x, y, z = {place} mm (sample {row})')
