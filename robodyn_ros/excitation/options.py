# SPDX-License-Identifier: Apache-2.0
"""Options of a designed motion: one table for the command line and for nodes.

Every option is a flag of `robodyn excite` and a parameter `optimise.NAME` of the excitation node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from robodyn_ros.bounds import NUMBER
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.boxes import free_space, obstacle_boxes
from robodyn_ros.excitation.collisions.check import Coverage, cover
from robodyn_ros.excitation.collisions.scene_shape import NOTHING, Surroundings
from robodyn_ros.excitation.collisions.self_collision import CLEARANCE
from robodyn_ros.excitation.cycles import CYCLES
from robodyn_ros.excitation.design.criteria import (
    CRITERIA,
    NORMALISATIONS,
    Options,
    torque_weights,
)
from robodyn_ros.excitation.design.optimize import METHODS, Cancel, Optimised, Progress, optimise
from robodyn_ros.excitation.design.problem import MOTIONS, SAMPLES, Design
from robodyn_ros.excitation.limits.bounds import Margins
from robodyn_ros.excitation.limits.constraints import PathLimit, TorqueLimit
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.joint_moves import RISE
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.springs import SPRING_PARAMETERS

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """One option.

    :param kind: type of the value, or of each of several values
    :param default: None: not given
    :param unit: unit or placeholder of the value in a help text
    :param count: number of values; 0: any number
    """

    kind: type
    default: Any
    text: str
    unit: str = ''
    choices: tuple[str, ...] = ()
    count: int = 1


_MARGINS = tuple(item.name for item in fields(Margins))

MOTION = {
    'criterion': Setting(str, 'cond', 'criterion to minimise', choices=CRITERIA),
    'motion': Setting(str, 'fourier', 'kind of motion', choices=MOTIONS),
    'duration': Setting(float, 20.0, 'duration of the motion', 'S'),
    'harmonics': Setting(
        int, 5, 'harmonics of a series; sines of a sum; half the via-points', 'N',
    ),
    'cycles': Setting(
        float, float(CYCLES), 'smallest number of cycles of each joint, as identifications ask '
        'for; 0: any', 'N',
    ),
    'fly_by': Setting(
        float, 1.0, 'via-points: share of the ramps in which moves overlap; 0: stops', 'SHARE'
    ),
    'rise': Setting(
        float, RISE, 'via-points: share of a ramp in which the acceleration rises; 0: trapezoidal '
        'velocity, largest 0.5', 'SHARE',
    ),
    'samples': Setting(int, SAMPLES, 'samples for the criterion', 'N'),
    'position': Setting(
        float, None, 'start and end of the motion, rad or m; not given: middle of the free '
        'ranges',
        'Q', count=0,
    ),
    'normalised_share': Setting(
        float, 0.0, 'share of the column-normalised condition number in the criterion', 'SHARE'
    ),
    'nominal_torques': Setting(
        float, None, "nominal torques as row weights of the joints, Nm or N", 'T', count=0
    ),
    'normalise_torques': Setting(
        str, 'divide', 'use of nominal torques: multiply is Eq. 8 of the local identification '
        'document and favours large axes', choices=NORMALISATIONS,
    ),
}  # fmt: skip
SPACE = {
    'self_collision': Setting(
        bool, None, 'avoid collisions of links, by their <collision> geometry; not given: if '
        'the URDF has such geometry',
    ),
    'collision_only': Setting(
        bool, False, 'use <collision> geometry only; not given: links without it are checked by '
        'their visual shapes, or by capsules',
    ),
    'clearance': Setting(float, CLEARANCE, 'smallest distance of links', 'M'),
    'srdf': Setting(str, None, 'SRDF file; pairs of links it disables are left out', 'FILE'),
    'box': Setting(
        float, None, 'keep the robot inside: x, y, z of the lower and of the upper corner, base '
        'frame', 'M', count=6
    ),
    'floor': Setting(float, None, 'keep the robot above this z, base frame', 'M'),
    'obstacles': Setting(
        float, None, 'boxes the robot must not enter: x, y, z of the lower and of the upper '
        'corner of each, base frame', 'M', count=0,
    ),
    'frames': Setting(
        str, None, 'links (or tool) to which box and floor apply; not given: all moving '
        'collision geometry', 'LINK', count=0,
    ),
}  # fmt: skip
"""Options of the check of every motion, designed or not."""
LIMITS = {
    **{
        f'{name}_margin': Setting(float, 0.0, f'unused share of the {name} limits', 'SHARE')
        for name in _MARGINS
    },
    # a controller overshoots, and many drives stop at a position limit
    'position_margin': Setting(
        float, 0.05, 'unused share of the position limits: of half the range, at each end', 'SHARE'
    ),
    'conservative': Setting(
        bool, False, 'use bounds on the coefficients (Eq. 17) instead of the limits'
    ),
    'torque_limits': Setting(
        bool, False, "keep the effort limits, with the model's a-priori values"
    ),
    **SPACE,
}  # fmt: skip
SEARCH = {
    'time': Setting(float, 60.0, 'time budget, which determines the extent of the search', 'S'),
    'seed': Setting(int, 0, 'seed of the random starts: the same seed gives the same motion', 'N'),
    'method': Setting(str, 'gradient', 'search method', choices=METHODS),
    'starts': Setting(int, 0, 'random starts, 0: by the time budget', 'N'),
    'processes': Setting(
        int, None, 'processes for the search, 0: this one; not given: one per core', 'N'
    ),
}  # fmt: skip
RANGES = {
    'duration': (1e-3, 1e4), 'harmonics': (1, 100), 'samples': (1, 100_000), 'time': (1e-3, 1e6),
    'seed': (0, 2**62), 'starts': (0, 10**6), 'processes': (0, 1000), 'floor': (-1e3, 1e3),
    'clearance': (0.0, 10.0), 'cycles': (0.0, 100.0),
}  # fmt: skip
"""Smallest and largest value of options; a search with other values is not useful."""
OPTIONS: dict[str, Setting] = {**MOTION, **LIMITS, **SEARCH}


def make_design(
    values: Values,
    model: DynamicModel,
    limits: JointLimits,
    *,
    urdf: str = '',
    rules: Sequence[PathLimit] = (),
    surroundings: Surroundings = NOTHING,
) -> Design:
    """Build a design from options.

    :param values: values of some `OPTIONS`; the others have their defaults
    :param urdf: file of the robot, or its text, with the collision geometry
    :raises MotionError: values that cannot be used
    """
    given = check_options(values)
    weights = None
    if given['nominal_torques']:
        weights = torque_weights(given['nominal_torques'], given['normalise_torques'])
    coverage = collision_coverage(values, model.joint_names, urdf, surroundings)
    margins = _margins(given)
    torque = [_torque_limit(model, margins.narrow(limits))] if given['torque_limits'] else []
    return Design(
        model=model,
        limits=limits,
        criterion=Options(given['criterion'], weights, given['normalised_share']),
        motion=given['motion'],
        duration=given['duration'],
        harmonics=given['harmonics'],
        position=given['position'] or None,
        samples=given['samples'],
        cycles=given['cycles'],
        margins=margins,
        fly_by=given['fly_by'],
        rise=given['rise'],
        conservative=given['conservative'],
        rules=(*rules, *torque, *coverage.limits),
        coverage=coverage,
    )


def collision_coverage(
    values: Values, joints: Sequence[str], urdf: str, surroundings: Surroundings = NOTHING
) -> Coverage:
    """Return the coverage of the collision check of these joints, according to the options.

    :raises MotionError: values that cannot be used
    """
    return cover(check_options(values), urdf, joints, surroundings)


def search(
    design: Design,
    values: Values,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Optimised:
    """Search a motion according to the options; see `optimise`."""
    given = check_options(values)
    return optimise(
        design,
        seconds=given['time'],
        seed=given['seed'],
        method=given['method'],
        starts=given['starts'],
        processes=given['processes'],
        progress=progress,
        cancel=cancel,
    )


def check_options(values: Values) -> dict[str, Any]:
    """Check what can be checked without the robot; return the values of all options.

    :param values: values of some `OPTIONS`; the others have their defaults
    :raises MotionError: naming the option, the expected values and the value
    """
    for name, value in values.items():
        if name not in OPTIONS:
            raise MotionError(f'a design has no option {name!r}, there are: {", ".join(OPTIONS)}')
        option = OPTIONS[name]
        if value is None:  # null in a file
            continue
        if option.choices and value not in option.choices:
            raise MotionError(
                f'{name} must be one of {", ".join(option.choices)}, got {value!r:.60}'
            )
        _check_values(name, value)
    given = {name: option.default for name, option in OPTIONS.items()}
    given |= {name: value for name, value in values.items() if value is not None}
    _margins(given)
    free_space(given['box'], given['floor'])
    obstacle_boxes(given['obstacles'])
    return given


def _margins(given: Values) -> Margins:
    return Margins(**{name: given[f'{name}_margin'] for name in _MARGINS})


def _check_values(name: str, value: Any) -> None:
    """Refuse values of another type, and numbers that are infinite or out of their range."""
    option = OPTIONS[name]
    many = option.count != 1
    if many and (isinstance(value, (str, Mapping)) or not isinstance(value, Sequence)):
        raise MotionError(f'{name} must be a list, got {value!r:.60}')
    if option.kind is str and many and not all(isinstance(item, str) for item in value):
        raise MotionError(f'{name} must be a list of names, got {value!r:.60}')
    if option.kind not in (int, float) or name in ('box', 'obstacles'):
        return
    each = value if many else [value]
    finite = all(isinstance(item, (int, float)) and abs(item) <= NUMBER.most for item in each)
    low, high = RANGES.get(name, (-np.inf, np.inf))
    if name in RANGES and not (finite and low <= value <= high):
        raise MotionError(f'{name} must be from {low:g} to {high:g}, got {value!r:.60}')
    if not finite:
        raise MotionError(f'{name} must be finite numbers, got {value!r:.60}')


def _torque_limit(model: DynamicModel, limits: JointLimits) -> TorqueLimit:
    """Make the limit of efforts by a-priori values, without unknown friction."""
    prior = model.prior()
    for index in np.flatnonzero(np.isnan(prior)):
        name = model.parameters[index].name
        if name.rsplit('.', 1)[-1] not in FRICTION_PARAMETERS | SPRING_PARAMETERS:
            raise MotionError(
                f'torque limits need a model with a-priori values, and {name} has none'
            )
    if not np.isfinite(limits.effort).any():
        raise MotionError('torque limits need the effort limit of a joint, and no joint has one')
    return TorqueLimit(tuple(np.nan_to_num(prior).tolist()), tuple(limits.effort.tolist()))
