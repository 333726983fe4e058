# SPDX-License-Identifier: Apache-2.0
"""Every launch file as `ros2 launch` runs it, up to the nodes that it would start."""

import pytest
from launch_files import MOCK, NODES, ROOT, LaunchContext, source

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.launching import descriptions


def test_every_launch_file_is_known_and_installed(prefix):
    known = [*NODES, MOCK]
    assert sorted(path.name for path in (ROOT / 'launch').glob('*.py')) == sorted(known)
    assert all((prefix / 'share/robodyn_ros/launch' / name).is_file() for name in known)


@pytest.mark.parametrize('name', NODES)
def test_arguments_have_descriptions_and_defaults(name):
    declared = source(name).get_launch_description(LaunchContext()).get_launch_arguments()
    assert {argument.name for argument in declared} >= set(descriptions.BASIC)
    for argument in declared:
        assert len(argument.description) > 10
        assert argument.default_value is not None


@pytest.mark.parametrize('name', NODES)
def test_nodes_exist_and_lie_in_the_namespace(name, nodes, prefix):
    found = nodes(name, namespace='robot1', log_level='warn')
    assert sorted(found) == NODES[name]
    for node in found.values():
        assert (prefix / 'lib/robodyn_ros' / node['executable']).is_file()
        assert node['namespace'] == 'robot1'
        assert node['arguments'][-1] == 'warn'


@pytest.mark.parametrize('name', NODES)
@pytest.mark.parametrize(
    ('argument', 'value', 'sentence'),
    [
        ('robot', 'ur11', "there is no robot 'ur11' in this package, only .*six_axis, ur10"),
        ('params_file', 'none.yaml', 'params_file: there is no file none.yaml'),
        ('urdf', 'none.urdf', 'urdf: there is no file none.urdf'),
        ('urdf', 'package://robodyn_ros/urdf/no.urdf', 'urdf: there is no file package://'),
        ('robot', './none.yaml', 'the robot file .*none.yaml cannot be read'),
        ('variant', 'fast', "six_axis.yaml: there is no variant 'fast', there are: optimised"),
    ],
)
def test_a_wrong_name_gives_one_sentence(name, argument, value, sentence, nodes):
    with pytest.raises(ConfigError, match=sentence) as caught:
        nodes(name, **{argument: value})
    assert '\n' not in str(caught.value)


def test_a_wrong_choice_is_refused(nodes):
    with pytest.raises(RuntimeError, match='alid options'):
        nodes('bringup.launch.py', cell='maybe')


@pytest.mark.parametrize('argument', ['params_file', 'effort'])
def test_a_parameter_file_that_is_no_yaml_is_one_sentence(nodes, tmp_path, argument):
    bad = tmp_path / 'bad.yaml'
    bad.write_text('/**:\n  ros__parameters: {a: [1, 2}\n')
    with pytest.raises(
        ConfigError, match=r'bad\.yaml cannot be read: it is no YAML: line 2, '
    ) as why:
        nodes('identification.launch.py', **{argument: str(bad)})
    assert '\n' not in str(why.value)
