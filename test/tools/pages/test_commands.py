# SPDX-License-Identifier: Apache-2.0
from robodyn_ros.cli.main import COMMANDS
from tools.pages.commands import page


def test_every_command_has_a_chapter_with_its_arguments():
    text = page()
    assert [f'## robodyn {name}\n' in text for name in COMMANDS] == [True] * len(COMMANDS)
    assert '| `--seed N` |' in text and '| `recording ...` |' in text
    assert '%(' not in text and '==SUPPRESS==' not in text
