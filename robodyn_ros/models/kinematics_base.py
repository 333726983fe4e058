# SPDX-License-Identifier: Apache-2.0
"""Interface of forward and inverse kinematics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import article
from robodyn_ros.models.interface import Array

SINGULAR = 1e-6
"""Lever arm relative to the arm's length below which a position counts as singular."""

JointMotion = tuple[Array, Array, Array]
"""Joint positions, velocities and accelerations, each of shape (N, n)."""


class Kinematics(ABC):
    """Forward and inverse kinematics of a robot with n axes.

    A pose has p = `pose_size` numbers: x, y, z in [m] in the robot's base frame, then a
    quaternion x, y, z, w if `rotates`, then numbers that are interpolated along the path.
    """

    kind: ClassVar[str]
    rotates: ClassVar[bool] = False
    axes: int
    geometry: Any

    @property
    def label(self) -> str:
        """Name for messages."""
        return article(self.kind)

    @property
    def pose_size(self) -> int:
        """Number of values of a pose."""
        return self.axes

    @abstractmethod
    def forward(self, q: Array) -> Array:
        """Return the poses, shape (N, p), at joint positions (N, n) in [rad] or [m].

        :raises ModelError: an argument of another shape, or positions that are not reachable
        """

    @abstractmethod
    def inverse(self, poses: Array, *, near: Array | None = None) -> Array:
        """Return the joint positions, shape (N, n), in [rad] or [m], at poses (N, p).

        :param near: joint positions (n,), or (N, n), whose configuration and number of turns are
            kept; None: the robot's usual configuration, angles within half a turn of 0
        :raises ModelError: an argument of another shape, or poses that are not reachable
        """

    @abstractmethod
    def motion(self, x: Array, xd: Array, xdd: Array, *, near: Array | None = None) -> JointMotion:
        """Convert a motion of the tool, poses and two derivatives, each (N, p), to joint motion.

        :raises ModelError: as `inverse`, or where the robot is singular
        """

    def describe(self) -> dict[str, object]:
        """Return the plain description from which `build_kinematics` rebuilds this."""
        return {'kind': self.kind, 'axes': self.axes, 'geometry': asdict(self.geometry)}

    def _check_shape(self, what: str, values: Array, size: int | None = None) -> Array:
        values = np.asarray(values, dtype=float)
        size = self.axes if size is None else size
        if values.ndim != 2 or values.shape[1] != size:
            raise ModelError(
                f'{self.label} with {self.axes} axes needs {what} of shape '
                f'(N, {size}), got {values.shape}'
            )
        return values

    def _refuse(self, bad: NDArray[np.bool_], poses: Array, why: str) -> None:
        """Raise an error that names the first bad row, if there is one."""
        if bad.any():
            row = int(np.argmax(bad))
            place = ', '.join(f'{1e3 * value:.1f}' for value in poses[row, :3])
            raise ModelError(f'{self.label} {why} x, y, z = {place} mm (sample {row})')
