# SPDX-License-Identifier: Apache-2.0
"""Motions in the files that `advise` and `motion` take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import build_motion, load_motion
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.robot_file import read_part


def read_motion(path: str | Path, joints: tuple[str, ...], kind: str = '') -> Trajectory:
    """Read a motion file, or the motion in a robot file or a parameter file of excitation.

    :param kind: only kind that is accepted; '': any
    :raises MotionError: it cannot be read, or has no motion that can be built
    """
    part = read_part(path, 'excitation', 'the motion file', MotionError)
    document = part.content.get('motion') if part.robot else part.content
    alone = isinstance(document, Mapping) and 'kind' in document and not part.robot
    if isinstance(document, Mapping) and 'kind' not in document:
        document = in_parameters(document)
    present = document.get('kind') if isinstance(document, Mapping) else None
    if kind and present != kind:
        got = f'kind {present!r}' if present else 'no motion'
        raise MotionError(f'{path} must hold a motion of kind {kind}, got {got}')
    if alone:
        return load_motion(path)
    if not isinstance(document, Mapping):
        raise MotionError(f'{path} has no motion: a key "kind" or a section "motion" is missing')
    if present == 'optimised':
        raise MotionError(f'{path}: its motion is designed when it is needed: use robodyn excite')
    try:
        return build_motion({'joints': list(joints), **document})
    except MotionError as error:
        raise MotionError(f'{path}: {error}') from error


def in_parameters(document: Any) -> Any:
    """Return the first mapping `motion` in a ROS parameter file, or None."""
    if not isinstance(document, Mapping):
        return None
    parameters = document.get('ros__parameters')
    if isinstance(parameters, Mapping) and isinstance(parameters.get('motion'), Mapping):
        return parameters['motion']
    deeper = (in_parameters(value) for value in document.values())
    return next((motion for motion in deeper if motion is not None), None)
