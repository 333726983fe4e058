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


def test_statistics_leave_out_what_does_not_move():
    rows = np.array([1.0, 3.0, np.nan])[:, None, None] * np.ones((3, 6, 3))
    mean, spread = comparison.statistics(rows)
    assert (mean == 2.0).all()
    assert (spread == 1.0).all()


def table(best):
    """Errors of 1 % of the nominal torque, and half of it where an algorithm is the best."""
    result = {}
    for case, names in zip(comparison.CASES, best, strict=True):
        mean = 0.01 * NOMINAL[:, None] * np.ones((6, 3))
        for axis, name in enumerate(names):
            mean[axis, comparison.ALGORITHMS.index(name)] /= 2.0
        result[case] = np.array([[mean, mean], [mean, mean]])
    return result


def test_the_verdict_follows_the_errors(capsys):
    comparison.print_findings(table([['B'] * 6, ['A'] * 4 + ['B'] * 2, ['A_local'] * 6]))
    text = capsys.readouterr().out
    assert 'document: B is best here. This holds (6 of 6 axes).' in text
    assert 'document: A is best here. This holds in part (4 of 6 axes).' in text
    assert 'A best on 0, A_local best on 6, B best on 0 of 6 axes' in text
    comparison.print_findings(table([['A'] * 6, ['A'] * 6, ['A'] * 6]))
    assert 'B is best here. This does not hold (0 of 6 axes)' in capsys.readouterr().out


def test_the_best_of_each_row_is_marked(capsys):
    comparison.print_table(table([['B'] * 6, ['A'] * 6, ['A_local'] * 6]))
    rows = [line for line in capsys.readouterr().out.splitlines() if '+-' in line]
    assert len(rows) == 18
    assert all(row.count('*') == 2 for row in rows)
    assert f'*{0.005 * 545:6.2f} +- ' in rows[0]


def test_a_broken_promise_is_kept_in_mind():
    promises = comparison.Promises()
    promises.hold(True, 'all is well')
    promises.hold(False, 'a limit is broken')
    assert promises.broken == ['a limit is broken']
