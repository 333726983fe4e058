# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from drive_signals import CENTER, driven_arm
from simulation import random_values, record, sines

from robodyn_ros.analysis.gains.estimate import JointGain, estimate_gains
from robodyn_ros.analysis.gains.known_load import check_load
from robodyn_ros.analysis.gains.known_masses import gains_from_masses
from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.payload import payload_of
from robodyn_ros.paths import resource

JOINT = Joint('joint1')


@pytest.fixture(scope='module')
def driven():
    return driven_arm()


@pytest.fixture(scope='module')
def gains(driven):
    load = payload_of(driven.model, 2.0, center_of_mass=CENTER)
    runs = driven.record(), driven.record(2.0, seed=1)
    return estimate_gains(*runs, driven.model, load, center_known=True)


def test_factors_have_their_size_and_sign(driven, gains):
    for gain, true in zip(gains.joints, driven.factors, strict=True):
        assert gain.determined and gain.factor == pytest.approx(true, rel=0.02)
        assert gain.low < gain.factor < gain.high
        assert abs(gain.factor - true) < 2.0 * (gain.high - gain.low)


def test_the_centre_of_mass_is_estimated_where_it_is_not_given(driven):
    runs = driven.record(), driven.record(2.0, seed=1)
    gains = estimate_gains(*runs, driven.model, payload_of(driven.model, 2.0), center_known=False)
    determined = [each.determined for each in gains.joints]
    assert sum(determined) >= 2
    for gain, true in zip(gains.joints, driven.factors, strict=True):
        assert not gain.determined or gain.factor == pytest.approx(true, rel=0.05)


def test_errors_of_the_mass_are_in_all_factors(driven, gains):
    load = payload_of(driven.model, 2.2, center_of_mass=CENTER)
    runs = driven.record(), driven.record(2.0, seed=1)
    heavier = estimate_gains(*runs, driven.model, load, center_known=True)
    for one, other in zip(gains.joints, heavier.joints, strict=True):
        assert other.factor == pytest.approx(1.1 * one.factor, rel=0.01)


def test_another_load_has_its_mass(driven, gains):
    load = payload_of(driven.model, 1.2, center_of_mass=CENTER)
    checked = check_load(gains, driven.record(1.2, seed=2), load, center_known=True)
    assert checked.agrees and checked.mass == pytest.approx(1.2, rel=0.02)
    wrong = payload_of(driven.model, 1.5, center_of_mass=CENTER)
    assert not check_load(gains, driven.record(1.2, seed=2), wrong, center_known=True).agrees


def test_a_load_that_is_not_there_gives_no_factor(driven):
    load = payload_of(driven.model, 2.0, center_of_mass=CENTER)
    with pytest.raises(IdentificationError, match='no joint feels the load'):
        estimate_gains(
            driven.record(), driven.record(seed=1), driven.model, load, center_known=True
        )


def test_a_joint_whose_signal_is_noise_has_no_factor(driven):
    """The signal of the last drive is noise."""
    still, moved = driven.record(), driven.record(2.0, seed=1)
    random = np.random.default_rng(1)
    runs = []
    for run in (still, moved):
        noise = random.normal(size=(len(run.torque), 1))
        runs.append(replace(run, torque=np.column_stack([run.torque[:, :3], noise])))
    load = payload_of(driven.model, 2.0, center_of_mass=CENTER)
    gains = estimate_gains(*runs, driven.model, load, center_known=True)
    assert [each.determined for each in gains.joints] == [True, True, True, False]
    assert gains.joints[3].why


def test_halves_that_differ_widen_the_interval(driven, gains):
    """The drive of joint 2 gets 10 % weaker in the middle of both runs."""
    drift = np.ones((4000, 4))
    drift[2000:, 1] = 1.1
    runs = driven.record(), driven.record(2.0, seed=1)
    runs = [replace(run, torque=run.torque * drift) for run in runs]
    load = payload_of(driven.model, 2.0, center_of_mass=CENTER)
    drifted = estimate_gains(*runs, driven.model, load, center_known=True).joints[1]
    assert drifted.high - drifted.low > 3.0 * (gains.joints[1].high - gains.joints[1].low)
    assert drifted.low < -3.0 < drifted.high or drifted.low < -3.0 / 1.1 < drifted.high


def with_load_friction(driven, mass, seed):
    """Record with friction of 8 % of the absolute torque of the links and the load."""
    run = driven.record(mass, seed=seed)
    body = robot_model(driven.xml, friction=[])
    values = driven.values[: len(body.parameters)]
    if mass:
        values = values + payload_of(body, mass, center_of_mass=CENTER).added
    _, *motion = sines(4, 4000, rate=100.0, seed=3)
    friction = 0.08 * np.abs(body.torque(*motion, values)) * np.sign(motion[1])
    return replace(run, torque=run.torque + friction / driven.factors)


def test_friction_grows_with_the_torque(driven):
    load = payload_of(driven.model, 2.0, center_of_mass=CENTER)
    runs = with_load_friction(driven, 0.0, 0), with_load_friction(driven, 2.0, 1)
    gains = estimate_gains(*runs, driven.model, load, center_known=True)
    assert gains.fit.misfit.max() < 1.2
    for gain, true in zip(gains.joints, driven.factors, strict=True):
        assert gain.determined and gain.factor == pytest.approx(true, rel=0.02)


def test_a_load_at_another_place_gives_no_factor(driven):
    load = payload_of(driven.model, 2.0, center_of_mass=(0.5, 0.3, -0.2))
    runs = driven.record(), driven.record(2.0, seed=1)
    gains = estimate_gains(*runs, driven.model, load, center_known=True)
    assert not gains.determined
    assert 'contradicts the others' in gains.joints[0].why


def test_without_a_load_the_masses_of_the_urdf_give_the_scale(driven):
    """Rotors and friction are not in the URDF, and do not change the scale."""
    gains = gains_from_masses(driven.record(), driven.model)
    for gain, true in zip(gains.joints[:3], driven.factors, strict=False):
        assert gain.determined and gain.factor == pytest.approx(true, rel=0.05)


def test_masses_that_no_moving_joint_lifts_give_no_scale():
    """The vertical joint of a SCARA robot is at rest."""
    model = robot_model(resource('urdf/scara.urdf'))
    run = record(model, random_values(model), 3000, rate=100.0, noise=0.01, derivatives=False)
    position = run.position.copy()
    position[:, 2] = 0.1
    with pytest.raises(IdentificationError, match='no joint lifts its links'):
        gains_from_masses(replace(run, position=position), model)


def test_without_a_load_and_masses_there_is_no_scale(driven):
    model = robot_model(driven.xml.replace('<mass value="2.0"/>', '<mass value="0"/>'))
    with pytest.raises(IdentificationError, match='no possible masses'):
        gains_from_masses(driven.record(), model)


@pytest.mark.parametrize('terms', [['auto'], ['viscous', 'coulomb', 'load']])
def test_friction_that_needs_torque_is_refused(driven, terms):
    model = robot_model(driven.xml, friction=terms)
    with pytest.raises(IdentificationError, match='load-dependent friction itself'):
        gains_from_masses(driven.record(), model)


def test_ends_of_an_interval():
    gain = JointGain.of(JOINT, -0.5, 0.01)
    assert gain.determined and gain.factor == -2.0
    assert (gain.low, gain.high) == pytest.approx((-1.0 / 0.4804, -1.0 / 0.5196))
    assert 'wider than 20 %' in JointGain.of(JOINT, 0.5, 0.04).why
    assert 'sign' in JointGain.of(JOINT, 0.5, 0.4).why
    assert 'sign' in JointGain.of(JOINT, 0.5, np.nan).why
    assert 'no signal follows' in JointGain.of(JOINT, 0.0, 0.0).why
