# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.cell.faults import KINDS, FaultyStream, InjectedFault, StreamSample
from robodyn_ros.errors import CellError

PERIOD = 0.002
STREAMS = ('joint_states', 'reference')


def stream(text, count=20, before=5):
    """Return the output for so many samples, with a fault injected after the first ones."""
    faulty = FaultyStream(PERIOD)
    out = []
    for number in range(count):
        if number == before:
            faulty.inject(InjectedFault.parse(text, STREAMS))
        values = np.full((3, 2), float(number))
        out.append(faulty.through(StreamSample(number * 2_000_000, values)))
        values[:] = -1.0  # the cell goes on using its arrays
    return out


def numbers(rows):
    return [[int(sample.stamp // 2_000_000) for sample in row] for row in rows]


def test_every_kind_acts_for_its_duration_and_no_longer():
    for kind in KINDS:
        out = stream(f'joint_states {kind} 0.01 0.004')
        usual = [[n] for n in range(20)]
        assert numbers(out[:5]) == usual[:5]
        assert numbers(out[:10]) != usual[:10] or kind in ('corrupt', 'freeze'), kind
        assert numbers(out[11:]) == usual[11:], kind


def test_dropped_late_and_twice():
    assert numbers(stream('joint_states drop 0.01'))[4:11] == [[4], [], [], [], [], [], [10]]
    late = numbers(stream('joint_states delay 0.01 0.004'))
    assert late[4:12] == [[4], [], [], [5], [6], [7], [8, 9, 10], [11]]
    assert numbers(stream('joint_states duplicate 0.004'))[5:8] == [[5, 5], [6, 6], [7]]


def test_one_number_of_each_sample_is_spoilt():
    for row in stream('reference corrupt 0.01')[5:10]:
        good = np.abs(np.nan_to_num(row[0].values, nan=1e300)) < 1e6
        assert good.sum() == good.size - 1


def test_values_freeze_while_stamps_move_and_stamps_jump_while_values_move():
    out = stream('reference freeze 0.01')
    assert {float(row[0].values[0, 0]) for row in out[5:10]} == {5.0}
    jumped = stream('reference clock 0.01 -1.0')
    assert [row[0].stamp - n * 2_000_000 for n, row in enumerate(jumped)][4:11] == [
        0, *[-1_000_000_000] * 5, 0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('joint_states drop', "a fault is 'STREAM KIND DURATION"),
        ('joint_states drop soon', "a fault is 'STREAM KIND DURATION"),
        ('plant drop 1', 'a fault is of joint_states, reference'),
        ('reference melt 1', 'one of drop, delay, duplicate'),
        ('reference drop -1', 'a duration above 0 s'),
        ('reference clock 1 nan', 'a finite size'),
        ('reference delay 1', 'a delay has a size above 0 s'),
    ],
)
def test_what_is_no_fault_is_refused(text, sentence):
    with pytest.raises(CellError, match=sentence):
        InjectedFault.parse(text, STREAMS)
