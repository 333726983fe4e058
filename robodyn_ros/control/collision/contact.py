# SPDX-License-Identifier: Apache-2.0
"""Touched link, and external wrench at the tool.

The torque error is the external torque on the joints, J^T w for a wrench w at the point with the
Jacobian J, plus noise. All quantities are estimated with normal distributions, so that each comes
with its uncertainty. The point of contact on a link is not estimated: six torques do not determine
force, torque and place. For information only; NOT a safety function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.jacobians import ArmJacobians, LinkJacobians

FORCE, LEVER = 100.0, 0.03
"""Prior standard deviations of a component of the force, in [N], and of the lever arm from the
tool's origin to the point of contact, in [m]. They damp components that the joints hardly feel."""
RADIUS = 0.03
"""Standard deviation of the lever arm from the middle of a link to the line along which the force
acts, in [m]; less than the radius of the link, because most forces point inwards."""
FORCES = (10.0, 30.0, 100.0, 300.0)
"""Sizes of forces that the search for the link tries, in [N]."""


@dataclass(frozen=True)
class Contact:
    """Estimated contact.

    :param link: index of the last joint that it loads, which moves the touched link
    :param confidence: probability of this link, 0 to 1
    :param probability: of each link, shape (n,)
    :param wrench: force [N] and torque [Nm] on the robot at the tool, in axes of the root link, as
        if the tool was touched, shape (6,)
    :param covariance: of the wrench, shape (6, 6)
    :param observable: share of the variance of each component that the joints determine, shape
        (6,): 0 for a component that no joint feels at this position
    :param place: of the tool in the frame of the root link, shape (3,), in [m]
    """

    link: int
    confidence: float
    probability: Array
    wrench: Array
    covariance: Array
    observable: Array
    place: Array


class ContactEstimator:
    """Estimation of a contact from the torque error of one instant."""

    def __init__(self, jacobians: LinkJacobians) -> None:
        """Prepare."""
        self.jacobians = jacobians
        self._prior = np.repeat([FORCE, FORCE * LEVER], 3) ** 2
        self._scales = np.array(FORCES)[:, None, None, None, None] ** 2

    def estimate(self, q: Array, torque_error: Array, sigma: Array) -> Contact:
        """Return link and wrench of a contact.

        :param q: joint positions, shape (n,), in [rad] or [m]
        :param torque_error: model torque minus feedback, shape (n,), in [Nm] or [N]
        :param sigma: its standard deviation without contact, shape (n,), in [Nm] or [N]
        """
        arm = self.jacobians.at(q)
        probability = self._links(arm, torque_error, sigma)
        wrench, covariance = self._wrench(arm.tool, torque_error, sigma)
        link = int(np.argmax(probability))
        observable = 1.0 - np.diag(covariance) / self._prior
        return Contact(
            link, float(probability[link]), probability, wrench, covariance, observable, arm.place
        )

    def _wrench(self, tool: Array, error: Array, sigma: Array) -> tuple[Array, Array]:
        """Return the damped least-squares wrench (6,) and its covariance (6, 6).

        It is the mean of a normal distribution with the prior (0, diag(force^2, moment^2)), given
        error = J^T w + noise. With the prior as damping it exists at singular positions and with
        any number of joints (Kalman's form: only an n x n matrix is inverted).
        """
        spread = self._prior[:, None] * tool
        gain = np.linalg.solve(tool.T @ spread + np.diag(sigma**2), spread.T).T
        covariance = np.diag(self._prior) - gain @ spread.T
        return gain @ error, 0.5 * (covariance + covariance.T)

    def _links(self, arm: ArmJacobians, error: Array, sigma: Array) -> Array:
        """Return the probability of each link, shape (n,).

        A force with the covariance F^2 at a point of a link, and a random lever arm from there to
        the surface, give torques with the covariance F^2 (Jv^T Jv + 2 radius^2 Jw^T Jw). The
        likelihood is averaged over points and sizes F, and all links are equally likely before.
        Torques are divided by their noise, so that links compare by a determinant and a square.
        """
        linear, angular = arm.linear / sigma, arm.angular / sigma
        turning = 2.0 * RADIUS**2 * angular.transpose(0, 2, 1) @ angular
        shape = linear.transpose(0, 1, 3, 2) @ linear + turning[:, None]
        spread = self._scales * shape + np.eye(len(sigma))
        scaled = error / sigma
        square = scaled @ np.linalg.solve(spread, scaled[:, None])[..., 0, None]
        exponent = -0.5 * (square[..., 0] + np.linalg.slogdet(spread)[1])
        weight = np.exp(exponent - exponent.max()).sum(axis=(0, 2))
        return np.asarray(weight / weight.sum())
