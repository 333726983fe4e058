"""How long the motions of the demonstration are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from robodyn_ros.cli.demo.facts import Facts, Limits
from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import read_yaml


@dataclass(frozen=True)
class Length:
    """Durations in [s]; of a motion None stands for what its file says.

    :param excitation: duration of the motion that the robot is identified from
    :param motion: duration of the motions that follow, see `quickened`
    :param validation: name of the motion that collisions are monitored in; the motion
        'tracking' is then run only once without the additive torque
    :param start: of a motion, ahead of the call that starts it
    :param pause: at rest before a motion
    :param before_push: time in the excitation before the robot is pushed
    :param limits: of the figures, in place of the robot's
    :param pushes: largest number of pushes
    """

    excitation: float | None = None
    motion: float | None = None
    validation: str = 'validation'
    start: float = 1.0
    pause: float = 0.5
    before_push: float = 2.5
    limits: Limits | None = None
    pushes: int | None = None

    @property
    def recording(self) -> str:
        """Name of the recording of the motion that collisions are monitored in."""
        return 'validation' if self.validation == 'validation' else 'tracking_without'

    @property
    def excitation_parameters(self) -> dict[str, object]:
        """Parameters of the excitation nodes."""
        given: dict[str, object] = {'start_delay': self.start, 'pause': self.pause}
        return given if self.excitation is None else {**given, 'motion.duration': self.excitation}

    def of(self, facts: Facts) -> Facts:
        """Return the facts of a robot as they count for this length."""
        return replace(
            facts, pushes=facts.pushes[: self.pushes], limits=self.limits or facts.limits
        )

    def motion_file(self, file: Path, folder: Path) -> Path:
        """Return a file that holds the motion of `file` in this length, written to `folder`."""
        return file if self.motion is None else quickened(file, self.motion, folder)


FULL = Length()
SHORT = Length(
    excitation=6.0,
    motion=4.0,
    validation='tracking',
    start=0.5,
    pause=0.1,
    limits=Limits(torque_error=0.2, tracking_cut=0.3, alarm_latency=0.03, unmonitored=0.1),
    pushes=1,
)
"""Shows that every step works; how well, only the full length does."""


def quickened(file: Path, duration: float, folder: Path) -> Path:
    """Write a Fourier series that runs through its periods faster, and return the file.

    Velocities shrink with the duration, distances from the centre with its square, and
    accelerations stay: so it keeps the limits that the series kept.

    :param duration: shorter than before, in [s]
    :raises ConfigError: the file holds another kind of motion, or none
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
