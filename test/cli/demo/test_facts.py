from pathlib import Path

import pytest
import yaml

from robodyn_ros.cli.demo import ROBOTS
from robodyn_ros.cli.demo.facts import Limits, PushFacts, load_facts
from robodyn_ros.errors import ConfigError

CONFIG = Path(__file__).resolve().parents[3] / 'config'
PUSH = {'link': 'link1', 'force': [1.0, 0, 0]}


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / 'demo_x.yaml'
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


def test_every_robot_of_the_demonstration_has_facts_and_no_other():
    assert sorted(path.stem for path in CONFIG.glob('demo_*.yaml')) == sorted(
        f'demo_{robot}' for robot in ROBOTS
    )


@pytest.mark.parametrize('robot', ROBOTS)
def test_facts_of_the_package_fit_the_cell(robot):
    """Links exist in the simulated robot, motions are there and a push is not given twice."""
    from robodyn_ros.cell.config import CellConfig
    from robodyn_ros.cell.robot_cell import RobotCell

    facts = load_facts(CONFIG / f'demo_{robot}.yaml')
    assert len(set(facts.pushes)) == len(facts.pushes) == 3
    cell = RobotCell(CellConfig.from_yaml(CONFIG / f'cell_{robot}.yaml'))
    assert {push.link for push in facts.pushes} <= set(cell.links)
    for motion in ('validation', 'tracking'):
        assert (CONFIG / 'motions' / f'{robot}_{motion}.yaml').is_file()


def test_facts_are_read(file):
    second = {'link': 'b', 'torque': [0, 0.5, 0]}
    facts = load_facts(file({'pushes': [PUSH, second], 'limits': {'tracking_cut': 0.6}}))
    assert facts.pushes == (
        PushFacts('link1', force=(1.0, 0.0, 0.0)),
        PushFacts('b', torque=(0.0, 0.5, 0.0)),
    )
    assert facts.limits == Limits(torque_error=0.03, tracking_cut=0.6, alarm_latency=0.02)
    assert load_facts(file({'pushes': [PUSH]})).limits == Limits()


def test_a_push_is_said_with_its_units():
    both = PushFacts('link2', force=(0.0, 0.0, -5.0), torque=(1.0, 0.0, 0.0))
    assert str(both) == 'link2 with [0.0, 0.0, -5.0] N and [1.0, 0.0, 0.0] Nm'
    assert str(PushFacts('a', torque=(1.0, 0.0, 0.0))) == 'a with [1.0, 0.0, 0.0] Nm'


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ('pushes: [', 'cannot be read'),
        ([], 'expected names with values'),
        ({}, 'pushes must be a list of at least one push, got None'),
        ({'pushes': []}, 'at least one push'),
        ({'pushes': [PUSH], 'push': 1}, "unknown entry 'push', expected some of .'pushes'"),
        ({'pushes': [PUSH, {'force': [1, 2, 3]}]}, 'push 2: link must name a body, got None'),
        ({'pushes': [{**PUSH, 'force': [1, 2]}]}, 'push 1: force must be three numbers'),
        ({'pushes': [{**PUSH, 'force': [1, 2, 'x']}]}, "force: expected a number, got 'x'"),
        ({'pushes': [{**PUSH, 'force': [0, 0, 0]}]}, 'a push needs a force or a torque'),
        ({'pushes': [{**PUSH, 'wrench': [0, 0, 0]}]}, "unknown entry 'wrench'"),
        ({'pushes': [PUSH], 'limits': {'speed': 1}}, "limits: unknown entry 'speed'"),
        ({'pushes': [PUSH], 'limits': {'torque_error': True}}, 'expected a number, got True'),
    ],
)
def test_what_is_wrong_is_one_sentence(content, sentence, file):
    with pytest.raises(ConfigError, match=sentence) as caught:
        load_facts(file(content))
    assert '\n' not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r'demo_y\.yaml'):
        load_facts(tmp_path / 'demo_y.yaml')
