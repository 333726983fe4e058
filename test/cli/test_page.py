# SPDX-License-Identifier: Apache-2.0
from argparse import Namespace

import pytest

from robodyn_ros.cli.page import with_page
from robodyn_ros.errors import ConfigError


def test_a_page_is_named_among_the_files_and_replaces_only_pages(tmp_path):
    arguments = Namespace(out=str(tmp_path), command_line='robodyn delay bag')
    facts = {'period': 0.004, 'files': {'table': 'a'}}
    for _ in range(2):
        found = with_page(arguments, facts, 'text', name='delay', title='Delay')
    assert found['files'] == {'table': 'a', 'report': str(tmp_path / 'delay.html')}
    assert 'robodyn delay bag' in (tmp_path / 'delay.html').read_text()
    (tmp_path / 'mine.html').write_text('mine')
    with pytest.raises(ConfigError, match=r'mine\.html exists already, is no report'):
        with_page(arguments, facts, 'text', name='mine', title='x')
    assert (tmp_path / 'mine.html').read_text() == 'mine'
