# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.friction import cutoff_choice
from robodyn_ros.identification.friction.cutoff_choice import Trial, choose_cutoff
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.signals.cutoff import Cutoffs
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.recording import Recording

OPTIONS = IdentifyOptions()


class Parts:
    """A recording at a cut-off; those tried are kept."""

    def __init__(self, cutoffs, tried):
        self.cutoffs, self.tried = cutoffs, tried
        if cutoffs is not None:
            tried.append(cutoffs.used)

    def at(self, cutoff):
        return Parts(self.cutoffs.at(cutoff), self.tried)


@pytest.mark.parametrize(
    ('cutoffs', 'power', 'spread', 'chosen'),
    [
        (Cutoffs(1.0, 5.0, 20.0), -2.0, 0.0, 20.0),  # up to the highest
        (Cutoffs(1.0, 20.0, 20.0), -2.0, 0.0, 20.0),
        (Cutoffs(1.0, 7.0, 20.0), -2.0, 0.0, 14.0),
        (Cutoffs(1.0, 20.0, 20.0), 2.0, 0.0, 5.0),  # down to a quarter
        (Cutoffs(8.0, 20.0, 20.0), 2.0, 0.0, 10.0),  # or the lowest
        (Cutoffs(11.0, 20.0, 20.0), 2.0, 0.0, 20.0),
        (Cutoffs(1.0, 20.0, 80.0), 0.01, 0.5, 20.0),  # no better by a standard error
        (Cutoffs(1.0, 20.0, 80.0), -0.01, 0.5, 20.0),
        (None, 2.0, 0.0, None),
    ],
)
def test_the_cutoff_of_the_smallest_held_out_error_is_taken(
    monkeypatch, cutoffs, power, spread, chosen
):
    def trial(model, parts, options):
        held_out = None
        if parts.cutoffs is not None:
            octaves = np.log2(parts.cutoffs.used / cutoffs.used)
            noise = np.exp(spread * octaves * np.linspace(-1.0, 1.0, 10))
            held_out = HeldOut((2.0 ** (power * octaves) * noise / noise.mean(),), (np.ones(10),))
        return Trial(parts, {}, held_out)

    monkeypatch.setattr(cutoff_choice.Trial, 'of', trial)
    tried = []
    found = choose_cutoff(None, Parts(cutoffs, tried), OPTIONS)
    assert (found.parts.cutoffs and found.parts.cutoffs.used) == chosen
    assert len(tried) <= 4


AXIS = """<robot name="one"><link name="base"/><joint name="a" type="continuous">
<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/><limit effort="25" velocity="30"/>
</joint><link name="arm"><inertial><mass value="1.0"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.01" iyy="0.04" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def chirp(rate, highest, late, noise, seed=0):
    """Record an axis from 0.1 Hz on for 30 s, with a late torque."""
    random, time = np.random.default_rng(seed), np.arange(0.0, 30.0, 1.0 / rate)
    bend = 2.0 * np.pi * (highest - 0.1) / 30.0
    angle = 2.0 * np.pi * 0.1 * time + 0.5 * bend * time**2
    speed = 2.0 * np.pi * 0.1 + bend * time
    q, qd = 0.3 * np.sin(angle), 0.3 * speed * np.cos(angle)
    qdd = 0.3 * (bend * np.cos(angle) - speed**2 * np.sin(angle))
    torque = np.interp(time - late, time, 0.08 * qdd + 0.2 * qd + 0.3 * np.tanh(qd / 0.02))
    torque += 0.02 * random.normal(size=len(time))
    q += noise * random.normal(size=len(time))
    return Recording(time, ('a',), q[:, None], torque[:, None], source='chirp')


@pytest.mark.parametrize(
    ('rate', 'highest', 'late', 'noise'),
    [
        (1000.0, 8.0, 9.5, 1e-5),
        (500.0, 15.0, 4.0, 1e-3),
        (100.0, 4.0, 30.0, 1e-4),
    ],
)
def test_a_late_torque_does_not_lower_the_cutoff_and_is_corrected(rate, highest, late, noise):
    facts = 1e-3 * late, noise
    test = chirp(rate, 0.6 * highest, *facts, seed=1)
    model = robot_model(AXIS, friction='auto')
    result = identify(chirp(rate, highest, *facts), model, validation=test)
    found = {item.code: item.text for item in result.findings}
    assert result.success and 'disturbed_interval' not in found
    delay = float(found['time_offset'].split(' ms')[0].split()[-1])
    assert delay == pytest.approx(late, abs=max(0.2, 60.0 / rate))
    assert result.filter_cutoff >= min(1.8 * highest, 0.2 * rate)
    assert result.identification.relative_residual < 0.015


@pytest.fixture(scope='module')
def case():
    return arm(random_urdf(3, 71, types=('revolute',)))


def recorded(case, samples, seed=0, **options):
    return record(*case, samples, seed=seed, derivatives=False, **options)


def errors(case, recording, **options):
    test = recorded(case, 3000, seed=1, **options)
    result = identify(recording, case[0], validation=test)
    return result, result.validation.relative_residual


def taken(recording, rows, **changed):
    signals = {'position': recording.position, 'torque': recording.torque, **changed}
    return Recording(
        recording.time[rows],
        recording.joints,
        source='taken',
        **{name: values[rows] for name, values in signals.items()},
    )


@pytest.mark.parametrize(('period', 'pause'), [(6.0, 3.0), (1.0, 0.4)])
def test_pauses_that_are_cut_out_do_not_lower_the_cutoff(case, period, pause):
    whole = recorded(case, 12_000, rate=100.0, noise=0.01)
    result, error = errors(case, taken(whole, whole.time % period > pause), rate=100.0)
    assert result.success and result.filter_cutoff == pytest.approx(20.0) and error < 0.012


@pytest.mark.parametrize(('rate', 'share'), [(100.0, 0.014), (100.0, 0.05)])
def test_repeated_positions_and_uneven_stamps_leave_a_usable_cutoff(case, rate, share):
    random, whole = np.random.default_rng(3), recorded(case, int(30 * rate), rate=rate, noise=0.01)
    rows = np.sort(random.choice(len(whole), int(0.97 * len(whole)), replace=False))
    position = whole.position.copy()
    for sample, joint in np.argwhere(random.random(position.shape) < share):
        position[sample, joint] = position[sample - 1, joint] if sample else position[0, joint]
    result, error = errors(case, taken(whole, rows, position=position), rate=rate)
    assert result.success and error < 0.02 and result.filter_cutoff > 1.3


def test_a_slow_motion_with_noise_keeps_the_motion(case):
    whole = recorded(case, 15_000, rate=250.0, noise=0.01)
    noise = 3e-3 * np.random.default_rng(0).normal(size=whole.position.shape)
    every = np.arange(len(whole))
    result, error = errors(case, taken(whole, every, position=whole.position + noise), rate=250.0)
    assert 1.3 <= result.filter_cutoff < 10.0 and error < 0.03
