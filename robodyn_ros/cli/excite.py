"""`robodyn excite`: design the motion that reveals a robot's parameters."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from robodyn_ros.errors import ConfigError, MotionError
from robodyn_ros.excitation.bounds import Margins
from robodyn_ros.excitation.constraints import Limit, SpaceLimit, TorqueLimit, frame_points
from robodyn_ros.excitation.criteria import CRITERIA, NORMALISATIONS, Options, torque_weights
from robodyn_ros.excitation.export import Points, export_motion
from robodyn_ros.excitation.limits import JointLimits
from robodyn_ros.excitation.limits_file import load_limits
from robodyn_ros.excitation.optimize import METHODS, Optimised, Progress, optimise
from robodyn_ros.excitation.problem import MOTIONS, SAMPLES, Design
from robodyn_ros.excitation.self_collision import SelfCollisionLimit
from robodyn_ros.models.catalog import load_model, robot_model
from robodyn_ros.models.friction import TERMS
from robodyn_ros.models.interface import DynamicModel, SumModel
from robodyn_ros.models.urdf import GRAVITY, UrdfModel


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'excite',
        help='design the motion that reveals the parameters',
        description='Optimise a motion for identification inside every limit, and write it as '
        'trajectory.yaml (for the excitation node), trajectory.csv and pictures.',
    )
    _add_model(parser)
    _add_motion(parser)
    _add_limits(parser)
    _add_search(parser)
    output = parser.add_argument_group('output')
    output.add_argument('--out', metavar='DIR', help='folder for the files')
    output.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('model')
    source = group.add_mutually_exclusive_group(required=True)
    source.add_argument('--urdf', metavar='FILE', help='URDF of the robot')
    source.add_argument('--model', metavar='YAML', help='description of the model')
    group.add_argument('--joints', metavar='NAME,NAME,...', help='joints to move, for --urdf')
    group.add_argument(
        '--friction',
        metavar='TERM,TERM,...',
        help=f'friction columns for --urdf, of {", ".join(TERMS)} (default: none)',
    )
    group.add_argument(
        '--gravity', nargs=3, type=float, metavar=('X', 'Y', 'Z'), help='for --urdf, in m/s^2'
    )
    group.add_argument(
        '--no-rotor-inertia', action='store_true', help='no rotor inertias, for --urdf'
    )


def _add_motion(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('motion')
    group.add_argument('--criterion', choices=CRITERIA, default='cond')
    group.add_argument('--motion', choices=MOTIONS, default='fourier')
    group.add_argument('--duration', type=float, default=20.0, metavar='S')
    group.add_argument(
        '--harmonics', type=int, default=5, metavar='N',
        help='of the series; sines in a sum; half the via-points (default: %(default)s)',
    )  # fmt: skip
    group.add_argument(
        '--samples', type=int, default=SAMPLES, metavar='N',
        help='on which the criterion is evaluated (default: %(default)s)',
    )  # fmt: skip
    group.add_argument(
        '--position', type=_floats, metavar='Q,Q,...',
        help='where the motion begins and ends, rad or m (default: middle of the ranges)',
    )  # fmt: skip
    group.add_argument(
        '--normalised-share', type=float, default=0.0, metavar='SHARE',
        help='of the condition number with normalised columns, beside the raw one',
    )  # fmt: skip
    group.add_argument(
        '--nominal-torques', type=_floats, metavar='T,T,...',
        help="weigh the joints' rows by these, Nm or N",
    )  # fmt: skip
    group.add_argument(
        '--normalise-torques', choices=NORMALISATIONS, default='divide',
        help='how nominal torques weigh: multiply is as printed in Eq. 8 of the local '
        'identification document and favours big axes (default: %(default)s)',
    )  # fmt: skip


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('limits')
    group.add_argument('--limits', metavar='YAML', help='file in the form of joint_limits.yaml')
    for name in ('position', 'velocity', 'acceleration', 'torque'):
        group.add_argument(
            f'--{name}-margin', type=float, default=0.0, metavar='SHARE',
            help=f'share of the {name} limits that stays unused',
        )  # fmt: skip
    group.add_argument(
        '--conservative', action='store_true',
        help='keep bounds on the coefficients (Eq. 17) instead of the limits themselves',
    )  # fmt: skip
    group.add_argument(
        '--torque-limits', action='store_true',
        help="keep the effort limits, by the model's a-priori values",
    )  # fmt: skip
    group.add_argument(
        '--frames', metavar='LINK,LINK,...', help='links (or tool) that --box and --floor hold for'
    )
    group.add_argument(
        '--box', nargs=6, type=float, metavar=('X0', 'Y0', 'Z0', 'X1', 'Y1', 'Z1'),
        help='keep the frames inside, base frame, m',
    )  # fmt: skip
    group.add_argument('--floor', type=float, metavar='Z', help='keep the frames above, m')
    group.add_argument(
        '--self-collision', action='store_true', help='keep links apart, by the collision geometry'
    )
    group.add_argument(
        '--clearance', type=float, default=0.0, metavar='M', help='distance of links, m'
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('search')
    group.add_argument(
        '--time', type=float, default=60.0, metavar='S',
        help='time budget; it also says how much is searched (default: %(default)s)',
    )  # fmt: skip
    group.add_argument('--seed', type=int, default=0)
    group.add_argument('--method', choices=METHODS, default='gradient')
    group.add_argument(
        '--starts', type=int, metavar='N', help='random starts (default: by --time)'
    )
    group.add_argument(
        '--processes', type=int, metavar='N', help='to search in (default: one per core)'
    )


def run(arguments: argparse.Namespace) -> int:
    """Optimise, write and print.

    :raises RobodynError: a file cannot be read or written, or no such motion is possible
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', UserWarning)
        design = _design(arguments)
    for warning in caught:
        print(f'warning: {warning.message}', file=sys.stderr)
    with _progress(arguments.criterion) as progress:
        result = optimise(
            design,
            seconds=arguments.time,
            seed=arguments.seed,
            method=arguments.method,
            starts=arguments.starts,
            processes=arguments.processes,
            progress=progress,
        )
    facts = summary(result, design)
    if arguments.out is not None:
        facts['files'] = export_motion(
            result.trajectory,
            arguments.out,
            limits=design.limits,
            points=_path(design.model, arguments.frames),
        )
    print(json.dumps(facts, indent=2, allow_nan=False) if arguments.json else table(facts))
    return 0


def summary(result: Optimised, design: Design) -> dict[str, Any]:
    """Collect criterion values, shares of limits and seconds; plain types, SI units."""
    names = {'cond': 'condition_number', 'det': 'log10_det', 'block': 'block_objective'}
    figures = {
        name: value if np.isfinite(value) else None for name, value in result.figures.items()
    }
    return {
        'criterion': design.criterion.name,
        'value': figures[names[design.criterion.name]],
        'figures': figures,
        'motion': design.motion,
        'duration': result.trajectory.duration,
        'joints': [
            {'name': name, **{kind: float(share[i]) for kind, share in result.shares.items()}}
            for i, name in enumerate(result.trajectory.joints)
        ],
        'seconds': result.seconds,
        'starts': result.starts,
        'complete': result.complete,
        'note': result.note,
    }


def table(facts: dict[str, Any]) -> str:
    """Lay the facts out for reading."""
    lines = [
        f'{name.replace("_", " "):<32} ' + ('infinite' if value is None else f'{value:.5g}')
        for name, value in facts['figures'].items()
    ]
    lines += [
        '',
        f'{"share of limits used":<20} {"position":>10} {"velocity":>10} {"acceler.":>10}',
    ]
    lines += [
        f'{joint["name"]:<20} {joint["position"]:>10.1%} {joint["velocity"]:>10.1%} '
        f'{joint["acceleration"]:>10.1%}'
        for joint in facts['joints']
    ]
    lines += ['', f'{facts["seconds"]:.1f} s, {facts["starts"]} starts']
    if not facts['complete']:
        lines.append('the search ended early: the same seed may give another motion')
    if facts['note']:
        lines.append(facts['note'])
    lines += [f'{kind:<12} {path}' for kind, path in facts.get('files', {}).items()]
    return '\n'.join(lines)


def _design(arguments: argparse.Namespace) -> Design:
    model = _model(arguments)
    limits = _limits(arguments, model)
    weights = None
    if arguments.nominal_torques is not None:
        weights = torque_weights(arguments.nominal_torques, arguments.normalise_torques)
    margins = {
        name: getattr(arguments, f'{name}_margin')
        for name in ('position', 'velocity', 'acceleration', 'torque')
    }
    return Design(
        model=model,
        limits=limits,
        criterion=Options(arguments.criterion, weights, arguments.normalised_share),
        motion=arguments.motion,
        duration=arguments.duration,
        harmonics=arguments.harmonics,
        position=arguments.position,
        samples=arguments.samples,
        margins=Margins(**margins),
        conservative=arguments.conservative,
        rules=tuple(_rules(arguments, model, Margins(**margins).narrow(limits))),
    )


def _model(arguments: argparse.Namespace) -> DynamicModel:
    if arguments.model is not None:
        for name in ('friction', 'gravity', 'joints'):
            if getattr(arguments, name) is not None:
                raise ConfigError(f'--{name} goes with --urdf; with --model it is in the file')
        return load_model(arguments.model)
    return robot_model(
        arguments.urdf,
        joints=_split(arguments.joints) or None,
        gravity=arguments.gravity or GRAVITY,
        rotor_inertia=not arguments.no_rotor_inertia,
        friction=[term for term in _split(arguments.friction) if term != 'none'],
    )


def _limits(arguments: argparse.Namespace, model: DynamicModel) -> JointLimits:
    """Limits of the URDF, narrowed by the file; accelerations nobody gave by a slow rule."""
    body = _urdf_part(model)
    if body is not None:
        limits = JointLimits.from_urdf(body.urdf, model.joint_names)
    else:
        endless = np.full(len(model.joints), np.inf)
        units = tuple(joint.position_unit for joint in model.joints)
        limits = JointLimits(
            model.joint_names, units, -endless, endless, endless, endless, endless, endless
        )
    if arguments.limits is not None:
        limits = load_limits(arguments.limits, limits)
    return limits.with_default_acceleration()


def _rules(
    arguments: argparse.Namespace, model: DynamicModel, limits: JointLimits
) -> Iterator[Limit]:
    if arguments.torque_limits:
        prior = np.nan_to_num(model.prior(), nan=0.0)
        yield TorqueLimit(tuple(prior.tolist()), tuple(limits.effort.tolist()))
    if arguments.box is not None or arguments.floor is not None:
        if arguments.frames is None:
            raise ConfigError('--box and --floor need --frames: which links they hold for')
        box = arguments.box or [-np.inf] * 3 + [np.inf] * 3
        floor = -np.inf if arguments.floor is None else arguments.floor
        lower = (box[0], box[1], max(box[2], floor))
        yield SpaceLimit(tuple(_split(arguments.frames)), lower, (box[3], box[4], box[5]))
    if arguments.self_collision:
        if arguments.urdf is None:
            raise ConfigError('--self-collision needs --urdf: the geometry is in it')
        path = str(Path(arguments.urdf).resolve())
        yield SelfCollisionLimit(path, clearance=arguments.clearance)


def _path(model: DynamicModel, frames: str | None) -> Points | None:
    """Frame whose path is drawn: the first asked for, else the last link or the tool."""
    body = _urdf_part(model)
    last = 'tool' if body is None else _last_link(body)
    try:
        return frame_points(model, [*_split(frames), last][:1])
    except MotionError:
        return None


def _last_link(body: UrdfModel) -> str:
    carried = {joint.name: joint.child for joint in body.urdf.joints}
    return carried[body.joint_names[-1]]


def _urdf_part(model: DynamicModel) -> UrdfModel | None:
    parts = model.parts if isinstance(model, SumModel) else (model,)
    return next((part for part in parts if isinstance(part, UrdfModel)), None)


def _split(text: str | None) -> list[str]:
    return [] if text is None else text.split(',')


def _floats(text: str) -> list[float]:
    return [float(part) for part in text.split(',')]


@contextmanager
def _progress(criterion: str) -> Iterator[Progress | None]:
    """Progress bar with the present criterion on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with tqdm(total=1.0, bar_format='{desc:<28} {percentage:3.0f}% |{bar}|', leave=False) as bar:

        def show(share: float, value: float) -> None:
            size = -value if criterion == 'det' else 10.0**value
            name = 'log10 det' if criterion == 'det' else criterion
            bar.set_description_str(f'{name} {size:.4g}', refresh=False)
            bar.n = share
            bar.refresh()

        yield show
