# SPDX-License-Identifier: Apache-2.0
"""Inputs of kinds that users reported: wrong masses in a URDF, a late torque on a chirp."""

import re

import numpy as np
import pytest
from diagnosis_case import found, plant, reading_of
from robots import SIX_AXIS

from robodyn_ros.identification.rivals.findings import rival_findings
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.recording import Recording

MOTOR = """<robot name="motor"><link name="base"/><joint name="j" type="continuous"><parent
link="base"/><child link="arm"/><axis xyz="0 0 1"/><limit effort="30" velocity="25"/></joint><link
name="arm"><inertial><mass value="0.8"/><origin xyz="0.1 0 0"/><inertia ixx="0.01" iyy="0.03"
izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.mark.parametrize('factor', [6.0, 0.05])
@pytest.mark.parametrize('link', [2, 5])
def test_a_wrong_mass_in_the_urdf_is_no_convention(link, factor):
    """The torque determines the model all the same."""
    masses = list(re.finditer(r'<mass value="([\d.]+)"/>', SIX_AXIS.read_text()))
    chosen = masses[-1] if link == 5 else masses[len(masses) // 2]
    text, (start, end) = SIX_AXIS.read_text(), chosen.span(1)
    wrong = robot_model(text[:start] + str(factor * float(chosen[1])) + text[end:])
    assert not found(wrong, plant('six_axis')[1])


def chirp(late, rate=500.0, seconds=30.0):
    """Record a motor with harmonic drive on a chirp of 0.1 to 8 Hz; its torque is late, in [s]."""
    time = np.arange(0.0, seconds, 1.0 / rate)
    slope, random = (8.0 - 0.1) / seconds, np.random.default_rng(1)

    def motion(t):
        angle, speed = (
            2.0 * np.pi * (0.1 * t + slope * t**2 / 2.0),
            2.0 * np.pi * (0.1 + slope * t),
        )
        q, qd = 0.3 * np.sin(angle), 0.3 * speed * np.cos(angle)
        turn = 2.0 * np.pi * slope
        return q, qd, 0.3 * (turn * np.cos(angle) - speed**2 * np.sin(angle))

    _, qd, qdd = motion(time - late)
    torque = 0.09 * qdd + 0.25 * qd + 0.3 * np.tanh(qd / 0.02)
    torque = torque + 0.02 * random.normal(size=len(time))
    q = motion(time)[0] + 1e-5 * random.normal(size=len(time))
    return Recording(time=time, joints=('j',), position=q[:, None], torque=torque[:, None])


@pytest.mark.parametrize('late', [0.0, 0.0095, -0.006])
def test_the_torque_of_a_chirp_is_late_and_not_disturbed(late):
    reading = reading_of(robot_model(MOTOR), chirp(late), filter_cutoff=40.0)
    named = list(rival_findings(reading))
    assert [item.code for item in named] == ['sensor_delay'] * bool(late), named
    for item in named:
        shown = float(re.search(r' come (\S+) ms', item.text)[1])
        assert shown == pytest.approx(1e3 * abs(late), abs=2.1)
