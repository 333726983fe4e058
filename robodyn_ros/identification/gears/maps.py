# SPDX-License-Identifier: Apache-2.0
"""Maps from the deflection of gears to torque (document, Eq. 26 to 39)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class RbfMap:
    """f(u) = sum w_j psi_j(u) / sum psi_j(u), psi_j a Gaussian about a point of a grid.

    A Gaussian over several inputs is the product of one for each, and so is the sum over a grid:
    the normalised functions are products of normalised functions of one input.

    :param centres: of each input, equally spaced over the training range, shape (n, m) each
    :param widths: standard deviation of the Gaussians: half the spacing, shape (n, k)
    :param weights: in [Nm] or [N], shape (n, m1, ..., mk)
    """

    centres: tuple[Array, ...]
    widths: Array
    weights: Array
    kind: str = 'rbf'

    def predict(self, features: Array) -> Array:
        """Return the torque (N, n) from features (N, n, k)."""
        result = np.broadcast_to(self.weights, (len(features), *self.weights.shape))
        for index, centre in enumerate(self.centres):
            basis = normalise_gaussians(features[..., index], centre, self.widths[:, index])
            shape = (*basis.shape, *(1,) * (result.ndim - 3))
            result = (result * basis.reshape(shape)).sum(axis=2)
        return np.asarray(result)

    def arrays(self) -> dict[str, Array]:
        """Return the centres of each input, widths and weights."""
        named = {f'centres_{index}': centre for index, centre in enumerate(self.centres)}
        return {**named, 'widths': self.widths, 'weights': self.weights}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> RbfMap:
        """Build it again from `arrays`."""
        count = len(arrays) - 2
        centres = tuple(arrays[f'centres_{index}'] for index in range(count))
        return cls(centres, arrays['widths'], arrays['weights'])


def normalise_gaussians(values: Array, centres: Array, width: Array) -> Array:
    """Return the gaussians about centres, divided by their sum (Eq. 26, 28).

    :param values: shape (..., n)
    :param centres: shape (n, m)
    :param width: shape (n,)
    :return: shape (..., n, m)
    """
    exponent = -0.5 * ((values[..., None] - centres) / width[:, None]) ** 2
    exponent -= exponent.max(axis=-1, keepdims=True)
    size = np.exp(exponent)
    return np.asarray(size / size.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class GmrMap:
    """Mean torque given the input, under a Gaussian mixture of input and torque.

    :param weights: pi of the K components, shape (n, K)
    :param means: of input and torque, shape (n, K, k + 1)
    :param covariances: shape (n, K, k + 1, k + 1)
    """

    weights: Array
    means: Array
    covariances: Array
    kind: str = 'gmr'
    _ready: tuple[Array, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare what does not depend on the input."""
        inner = self.covariances[..., :-1, :-1]
        precision = np.linalg.inv(inner)
        slope = np.einsum('nki,nkij->nkj', self.covariances[..., -1, :-1], precision)
        constant = np.log(self.weights) - 0.5 * np.linalg.slogdet(inner)[1]
        object.__setattr__(self, '_ready', (precision, slope, constant))

    def predict(self, features: Array) -> Array:
        """Return the torque (N, n) from features (N, n, k): Eq. 34, 37, 38."""
        precision, slope, constant = self._ready
        off = features[..., None, :] - self.means[..., :-1]
        turned = (precision * off[..., None, :]).sum(axis=-1)
        exponent = constant - 0.5 * (turned * off).sum(axis=-1)
        exponent -= exponent.max(axis=-1, keepdims=True)
        share = np.exp(exponent)
        each = self.means[..., -1] + (slope * off).sum(axis=-1)
        return np.asarray((share * each).sum(axis=-1) / share.sum(axis=-1))

    def arrays(self) -> dict[str, Array]:
        """Return the weights, means and covariances."""
        return {
            'weights': self.weights,
            'means': self.means,
            'covariances': self.covariances,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> GmrMap:
        """Build it again from `arrays`."""
        return cls(arrays['weights'], arrays['means'], arrays['covariances'])


MAPS: dict[str, type[RbfMap] | type[GmrMap]] = {'rbf': RbfMap, 'gmr': GmrMap}


@dataclass(frozen=True)
class GearCandidate:
    """Cross-validated error of one kind of residual torque with one set of inputs.

    :param rms_share: error left on segments that it was not fitted to, as a share of that
        without it, shape (n,)
    :param mean: mean share over the joints, 1 for those that it makes worse
    """

    kind: Literal['rbf', 'gmr']
    inputs: tuple[str, ...]
    rms_share: Array
    mean: float
