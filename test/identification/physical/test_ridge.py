import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record, sines

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.ridge import draw
from robodyn_ros.identification.physical.selection import WEIGHTS
from robodyn_ros.identification.physical.semidefinite import Data, Problem
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.base_parameters import base_parameters


@pytest.fixture(scope='module')
def case():
    model, truth = arm(random_urdf(3, 70, types=('revolute',)))
    return model, truth, record(model, truth, 700, noise=0.3)


def test_it_minimises_what_it_says(case):
    model, _, recording = case
    base = base_parameters(model)
    motion = (recording.position, recording.velocity, recording.acceleration)
    used = np.ones(recording.torque.shape, dtype=bool)
    factors = condense(model, motion, recording.torque, used, base.columns).merged()
    problem = Problem.of(model, base, np.nan_to_num(model.prior()))
    data = Data.of(factors, base.rank, np.ones(3))
    random = np.random.default_rng(0)

    def cost(values, weight):
        rest = data.triangle @ (data.values - base.grouping @ values)
        drawn = problem.metric @ (values - problem.prior)
        return rest @ rest + weight * drawn @ drawn

    distances = []
    for weight in (1e-4, 1.0, 1e4):
        values = draw(problem, data, weight)
        least = cost(values, weight)
        for _ in range(20):
            near = values + 1e-3 * problem.scale * random.normal(size=len(values))
            assert cost(near, weight) > least
        distances.append(np.linalg.norm(problem.metric @ (values - problem.prior)))
    assert distances[0] > distances[1] > distances[2]


def test_it_holds_better_on_another_motion_than_least_squares(case):
    model, truth, recording = case
    _, *motion = sines(3, 2000, seed=9)
    torque, error = model.torque(*motion, truth), {}
    for ridge in (None, 0.0, 1e-2):
        options = IdentifyOptions(consistent='no', ridge=ridge)
        result = identify(recording, model, options=options)
        error[ridge] = np.linalg.norm(model.torque(*motion, result.values) - torque)
        if ridge is not None:
            assert result.selection.estimate == 'ridge' and result.selection.prior == 'urdf'
            assert (
                result.selection.prior_weight == ridge or result.selection.prior_weight in WEIGHTS
            )
            assert any('drawn to the URDF' in item.text for item in result.findings)
    assert max(error[0.0], error[1e-2]) < 0.8 * error[None]


def test_standard_deviations_count_how_far_the_prior_draws(case):
    """A prior that is wrong and strong must not look like knowledge."""
    model, _, recording = case
    plain = identify(recording, model, options=IdentifyOptions(consistent='no'))
    drawn = identify(recording, model, options=IdentifyOptions(ridge=1e4))
    shift = drawn.base_values - plain.base_values
    assert np.abs(shift / plain.base_stddevs).max() > 1.0
    np.testing.assert_allclose(drawn.base_stddevs, np.hypot(plain.base_stddevs, shift))
    names = [item.name for item in model.parameters]
    single = names.index('joint2.coulomb_friction')
    row = drawn.base_expressions.index('joint2.coulomb_friction')
    assert drawn.stddevs[single] == pytest.approx(drawn.base_stddevs[row])
