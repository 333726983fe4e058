# SPDX-License-Identifier: Apache-2.0
from robodyn_ros.cli.main import COMMANDS
from tools.pages.commands import page


def test_every_command_has_a_chapter_with_its_arguments():
    text = page()
    assert [f'## robodyn {name}\n' in text for name in COMMANDS] == [True] * len(COMMANDS)
    assert '- `--seed N`: ' in text and '- `recording ...`: ' in text
    assert '%(' not in text and '==SUPPRESS==' not in text


def test_an_argument_of_several_commands_is_explained_once():
    text = page()
    heading = text.index('### excite, motion\n')
    assert text.count('- `--srdf FILE`: ') == 1
    assert heading < text.index('- `--srdf FILE`: ') < text.index('##', heading + 3)


def test_options_of_an_identification_are_on_their_page():
    assert '--success-rule' not in page() and '(options_identification.md)' in page()
