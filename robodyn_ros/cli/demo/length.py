# SPDX-License-Identifier: Apache-2.0
"""Durations of the motions of the demonstration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from robodyn_ros.cli.demo.facts import Facts, Limits
from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import read_yaml


@dataclass(frozen=True)
class Length:
    """Durations in [s], and limits that depend on them; None: the value of the file.

    :param motion: duration of all other motions, see `shorten_motion`
    :param start: time from the call that starts a motion to its start
    :param before_push: time from the start of the excitation to the push
    :param limits: limits of the figures, in place of those of the robot
    :param margin: collision thresholds relative to the largest torque error of the motions before
    :param profile: of the drives of the cell; empty: that of the robot file
    """

    excitation: float | None = None
    motion: float | None = None
    start: float = 1.0
    pause: float = 0.5
    before_push: float = 2.5
    limits: Limits | None = None
    pushes: int | None = None
    margin: float = 2.5
    profile: str = ''

    @property
    def excitation_parameters(self) -> dict[str, object]:
        """Parameters of the excitation nodes."""
        given: dict[str, object] = {'start_delay': self.start, 'pause': self.pause}
        return given if self.excitation is None else {**given, 'motion.duration': self.excitation}

    def of(self, facts: Facts) -> Facts:
        """Return the facts of a robot for this length."""
        return replace(
            facts, pushes=facts.pushes[: self.pushes], limits=self.limits or facts.limits
        )

    def motion_file(self, file: Path, folder: Path) -> Path:
        """Return the motion file for this length; a shortened one is written to `folder`."""
        return file if self.motion is None else shorten_motion(file, self.motion, folder)


FULL = Length()
SHORT = Length(
    excitation=6.0,
    motion=4.0,
    start=0.5,
    pause=0.1,
    profile='ideal',  # seconds show neither what elastic gears do nor the warming of joints
    limits=Limits(torque_error=0.2, tracking_cut=0.3, alarm_latency=0.03, unmonitored=0.1),
    pushes=1,
    margin=4.0,  # seconds of motion show a small part of the errors of the next one
)
"""Check that every step works; its figures are worse than those of the full length."""


def shorten_motion(file: Path, duration: float, folder: Path) -> Path:
    """Write a Fourier series with shorter periods, and return the file.

    Accelerations stay, velocities are proportional to the duration, and distances from the centre
    to its square. So a shorter motion stays within the limits.

    :param duration: new duration, shorter than before, in [s]
    :raises ConfigError: the file has no motion of kind fourier
    """
    motion = read_yaml(file, 'the motion file', ConfigError)
    if not isinstance(motion, dict) or motion.get('kind') != 'fourier':
        raise ConfigError(f'{file}: expected a motion of kind fourier')
    share = duration / motion['duration']
    for name in ('a', 'b'):
        motion[name] = [[float(value) * share for value in row] for row in motion[name]]
    motion['base_frequency'] /= share
    motion['duration'] = duration
    path = folder / file.name
    path.write_text(yaml.safe_dump(motion), encoding='utf-8')
    return path
