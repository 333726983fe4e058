# SPDX-License-Identifier: Apache-2.0
"""Rows of a robot with friction and springs at some thousand samples of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.fit.folds import Folds, Labels, least_squares
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.friction import FrictionModel, body_of
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.springs import SpringModel


@dataclass(frozen=True)
class ModelRows:
    """Rows [Y | tau] of every joint.

    Y has the base columns of the body, and all columns of friction and springs.

    :param rows: per joint, shape (m, k + 1); rows that do not count are zero
    :param columns: per joint, which of the b columns of all joints these are, shape (k,)
    :param grouping: matrix G with Y p = Y[b columns] (G p), shape (b, p)
    :param used: rows that count, shape (m, n)
    :param time: of each row, shape (m,), in [s]
    :param position: at each row, shape (m, n), in [rad] or [m]
    """

    rows: tuple[Array, ...]
    columns: tuple[NDArray[np.intp], ...]
    grouping: Array
    used: NDArray[np.bool_]
    time: Array
    position: Array

    @classmethod
    def of(cls, model: DynamicModel, signals: Processed) -> ModelRows:
        """Compute the rows of signals.

        :param model: a body, with or without friction and springs of known shapes
        """
        body = body_of(model)
        return cls.of_sample(model, FrictionSample.of(body, base_parameters(body), signals))

    @classmethod
    def of_sample(cls, model: DynamicModel, sample: FrictionSample) -> ModelRows:
        """Compute the rows of a sample of the body of a model."""
        body = body_of(model)
        base, size = base_parameters(body), len(body.parameters)
        joints = range(sample.joints)
        rows = [[sample.rigid[:, joint] * sample.used[:, [joint]]] for joint in joints]
        columns = [[np.arange(base.rank)] for _ in joints]
        for part, place in parts_of(model):
            if not isinstance(part, (FrictionModel, SpringModel)):
                continue
            load, known = None, {}
            if isinstance(part, FrictionModel):
                known = part.coefficients
                if part.load is not None:
                    load = np.abs(sample.rigid @ (base.grouping @ part.load.values))
            for joint in joints:
                shape = {name: float(values[joint]) for name, values in known.items()}
                first = base.rank + place.start - size + joint * len(part.terms)
                rows[joint].append(sample.columns(part.terms, joint, shape, load))
                columns[joint].append(first + np.arange(len(part.terms)))
        others = len(model.parameters) - size
        grouping = np.zeros((base.rank + others, size + others))
        grouping[: base.rank, :size], grouping[base.rank :, size:] = base.grouping, np.eye(others)
        torque = sample.torque * sample.used
        return cls(
            tuple(np.column_stack([*rows[joint], torque[:, joint]]) for joint in joints),
            tuple(np.concatenate(indices) for indices in columns),
            grouping,
            sample.used,
            sample.time,
            sample.position,
        )

    @property
    def torque(self) -> Array:
        """RMS torque of each joint, shape (n,), in [Nm] or [N]."""
        square = np.array([matrix[:, -1] @ matrix[:, -1] for matrix in self.rows])
        return np.asarray(np.sqrt(square / np.maximum(self.used.sum(axis=0), 1)))

    def labels(self, labels: Sequence[Labels], time: Array) -> list[Labels]:
        """Return the fold of each row: that of the nearest of other samples.

        :param labels: folds of these for every kind, shape (k,)
        :param time: of these, shape (k,), in [s]
        """
        nearest = np.searchsorted(0.5 * (time[1:] + time[:-1]), self.time)
        return [kind[nearest] for kind in labels]

    def divide_weighted(self, labels: Sequence[Labels]) -> Folds | None:
        """Divide the rows to fit them, joints weighted; None: too few of them have torque."""
        return self._divide(labels, self._sigma())

    def divide_relative(self, labels: Sequence[Labels], size: Array) -> Folds | None:
        """Divide the rows to measure errors relative to a torque (n,) of each joint."""
        rows = tuple(matrix / one for matrix, one in zip(self.rows, size, strict=True))
        return replace(self, rows=rows)._divide(labels, np.ones(len(size)))

    def _sigma(self) -> Array:
        """Return the RMS residual of each joint by weighted least squares, shape (n,)."""
        grams = [rows.T @ rows for rows in self.rows]
        counts, sigma = np.maximum(self.used.sum(axis=0), 1), self.torque
        least, width = np.maximum(1e-4 * sigma, 1e-12), len(self.grouping)
        for _ in range(3):
            total = np.zeros((width + 1, width + 1))
            places = [np.append(indices, width) for indices in self.columns]
            for gram, place, size in zip(grams, places, np.maximum(sigma, least), strict=True):
                total[np.ix_(place, place)] += gram / size**2
            values = np.append(least_squares(total), -1.0)
            left = [
                values[place] @ gram @ values[place]
                for gram, place in zip(grams, places, strict=True)
            ]
            sigma = np.sqrt(np.maximum(left, 0.0) / counts)
        return np.maximum(sigma, least)

    def _divide(self, labels: Sequence[Labels], sigma: Array) -> Folds | None:
        width = len(self.grouping)
        return Folds.of(self.rows, self.columns, width, labels, self.used, sigma)
