# SPDX-License-Identifier: Apache-2.0
"""The commands of the page about a single axis that need no ROS run as they stand.

`ros2` is not on PyPI. `test_commands_of_pages.py` checks its lines, and `bench.first_day` starts
the nodes on drivers with the names, units and gravity of the other pages.
"""

import pytest
from fences import DOCS, commands
from robots import DATA, SINGLE_AXIS

from robodyn_ros.cli.main import main

pytestmark = pytest.mark.slow


def run(page):
    """Run every command of a page, in its order."""
    offline = [words for words in commands(page) if words[0] == 'robodyn']
    for words in offline:
        assert main(words[1:]) == 0, words
    return len(offline)


def test_the_page_about_a_single_axis(tmp_path, monkeypatch):
    if not (DATA / 'emps').is_dir():
        pytest.skip(f'{DATA / "emps"} is not there; set ROBODYN_DATA')
    monkeypatch.chdir(tmp_path)
    for file in (DATA / 'emps').iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / 'config').symlink_to(DOCS.parent / 'config')
    text = SINGLE_AXIS.read_text().replace('name="joint1"', 'name="axis"')
    (tmp_path / 'my_axis.urdf').write_text(text)
    assert run('robots/single_axis.md') >= 2
    assert (tmp_path / 'DIR' / 'result.yaml').exists()
