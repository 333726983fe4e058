# SPDX-License-Identifier: Apache-2.0
"""Rows of a complete model: their torque is the model's, and folds follow other samples."""

from __future__ import annotations

import numpy as np
import pytest
from robots import random_urdf
from simulation import record

from robodyn_ros.identification.fit.folds import labels_of, least_squares
from robodyn_ros.identification.friction.model_rows import ModelRows
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.catalog import robot_model, with_friction

BODY = robot_model(random_urdf(2, 81, types=('revolute',)), friction=())
OWN = np.nan_to_num(BODY.prior(), nan=0.3)
LAW = {'terms': ['smooth', 'load', 'balancer'], 'smoothing': [0.1, 0.3], 'load': OWN.tolist()}
SPRINGS, FRICTION = [[3.0, -1.0], [0.0, 2.0]], [[1.0, 4.0, 0.3, 0.2], [0.5, 2.0, -0.1, 0.1]]


def rows_of(law, values, noise=0.0, **options):
    model = with_friction(BODY, law)
    recording = record(model, values, 1500, noise=noise, **options)
    return ModelRows.of(model, process(recording, model.joint_names, IdentifyOptions()))


def test_rows_times_the_parameters_are_the_torque():
    values = np.concatenate([OWN, np.ravel(SPRINGS), np.ravel(FRICTION)])
    found = rows_of(LAW, values)
    for rows, own in zip(found.rows, found.columns, strict=True):
        assert np.linalg.norm(rows[:, -1]) > 10.0
        predicted = rows[:, :-1] @ (found.grouping @ values)[own]
        np.testing.assert_allclose(predicted, rows[:, -1], atol=1e-9)
    expected = [np.sqrt(np.mean(r[found.used[:, k], -1] ** 2)) for k, r in enumerate(found.rows)]
    np.testing.assert_allclose(found.torque, expected)


def test_folds_are_those_of_the_nearest_samples_and_errors_relative():
    values = np.concatenate([OWN, np.ravel([[1.0, 2.0, 0.1]] * 2)])
    found = rows_of('linear', values, noise=0.1)
    labels = labels_of(found.position[::7])
    own = found.labels(labels, found.time[::7])
    for kind, given in zip(own, labels, strict=True):
        np.testing.assert_array_equal(kind[::7], given)
        assert (kind[3:-4:7] == given[:-1])[: len(given) - 1].mean() > 0.9
    folds, size = found.divide_weighted(own), np.array([2.0, 5.0])
    assert folds.count == (10, 6)
    # Joints are weighted by their residual, which is the noise: the mean square is one.
    whole = folds.weighted[0].sum(axis=0)
    left = np.append(least_squares(whole), -1.0)
    assert left @ whole @ left == pytest.approx(1.0, rel=0.02)
    judged = found.divide_relative(own, size)
    torque = [np.sum(rows[:, -1] ** 2) / s**2 for rows, s in zip(found.rows, size, strict=True)]
    assert judged.torque_square == pytest.approx(np.sum(torque) / found.used.sum())
