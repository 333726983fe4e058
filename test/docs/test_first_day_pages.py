# SPDX-License-Identifier: Apache-2.0
"""The pages of drivers launch what `bench.first_day` runs: robot file, namespace and steps."""

import pytest
from fences import DOCS, commands, given

from bench.first_day.kinds import KINDS

PAGES = {'ur': 'ur', 'franka': 'franka', 'lbr': 'kuka_lbr', 'ethercat': 'ethercat'}


def launches(page):
    """Arguments of each launch file of the suite in a page."""
    found = {}
    for words in commands(page):
        if words[:3] == ['ros2', 'launch', 'robodyn_ros']:
            found[words[3].partition('.')[0]] = given(words)
    return found


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
