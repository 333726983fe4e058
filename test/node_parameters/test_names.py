# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.node_parameters.names import check_keys, nearest, parameter_names
from robodyn_ros.robot_file import NODES


def test_every_section_of_a_robot_file_has_its_names():
    assert {*NODES} <= parameter_names().keys()
    assert {'max_torque_error', 'use_sim_time'} <= parameter_names()['collision_monitor']
    assert 'max_torque_error' not in parameter_names()['recorder']


def test_a_key_that_is_no_parameter_is_refused_with_the_nearest_one():
    check_keys('excitation', {'motion': {'kind': 'sine'}, 'motion_file': 'a.yaml'}, 'here')
    words = r"^here: there is no key 'motion\.knd'; did you mean motion\.kind\?$"
    with pytest.raises(ConfigError, match=words):
        check_keys('excitation', {'motion': {'kind': 'sine', 'knd': 'sine'}}, 'here')


def test_the_nearest_name_is_one_of_the_known_ones():
    assert nearest('max_torque_eror', ['max_torque', 'max_torque_error']) == 'max_torque_error'
    assert nearest('zzz', ['debounce', 'size']) in ('debounce', 'size')
