"""`robodyn advise`: what sines made by hand lack."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn_ros.cli.excite import add_robot, robot
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.advice import Advice, advise
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.robot_file import read_part


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'advise',
        help='say what sines made by hand lack',
        description='Judge a motion of sines by the rules of the softMC document: when the '
        'pattern of the joints repeats, cycles of each joint (at least 3), shares of range and '
        'velocity used, and the factor of all frequencies that brings the fastest joint close to '
        'its limit; one line of advice for each shortcoming.',
    )
    parser.add_argument(
        'motion', help='YAML file of a motion of kind sine; robot file or parameters of excitation'
    )
    add_robot(parser)
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge and print.

    :raises RobodynError: a file cannot be read, or holds no sines of this robot
    """
    _, limits = robot(arguments)
    motion = load_sines(arguments.motion, limits.joints)
    facts = summary(motion, advise(motion, limits))
    print(json.dumps(facts, indent=2, allow_nan=False) if arguments.json else table(facts))
    return 0


def load_sines(path: str | Path, joints: tuple[str, ...]) -> SineMotion:
    """Read a motion file, or the motion for the excitation node in a robot or parameter file.

    :param joints: of a motion that does not name any
    :raises MotionError: it cannot be read, or is no motion of sines
    """
    part = read_part(path, 'excitation', 'the motion file', MotionError)
    document = part.content.get('motion') if part.robot else part.content
    if isinstance(document, Mapping) and 'kind' not in document:
        document = _in_parameters(document)
    if not isinstance(document, Mapping) or document.get('kind') != 'sine':
        kind = document.get('kind') if isinstance(document, Mapping) else None
        raise MotionError(
            f'{path} must hold a motion of kind sine, got '
            + (f'kind {kind!r}' if kind else 'no motion')
        )
    try:
        motion = build_motion({'joints': list(joints), **document})
    except MotionError as error:
        raise MotionError(f'{path}: {error}') from error
    assert isinstance(motion, SineMotion)
    return motion


def _in_parameters(document: Any) -> Any:
    """Return the mapping `motion` of the first node in a ROS parameter file that has one."""
    if not isinstance(document, Mapping):
        return None
    found = document.get('ros__parameters')
    if isinstance(found, Mapping) and isinstance(found.get('motion'), Mapping):
        return found['motion']
    deeper = (_in_parameters(value) for value in document.values())
    return next((motion for motion in deeper if motion is not None), None)


def summary(motion: SineMotion, advice: Advice) -> dict[str, Any]:
    """Collect what there is to say; plain types, SI units."""
    earliest = advice.repetitions[0] if advice.repetitions else None
    return {
        'quality': advice.quality,
        'repetition': None if earliest is None else {
            'joints': list(earliest.joints),
            'cycles': list(earliest.cycles),
            'seconds': earliest.time,
        },
        'joints': [
            {
                'name': name,
                'frequency': float(motion.frequency[i]),
                'cycles': float(advice.cycles[i]),
                'range': float(advice.range_share[i]),
                'velocity': float(advice.velocity_share[i]),
            }
            for i, name in enumerate(motion.joints)
        ],
        'factor': float(advice.factor),
        'advice': list(advice.lines),
    }  # fmt: skip


def table(facts: dict[str, Any]) -> str:
    """Lay the facts out for reading."""
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
