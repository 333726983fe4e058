# SPDX-License-Identifier: Apache-2.0
"""Serialised references as no sender should send them, between some that are usual."""

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

EXTREME = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e17, 5e-324, -0.0)


class FuzzedReferences:
    """One message after the other; about two of three are usual but for their numbers."""

    def __init__(self, joints, period: float, seed: int) -> None:
        self._joints, self._period = list(joints), period
        self._random = np.random.default_rng(seed)
        self._time = 1_700_000_000.0
        self._position, self._velocity, self._acceleration = np.zeros((3, len(self._joints)))

    def next(self) -> bytes:
        random, count = self._random, len(self._joints)
        if random.random() < 0.02:
            self._acceleration = random.normal(size=count) * random.choice([0.0, 10.0, 1e3])
        self._velocity = 0.95 * self._velocity + self._period * self._acceleration
        self._position = self._position + self._period * self._velocity
        wrong = random.integers(24)
        if wrong == 8:
            self._position = random.normal(size=count) * 10.0 ** random.integers(1, 8)
        names, position, velocity = self._spoiled(wrong)
        message = JointState(name=list(names))
        message.position, message.velocity = list(position), list(velocity)
        self._stamp(message)
        serialised = serialize_message(message)
        return serialised[: random.integers(4, len(serialised))] if wrong == 9 else serialised

    def _spoiled(self, wrong: int):
        """Names, positions and velocities with the flaw of this number."""
        names, random = self._joints, self._random
        position, velocity = self._position.copy(), self._velocity.copy()
        if wrong == 0:
            names = [names[0]] * len(names)
        elif wrong == 1:
            names = [*names[:-1], 'elbow']
        elif wrong == 2:
            names, position, velocity = [*names, 'elbow'], [*position, 0.0], [*velocity, 0.0]
        elif wrong == 3:
            names = names[::-1]
        elif wrong == 4:
            position = position[: random.integers(len(names))]
        elif wrong == 5:
            velocity = [*velocity, 1.0]
        elif wrong in (6, 7):
            flawed = position if wrong == 6 else velocity
            flawed[random.integers(len(names))] = random.choice(EXTREME)
        return names, position, velocity

    def _stamp(self, message: JointState) -> None:
        """Usually a period later; seldom at once, late, early or long ago."""
        random = self._random
        steps = [0.0, 1e-9, 0.4, 1.7, 40.0] if random.random() < 0.05 else [1.0]
        self._time += float(random.choice(steps)) * self._period
        if random.random() < 0.003:
            self._time -= float(random.choice([0.5 * self._period, 1.0, 1e6]))
        seconds = max(0.0, self._time)
        message.header.stamp = Time(sec=int(seconds), nanosec=int(seconds % 1.0 * 1e9))
