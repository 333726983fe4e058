# SPDX-License-Identifier: Apache-2.0
"""Thresholds learned by a real monitor from healthy work, at the operator's word."""

import numpy as np
import pytest
from collision_client import MODEL, NAMES, UNKNOWN, Monitor
from node_process import closed, joint_state
from robodyn_ros.msg import FaultCode
from robodyn_ros.srv import Learn

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.thresholds_file import read_thresholds

pytestmark = pytest.mark.ros
PERIOD = 0.05


class Work(Monitor):
    """An arm at 20 Hz, whose torque has noise."""

    def __init__(self, folder, number, **parameters) -> None:
        self.random = np.random.default_rng(number)
        super().__init__(
            folder, number, period=PERIOD, filter_cutoff=4.0, settle_time=0.2,
            max_torque_error='[60.0, 60.0]', contact_threshold='[40.0, 40.0]',
            allowed_directories=f'[{folder}]', **parameters,
        )  # fmt: skip

    def work(self, seconds, push=0.0):
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD - 0.002  # the sample itself adds the rest
            q, qd, torque = self.sample(push)
            torque += 0.2 * self.random.normal(size=2)
            self.publish(joint_state(NAMES, self.time, q, qd, torque))

    def learn(self, command, file=''):
        request = Learn.Request(command=command, thresholds_file=str(file))
        return self.process.call(Learn, 'learn', request)


def test_what_cannot_be_learned_from_is_refused(tmp_path):
    file = tmp_path / 'thresholds.yaml'
    with closed(Work(tmp_path, 14)) as cell:
        ask = Learn.Request
        cell.work(2.0)
        assert 'thresholds_file is empty' in cell.learn(ask.FINISH).message
        outside = cell.learn(ask.START, '/etc/thresholds.yaml')
        assert outside.fault_code == FaultCode.FAULT_PATH_NOT_ALLOWED
        assert 'ends in .yaml' in cell.learn(ask.START, tmp_path / 'thresholds.txt').message
        assert 'no command 9' in cell.learn(9, file).message
        assert 'no session is recorded' in cell.learn(ask.PAUSE, file).message

        cell.work(1.0, push=90.0)
        refused = cell.learn(ask.START, file)
        assert not refused.success and 'a collision is not cleared yet' in refused.message
        cell.work(2.0)
        assert cell.process.reset().success

        assert cell.learn(ask.START, file).success
        cell.work(10.0)
        again = cell.learn(ask.START)
        assert not again.success and 'recorded already' in again.message
        short = cell.learn(ask.FINISH)
        assert not short.success and 'expected at least 100 s' in short.message
        assert not file.exists(), 'completely or not at all'
        cell.process.wait(lambda: cell.states[-1].level[0] == UNKNOWN, 'the end of the data')
        unknown = cell.learn(ask.START)
        assert not unknown.success and 'the torque error is unknown' in unknown.message


def test_thresholds_are_learned_from_the_sessions_that_the_operator_vouches_for(tmp_path, capsys):
    file = tmp_path / 'thresholds.yaml'
    with closed(Work(tmp_path, 14, learn_size=2.0)) as cell:
        ask = Learn.Request
        cell.work(2.0)
        assert cell.learn(ask.START, file).success
        cell.work(10.0)
        assert cell.learn(ask.PAUSE).success
        # At once: the part before must have been written, or this one would take its place.
        assert cell.learn(ask.START).success, 'another session of the same file'
        cell.work(60.0)
        cell.time += 5.0  # a gap
        cell.work(35.0)
        assert cell.learn(ask.PAUSE).message.startswith('paused after 18')
        cell.work(1.0)
        assert cell.learn(ask.START).success
        cell.work(30.0)
        answer = cell.learn(ask.FINISH)
        assert answer.success, answer.message
        hours = 135.0 / 3600.0
        assert answer.healthy_hours == pytest.approx(hours, rel=0.03)
        assert answer.false_alarms_per_hour_at_most == pytest.approx(3.0 / hours, rel=0.05)
        assert [note for note in answer.notes if 'session 2: 1 gaps' in note]
        learned = read_thresholds(file)
        assert learned.joints == MODEL.joint_names and learned.detector['period'] == PERIOD
        assert learned.map.collision[:, :-2].max() < 3.0, 'far below those in force'
        assert dict(learned.detector)['filter_cutoff'] == 4.0

        folder = tmp_path / 'thresholds.healthy'
        assert {path.name[:11] for path in folder.glob('session*')} == {
            'session_001', 'session_002', 'session_003',
        }  # fmt: skip
        # The operator has the same with the command, on another day and computer.
        again = tmp_path / 'again.yaml'
        command = ['thresholds', str(folder), '--model', str(tmp_path / 'result.yaml')]
        assert main([*command, '--out', str(again)]) == 0
        capsys.readouterr()
        assert again.read_text() == file.read_text()
        assert cell.learn(ask.DISCARD).success and not list(folder.glob('session*'))
        assert cell.process.interrupt() == 0
    learned.check_model(learned.model_hash, NAMES, 'file')
    with closed(Work(tmp_path, 15, thresholds=file)) as cell:
        cell.work(4.0)
        assert cell.states[-1].message == 'ok'
        assert max(cell.states[-1].threshold) < 6.0
