# SPDX-License-Identifier: Apache-2.0
"""Parameters from several sources: the last one wins, and types and keys are rcl's."""

import os
import string

import pytest
import yaml
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from robodyn_ros.errors import ConfigError
from robodyn_ros.parameter_files import (
    EVERY_NODE,
    RosArguments,
    as_file,
    matches,
    merged,
    not_for_ros,
    read_source,
)

KEYS = (
    '/**', '/*', '/**/feedforward', '/*/feedforward', 'feedforward', '/feedforward',
    '/robot1/feedforward', 'robot1/feedforward', '/robot1/**', '/robot1/*', '/robot2/feedforward',
    '/**/robot1/feedforward', '/monitor', '/a/**/feedforward',
)  # fmt: skip
NODES = ('/feedforward', '/robot1/feedforward', '/a/b/feedforward')


def write(path, content):
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return str(path)


def plain(values):
    """Return the values as a parser reads them, and their source."""
    found = yaml.safe_load(as_file({EVERY_NODE: values})) or {}
    parameters = found.get(EVERY_NODE, {'ros__parameters': {}})['ros__parameters']
    return {name: (value, values[name].source) for name, value in parameters.items()}


def resolved(node, *arguments):
    return plain(merged(RosArguments(['program', '--ros-args', *arguments]).sources, node))


@pytest.mark.parametrize('key', ['/**', '/*', '/**/feedforward', 'feedforward', '/feedforward'])
@pytest.mark.parametrize('package', ['/**', '/**/feedforward', '/feedforward'])
def test_the_last_file_wins_whatever_its_key(tmp_path, key, package):
    theirs = {'max_torque': [1100.0], 'scale': 1.0, 'period': 0.002}
    first = write(tmp_path / 'package.yaml', {package: {'ros__parameters': theirs}})
    ours = {'max_torque': [10.0], 'scale': 0.2}
    mine = write(tmp_path / 'mine.yaml', {key: {'ros__parameters': ours}})
    words = ['--params-file', first, '--params-file', mine, '-p', 'controller:=jtc']
    assert resolved('/feedforward', *words) == {
        'max_torque': ([10.0], mine), 'scale': (0.2, mine), 'period': (0.002, first),
        'controller': ('jtc', 'command line'),
    }  # fmt: skip
    words = ['-p', 'scale:=0.5', '--params-file', mine, '--param', 'feedforward:scale:=0.1']
    assert resolved('/feedforward', *words)['scale'] == (0.1, 'command line')
    assert resolved('/feedforward', *words[:4])['scale'] == (0.2, mine)
    assert 'scale' not in resolved('/other', *words[4:])


def test_nested_keys_and_names_and_arguments_of_others(tmp_path):
    text = 'robot1: {feedforward: {ros__parameters: {a: {b: 1, c: {d: [x]}}}}}'
    file = write(tmp_path / 'launch_params_x', text)
    words = ['--params-file', file, '--', '--params-file', 'not/ours.yaml', '-p', 'a:=1']
    source = f'launch file ({file})'
    expected = {'a.b': (1, source), 'a.c.d': (['x'], source)}
    assert resolved('/robot1/feedforward', *words, '--ros-args', '--log-level', 'info') == expected
    assert RosArguments(['program', '-p', 'a:=1']).sources == []


@pytest.mark.parametrize(
    ('rules', 'node'),
    [
        ([], '/name'),
        (['__node:=other'], '/other'),
        (['__name:=other', '__node:=third'], '/other'),
        (['name:__node:=other', 'name:__ns:=/not/it', 'other:__ns:=/cell/1'], '/cell/1/other'),
        (['third:__node:=other', '__ns:=/'], '/name'),
        (['a:=b', '__ns:=/robot1'], '/robot1/name'),
    ],
)
def test_the_name_after_remapping(rules, node):
    words = [word for rule in rules for word in ('-r', rule)]
    assert RosArguments(['program', '--ros-args', *words]).node('name') == node


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ('a: [', r'the parameter file .*mine.yaml cannot be read: .*line 2'),
        ('[' * 100_000, r'mine.yaml cannot be read: .* nesting of YAML: at most 100 levels'),
        ('a: &a [1]\nb: *c', r'mine.yaml cannot be read: .*alias'),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, content, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        read_source(write(tmp_path / 'mine.yaml', content))
    assert '\n' not in str(caught.value)
    with pytest.raises(ConfigError, match=r'parameter file .*no.yaml cannot be read: .*No such'):
        RosArguments(['program', '--ros-args', '--params-file', str(tmp_path / 'no.yaml')])
    with pytest.raises(ConfigError, match=r"parameter 'a' of the command line: .*nesting of YAML"):
        RosArguments(['program', '--ros-args', '-p', 'a:=' + '[' * 1000])


# rcl as the oracle ---------------------------------------------------------------------------

NAMES = st.sampled_from(['a', 'b', 'c.d', 'c.e'])
WORDS = st.text(string.printable + 'é\u2028😀', max_size=8)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    WORDS,
    st.sampled_from(['yes', 'off', 'Y', 'n', '0x1F', '010', '1e3', '.inf', '-.INF', '1_000', '~',
                     'null', '1:30', '2001-01-01', 'nan', 'inf', '0o7', '+1', '1.', '.5']),
)  # fmt: skip
VALUES = st.one_of(
    SCALARS, *(st.lists(kind, min_size=1, max_size=3)
               for kind in (st.booleans(), st.integers(0, 9), st.floats(0.0, 9.0), WORDS))
)  # fmt: skip
RAW = st.sampled_from(['yes', '0x1F', '010', '1e3', '.inf', '1:30', 'nan', '+1', '1.', '"1"',
                       "'yes'", '!!str 5', '!!str "5"', '[1.0, 1e3]', '|\n      5',
                       'a b'])  # fmt: skip


@pytest.fixture(scope='module')
def rcl():
    """Parameters that rcl gives to a node with these arguments."""
    rclpy = pytest.importorskip('rclpy')
    from robodyn_ros.cli.demo.ros_domain import domain

    os.environ['ROS_DOMAIN_ID'] = domain(1)
    context = rclpy.Context()
    rclpy.init(context=context)

    def parameters(node, file):
        space, _, name = node.rpartition('/')
        one = rclpy.create_node(
            name, context=context, namespace=space, start_parameter_services=False,
            cli_args=['--ros-args', '--params-file', file], enable_rosout=False,
        )  # fmt: skip
        try:
            return {each.name: (each.type_.name, each.value)
                    for each in one._parameter_overrides.values()}  # fmt: skip
        finally:
            one.destroy_node()

    yield parameters
    rclpy.shutdown(context=context)


def rclpy_errors():
    from rclpy._rclpy_pybind11 import RCLError

    return RCLError, UnicodeDecodeError, ValueError


@pytest.mark.ros
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    blocks=st.dictionaries(
        st.sampled_from(KEYS), st.dictionaries(NAMES, VALUES, min_size=1), min_size=1, max_size=4
    ),
    raw=RAW,
    node=st.sampled_from(NODES),
)
def test_of_one_file_rcl_reads_the_same_from_what_was_merged(tmp_path, rcl, blocks, raw, node):
    content = {key: {'ros__parameters': {**values, 'r': 'RAW'}} for key, values in blocks.items()}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    file = write(tmp_path / 'one.yaml', text.replace('r: RAW', f'r: {raw}'))
    try:
        direct = rcl(node, file)
    except rclpy_errors():
        reject()  # rcl refuses the file: no node starts with it
    merged_file = write(
        tmp_path / 'merged.yaml', as_file({EVERY_NODE: merged([read_source(file)], node)})
    )
    ours = rcl(node, merged_file) if direct else {}
    assert repr(sorted(ours.items())) == repr(sorted(direct.items()))


@pytest.mark.ros
@pytest.mark.parametrize('node', NODES)
def test_keys_match_as_those_of_rcl(tmp_path, rcl, node):
    for key in KEYS:
        file = write(tmp_path / 'key.yaml', {key: {'ros__parameters': {'there': True}}})
        assert matches(key, node) == ('there' in rcl(node, file)), key


def test_a_file_for_several_nodes_has_no_alias_which_rcl_does_not_read(tmp_path):
    content = {'/**': {'ros__parameters': {'max_torque': [10.0, 10.0], 'scale': 0.2}}}
    source = read_source(write(tmp_path / 'mine.yaml', content))
    text = as_file({node: merged([source], node) for node in NODES})
    assert '*' not in text and '&' not in text
    expected = content['/**']
    assert yaml.safe_load(text) == dict.fromkeys(NODES, expected)


def test_arguments_that_are_not_for_ros():
    words = 'program a:=1 --ros-args -p b:=2 --ros-args -r c:=d -- e --ros-args -p f:=3'
    assert not_for_ros(words.split()) == ['a:=1', 'e']
    assert not_for_ros(['program', '--', '--ros-args', '-p', 'b:=2']) == []
    assert not_for_ros(['program', '-h']) == ['-h'] and not_for_ros(['program']) == []
