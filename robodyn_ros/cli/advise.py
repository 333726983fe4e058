# SPDX-License-Identifier: Apache-2.0
"""`robodyn advise`: advice on a motion of sines made by hand."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robodyn_ros.cli.motion_file import read_motion
from robodyn_ros.cli.output import add_json, show
from robodyn_ros.cli.robot_model import add_robot, robot
from robodyn_ros.excitation.advice import Advice, advise
from robodyn_ros.excitation.motions.sine import SineMotion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Check a motion of sines by the rules of the softMC document: when the '
        'pattern of the joints repeats, cycles of each joint (at least 3), and used shares of '
        'range and velocity. Prints one line of advice for each shortcoming, and the factor of '
        'all frequencies that brings the fastest joint close to its limit.'
    )
    parser.add_argument(
        'motion', help='motion file of kind sine, robot file, or parameter file of excitation'
    )
    add_robot(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check and print."""
    _, limits = robot(arguments)
    motion = load_sines(arguments.motion, limits.joints)
    facts = summary(motion, advise(motion, limits))
    show(arguments, facts, table(facts))
    return 0


def load_sines(path: str | Path, joints: tuple[str, ...]) -> SineMotion:
    """Read sines from a motion file, a robot file or a parameter file of the excitation node.

    :raises MotionError: it cannot be read, or is not a motion of sines
    """
    motion = read_motion(path, joints, 'sine')
    assert isinstance(motion, SineMotion)
    return motion


def summary(motion: SineMotion, advice: Advice) -> dict[str, Any]:
    """Collect the facts, SI units."""
    earliest = advice.repetitions[0] if advice.repetitions else None
    return {
        'quality': advice.quality,
        'repetition': None if earliest is None else {
            'joints': earliest.joints, 'cycles': earliest.cycles, 'seconds': earliest.time,
        },
        'joints': [
            {
                'name': name,
                'frequency': motion.frequency[i],
                'cycles': advice.cycles[i],
                'range': advice.range_share[i],
                'velocity': advice.velocity_share[i],
            }
            for i, name in enumerate(motion.joints)
        ],
        'factor': advice.factor,
        'advice': advice.lines,
    }  # fmt: skip


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text."""
    lines = [f'{"joint":<20}{"Hz":>10}{"cycles":>10}{"range":>10}{"velocity":>10}']
    lines += [
        f'{joint["name"]:<20}{joint["frequency"]:>10.4g}{joint["cycles"]:>10.2f}'
        f'{joint["range"]:>10.1%}{joint["velocity"]:>10.1%}'
        for joint in facts['joints']
    ]
    first = facts['repetition']
    lines += ['', f'frequencies: {facts["quality"]}']
    if first is not None:
        (one, other), (p, q) = first['joints'], first['cycles']
        lines[-1] += f', {one} and {other} repeat first, after {p} and {q} cycles'
        lines[-1] += f' ({first["seconds"]:.3g} s)'
    lines.append(f'factor of all frequencies that reaches the limits: {facts["factor"]:.3g}')
    lines += ['', *(facts['advice'] or ['nothing to improve'])]
    return '\n'.join(lines)
