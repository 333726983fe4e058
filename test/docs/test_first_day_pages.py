# SPDX-License-Identifier: Apache-2.0
"""The pages of drivers launch what `bench.first_day` runs: robot file, namespace and steps."""

import pytest
import yaml
from fences import DOCS, FENCE, commands, given

from bench.first_day.kinds import KINDS

PAGES_OF_ROBOTS = sorted((DOCS / 'robots').glob('*.md'))
PAGES = {'ur': 'ur', 'franka': 'franka', 'lbr': 'kuka_lbr', 'ethercat': 'ethercat'}


def launches(page):
    """Arguments of each launch file of the suite in a page."""
    found = {}
    for words in commands(page):
        if words[:3] == ['ros2', 'launch', 'robodyn_ros']:
            found[words[3].partition('.')[0]] = given(words)
    return found


SMALL = 0.2
"""Share of the additive torque with which a real robot begins."""


def test_the_first_torque_of_a_real_robot_is_small():
    robots = sorted((DOCS.parent / 'config' / 'robots').glob('*.yaml'))
    files = {path.name: path.read_text() for path in robots}
    files['example'] = (
        (DOCS.parent / 'config' / 'example_robot.yaml').read_text().replace('cell:', '_:')
    )
    for page in ('bring_your_own_robot.md', *(f'robots/{path.name}' for path in PAGES_OF_ROBOTS)):
        blocks = FENCE.findall((DOCS / page).read_text())
        files |= {
            f'{page} {i}': text for i, (language, text) in enumerate(blocks) if language == 'yaml'
        }
    scales = {}
    for name, text in files.items():
        content = yaml.safe_load(text)
        # those with a cell are of the simulator; the driver of Universal Robots takes no torque
        if {'urdf', 'effort', 'limits'} <= set(content) and 'cell' not in content:
            scales[name] = content.get('feedforward', {}).get('feedforward_scale')
    assert scales.pop('ur10e.yaml') is None
    assert len(scales) >= 6 and set(scales.values()) == {SMALL}, scales


@pytest.mark.parametrize('page', ['ethercat', 'franka', 'kuka_lbr', 'single_axis'])
def test_the_page_says_how_to_go_on_from_the_first_torque(page):
    text = (DOCS / 'robots' / f'{page}.md').read_text()
    assert f'feedforward_scale: {SMALL}' in text and 'commissioning.md' in text
    raised = [words for words in commands(f'robots/{page}.md') if words[1:3] == ['param', 'set']]
    namespace = '/lbr' if page == 'kuka_lbr' else ''
    assert [words[3:5] for words in raised] == [[f'{namespace}/feedforward', 'feedforward_scale']]


@pytest.mark.parametrize(('kind', 'page'), PAGES.items())
def test_the_page_names_what_the_first_day_runs(kind, page):
    file, found = f'robots/{page}.md', launches(f'robots/{page}.md')
    namespace = KINDS[kind].namespace
    robot = KINDS[kind].robot or 'my_robot.yaml'
    goals = [words for words in commands(file) if words[1:3] == ['action', 'send_goal']]
    assert [words[4] for words in goals] == [f'{namespace}/identification/run_identification']
    if not found:  # its page has a launch file that includes the suite
        text = (DOCS / file).read_text()
        assert f"'robot': '{robot}'" in text
        assert f"SetRemap('joint_states', '{KINDS[kind].joint_states}')" in text
        return
    assert {each['robot'] for each in found.values()} == {robot}
    assert {each.get('namespace', '') for each in found.values()} == {namespace.lstrip('/')}
    steps = {'identification', 'collision_monitor'} | ({'feedforward'} & set(found))
    assert set(found) == steps and ('feedforward' in found) == KINDS[kind].additive
