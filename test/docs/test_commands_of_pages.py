# SPDX-License-Identifier: Apache-2.0
"""Every command in the fences of Quickstart and "Your robot" is one that the suite takes."""

import ast
import re
from pathlib import Path

import pytest
import yaml
from fences import DOCS, commands, given

from robodyn_ros.cli.main import build_parser
from robodyn_ros.node_parameters.names import parameter_names

ROOT = DOCS.parent
PAGES = ['quickstart.md', 'bring_your_own_robot.md',
         *(f'robots/{path.name}' for path in sorted((DOCS / 'robots').iterdir()))]  # fmt: skip
COMMANDS = [(page, words) for page in PAGES for words in commands(page)]
ARCHITECTURE = (DOCS / 'architecture.md').read_text(encoding='utf-8')
SHELL = {'git', '.', 'cd'}
"""Commands of the shell that the pages use."""


def robodyn(words):
    build_parser(words[1]).parse_args([word.replace('$RUN', 'run') for word in words[1:]])


def make(words):
    targets = re.search(r'^\.PHONY: (.*)$', (ROOT / 'Makefile').read_text(), re.M)[1].split()
    assert words[1] in targets


def assigned(name):
    """Value of a constant in the module of the launch files, which imports `launch`."""
    text = (ROOT / 'robodyn_ros' / 'nodes' / 'launching' / 'descriptions.py').read_text()
    nodes = [each for each in ast.parse(text).body if isinstance(each, ast.Assign)]
    return next(ast.literal_eval(each.value) for each in nodes if each.targets[0].id == name)


def declared(name):
    """Names of the arguments of a launch file: the basic ones, and those that it names."""
    tree = ast.parse((ROOT / 'launch' / name).read_text())
    named = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}
    return {*assigned('BASIC'), *(named & set(assigned('ARGUMENTS')))}


def launched(words):
    package, file, *arguments = words[2:]
    assert file.endswith('.launch.py') and all(':=' in word for word in arguments)
    if package == 'robodyn_ros':
        assert set(given(arguments)) <= declared(file)


def called(name, kind, value='{}', *, separator='---'):
    """An action or a service that a node offers, and fields that its request has."""
    package, folder, stem = kind.split('/')
    assert '/'.join(name.split('/')[-2:]) in offered(), name
    if package != 'robodyn_ros':
        assert kind == 'std_srvs/srv/Trigger'
        return
    request = (ROOT / folder / f'{stem}.{folder}').read_text().partition(separator)[0]
    for field in yaml.safe_load(value):
        assert re.search(rf'^\S+ {field}\b', request, re.M), field


def offered():
    """Names of services and actions in the table of docs/architecture.md."""
    table = ARCHITECTURE.partition('| node | subscribes')[2].partition('\n\n')[0]
    found = set()
    for line in table.splitlines()[2:]:
        cells = line.split('|')
        node, names = re.findall(r'`(\w+)`', cells[1])[0], re.findall(r'`([\w/]+)`', cells[4])
        found |= {name if '/' in name else f'{node}/{name}' for name in names}
    return found


def ros2(words):
    kind = ' '.join(words[1:3])
    if words[1] == 'launch':
        launched(words)
    elif kind == 'action send_goal':
        called(*(word for word in words[3:] if word != '-f'))
    elif kind == 'service call':
        called(*words[3:])
    elif kind == 'param set':
        assert words[4] in parameter_names()[words[3].rpartition('/')[2]]
    elif words[1] == 'run':
        assert words[2] == 'robodyn_ros' and (ROOT / 'scripts' / words[3]).is_file()
    else:
        raise AssertionError(f'unknown: {words}')


CHECKS = {'robodyn': robodyn, 'make': make, 'ros2': ros2}


def check(words):
    if words[0] in SHELL or re.match(r'\w+=', words[0]):
        return
    CHECKS[words[0]](words)


@pytest.mark.parametrize(
    ('page', 'words'), COMMANDS, ids=[f'{Path(p).stem}-{" ".join(w)[:40]}' for p, w in COMMANDS]
)
def test_the_command_is_one_that_the_suite_takes(page, words):
    check(words)


def test_every_page_has_commands():
    assert {page for page, _ in COMMANDS} == set(PAGES)
