# SPDX-License-Identifier: Apache-2.0
"""The comparison itself: parameters are recovered, errors counted, the verdict follows them."""

from __future__ import annotations

import numpy as np
import pytest

from bench import bench_local_identification as comparison
from bench.ns16_motions import ns16_model, sine_sum, spaces
from bench.ns16_plant import COULOMB, NOMINAL, ROTOR, VISCOUS, Run
from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.models.base_parameters import base_parameters

MODEL = ns16_model()


@pytest.fixture(scope='module')
def fitted():
    """A motion of a robot that is as the model says, and what is found from it."""
    wide, _ = spaces()
    design = Design(MODEL, wide.limits, motion='sines', duration=8.0, harmonics=3)
    motion = sine_sum(DesignProblem(design), np.random.default_rng(0)).grid(0.004)
    friction = np.stack([COULOMB, VISCOUS, 0.1 * VISCOUS], axis=1).ravel()
    values = np.concatenate([MODEL.parts[0].prior()[:60], ROTOR, friction])
    states = motion.position, motion.velocity, motion.acceleration
    torque = MODEL.torque(*states, values)
    run = Run(motion.time, motion.position, motion.position, torque, motion.position)
    signals = comparison.signals_of(run, MODEL, 0, 30)
    base = base_parameters(MODEL)
    return base, signals, values, *comparison.identified(MODEL, base, signals)


def test_parameters_of_a_robot_as_modelled_are_found(fitted):
    base, signals, values, found, condition = fitted
    assert base.rank == 58
    assert condition < 1e3
    sets = np.array([found, base.values(values), 0.0 * found])
    error = comparison.errors(MODEL, base, sets, signals).mean(axis=0) / NOMINAL[:, None]
    assert (error[:, :2] < 5e-3).all()
    assert (error[:, 2] > 2e-2).all()
    friction = comparison.coulomb(MODEL, base, found)
    np.testing.assert_allclose(friction, COULOMB, rtol=0.15)
