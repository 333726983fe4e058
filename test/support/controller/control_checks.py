# SPDX-License-Identifier: Apache-2.0
"""Checks and motions of the tests on the real ros2_control."""

from itertools import count

import numpy as np
from control_cell import DELAY, JOINTS, LIMIT, PERIOD, PLUGIN, RATE, WINDOW
from std_msgs.msg import Float64MultiArray

from robodyn_ros.control.torque.model_torque import ModelTorque

JTC = 'joint_trajectory_controller'
JTC_KIND = 'joint_trajectory_controller/JointTrajectoryController'
REFERENCES = {
    'command_interfaces': ['position', 'velocity', 'acceleration'],
    'state_interfaces': ['position', 'velocity'], 'state_publish_rate': 500.0,
    'allow_nonzero_velocity_at_trajectory_end': False,
}  # fmt: skip
BOTH = [JTC, PLUGIN]
STEP = RATE * PERIOD
PAUSE, RAMP = 0.02, 0.25
"""reference_timeout and ramp_up_time of the plugin, in [s]."""
KINDS = ('position', 'velocity', 'acceleration')
NUMBERS = count()


def torque_of(cell, added=0.0, since=0, gravity_free=()):
    """Python's model torque at the JTC's reference of the same cycle, where that is known.

    :param gravity_free: joints whose drives carry their weight themselves
    """
    law = ModelTorque(cell.model, cell.values + added, velocity_window=WINDOW)
    law.exclude_gravity([joint in gravity_free for joint in cell.model.joint_names])
    known = np.array(sorted(cell.references))
    asked = [
        number
        for number, row in cell.cycles.items()
        if row.stamp >= since and number - 1 in cell.cycles
    ]
    stamps, last = np.array(
        [(cell.cycles[number].stamp, cell.cycles[number - 1].stamp) for number in asked]
    ).T
    before = known[np.maximum(np.searchsorted(known, stamps) - 1, 0)]
    # The controller manager stamps each controller's update by itself: the JTC's of the same cycle
    # is between two of the plugin's. After an overrun cycles are close to each other.
    same = (last < before) & (before <= stamps)
    q, qd, qdd = np.array([cell.references[stamp] for stamp in before]).transpose(1, 0, 2)
    same &= (np.abs(qd) > WINDOW).all(axis=1)  # at rest the friction of the motion before counts
    torque = law.torque(q, qd, qdd)
    return {number: torque[k] for k, number in enumerate(asked) if same[k]}


def check_applied(cell, expected):
    """The torque applied is the one expected DELAY cycles earlier, at the rate it may change.

    Where a motion begins the JTC's acceleration jumps, and with it the torque by more than that.
    After a pause of the loop it is ramped in anew: those cycles are left out.
    """
    cycles = sorted(cell.cycles)
    late = np.diff([cell.cycles[number].stamp for number in cycles]) > 1e9 * PAUSE
    pauses = np.array(cycles)[1:][late]
    numbers = [
        number + DELAY
        for number in expected
        if number + DELAY in cell.cycles
        and number + DELAY - 1 in cell.cycles
        and not ((pauses <= number + DELAY) & (number < pauses + RAMP / PERIOD)).any()
    ]
    target = np.array([expected[number - DELAY] for number in numbers])
    applied = np.array([cell.cycles[number].applied for number in numbers])
    before = np.array([cell.cycles[number - 1].applied for number in numbers])
    jumps = (np.abs(target - before) > STEP).any(axis=1)
    print(f'{len(numbers)} cycles compared, {jumps.sum()} at the rate limit')
    assert len(numbers) > 300 and np.abs(target).max() < LIMIT
    np.testing.assert_allclose(applied[~jumps], target[~jumps], rtol=0.0, atol=1e-9)
    limited = before + np.clip(target - before, -STEP, STEP)
    np.testing.assert_allclose(applied, limited, rtol=0.0, atol=1e-9)


def check_steps(cell):
    """No step of the applied torque above the rate in any cycle, whatever happened.

    In a pause of the loop the torque may fall by what the rate allows in that time.
    """
    numbers = np.array(sorted(cell.cycles))
    applied = np.array([cell.cycles[number].applied for number in numbers])
    passed = 1e-9 * np.diff([cell.cycles[number].stamp for number in numbers])
    cycles = np.diff(numbers) + np.where(passed > PAUSE, passed / PERIOD, 0.0)
    assert (np.abs(np.diff(applied, axis=0)) <= cycles[:, None] * STEP * (1 + 1e-9)).all()
    assert np.isfinite(applied).all() and (np.abs(applied) <= LIMIT).all()


def check_hardware_steps(cell):
    """Nor of what the hardware got, by the stamps of its states, which jitter by a cycle."""
    stamps = np.array(sorted(cell.efforts))
    efforts = np.array([cell.efforts[stamp] for stamp in stamps])
    cycles = np.rint(np.diff(stamps) * 1e-9 / PERIOD)[:, None] + 1.0
    assert (np.abs(np.diff(efforts, axis=0)) <= cycles * STEP * (1 + 1e-9)).all()


def check_commanded(cell, given, efforts, tolerance=1e-12):
    """The hardware got what the plugin published, but for messages that were lost."""
    same = [(np.abs(given - effort).max(axis=1) < tolerance).any() for effort in efforts]
    assert np.mean(same) > 0.9 * cell.heard()


def diagnostics(cell):
    """Return the values of the plugin's next diagnostics."""
    cell.diagnoses.clear()
    cell.wait(lambda: cell.diagnoses, 'diagnostics')
    return {item.key: item.value for item in cell.diagnoses[-1].values}


def check_real_time(cell):
    """No update of the plugin since the cell began has allocated memory or waited for a lock."""
    updates = cell.probe.updates()
    assert len(updates) > 1000
    assert not updates['allocations'].any() and not updates['locks'].any()


def make_active(cell):
    """Both active, whatever a test left."""
    on = [name for name in BOTH if cell.state_of(name) == 'active']
    if len(on) < len(BOTH):
        cell.switch(activate=BOTH, deactivate=on)
        cell.go_on(0.4)


def start_moving(cell, seconds=6.0):
    """A motion under way with torque that a step to zero would show."""
    make_active(cell)
    cell.clear()
    cell.start(seconds)
    cell.go_on(1.0)
    assert np.abs(cell.last.applied).max() > 4.0 * STEP


class Forwarded:
    """Three forward_command_controllers instead of the JTC: any reference, also nonsense."""

    def __init__(self, cell) -> None:
        self.cell = cell
        self.names = [f'forward_{kind}_{next(NUMBERS)}' for kind in KINDS]
        joints = [f'{PLUGIN}/{joint}' for joint in JOINTS]
        for name, kind in zip(self.names, KINDS, strict=True):
            change = {'joints': joints, 'interface_name': kind}
            assert cell.load(name, change, 'forward_command_controller/ForwardCommandController')
            assert cell.configure(name)
        self.publishers = [
            cell.node.create_publisher(Float64MultiArray, f'{name}/commands', 1)
            for name in self.names
        ]
        cell.wait(lambda: all(p.get_subscription_count() for p in self.publishers), 'connections')

    def take_over(self) -> None:
        """Activate them and the plugin in place of the chain that ran."""
        self.cell.switch(deactivate=BOTH)
        self.cell.clear()
        self.cell.switch(activate=[*self.names, PLUGIN])

    def send(self, **references) -> None:
        for kind, publisher in zip(KINDS, self.publishers, strict=True):
            if kind in references:
                publisher.publish(Float64MultiArray(data=references[kind]))
        self.cell.go_on(0.05)

    def recover(self, **references) -> None:
        """Send references that can be used, reset and enable again."""
        self.send(**references)
        assert self.cell.reset().message.startswith('cleared')
        self.cell.go_on(0.05)
        assert not self.cell.last.fault and not np.any(self.cell.last.applied)
        assert self.cell.enable(True).success
        self.cell.go_on(0.4)
        assert np.abs(self.cell.last.applied).max() > 4.0 * STEP
