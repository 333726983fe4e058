# SPDX-License-Identifier: Apache-2.0
"""Plain least squares as a candidate of every identification: it bounds what choices can cost.

Choices are made one after the other, each with the others as they are. All together they may still
be worse than none of them: linear friction, hardly a prior, no limits, no time offset, and a usual
cut-off. Both are fitted without each block of time and each region of the workspace, and predict
the torque there. The torque is that below the cut-off of the complete identification, which keeps
the noise of the position small: the parameters that predict noise best are too small.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.fit.choice import INDEPENDENT, HeldOut
from robodyn_ros.identification.fit.folds import labels_of
from robodyn_ros.identification.fit.success import SMALL_TORQUE, rated_torque
from robodyn_ros.identification.friction.model_rows import ModelRows
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.chosen_estimate import Selection
from robodyn_ros.identification.physical.consistency import links_are_consistent
from robodyn_ros.identification.physical.selection import CONTRADICTED, make_refit
from robodyn_ros.identification.physical.semidefinite import WEAKEST, Problem, starting_prior
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.friction import body_of, find_unspecified
from robodyn_ros.models.friction_terms import DEFAULT_TERMS
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part

SMALL = 0.1
"""Held-out error, relative to the torque, below which no consistent estimate is replaced."""
USUAL_CUTOFF = 10.0
"""Cut-off of plain least squares, in [Hz]: arms move below it, their gears vibrate above it."""


def plain_if_better(run: IdentificationRun) -> tuple[IdentificationRun, Finding] | None:
    """Return the run by plain least squares, and why, where it predicts better.

    It must do so on blocks of time and on regions of the workspace.

    :return: None: it does not, or it is no candidate
    """
    task = plain_task(run.task)
    if task is None:
        return None
    with suppress(RobodynError, np.linalg.LinAlgError):  # then there is nothing to compare
        errors = compare_held_out(run, task)
        if errors is not None and _is_better(*errors) and not _is_good(run, errors[0]):
            plain = IdentificationRun.of(task)
            # The cut-off is no wish of the user that could be checked.
            plain.task = replace(plain.task, options=run.task.options)
            ours, theirs = (float(np.sqrt(each.mean)) for each in errors)
            cutoff = task.options.filter_cutoff
            return plain, finding('plain_fit_better', plain=theirs, chosen=ours, cutoff=cutoff)
    return None


def plain_task(task: Task) -> Task | None:
    """Return a task with plain least squares for all that is chosen automatically.

    :return: None: the robot has no URDF, or an option names another estimate
    """
    model, options, friction = task.model, task.options, find_unspecified(task.model)
    named = options.ridge is not None or options.estimator != 'wls'
    partly = friction is not None and not friction.automatic
    if task.known is not None or named or partly or rigid_part(model) is None:
        return None
    if friction is not None:
        model = with_friction(body_of(model), DEFAULT_TERMS)
    rate = 1.0 / max(recording.period for recording in task.recordings)
    cutoff = options.filter_cutoff or min(USUAL_CUTOFF, 0.2 * rate)
    plain = replace(options, filter_cutoff=cutoff, time_offset='no')
    if options.consistent == 'auto':
        plain = replace(plain, consistent='no', ridge=WEAKEST)
    elif options.consistent == 'yes':
        plain = replace(plain, prior='none')
    return replace(task, model=model, options=plain)


def compare_held_out(run: IdentificationRun, task: Task) -> tuple[HeldOut, HeldOut] | None:
    """Return held-out errors of a run and of plain least squares, relative to the torque.

    Those of a joint with little torque are relative to a share of its rated torque.

    :return: None: too few samples for held-out errors
    """
    index = int(np.argmax([each.raw.used.sum() for each in run.prepared.parts]))
    chosen = run.prepared.parts[index]
    raw, parts = chosen.raw, chosen.shown
    plain = task.process(task.recordings[index], grid=chosen.grid).shown
    body = body_of(task.model)
    base = base_parameters(body)
    sample = FrictionSample.of(body, base, parts.to_estimate())
    ours = ModelRows.of_sample(run.prepared.model, sample)
    if parts is not raw:  # each predicts the measured torque, the one with its time offsets
        sample = FrictionSample.of(body, base, raw.to_estimate())
    target = ModelRows.of_sample(task.model, sample)
    fitted = ModelRows.of(task.model, plain.to_estimate())
    small = SMALL_TORQUE * rated_torque(task.model, target.torque)
    size = np.maximum(np.maximum(target.torque, small), 1e-12)
    labels = labels_of(ours.position)
    errors = []
    for setup, model, selection, rows, judged in (
        (run.task, run.prepared.model, run.estimated.selection, ours, ours),
        (task, task.model, _selection(task.options), fitted, target),
    ):
        folds = rows.divide_weighted(rows.labels(labels, ours.time))
        others = judged.divide_relative(judged.labels(labels, ours.time), size)
        if folds is None or others is None or folds.count != others.count:
            return None
        problem = _problem(model, rows, setup.options)
        errors.append(folds.held_out(make_refit(problem, selection), others)[0])
    return errors[0], errors[1]


def _problem(model: DynamicModel, rows: ModelRows, options: IdentifyOptions) -> Problem:
    prior, _ = starting_prior(model, options.prior)
    return replace(Problem.of(model, base_parameters(model), prior), grouping=rows.grouping)


def _is_better(chosen: HeldOut, plain: HeldOut) -> bool:
    """Return True if plain least squares predicts better, on each kind of folds."""
    if min(chosen.independent, plain.independent) < INDEPENDENT:
        return False
    pairs = zip(chosen.kinds, plain.kinds, strict=True)
    return all(CONTRADICTED**2 * other.sum() < errors.sum() for errors, other in pairs)


def _is_good(run: IdentificationRun, chosen: HeldOut) -> bool:
    """Return True if a robot that can exist explains the recording: it is not given up."""
    consistent = links_are_consistent(run.prepared.model, run.estimated.values)
    return consistent and float(np.sqrt(chosen.mean)) < SMALL


def _selection(options: IdentifyOptions) -> Selection:
    """Return the estimate of plain least squares."""
    if options.ridge is not None:
        return Selection('ridge', prior_weight=options.ridge)
    if options.consistent == 'yes':
        return Selection('consistent', prior_weight=WEAKEST)
    return Selection('unconstrained')
