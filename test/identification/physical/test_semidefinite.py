# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from robots import random_urdf
from scipy.optimize import minimize
from simulation import arm, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.physical.consistency import (
    bodies_of,
    is_consistent,
    pseudo_inertia,
)
from robodyn_ros.identification.physical.semidefinite import (
    Data,
    Problem,
    plain_prior,
    residual_sigma,
)
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model, with_friction


def condensed(model, values, samples=800, noise=0.05, size=1.0):
    base = base_parameters(model)
    recording = record(model, values, samples, noise=noise, size=size)
    motion = (recording.position, recording.velocity, recording.acceleration)
    used = np.ones(recording.torque.shape, dtype=bool)
    factors = condense(model, motion, recording.torque, used, base.columns).factors
    return base, factors, estimate(factors, base.rank)


def wrong_prior(truth, model, seed=0):
    """Other masses, centres and inertias, still those of possible bodies."""
    random = np.random.default_rng(seed)
    result = np.array(truth)
    for _, own in bodies_of(model).links:
        result[list(own)] *= random.uniform(0.5, 2.0)
    return result


def cost(problem, factors, sigma, weight, values):
    """Objective, written out link by link and joint by joint."""
    total, samples = 0.0, sum(factor.samples for factor in factors)
    for factor, s in zip(factors, sigma, strict=True):
        matrix, target = factor.rows(len(problem.grouping))
        total += np.sum((matrix @ problem.grouping @ values - target) ** 2) / s**2 / samples
    for _, own in problem.bodies.links:
        prior = pseudo_inertia(problem.prior[list(own)])
        change = np.linalg.solve(prior, pseudo_inertia(values[list(own)]) - prior)
        total += weight * np.trace(change @ change)
    return total


def test_no_other_consistent_robot_fits_better_says_another_optimiser():
    # Cholesky factors and squares instead of cones, BFGS instead of an interior point.
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    names = [item.name for item in model.parameters]
    truth[names.index('joint2.coulomb_friction')] = -0.3  # so that a limit is reached
    truth[names.index('joint1.rotor_inertia')] = 0.0
    base, factors, fit = condensed(model, truth, noise=0.2)
    prior = wrong_prior(truth, model)
    problem = Problem.of(model, base, prior)
    bodies, weight = problem.bodies, 0.05
    values = problem.solve(Data.of(factors, base.rank, fit.sigma), weight)
    lower = np.tril_indices(4)

    def unpack(x):
        result, place = np.zeros(len(truth)), 0
        for _, own in bodies.links:
            root = np.zeros((4, 4))
            root[lower] = x[place : place + 10]
            pseudo, place = root @ root.T, place + 10
            moments = np.trace(pseudo[:3, :3]) * np.eye(3) - pseudo[:3, :3]
            ten = [pseudo[3, 3], *pseudo[:3, 3], *moments[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
            result[list(own)] = ten
        single = list(bodies.not_negative)
        result[single] = x[place : place + len(single)] ** 2
        free = np.setdiff1d(
            np.arange(len(truth)), [*single, *(k for _, own in bodies.links for k in own)]
        )
        result[free] = x[place + len(single) :]
        return result

    start = [
        np.linalg.cholesky(pseudo_inertia(prior[list(own)]))[lower] for _, own in bodies.links
    ]
    x = np.concatenate([*start, np.ones(len(bodies.not_negative)), np.zeros(4)])
    found = minimize(lambda x: cost(problem, factors, fit.sigma, weight, unpack(x)), x, tol=1e-7)
    ours = cost(problem, factors, fit.sigma, weight, values)
    assert values[names.index('joint2.coulomb_friction')] == pytest.approx(0.0, abs=1e-6)
    assert ours == pytest.approx(found.fun, rel=1e-4)


@pytest.mark.parametrize('touched', [True, False])
def test_links_that_no_limit_touches_need_no_programme(touched, monkeypatch):
    model, possible = arm(random_urdf(3, 5))
    bodies = bodies_of(model)
    possible[list(bodies.not_negative)] = 0.05
    truth = possible.copy()
    truth[bodies.rotors[2]] = -0.005
    if touched:
        truth[bodies.links[2][1][4]] *= -1.0
    base, factors, fit = condensed(model, truth, noise=0.002)
    problem = Problem.of(model, base, possible)
    data = Data.of(factors, base.rank, fit.sigma)
    quick = problem.solve(data, 1e-3)
    used = []
    monkeypatch.setattr(Problem, '_solve_without_cones', lambda *_: used.append(1))
    slow = problem.solve(data, 1e-3)
    assert used and is_consistent(model, quick)
    costs = [cost(problem, factors, fit.sigma, 1e-3, values) for values in (quick, slow)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-6) and costs[0] <= costs[1] + 1e-9
    assert touched or quick[bodies.rotors[2]] == 0.0
    assert np.array_equal(quick, slow) == touched


@pytest.mark.parametrize('quick', [True, False])
def test_load_friction_is_at_most_the_load(quick, monkeypatch):
    body = robot_model(random_urdf(2, 5, types=('revolute',)), friction=())
    own = np.nan_to_num(body.prior(), nan=0.05)
    model = with_friction(body, {'terms': ['viscous', 'load'], 'load': own.tolist()})
    truth = np.concatenate([own, np.tile([1.0, 3.0], 2)])
    base, factors, fit = condensed(model, truth, noise=0.01)
    problem = Problem.of(model, base, truth)
    if not quick:
        monkeypatch.setattr(Problem, '_solve_without_cones', lambda *_: None)
    values = problem.solve(Data.of(factors, base.rank, fit.sigma), 1e-3)
    np.testing.assert_allclose(values[list(problem.bodies.shares)], 1.0, atol=1e-6)


def test_distance_is_twice_the_entropic_divergence_to_second_order():
    model, truth = arm(random_urdf(3, 4))
    problem = Problem.of(model, base_parameters(model), truth)
    step = 1e-3 * np.random.default_rng(1).normal(size=len(truth)) * problem.scale * 0.01
    divergence = 0.0
    for _, own in problem.bodies.links:
        ratio = np.linalg.solve(
            pseudo_inertia(truth[list(own)]), pseudo_inertia((truth + step)[list(own)])
        )
        divergence += np.trace(ratio) - 4.0 - np.linalg.slogdet(ratio)[1]
    assert np.sum((problem.metric @ step) ** 2) == pytest.approx(2.0 * divergence, rel=0.02)


@pytest.mark.parametrize('prior', ['wrong', 'none'])
@pytest.mark.parametrize('joints', [1, 7])
def test_consistent_truth_is_recovered(joints, prior):
    model, truth = arm(random_urdf(joints, 21))
    base, factors, _ = condensed(model, truth, noise=0.0)
    known = {'wrong': wrong_prior(truth, model), 'none': plain_prior(model)}
    sigma = residual_sigma(factors, base.values(truth))  # the floor: nothing is left
    problem = Problem.of(model, base, known[prior])
    values = problem.solve(Data.of(factors, base.rank, sigma), 0.0)
    assert is_consistent(model, values)
    expected = base.values(truth)
    assert np.linalg.norm(base.values(values) - expected) < 2e-4 * np.linalg.norm(expected)


@pytest.mark.parametrize('seed', range(2))
def test_what_noise_makes_impossible_becomes_possible(seed):
    # Slow small motion: least squares makes up links of any mass.
    model, truth = arm(random_urdf(6, 30 + seed, types=('revolute',)))
    base, factors, fit = condensed(model, truth, 300, noise=0.3, size=0.2)
    problem = Problem.of(model, base, wrong_prior(truth, model, seed))
    values = problem.solve(Data.of(factors, base.rank, fit.sigma), 1e-2)
    assert is_consistent(model, values)
    assert min(values[list(problem.bodies.not_negative)]) >= 0.0
    error, plain = (
        np.linalg.norm(x - base.values(truth)) for x in (base.values(values), fit.values)
    )
    assert error < 0.7 * plain


def test_data_that_are_no_numbers_are_refused():
    model, truth = arm(random_urdf(2, 35))
    base = base_parameters(model)
    problem = Problem.of(model, base, truth)
    broken = Data(triangle=np.full((base.rank, base.rank), np.nan), values=np.zeros(base.rank))
    with pytest.raises(IdentificationError, match='no physically consistent robot was found'):
        problem.solve(broken, 1.0)
