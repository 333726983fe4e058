# SPDX-License-Identifier: Apache-2.0
"""Conversion of recordings to Nm or N at the joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.effort.declaration import EffortDeclaration, missing_declaration
from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import DynamicModel, Joint, parts_of
from robodyn_ros.models.springs import SpringModel
from robodyn_ros.recording.bags.bag_metadata import bag_metadata
from robodyn_ros.recording.readers import recording_format
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.storage import blockwise
from robodyn_ros.recording.tables.columns import load_columns


def in_si_units(
    recording: Recording,
    path: str | Path,
    declared: Sequence[EffortDeclaration],
    model: DynamicModel | None = None,
    *,
    columns: Mapping[str, object] | str | Path | None = None,
) -> Recording:
    """Return a recording that was read from `path` with its torque in Nm or N at the joint.

    Tables and mapped columns are in SI units by definition and not converted. The
    effort of a bag is declared by its metadata or by `declared`; all of them must agree.

    :param declared: declarations of the user or the parameters, in the order of their priority
    :param model: model to be identified; the types of its joints are compared with the units, and
        it must have no gravity if the effort has none
    :param columns: the mapping with which the recording was read
    :raises ConfigError: nothing is declared, the torque is an error of position of unknown gain,
        two declarations differ, one cannot be used, or the
        effort has no gravity and the model does; for a table: the declaration of highest priority
        is not Nm or N with gravity, and the mapping has neither unit nor scale of the torque
    """
    if recording.drive is not None and not recording.drive.known:
        raise ConfigError(
            f'{path} has no torque but commanded positions: commanded minus measured position is '
            f'the signal of the torque, in an unknown unit. robodyn gains estimates the torque '
            f'per rad or m of each joint, and writes a mapping for --columns'
        )
    if recording.drive is not None:
        return recording
    torque = None if columns is None else load_columns(columns).get('torque')
    if not recording_format(path).startswith('rosbag'):
        if declared and not (isinstance(torque, Mapping) and {'unit', 'scale'} & torque.keys()):
            _check_table(declared[0], recording.joints, path)
        return recording
    if torque is not None:
        return recording
    stored = bag_declaration(path)
    every = [*declared] if stored is None else [stored, *declared]
    conversion = common_declaration(every, recording.joints, str(path)).for_joints(
        _joints(recording, model)
    )
    if model is not None:
        check_gravity(conversion, model)
    if conversion.feedback_is_si:
        return recording
    torque = blockwise(lambda part: conversion.feedback(np.array(part)), recording.torque)
    return replace(recording, torque=torque)


def _check_table(declared: EffortDeclaration, joints: Sequence[str], path: str | Path) -> None:
    """Refuse a declaration that would be ignored, because tables are in SI units.

    :raises ConfigError: it declares another effort than Nm or N with gravity
    """
    conversion = declared.for_joints(joints)
    other = (conversion.scale != 1.0) | conversion.gravity_excluded
    if other.any():
        joint = int(np.argmax(other))
        raise ConfigError(
            f'{declared.source}: the effort of joint {joints[joint]!r} is '
            f'{conversion.describe(joint)}, but {path} is a table, whose torque is in Nm or N '
            f'unless a column mapping gives its unit or scale. Give such a mapping (--columns, or '
            f'the parameter `columns` of a node), with `torque: {{unit: Nm}}` if this table is in '
            f'Nm or N already. Commands also take `--effort Nm` then'
        )


def bag_declaration(path: str | Path) -> EffortDeclaration | None:
    """Return the declaration in a bag, or None.

    :raises ConfigError: it cannot be used
    """
    return EffortDeclaration.from_metadata(bag_metadata(path), source=f'the bag {path}')


def common_declaration(
    declared: Sequence[EffortDeclaration], joints: Sequence[str], what: str
) -> EffortDeclaration:
    """Return the first of some declarations, all of which mean the same for these joints.

    :raises ConfigError: there is none, or two differ
    """
    if not declared:
        raise missing_declaration(what)
    conversions = [each.for_joints(joints) for each in declared]
    first = conversions[0]
    for source, second in zip(declared[1:], conversions[1:], strict=True):
        same = np.isclose(first.scale, second.scale, rtol=1e-6, atol=0.0)
        same &= first.gravity_excluded == second.gravity_excluded
        if not same.all():
            joint = int(np.flatnonzero(~same)[0])
            raise ConfigError(
                f'the effort of joint {joints[joint]!r} is {first.describe(joint)} according to '
                f'{declared[0].source}, but {second.describe(joint)} according to '
                f'{source.source}: correct or leave out one of them'
            )
    return declared[0]


def _joints(recording: Recording, model: DynamicModel | None) -> list[str] | list[Joint]:
    known = {joint.name: joint for joint in model.joints} if model is not None else {}
    if all(name in known for name in recording.joints):
        return [known[name] for name in recording.joints]
    return list(recording.joints)


def check_gravity(conversion: EffortConversion, model: DynamicModel) -> None:
    """Refuse to identify a model with gravity from efforts without it.

    :raises ConfigError: naming the joint
    """
    without = dict(zip(conversion.joints, conversion.gravity_excluded, strict=True))
    felt = _feels_gravity(model)
    for index, name in enumerate(model.joint_names):
        if without.get(name, False) and felt[index]:
            raise ConfigError(
                f'the effort of joint {name!r} is declared without gravity, but the model has '
                f'gravity on that joint: identify a model without gravity (gravity 0 0 0), or '
                f'record an effort that includes it'
            )


def _feels_gravity(model: DynamicModel) -> NDArray[np.bool_]:
    """Return which joints have gravity in the model, bool of shape (n,)."""
    share = np.random.default_rng(0).uniform(-0.9, 0.9, (20, len(model.joints)))
    still, felt = np.zeros_like(share), np.zeros(len(model.joints), dtype=bool)
    for part, _ in parts_of(model):
        if not isinstance(part, (FrictionModel, SpringModel)):
            regressor = part.regressor(part.positions(share), still, still)
            felt |= (np.abs(regressor) > 1e-9).any(axis=(0, 2))
    return felt
