# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bags import JOINT_STATE, message, torque_types
from rosbags.rosbag2 import StoragePlugin, Writer

from robodyn_ros.cli.main import main
from robodyn_ros.recording.bags.topic_bag import TORQUE_STATE
from robodyn_ros.recording.topics.messages import TRAJECTORY_STATE

NAMES = ['a', 'b']
PERIOD = 2_000_000
TRUE = 3


def position(time: np.ndarray) -> np.ndarray:
    return np.asarray(0.4 * np.sin(3.0 * time[:, None] + np.array([0.0, 1.0])))


class Bag:
    """Joint states that follow their command TRUE + 1/2 cycles later, beside other topics."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = torque_types()
        self.stamps = 1_700_000_000 * 10**9 + PERIOD * np.arange(2000)
        self.time = 2e-3 * np.arange(2000)
        measured = position(self.time - 2e-3 * (TRUE + 0.5))
        measured += 1e-6 * np.random.default_rng(1).normal(size=measured.shape)
        self.writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self.writer.open()
        self.joint_states('/joint_states', measured)

    def _write(self, topic: str, kind: str, states: list[object]) -> None:
        link = self.writer.add_connection(topic, kind, typestore=self.store)
        for stamp, state in zip(self.stamps, states, strict=True):
            self.writer.write(link, int(stamp), self.store.serialize_cdr(state, kind))

    def joint_states(self, topic: str, values: np.ndarray) -> None:
        zero = np.zeros(2)
        rows = zip(self.stamps.tolist(), values, strict=True)
        self._write(
            topic, JOINT_STATE, [message(stamp, NAMES, row, zero, zero) for stamp, row in rows]
        )

    def header(self, stamp: int) -> object:
        return message(int(stamp), [], [], [], []).header

    def torque_state(self, delay: int, cycle: int = 0) -> None:
        """Write the states of a node, or of the plugin, where `cycle` cycles pass in 2 ms."""
        requested = np.cos(5.0 * self.time[:, None] + np.array([0.0, 1.0]))
        applied = 0.5 * requested[np.maximum(np.arange(2000) - delay, 0)]
        make = self.store.types[TORQUE_STATE]
        zero = np.zeros(2)
        self._write('/feedforward/torque_state', TORQUE_STATE, [
            make(
                self.header(stamp), NAMES, zero, wanted, sent, zero, True, '', 0, cycle * row,
                delay,
            )
            for row, (stamp, wanted, sent) in enumerate(
                zip(self.stamps, requested, applied, strict=True)
            )
        ])  # fmt: skip

    def trajectory_state(self, *, effort: bool) -> None:
        """As a real controller has it: what is commanded is the position of the next cycle."""
        types = self.store.types
        zero = np.zeros(2)

        def point(values: np.ndarray, efforts: np.ndarray) -> object:
            time = types['builtin_interfaces/msg/Duration'](0, 0)
            kind = 'trajectory_msgs/msg/JointTrajectoryPoint'
            return types[kind](values, zero, zero, efforts, time)

        empty = np.zeros(0)
        reference, output = position(self.time - 2e-3), position(self.time)
        self._write('/jtc/controller_state', TRAJECTORY_STATE, [
            types[TRAJECTORY_STATE](
                self.header(stamp), NAMES, point(now, empty), point(empty, empty),
                point(empty, empty), point(then, zero if effort else empty),
            )
            for stamp, now, then in zip(self.stamps, reference, output, strict=True)
        ])  # fmt: skip

    def run(self, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
        self.writer.close()
        code = main(['delay', str(self.path), *options])
        streams = capsys.readouterr()
        return code, streams.out + streams.err


@pytest.fixture
def bag(tmp_path: Path) -> Bag:
    return Bag(tmp_path / 'bag')


def test_the_delay_is_told_and_the_one_in_the_torque_held_against_it(bag, capsys):
    bag.joint_states('/joint_trajectory_controller/reference', position(bag.time))
    bag.torque_state(delay=TRUE + 3)
    code, text = bag.run(capsys)
    assert code == 1
    assert 'error: The motion comes 3.50 cycles after its command, but additive_torque_' in text
    assert 'is 6: the torque comes too late, by 3 cycles. Set additive_torque_delay to 3' in text
    assert text.count('3.50 +- 0.00') == 2
    assert main(['delay', str(bag.path), '--configured', '3']) == 0
    assert 'after its command: additive_torque_delay 3 fits' in capsys.readouterr().out


def test_cycles_are_those_that_the_plugin_numbers_however_often_topics_are_published(bag, capsys):
    bag.joint_states('/joint_trajectory_controller/reference', position(bag.time))
    bag.torque_state(delay=2 * TRUE, cycle=2)  # cycles of 1 ms, topics every 2 ms
    code, text = bag.run(capsys, '--json')
    facts = json.loads(text)
    assert facts['period'] == pytest.approx(0.001)
    assert facts['configured'] == 2 * TRUE
    # The measured positions follow 3.5 periods of the topics later.
    assert facts['cycles'] == pytest.approx(2.0 * (TRUE + 0.5) - 0.5, abs=0.05)
    assert code == 0


@pytest.mark.parametrize(('effort', 'delay'), [(False, TRUE), (True, TRUE - 1)])
def test_a_real_controllers_effort_is_one_cycle_behind_its_position(bag, capsys, effort, delay):
    bag.trajectory_state(effort=effort)
    code, text = bag.run(capsys, '--json')
    facts = json.loads(text)
    assert code == 0
    assert facts['command'] == '/jtc/controller_state'
    assert facts['period'] == pytest.approx(0.002)
    assert facts['configured'] is None
    assert facts['additive_torque_delay'] == delay
    assert facts['joints'][0]['lag'] == pytest.approx(delay + 0.5, abs=0.01)


class Gripper(Bag):
    def joint_states(self, topic: str, values: np.ndarray) -> None:
        zero = np.zeros(3)
        states = [
            message(stamp, ['gripper', *NAMES], np.append(0.01, row), zero, zero)
            for stamp, row in zip(self.stamps.tolist(), values, strict=True)
        ]
        self._write(topic, JOINT_STATE, states)


def test_a_gripper_that_nobody_commands_does_not_matter(tmp_path, capsys):
    bag = Gripper(tmp_path / 'bag')
    bag.trajectory_state(effort=False)
    code, text = bag.run(capsys, '--json')
    assert code == 0
    facts = json.loads(text)
    assert [joint['name'] for joint in facts['joints']] == NAMES
    assert facts['additive_torque_delay'] == TRUE


def test_commands_that_are_not_there_yet_are_left_out(bag, capsys):
    command = position(bag.time)
    command[:5] = np.nan
    bag.joint_states('/cell/reference', command)
    code, text = bag.run(capsys)
    assert code == 0
    assert f'Set additive_torque_delay to {TRUE}' in text


def test_errors_are_one_sentence(bag, tmp_path, capsys):
    code, text = bag.run(capsys)
    assert code == 2
    assert 'no topic has commanded positions. Record them with the joint states' in text
    assert main(['delay', str(bag.path), '--command', '/nothing']) == 2
    assert '/nothing has no commanded positions' in capsys.readouterr().err
    (tmp_path / 'table.csv').write_text('time,q1\n0,0\n')
    assert main(['delay', str(tmp_path / 'table.csv')]) == 2
    assert 'table.csv is not a rosbag2' in capsys.readouterr().err
