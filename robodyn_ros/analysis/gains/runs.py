# SPDX-License-Identifier: Apache-2.0
"""Condensed recordings of the signals of drives, with friction in the unit of the signal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from robodyn_ros.errors import IdentificationError, RecordingError
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.factors.passes import condense_parts
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.steps.preparation import Clock, Task, prepare
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.springs import SpringModel
from robodyn_ros.recording.recording import Recording

SLOW = 0.2
"""Speed of a joint below which its errors of position do not count, as a share of its RMS:
stiction and the resolution of the encoder decide there."""

CUTOFFS = 6.0, 12.0
"""Other cut-offs for errors of position, in [Hz]: what changes with them is not in the noise."""


def condense_runs(
    task: Task, arms: Sequence[Array] = ()
) -> tuple[BaseParameters, list[Condensed]]:
    """Return the base parameters of the arm, and the factors of each recording.

    :param arms: rigid base values (r,) of the arm with its load in each recording: friction gets a
        term that is proportional to the absolute torque of these; empty: without that term
    :raises IdentificationError: friction or springs that a signal without unit cannot have
    """
    _check_friction(task.model)
    with threadpool_limits(limits=1, user_api='blas'):
        prepared = prepare(task, Clock())
        models = [prepared.model] * len(prepared.parts)
        if arms:
            models = [_with_load(prepared.model, arm) for arm in arms]
        base = base_parameters(models[0])
        pairs = zip(models, prepared.parts, strict=True)
        return base, [condense_parts(model, each, base, task.options) for model, each in pairs]


def check_same_signal(recordings: Sequence[Recording]) -> None:
    """Refuse recordings with torque or current together with ones with error of position.

    :raises RecordingError: names the first one that differs from the first of all
    """
    first = recordings[0]
    for each in recordings[1:]:
        if (each.drive is None) != (first.drive is None):
            raise RecordingError(
                f'{each.source}: its signal is {_signal(each)}, that of {first.source} '
                f'{_signal(first)}: all recordings must have the same signal'
            )


def _signal(recording: Recording) -> str:
    return 'a torque or current' if recording.drive is None else 'the error of position'


def drive_options(recording: Recording) -> IdentifyOptions:
    """Return the options for a recording, whose torque may be the error of position."""
    if recording.drive is None:
        return IdentifyOptions()
    speed = np.gradient(recording.position, recording.time, axis=0)
    threshold = SLOW * np.sqrt(np.mean(speed**2, axis=0))
    return IdentifyOptions(velocity_threshold=tuple(threshold.tolist()))


def variants(task: Task) -> Iterator[Task]:
    """Yield tasks with other cut-offs, and with another delay, of recordings of positions.

    The resolution of the encoder is in motion and torque, and the delay is estimated: both move
    the estimate by more than noise does.
    """
    drive = task.recordings[0].drive
    if drive is None:
        return
    for cutoff in CUTOFFS:
        yield replace(task, options=replace(task.options, filter_cutoff=cutoff))
    later = replace(drive, delay=drive.delay + drive.delay_error)
    yield replace(task, recordings=tuple(each.with_drive(later) for each in task.recordings))


def find_rigid(model: DynamicModel, base: BaseParameters) -> NDArray[np.bool_]:
    """Return which base columns are those of the rigid body, bool of shape (b,)."""
    rigid = np.zeros(base.rank, dtype=bool)
    for part, place in parts_of(model):
        if not isinstance(part, FrictionModel):
            rigid |= (base.columns >= place.start) & (base.columns < place.stop)
    return rigid


def carry(base: BaseParameters, rigid: NDArray[np.bool_], added: Array) -> Array:
    """Return the rigid base values (r, ...) that are added to parameters (p, ...) of the arm.

    Those of the body come first in every model of it.
    """
    count = int(np.flatnonzero(base.grouping[rigid].any(axis=0)).max()) + 1
    return np.asarray(base.grouping[rigid, :count] @ added[:count])


def _with_load(model: DynamicModel, arm: Array) -> DynamicModel:
    """Return the model with load-dependent friction of an arm with rigid base values (r,)."""
    parts = [part for part, _ in parts_of(model)]
    if len(parts) != 2 or not isinstance(parts[1], FrictionModel):
        return model
    body, friction = parts[0], parts[1]
    base, values = base_parameters(model), np.zeros(len(body.parameters))
    values[base.columns[find_rigid(model, base)]] = arm
    coefficients = {name: each.tolist() for name, each in friction.coefficients.items()}
    law = {'terms': [*friction.terms, 'load'], 'load': values.tolist(), **coefficients}
    return with_friction(body, law)


def _check_friction(model: DynamicModel) -> None:
    for part, _ in parts_of(model):
        if isinstance(part, FrictionModel) and (part.automatic or part.load_dependent):
            raise IdentificationError(
                'gains finds load-dependent friction itself: give --friction '
                'viscous,coulomb,offset (the default) or smooth'
            )
        if isinstance(part, SpringModel):
            raise IdentificationError('gains estimates no springs: leave them out of --friction')
