# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
import yaml
from demo_robots import DEMO_ROBOTS, FOLDER

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.cli.demo.facts import Limits, PushFacts, read_facts
from robodyn_ros.errors import ConfigError
from robodyn_ros.robot_file import load_robot

PUSH = {'link': 'link1', 'force': [1.0, 0, 0]}
MOTIONS = {'validation': 'a.yaml', 'tracking': '/b.yaml'}


@pytest.fixture
def facts(tmp_path):
    def read(demo):
        path = tmp_path / 'x.yaml'
        path.write_text(yaml.safe_dump({'urdf': 'x.urdf', 'demo': demo}))
        return read_facts(load_robot(path))

    return read


@pytest.mark.parametrize('robot', DEMO_ROBOTS)
def test_facts_of_the_package_fit_the_cell(robot):
    """Links exist in the simulated robot, motions are there and a push is not given twice."""
    file = FOLDER / f'{robot}.yaml'
    facts = read_facts(load_robot(file))
    assert len(set(facts.pushes)) == len(facts.pushes) == 3
    cell = RobotCell(CellConfig.from_yaml(file))
    assert {push.link for push in facts.pushes} <= set(cell.links)
    assert all(path.is_file() for path in facts.motions.values())


def test_facts_are_read(facts, tmp_path):
    second = {'link': 'b', 'torque': [0, 0.5, 0]}
    found = facts({'pushes': [PUSH, second], 'limits': {'tracking_cut': 0.6}, **MOTIONS})
    assert found.pushes == (
        PushFacts('link1', force=(1.0, 0.0, 0.0)),
        PushFacts('b', torque=(0.0, 0.5, 0.0)),
    )
    assert found.motions == {'validation': tmp_path / 'a.yaml', 'tracking': Path('/b.yaml')}
    assert found.limits == Limits(torque_error=0.04, tracking_cut=0.6, alarm_latency=0.02)
    assert facts({'pushes': [PUSH], **MOTIONS}).limits == Limits()


def test_a_push_is_said_with_its_units():
    both = PushFacts('link2', force=(0.0, 0.0, -5.0), torque=(1.0, 0.0, 0.0))
    assert str(both) == 'link2 with [0.0, 0.0, -5.0] N and [1.0, 0.0, 0.0] Nm'
    assert str(PushFacts('a', torque=(1.0, 0.0, 0.0))) == 'a with [1.0, 0.0, 0.0] Nm'
    assert str(PushFacts('a', force=(1.0, 0.0, 0.0))) == 'a with [1.0, 0.0, 0.0] N'


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ({}, "entry 'pushes' is missing"),
        ({'pushes': []}, 'pushes must be a list of length >= 1'),
        ({'pushes': [PUSH], 'push': 1}, "unknown entry 'push', expected some of .'pushes'"),
        ({'pushes': [PUSH, {'force': [1, 2, 3]}]}, "push 2: entry 'link' is missing"),
        ({'pushes': [{**PUSH, 'force': [1, 2]}]}, 'push 1: force must be a list of length 3'),
        ({'pushes': [{**PUSH, 'force': [1, 2, 'x']}]}, "must be a finite number, got 'x'"),
        ({'pushes': [{**PUSH, 'force': [0, 0, 0]}]}, 'a push needs a force or a torque'),
        ({'pushes': [{**PUSH, 'wrench': [0, 0, 0]}]}, "unknown entry 'wrench'"),
        ({'pushes': [PUSH], 'limits': {'speed': 1}, **MOTIONS}, "limits: unknown entry 'speed'"),
        (
            {'pushes': [PUSH], 'limits': {'torque_error': True}, **MOTIONS},
            'a finite number, got True',
        ),
        ({'pushes': [PUSH], 'tracking': 'b'}, "entry 'validation' is missing"),
    ],
)
def test_what_is_wrong_is_one_sentence(content, sentence, facts):
    with pytest.raises(ConfigError, match=rf'x\.yaml: section demo: .*{sentence}') as caught:
        facts(content)
    assert '\n' not in str(caught.value)


def test_a_robot_without_a_demonstration_is_named():
    with pytest.raises(ConfigError, match=r'ur10\.yaml: section demo is missing'):
        read_facts(load_robot(FOLDER / 'ur10.yaml'))
