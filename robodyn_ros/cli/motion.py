# SPDX-License-Identifier: Apache-2.0
"""`robodyn motion`: check of a motion file against limits and collisions, with pictures."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn_ros.cli.motion_file import read_motion
from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, out_folder, progress_bar, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.cli.robot_model import add_option, add_robot, optimise_options, robot
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.check import Report, collision_lines
from robodyn_ros.excitation.export import export_motion, motion_files
from robodyn_ros.excitation.limits.bounds import compute_shares
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.options import SPACE, collision_coverage
from robodyn_ros.excitation.plan import check_joints
from robodyn_ros.excitation.robot_frame import choose_frame
from robodyn_ros.excitation.summary import limit_lines, shares_table
from robodyn_ros.excitation.trajectory import Trajectory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Check a motion of any kind (sines, via-points, lines, circles, sequences): '
        'print its duration, the used shares of the limits and collisions, and write it as '
        'trajectory.yaml, trajectory.csv and pictures. The exit code is 1 if the motion exceeds a '
        'limit or collides.'
    )
    parser.add_argument(
        'motion', help='YAML file of the motion, robot file, or parameter file of excitation'
    )
    add_robot(parser)
    group = parser.add_argument_group('collisions')
    for name, option in SPACE.items():
        add_option(group, name, option)
    parser.add_argument('--out', type=out_folder, metavar='DIR', help='folder for the files')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check, write and print; 1 if a limit is exceeded or there is a collision, else 0."""
    model, limits = robot(arguments)
    motion = read_motion(arguments.motion, limits.joints)
    check_joints(motion, limits)
    values = optimise_options(arguments, SPACE)
    coverage = collision_coverage(values, model.joint_names, arguments.urdf or '')
    with progress_bar():
        facts = summary(motion, limits, coverage.check(motion, model))
    facts['assumed_limits'] = arguments.assumed_limits
    facts['limit_warnings'] = arguments.limit_warnings
    if arguments.out is not None:
        points = choose_frame(model)
        columns = [motion.joints.index(name) for name in model.joint_names]
        with motion_files(arguments.out):
            facts['files'] = export_motion(
                motion,
                arguments.out,
                limits=limits,
                points=None if points is None else lambda q: points(q[:, columns]),
            )
            facts = _with_page(arguments, facts)
    show(arguments, facts, table(facts))
    return EXIT_NEGATIVE if facts['broken'] else 0


def _with_page(arguments: argparse.Namespace, facts: dict[str, Any]) -> dict[str, Any]:
    """Write motion.html; a motion whose collisions are not checked completely gets no verdict."""
    good = not facts['broken']
    title = 'The motion keeps the limits' if good else 'The motion violates a limit'
    return with_page(
        arguments,
        facts,
        table(facts),
        name='motion',
        title=title,
        sentence=str(facts['broken'] or _describe_success(facts)),
        good=None if good and facts['not_checked'] else good,
    )


def summary(motion: Trajectory, limits: JointLimits, report: Report) -> dict[str, Any]:
    """Collect kind, duration, used shares of the limits, and violations; SI units."""
    broken = report.broken
    try:
        check_motion(motion, limits)
    except MotionError as error:
        broken = str(error)
    shares = compute_shares(motion, limits)
    return {
        'kind': motion.describe()['kind'],
        'duration': motion.duration,
        'joints': [
            {'name': name, **{kind: share[i] for kind, share in shares.items()}}
            for i, name in enumerate(motion.joints)
        ],
        'broken': broken,
        **report.facts(),
    }


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text."""
    lines = [f'{facts["kind"]}, {facts["duration"]:.3f} s', '', *shares_table(facts['joints']), '']
    lines += [facts['broken'] or _describe_success(facts), *collision_lines(facts)]
    lines += limit_lines(facts)
    lines += [f'{kind:<12} {path}' for kind, path in facts.get('files', {}).items()]
    return '\n'.join(lines)


def _describe_success(facts: dict[str, Any]) -> str:
    """Return the verdict for a motion without violations."""
    if not facts['not_checked']:
        return 'all limits are kept, and there is no collision'
    return 'the joint limits are kept; collisions are not checked completely'
