# SPDX-License-Identifier: Apache-2.0
"""Steps of the demonstration, and the figures that they measure."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.analysis.picture import new_figure
from robodyn_ros.cli.demo import analysis
from robodyn_ros.cli.demo.analysis import TrackingError
from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.length import FULL, SHORT, Length
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.cli.demo.stage import Stage


def draw_tracking(
    errors: Mapping[str, TrackingError], units: Mapping[str, str], path: Path
) -> None:
    """Write the picture.

    :param errors: by the name of their torque
    :param units: of the position of each joint
    """
    figure = new_figure(11.0, 1.6 * len(units) + 1.0)
    axes = list(figure.subplots(len(units), 1, sharex=True, squeeze=False)[:, 0])
    for name, error in errors.items():
        for column, (axis, joint) in enumerate(zip(axes, error.joints, strict=True)):
            stamps, deviation = error.time - error.time[0], 1e3 * error.deviation[:, column]
            axis.plot(stamps, deviation, lw=0.7, label=f'{name} torque')
            axis.set_ylabel(f'{joint}\n[m{units[joint]}]')
    axes[0].legend(loc='upper right', ncols=2)
    axes[-1].set_xlabel('time [s]')
    figure.suptitle('Tracking error without and with the additive torque')
    figure.savefig(path, dpi=110)


@dataclass(frozen=True)
class Figure:
    """Measured figure and its limit."""

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def reached(self) -> bool:
        """Return True if the limit holds; False for NaN."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def render(figures: Sequence[Figure]) -> str:
    """Return the figures as a text table."""
    width = max(len(figure.name) for figure in figures)
    lines = [f'{"figure":<{width}}  {"measured":>12}  {"required":>14}']
    lines.append('-' * len(lines[0]))
    for figure in figures:
        sign = '>=' if figure.at_least else '<='
        lines.append(
            f'{figure.name:<{width}}  {figure.value:>8.2f} {figure.unit:<3}  '
            f'{sign} {figure.limit:>6.2f} {figure.unit:<3}  '
            f'{"reached" if figure.reached else "MISSED"}'
        )
    return '\n'.join(lines)


def run_demo(*, robot: str, out: Path, short: bool = False, watch: bool = False) -> int:
    """Run the demonstration and print the table; return 0 only if every figure is reached.

    :param robot: robot of this package, or robot file, with a section demo
    :param out: parent folder; a new folder in it gets recordings, results and pictures
    :param short: motions of a few seconds, one push and wider limits
    """
    length = SHORT if short else FULL
    folder = out.absolute() / time.strftime('%Y_%m_%d-%H_%M_%S')
    folder.mkdir(parents=True)
    start = time.monotonic()
    with (
        _separate_ros_domain(),
        NodeProcesses(folder / 'nodes') as nodes,
        Client(nodes.check, fast=True) as client,
    ):
        stage = Stage(robot=robot, folder=folder, nodes=nodes, client=client, length=length)
        if watch:
            print(f'live page: {stage.start_watch()}')
        _identify(stage)
        errors = _track(stage)
        figures = [*_monitor(stage, length), *_cuts(stage, errors), *_push(stage)]
    draw_tracking(errors, _units(stage), folder / 'tracking.png')
    print(f'\n{render(figures)}\n')
    print(f'{time.monotonic() - start:.0f} s; recordings, results and a picture: {folder}')
    print(f'report of the identification, for a browser: {stage.report_file}')
    return 0 if all(figure.reached for figure in figures) else 1


@contextmanager
def _separate_ros_domain() -> Iterator[None]:
    """Use a free ROS domain, restricted to this machine, inside the context."""
    before = dict(os.environ)
    os.environ.update(describe_domain())
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _identify(stage: Stage) -> None:
    stage.print_heading('1. excite the robot, record and identify it')
    report = stage.run_identification()
    print(
        f'   {report.samples} samples, {len(report.base_parameters)} base parameters, '
        f'condition number {report.condition_number:.0f}: {report.result_file}'
    )
    stage.report_file = report.report_file or f'not written, see {stage.folder / "nodes"}'


def _track(stage: Stage) -> dict[str, analysis.TrackingError]:
    stage.print_heading('2. follow a motion without and with the additive torque')
    errors: dict[str, analysis.TrackingError] = {}
    links: dict[str, analysis.TrackingError] = {}
    stage.start_feedforward()  # it starts while the robot moves
    for name in ('without', 'with'):
        if name == 'with':
            stage.wait_for_feedforward()
        with stage.record(f'tracking_{name}'):
            stage.tracking[name] = stage.excite('tracking', through_feedforward=name == 'with')
        errors[name] = _error(stage, name, '', analysis.MEASURED)
        links[name] = _error(stage, name, '_plant', analysis.PLANT)
    _print_errors(stage, errors, 'at the encoders')
    _print_errors(stage, links, 'of the links, which gears move away from the encoders')
    return errors


def _monitor(stage: Stage, length: Length) -> list[Figure]:
    least = length.motion or 60.0
    stage.print_heading(
        f'3. monitor collisions during {least:g} s or more of another motion, and validate on it'
    )
    stage.start_monitor()
    with stage.record('validation'), stage.count_alarms() as alarms:
        motion = stage.excite('validation')
    most = stage.facts.limits.torque_error
    residual = analysis.residual_against_plant(
        stage.identified,
        stage.folder / 'validation',
        stage.folder / 'validation_plant',
        motion,
    )
    return [
        Figure('torque error on another motion', 100.0 * residual, 100.0 * most, '%'),
        Figure('false alarms in that motion', float(alarms.collisions), 0.0, ''),
        Figure(
            'share without monitoring',
            100.0 * alarms.unmonitored,
            100.0 * stage.facts.limits.unmonitored,
            '%',
        ),
        Figure('duration of that motion', (motion[1] - motion[0]) * 1e-9, least, 's', True),
    ]


def _error(stage: Stage, name: str, suffix: str, topic: str) -> analysis.TrackingError:
    return analysis.tracking_error(
        stage.folder / f'tracking_{name}_reference',
        stage.folder / f'tracking_{name}{suffix}',
        stage.tracking[name],
        delay=stage.setpoint_delay,
        topic=topic,
    )


def _print_errors(stage: Stage, errors: Mapping[str, analysis.TrackingError], place: str) -> None:
    units = _units(stage)
    print(f'   tracking errors {place}, RMS without -> with the torque:')
    before, after = errors['without'], errors['with']
    for joint, one, other in zip(before.joints, before.rms, after.rms, strict=True):
        print(f'   {joint}: {one * 1e3:.3f} -> {other * 1e3:.3f} m{units[joint]}')


def _units(stage: Stage) -> dict[str, str]:
    return {joint.name: joint.position_unit for joint in stage.identified.model.joints}


def _cuts(stage: Stage, errors: Mapping[str, analysis.TrackingError]) -> list[Figure]:
    before, after = errors['without'], errors['with']
    units = _units(stage)
    figures = []
    least = 100.0 * stage.facts.limits.tracking_cut
    # Radians and metres cannot be pooled.
    for unit, kind in (('rad', 'rotary joints'), ('m', 'linear joints')):
        chosen = [joint for joint in before.joints if units[joint] == unit]
        if chosen:
            cut = 100.0 * (1.0 - after.pool(chosen) / before.pool(chosen))
            figures.append(Figure(f'tracking error cut, {kind}', cut, least, '%', True))
    return figures


def _push(stage: Stage) -> list[Figure]:
    stage.print_heading('4. push the moving robot')
    figures = []
    most = 1e3 * stage.facts.limits.alarm_latency
    for number, push in enumerate(stage.facts.pushes, start=1):
        if number > 1:
            stage.recover()
        latency = stage.push(push)
        print(
            f'   {push}: alarm {latency * 1e3:.0f} ms after the start of the push, robot stopped'
        )
        figures.append(Figure(f'push {number} detected after', latency * 1e3, most, 'ms'))
    return figures
