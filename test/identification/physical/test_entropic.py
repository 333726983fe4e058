import numpy as np
import pytest
from scipy.optimize import minimize

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.physical.consistency import pseudo_inertia
from robodyn_ros.identification.physical.entropic import Entropic

LOWER = np.tril_indices(4)


def body(random):
    """Ten parameters of a cloud of points."""
    points, masses = random.normal(size=(8, 3)), random.uniform(0.2, 1.0, size=8)
    moments = np.einsum('k,kij->ij', masses, [p @ p * np.eye(3) - np.outer(p, p) for p in points])
    first = masses @ points
    return np.array([masses.sum(), *first, *moments[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])


def problem(seed=0, links=2, rows=30, noise=0.1):
    """Links, a positive and a free parameter; data of another robot than the prior."""
    random = np.random.default_rng(seed)
    priors = [body(random) for _ in range(links)]
    truth = np.concatenate([*(body(random) for _ in range(links)), [-0.5, 0.7]])
    matrix = random.normal(size=(rows, len(truth))) / np.sqrt(rows)
    target = matrix @ truth + noise * random.normal(size=rows)
    roots = np.array([np.linalg.inv(np.linalg.cholesky(pseudo_inertia(ten))) for ten in priors])
    aside = np.where(np.arange(len(truth)) < 10 * links, 0.0, 1e-6)
    own = np.arange(10 * links).reshape(links, 10)
    return Entropic(matrix, target, aside, roots, own, np.array([10 * links])), priors


def divergence(values, priors):
    """Distance of the head of the file, written out."""
    total = 0.0
    for number, ten in enumerate(priors):
        ratio = np.linalg.solve(
            pseudo_inertia(ten), pseudo_inertia(values[10 * number : 10 * number + 10])
        )
        total += 2.0 * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4.0)
    return total


@pytest.mark.parametrize('weight', [1e-3, 1.0])
def test_another_optimiser_finds_nothing_better(weight):
    """Cholesky factors and squares, BFGS: no barrier, no second derivatives."""
    cost, (prior,) = problem(links=1)
    values = cost.minimise(weight)

    def unpack(x):
        root = np.zeros((4, 4))
        root[LOWER] = x[:10]
        p = root @ root.T
        moments = np.trace(p[:3, :3]) * np.eye(3) - p[:3, :3]
        inertia = moments[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        return np.array([p[3, 3], *p[:3, 3], *inertia, x[10] ** 2, x[11]])

    def written_out(values):
        rest = cost.matrix @ values - cost.target
        return rest @ rest + weight * divergence(values, [prior]) + cost.aside @ values**2

    start = [*np.linalg.cholesky(pseudo_inertia(prior))[LOWER], 1.0, 0.0]
    found = minimize(lambda x: written_out(unpack(x)), start, tol=1e-9)
    assert cost.cost(values, weight) == pytest.approx(written_out(values), rel=1e-9)
    assert written_out(values) == pytest.approx(found.fun, rel=1e-4)
    assert 0.0 < values[10] < (1e-4 if weight < 0.01 else 9.0)  # data alone: -0.5


def test_without_data_it_is_the_prior():
    cost, priors = problem()
    nothing = Entropic(
        0.0 * cost.matrix, 0.0 * cost.target, cost.aside, cost.roots, cost.links, cost.positive
    )
    values = nothing.minimise(1.0)
    np.testing.assert_allclose(values[:20], np.concatenate(priors), rtol=1e-5, atol=1e-6)


def test_a_stronger_prior_is_nearer():
    cost, priors = problem(seed=2)
    distances = [divergence(cost.minimise(weight), priors) for weight in (1e-3, 0.1, 10.0)]
    assert distances == sorted(distances, reverse=True) and distances[-1] < 0.2 * distances[0]


def test_what_cannot_exist_costs_infinitely_much():
    cost, _ = problem()
    values = cost.minimise(1.0)
    for index in (0, 20):
        broken = np.array(values)
        broken[index] = -1.0
        assert cost.cost(broken, 1.0) == np.inf


def test_data_that_are_no_numbers_are_refused():
    cost, _ = problem()
    cost.matrix[3, 3] = np.nan
    with pytest.raises(IdentificationError, match='the data are not finite'):
        cost.minimise(1.0)
