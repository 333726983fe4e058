# SPDX-License-Identifier: Apache-2.0
"""Spectrum of the residuals, and its effect on the covariance of an estimate.

Residuals are correlated in time. With their autocovariance G the covariance of least squares is

    (A^T A)^-1 A^T G A (A^T A)^-1

(White, "Asymptotic theory for econometricians", 1984, Theorem 6.3), A and G of all joints. Each
joint's part of G is that of an autoregressive model of its residual. A^T G A is computed in the
frequency domain, on a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft

from robodyn_ros.identification.factors.row_sample import Indices, RowSample, RowSegment
from robodyn_ros.identification.fit.choice import FOUR
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.models.interface import Array


def score_covariance(sample: RowSample, fit: Estimate, *, mixing: Array | None = None) -> Array:
    """A_i^T G_ij A_j of joints i and j, shape (n, n, b, b), variances of residuals taken as 1.

    G_ij is the covariance of the joints' residuals: each is filtered innovations, and
    those of different joints go together at the same time only (Parks, "Efficient estimation of
    a system of regression equations when disturbances are both serially and contemporaneously
    correlated", 1967).

    :param mixing: joints are decoupled by this matrix (n, n) first, see `covariance`
    """
    count = len(sample.columns)
    mixing = np.eye(count) if mixing is None else mixing
    step = -(-len(sample.segments) // 4)  # four segments give the spectrum
    chosen = range(0, len(sample.segments), step)
    parts = [_spectra(sample.segments[k], sample) for k in chosen]
    root = _root(np.nan_to_num(fit.covariance))
    samples = sum(part.samples for part in parts)
    share = sample.total / max(samples, 1)
    joints = [_joint(parts, mixing[k], fit, root, k) for k in range(count)]
    together = _correlation([joint.innovations for joint in joints], samples)
    products = np.zeros((count, count, sample.width, sample.width))
    for one, row in enumerate(joints):
        for other, its in enumerate(joints[: one + 1]):
            if together[one, other]:
                block = share * together[one, other] * (row.rows.T @ its.rows)
                products[one, other][np.ix_(row.columns, its.columns)] = block
                products[other, one][np.ix_(its.columns, row.columns)] = block.T
    return products


@dataclass(frozen=True)
class _Joint:
    """A joint's columns and residual, whitened by the spectrum of the residual.

    :param rows: real and imaginary parts of the columns' spectra times the residual's, its
        variance 1: rows of one joint times those of another are A_i^T G_ij A_j, if their
        innovations are the same
    :param innovations: real and imaginary parts of the spectrum
    """

    columns: Indices
    rows: Array
    innovations: Array


def _joint(parts: list[_Spectra], mixing: Array, fit: Estimate, root: Array, joint: int) -> _Joint:
    """Return the joint of a mixture of joints."""
    columns, residuals = zip(*(part.mix(mixing, fit.values) for part in parts), strict=True)
    acting = np.flatnonzero(np.any([matrix.any(axis=0) for matrix in columns], axis=0))
    columns = tuple(matrix[:, acting] for matrix in columns)
    share = root[acting] / fit.sigma[joint]
    taken = [_energy(matrix, share) for matrix in columns]
    counted = [part.counted[:, joint] for part in parts]
    model = _model([np.abs(rest) ** 2 for rest in residuals], taken, counted)
    rows, innovations = [], []
    for matrix, rest, part in zip(columns, residuals, parts, strict=True):
        inverse = fft.rfft(model, part.length)
        mean = np.ones(len(inverse)) / part.length
        mean[1 : (part.length + 1) // 2] *= 2.0  # negative frequencies are as large
        gain = np.sqrt(mean / (mean @ np.abs(inverse) ** -2.0))
        rows.append(matrix * (gain / inverse.conj())[:, None])
        innovations.append(rest * inverse * np.sqrt(mean))
    spectra, new = np.concatenate(rows), np.concatenate(innovations)
    return _Joint(acting, np.vstack([spectra.real, spectra.imag]), np.append(new.real, new.imag))


def _energy(matrix: Array, share: Array) -> Array:
    """Return the squares of a complex matrix times a real one, added up along its rows."""
    parts = np.vstack([matrix.real, matrix.imag]) @ share
    energy: Array = np.einsum('ij,ij->i', parts, parts)
    return energy[: len(matrix)] + energy[len(matrix) :]


def _correlation(innovations: list[Array], samples: int) -> Array:
    """Return the correlation (n, n) of the joints' innovations; insignificant ones are 0."""
    rows = np.array(innovations)
    size = np.linalg.norm(rows, axis=1)
    rows = rows / np.where(size > 0.0, size, 1.0)[:, None]
    correlation: Array = rows @ rows.T
    correlation[np.abs(correlation) < FOUR / np.sqrt(max(samples, 1))] = 0.0
    np.fill_diagonal(correlation, 1.0)
    return correlation


@dataclass(frozen=True)
class _Spectra:
    """Spectra of a segment's rows [Y | tau], per joint, of an FFT of twice its length.

    :param counted: 1 for samples that count, else 0, shape (m, n)
    """

    joints: list[Array]
    columns: Sequence[Indices]
    width: int
    counted: Array
    length: int

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.counted)

    def mix(self, mixing: Array, values: Array) -> tuple[Array, Array]:
        """Return spectra of the columns (f, b) and the residual (f,) of a mixture of joints."""
        columns = np.zeros((len(self.joints[0]), self.width), dtype=complex)
        torque = np.zeros(len(columns), dtype=complex)
        for joint in np.flatnonzero(mixing).tolist():
            columns[:, self.columns[joint]] += mixing[joint] * self.joints[joint][:, :-1]
            torque += mixing[joint] * self.joints[joint][:, -1]
        return columns, torque - columns @ values


def _spectra(part: RowSegment, sample: RowSample) -> _Spectra:
    count = len(part.used)
    length = int(fft.next_fast_len(2 * count, real=True))
    joints = [fft.rfft(rows, length, axis=0) for rows in part.rows]
    return _Spectra(joints, sample.columns, sample.width, part.used.astype(np.float64), length)


def _root(covariance: Array) -> Array:
    """Return the matrix L with L L^T a covariance."""
    size, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(np.maximum(size, 0.0)))


def _model(energies: list[Array], taken: list[Array], counted: list[Array]) -> Array:
    """Return the prediction error filter [1, -a_1, ..] of an autoregressive model of a residual.

    What the fit took from the residual, mostly at the frequencies of the motion, is added again
    as large as the model has it.

    :param energies: of each segment's residual, at the bins of an FFT of twice its length
    :param taken: share of the energy of one sample that the fit explains, at these bins
    :param counted: 1 for samples that count, else 0, of each segment
    """
    samples = [len(counts) for counts in counted]
    # Akaike's criterion takes a lower order where that is enough. The highest one is that of R's
    # `ar`.
    highest = int(min(10.0 * np.log10(sum(samples)), sum(samples) // 10, min(samples) - 1))
    lengths = [int(fft.next_fast_len(2 * count, real=True)) for count in samples]
    seen = _covariance(energies, lengths, highest)
    if not seen[0] > 0.0:
        return np.ones(1)
    masks = zip(counted, lengths, strict=True)
    pairs = _covariance(
        [np.abs(fft.rfft(c, length)) ** 2 for c, length in masks], lengths, highest
    )
    # Samples that do not count are missing in a part of the products of each lag.
    seen *= sum(samples) / np.maximum(pairs, 0.5 * pairs[0])
    seen *= 1.0 - np.arange(len(seen)) / sum(samples)
    added = np.zeros_like(seen)
    for _ in range(4):
        covariance = seen + added
        model = fit_autoregressive(covariance / covariance[0], sum(samples))
        variance = covariance[0] / sum(samples)
        lost = [
            variance * _power(model, length) * np.minimum(share, count)
            for length, share, count in zip(lengths, taken, samples, strict=True)
        ]
        added = _covariance(lost, lengths, highest)
    return fit_autoregressive((seen + added) / (seen + added)[0], sum(samples))


def _covariance(energies: list[Array], lengths: list[int], highest: int) -> Array:
    """Sum of the autocovariances of segments, lags 0 to highest."""
    result = np.zeros(max(highest, 0) + 1)
    for energy, length in zip(energies, lengths, strict=True):
        result += fft.irfft(energy, length)[: len(result)]
    return result


def fit_autoregressive(correlation: Array, samples: int) -> Array:
    """Return the prediction error filter [1, -a_1, ..] of a signal with this autocorrelation.

    Yule-Walker equations; the order is that of Akaike's smallest criterion.

    :param correlation: of lags 0, 1, ..; the first is 1
    """
    best, chosen, model, left = 0.0, np.ones(1), np.ones(1), 1.0
    for order in range(1, len(correlation)):  # Levinson's recursion
        reflection = -float(model @ correlation[order:0:-1]) / left
        longer = np.append(model, 0.0)
        model, left = longer + reflection * longer[::-1], left * (1.0 - reflection**2)
        if left <= 0.0:
            break
        criterion = samples * np.log(left) + 2.0 * order
        if criterion < best:
            best, chosen = criterion, model
    return chosen


def _power(model: Array, length: int) -> Array:
    """Return power spectrum of an autoregressive model with variance 1, at the bins of an FFT."""
    power: Array = 1.0 / np.abs(fft.rfft(model, length)) ** 2
    total = 2.0 * power.sum() - power[0] - (power[-1] if length % 2 == 0 else 0.0)
    return np.asarray(power * length / total)
