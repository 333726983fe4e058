# SPDX-License-Identifier: Apache-2.0
"""The plugin and the Python node give the same code for the same fault.

The plugin's side is its law, run by `law_check`. The node's side are the classes that its modes
ask.
"""

import numpy as np
import pytest
from controller_law import SETTINGS, run_law
from writers import result_file

from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque
from robodyn_ros.control.feedforward.reference import ReferenceMotion
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.catalog import load_model

PERIOD, TIMEOUT, CYCLES, BAD = 0.002, 0.02, 300, 150
TIME = PERIOD * np.arange(CYCLES)
OPTIONS = {'window': 0.01, 'limit': 60.0, 'rate': 600.0}


def sway():
    """A smooth motion of four joints without standstill: q, qd and qdd, each (N, 4)."""
    speed = np.linspace(1.0, 2.0, 4)
    angle = speed * TIME[:, None] + np.arange(4)
    return [np.sin(angle), speed * np.cos(angle), -(speed**2) * np.sin(angle)]


def by_reference(states, time=TIME):
    """First fault of the checks of references."""
    motion = ReferenceMotion(width=4, timeout=TIMEOUT, period=PERIOD)
    faults = (motion.read(*row) for row in zip(time, states[0], states[1], strict=True))
    return next(filter(None, faults))


def by_law(*motion):
    """Fault of the law for one reference."""
    model = load_model('config/robots/scara.yaml')
    settings = FeedforwardSettings(
        joints=model.joint_names, max_torque=60.0, max_torque_rate=600.0, **SETTINGS
    )
    torque = ModelTorque(model, np.ones(len(model.parameters)), velocity_window=0.01)
    law = AdditiveTorque(torque=torque, settings=settings)
    law.start()
    law.update(*motion)
    return law.fault


def by_watch(measured, states):
    """First fault of the watch over joint states."""
    watch = StateWatch(width=4, timeout=0.1)
    for now, position, wanted in zip(TIME, measured, states[0], strict=True):
        if np.isfinite(position).all():  # others are not handed to it
            fault = watch.read(now, now, position, wanted)
        else:
            fault = watch.silence(now)
        if fault:
            return fault
    raise AssertionError('no fault')


def not_finite():
    states = sway()
    states[1][BAD, 2] = np.nan
    return {'states': states}, by_law(*(kind[BAD] for kind in states))


def not_finite_torque():
    states = sway()
    states[1][BAD] = 1e120
    return {'states': states}, by_law(*(kind[BAD] for kind in states))


def frozen_reference():
    states = sway()
    states[0][BAD:] = states[0][BAD - 1]
    return {'states': states}, by_reference(states)


def incomplete():
    states = sway()
    states[2][BAD:] = np.nan
    return {'states': states}, by_law(states[0][0], states[1][0], np.zeros(0))


def time_back():
    time = TIME.copy()
    time[BAD:] -= 0.01
    return {'states': sway(), 'time': time}, by_reference(sway(), time)


def time_forward():
    time = TIME.copy()
    time[BAD:] += 2.0
    return {'states': sway(), 'time': time}, by_reference(sway(), time)


def missing_states():
    measured = sway()[0]
    measured[BAD:, 2] = np.nan
    return {'states': sway(), 'measured': measured}, by_watch(measured, sway())


def frozen_states():
    measured = sway()[0]
    measured[BAD:] = measured[BAD - 1]
    return {'states': sway(), 'measured': measured}, by_watch(measured, sway())


CASES = {
    'reference not finite': not_finite,
    'torque not finite': not_finite_torque,
    'reference frozen': frozen_reference,
    'reference incomplete': incomplete,
    'time back': time_back,
    'time forward': time_forward,
    'state missing': missing_states,
    'state frozen': frozen_states,
}


@pytest.mark.parametrize('code', CASES)
def test_the_node_names_the_fault(code):
    assert CASES[code]()[1].name == code.replace(' ', '_')


@pytest.mark.parametrize('code', CASES)
def test_the_plugin_gives_the_same_code(code, tmp_path):
    model = load_model('config/robots/scara.yaml')
    file = result_file(tmp_path, model, np.ones(len(model.parameters)))
    given, fault = CASES[code]()
    out = run_law(file, given.pop('states'), **given, **OPTIONS)
    assert set(out.fault) == {'', code} and fault.name == code.replace(' ', '_')
