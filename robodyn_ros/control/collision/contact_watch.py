# SPDX-License-Identifier: Apache-2.0
"""Contacts beside the detector: when one starts, where and how hard it is.

It reads the detector and changes nothing there. Its results are information and never cause or
suppress an alarm.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.collision.contact import Contact, ContactEstimator
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.jacobians import LinkJacobians
from robodyn_ros.models.serial.urdf import rigid_part

NOISE, LEAST = 0.2, 0.1
"""Standard deviation of the torque error without contact, relative to the threshold in force, of
one sample and of a long average. A threshold that noise never reaches is at least four of them."""
SURE, LIKELY = 0.8, 0.1
"""Probability of a link from which on it is named alone, and that of those that are named."""
AVERAGE = 0.03
"""Time constant of the average during a contact, in [s]: short against a contact."""


class ContactWatch:
    """Link and wrench of the contact that a detector has found.

    :ivar links: geometry of the links; None: the model has none
    :ivar problem: why there is no geometry, or ''
    :ivar touched: a monitored joint is above its contact threshold
    """

    def __init__(self, model: DynamicModel, detector: TorqueErrorDetector, tool: str = '') -> None:
        """Prepare.

        :param tool: link at whose origin the wrench is estimated; '': the last link
        :raises ModelError: the model has links, but not this tool
        """
        self._detector = detector
        # The torque error of a joint that is not monitored tells nothing.
        self._scale = np.where(detector.settings.enabled, 1.0, 1e6)
        self.links, self.problem = geometry(model, tool)
        self._estimator = None if self.links is None else ContactEstimator(self.links)
        self.touched = False
        self._share = 1.0 - math.exp(-detector.settings.period / AVERAGE)
        self._mean = np.zeros(len(detector.joints))
        self._young = 1.0

    def update(self) -> None:
        """Follow the detector after each of its samples."""
        detector = self._detector
        if not detector.settled:
            self.touched = False
            return
        over = np.abs(detector.compared) > detector.contact_threshold
        self.touched = bool((over & detector.settings.enabled).any())
        self._average(detector.external_torque)

    def _average(self, torque_error: Array) -> None:
        """Average the torque error from the first sample of a contact on."""
        if not self.touched:
            self._young = 1.0
        if self._young == 1.0:
            self._mean[:] = torque_error
        self._young *= 1.0 - self._share * self.touched
        self._mean += self._share * (torque_error - self._mean)

    def estimate(self, q: Array) -> Contact | None:
        """Return link and wrench from the torque error of this contact; None: without links.

        Without a contact the wrench is that of noise and model errors.

        :param q: joint positions, shape (n,), in [rad] or [m]
        """
        if self._estimator is None:
            return None
        noise = LEAST + (NOISE - LEAST) * self._young
        sigma = noise * self._detector.threshold * self._scale
        return self._estimator.estimate(q, self._mean, sigma)

    def describe(self, contact: Contact | None) -> str:
        """Return one sentence for the operator.

        :param contact: the estimate; None: without links
        """
        if not self.touched:
            return 'no contact'
        if contact is None or self.links is None:
            return f'contact; place and force are not known: {self.problem}'
        where = self._where(contact.probability)
        force, spread = _size(contact.wrench[:3], contact.covariance[:3, :3])
        return f'contact {where}, {force:.0f} +- {spread:.0f} N if it is at {self.links.tool}'

    def _where(self, probability: Array) -> str:
        """Return the link, or the probable ones if the torques do not tell it."""
        assert self.links is not None
        order = np.argsort(-probability)
        names = [f'{self.links.links[k]} ({probability[k]:.0%})' for k in order]
        if probability[order[0]] >= SURE:
            return f'at {names[0]}'
        likely = int((probability >= LIKELY).sum())
        return f'at one of {", ".join(names[: max(likely, 2)])}: the torques do not tell which'


def geometry(model: DynamicModel, tool: str) -> tuple[LinkJacobians | None, str]:
    """Return the links of a model, or why it has none.

    :param tool: link at whose origin the tool is; '': the last link
    """
    body = rigid_part(model)
    if body is None:
        return None, 'the model has no links (no URDF)'
    if tool:
        return LinkJacobians(body, tool=tool), ''
    try:
        return LinkJacobians(body), ''
    except ModelError as error:
        return None, str(error)


def _size(force: Array, covariance: NDArray[np.float64]) -> tuple[float, float]:
    """Return the length of a force and its standard deviation along itself, in [N]."""
    length = float(np.linalg.norm(force))
    along = force / max(length, np.finfo(float).tiny)
    return length, float(np.sqrt(along @ covariance @ along))
