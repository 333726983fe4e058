# SPDX-License-Identifier: Apache-2.0
"""From the clone to a model of one's own robot a newcomer reads at most three pages."""

import re

import pytest
from fences import DOCS

LINK = re.compile(r'\]\(((?:[\w/.]+/)?[\w]+\.md)')
ROBOTS = sorted((DOCS / 'robots').iterdir())


def linked(page):
    found = LINK.findall(page.read_text(encoding='utf-8'))
    return {(page.parent / link).resolve() for link in found}


@pytest.mark.parametrize('robot', ROBOTS, ids=lambda path: path.stem)
@pytest.mark.parametrize('start', ['README.md', 'docs/quickstart.md'])
def test_a_robot_is_the_third_page(start, robot):
    guide = DOCS / 'bring_your_own_robot.md'
    first = DOCS.parent / start
    assert 'git clone' in first.read_text() and guide in linked(first) and robot in linked(guide)
