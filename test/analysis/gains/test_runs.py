# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest
from servo_arm import servo_arm

from robodyn_ros.analysis.gains.command_delay import with_delay
from robodyn_ros.errors import RecordingError


def test_torques_and_errors_of_position_do_not_mix():
    plant = servo_arm(101)
    servo = replace(plant.record(seconds=1.0), source='servo.npz')
    drive = replace(servo, drive=None, command=None, source='tau.npz')
    for runs, sentence in (
        ([servo, drive], r'^tau\.npz: its signal is a torque .*servo\.npz the error of position'),
        ([drive, servo], r'^servo\.npz: its signal is the error of position.*tau\.npz a torque'),
    ):
        with pytest.raises(RecordingError, match=sentence):
            with_delay(runs, plant.model)
