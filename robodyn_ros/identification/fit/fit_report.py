# SPDX-License-Identifier: Apache-2.0
"""Torque errors of a model on a recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class FitReport:
    """Torque errors of a model on one recording; arrays have shape (n,), joint order.

    The relative torque errors are those of the softMC document ("Explanation of the
    identification output file", lines 3, 4 and 7): torque error divided by the joint's largest
    absolute torque feedback, both on moving samples of the filtered torque.

    :param moving_samples: of them, between the joint's velocity thresholds
    :param velocity_threshold: in [rad/s] or [m/s]
    :param upper_velocity_threshold: the same; infinite: none
    :param rms_error: on the unfiltered torque of all samples, in [Nm] or [N]
    :param max_relative_torque_error: 1 is 100 % of the joint's largest torque
    :param mean_relative_torque_error: mean of the absolute error, same measure
    :param usual_torque: absolute torque that 99 % of the moving samples keep, in [Nm] or [N]
    :param relative_residual: ||tau - tau_hat|| / ||tau||, pooled over joints, unfiltered torque
    :param joint_relative_residual: the same for each joint alone
    """

    source: str
    samples: int
    moving_samples: NDArray[np.int64]
    velocity_threshold: Array
    upper_velocity_threshold: Array
    rms_error: Array
    max_relative_torque_error: Array
    mean_relative_torque_error: Array
    usual_torque: Array
    relative_residual: float
    joint_relative_residual: Array

    @property
    def rms_torque(self) -> Array:
        """RMS torque of each joint, shape (n,), unfiltered, in [Nm] or [N]; 0 without an error."""
        return np.asarray(self.rms_error / np.maximum(self.joint_relative_residual, 1e-12))

    @classmethod
    def empty(cls, source: str, joints: int) -> FitReport:
        """Return the report of a recording without usable samples."""
        unknown = np.full(joints, np.nan)
        return cls(
            source=source,
            samples=0,
            moving_samples=np.zeros(joints, dtype=np.int64),
            velocity_threshold=unknown,
            upper_velocity_threshold=unknown,
            rms_error=unknown,
            max_relative_torque_error=unknown,
            mean_relative_torque_error=unknown,
            usual_torque=unknown,
            relative_residual=np.nan,
            joint_relative_residual=unknown,
        )
