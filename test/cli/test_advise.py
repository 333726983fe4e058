# SPDX-License-Identifier: Apache-2.0
"""`robodyn advise`: the document's table, its delta program, and what a file must hold."""

import json
from pathlib import Path

import pytest
import yaml

from robodyn_ros.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SCARA = ['--model', str(ROOT / 'config' / 'robots' / 'scara3.yaml')]
LIMITS = """
joint_limits:
  joint1: {min_position: -2.0, max_position: 2.0, max_velocity: 3.0, max_acceleration: 90.0}
  joint2: {min_position: -2.0, max_position: 2.0, max_velocity: 3.0, max_acceleration: 90.0}
  joint3: {min_position: -2.0, max_position: 2.0, max_velocity: 3.0, max_acceleration: 90.0}
"""
MOTION = {'kind': 'sine', 'joints': ['joint1', 'joint2', 'joint3'], 'start': [-1.9] * 3,
          'target': [1.9] * 3, 'duration': 30.0}  # fmt: skip


@pytest.fixture
def advised(tmp_path, capsys):
    """Return a function that writes a motion and returns exit code and what is printed."""
    (tmp_path / 'limits.yaml').write_text(LIMITS)

    def advised(document, *options):
        (tmp_path / 'motion.yaml').write_text(yaml.safe_dump(document))
        files = [str(tmp_path / 'motion.yaml'), '--limits', str(tmp_path / 'limits.yaml')]
        code = main(['advise', *files, *SCARA, *options])
        return code, capsys.readouterr()

    return advised


# Table 2 of the softMC document; see test/excitation/test_advice.py for its second row
TABLE = [
    ((1.1, 1.3, 1.5), 'good', ['joint1', 'joint2'], [11, 13]),
]


@pytest.mark.parametrize(('ratio', 'quality', 'joints', 'cycles'), TABLE)
def test_the_documents_table(advised, ratio, quality, joints, cycles):
    frequency = [0.15 * value for value in ratio]
    code, printed = advised({**MOTION, 'frequency': frequency}, '--json')
    facts = json.loads(printed.out)
    assert code == 0 and facts['quality'] == quality
    repetition = facts['repetition']
    assert (repetition['joints'], repetition['cycles']) == (joints, cycles)
    # the factor brings the fastest to 95 % of its limit
    fastest = max(joint['velocity'] for joint in facts['joints'])
    assert facts['factor'] * fastest == pytest.approx(0.95)
    assert [joint['cycles'] for joint in facts['joints']] == pytest.approx(
        [29.0 * value for value in frequency]
    )
    assert all(joint['range'] == pytest.approx(0.95) for joint in facts['joints'])


def test_a_table_and_one_line_for_each_shortcoming(advised):
    code, printed = advised({**MOTION, 'frequency': [0.15, 0.30, 0.18], 'duration': 15.0})
    assert code == 0 and 'frequencies: bad, joint1 and joint2 repeat first' in printed.out
    assert 'at least 3 are needed' in printed.out and '95.0%' in printed.out
    good = {**MOTION, 'frequency': [0.165, 0.195, 0.225], 'duration': 40.0}
    assert advised(good)[1].out.endswith('nothing to improve\n')


def test_parameters_of_the_excitation_node(advised):
    bare = {key: value for key, value in MOTION.items() if key != 'joints'}
    parameters = {'joint_limits': 'x', 'motion': {**bare, 'frequency': [0.1, 0.11, 0.12]}}
    code, printed = advised({'/**/excitation': {'ros__parameters': parameters}}, '--json')
    names = [joint['name'] for joint in json.loads(printed.out)['joints']]
    assert code == 0 and names == MOTION['joints']


@pytest.mark.parametrize(
    ('document', 'words'),
    [
        ({'kind': 'move'}, "must hold a motion of kind sine, got kind 'move'"),
        ({'/**': {'ros__parameters': {'rate': 1.0}}}, 'got no motion'),
        ([1, 2], 'got no motion'),
        ({**MOTION, 'frequency': [1.0]}, 'motion.yaml: '),
        ({**MOTION, 'joints': ['a', 'b', 'c'], 'frequency': 1.0}, "joint 'a'"),
    ],
)
def test_what_is_no_sines_of_this_robot_is_one_sentence(advised, document, words):
    code, printed = advised(document)
    assert code == 2 and words in printed.err and printed.err.count('\n') == 1
