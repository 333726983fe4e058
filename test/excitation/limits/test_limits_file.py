# SPDX-License-Identifier: Apache-2.0
"""Joint limits files."""

import numpy as np
import pytest
import yaml
from motions import limits

from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.limits.limits_file import load_limits, narrow_limits


def narrowed(text, **base):
    return narrow_limits(limits(**base), yaml.safe_load(text), source='f.yaml')


def test_file_narrows_the_urdf_by_name():
    found = narrowed(
        """
        joint_limits:
          b: {has_velocity_limits: true, max_velocity: 2, has_acceleration_limits: true,
              max_acceleration: 5.5, min_position: -1, max_position: 0.5, max_jerk: 90,
              max_effort: 7}
          a: {has_velocity_limits: false, max_velocity: 0.1, max_acceleration: 99}
        """
    )
    np.testing.assert_array_equal(found.velocity, [3.0, 2.0, 3.0])
    np.testing.assert_array_equal(found.acceleration, [10.0, 5.5, 10.0])
    np.testing.assert_array_equal(found.lower, [-3.0, -1.0, -3.0])
    np.testing.assert_array_equal(found.upper, [3.0, 0.5, 3.0])
    assert found.jerk[1] == 90.0 and found.effort[1] == 7.0


def test_default_scaling_factors_of_moveit():
    found = narrowed(
        'default_velocity_scaling_factor: 0.1\njoint_limits: {a: {max_velocity: 1.0}}'
    )
    np.testing.assert_allclose(found.velocity, [0.1, 0.3, 0.3])
    np.testing.assert_array_equal(found.acceleration, 10.0)


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('joint_limit: {}', "f.yaml: unknown entry 'joint_limit'"),
        ('[1, 2]', 'expected a mapping of names to values'),
        ('joint_limits: {}\nscale: 1', "f.yaml: unknown entry 'scale'"),
        ('joint_limits: {d: {}}', "the robot has no joint 'd', it has: a, b, c"),
        ('joint_limits: {a: 3}', "joint 'a': expected a mapping of names to values, got 3"),
        (
            'joint_limits: {a: {max_velosity: 1}}',
            "joint 'a': unknown entry 'max_velosity', expected",
        ),
        ('joint_limits: {a: {max_velocity: -1}}', "'a': max_velocity must be above 0, got -1"),
        ('joint_limits: {a: {max_velocity: .nan}}', 'max_velocity must be a finite number'),
        ('joint_limits: {a: {max_velocity: fast}}', "must be a finite number, got 'fast'"),
        ('joint_limits: {a: {has_velocity_limits: 1}}', 'must be true or false, got 1'),
        ('joint_limits: {a: {has_jerk_limits: true}}', 'true, but max_jerk is not given'),
        ('joint_limits: {a: {min_position: 4}}', "f.yaml: joint 'a' has the lower limit 4"),
        ('joint_limits: {}\ndefault_velocity_scaling_factor: 2', 'must be in .0, 1., got 2'),
    ],
)
def test_mistakes_are_named(text, sentence):
    with pytest.raises(ConfigError, match=sentence):
        narrowed(text)


def test_the_configuration_of_a_moveit_setup_assistant_is_used(tmp_path):
    """It has joints that are not moved here, and 0 where there is no limit."""
    text = """
default_velocity_scaling_factor: 0.5
joint_limits:
  a: {has_velocity_limits: true, max_velocity: 2.0, has_acceleration_limits: false,
      max_acceleration: 0}
  finger: {has_velocity_limits: true, max_velocity: 0.2}
"""
    (tmp_path / 'config').mkdir()
    (tmp_path / 'config' / 'joint_limits.yaml').write_text(text)
    found = load_limits(tmp_path, limits(), others=['a', 'finger'])
    np.testing.assert_array_equal(found.velocity, [1.0, 1.5, 1.5])
    np.testing.assert_array_equal(found.acceleration, 10.0)
    with pytest.raises(ConfigError, match="has no joint 'finger'"):
        load_limits(tmp_path, limits())
    with pytest.raises(ConfigError, match=r'this folder has no joint_limits\.yaml, also not in'):
        load_limits(tmp_path / 'config' / '..' / '..', limits())


def test_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match='cannot be read'):
        load_limits(tmp_path / 'none.yaml', limits())
    (tmp_path / 'bad.yaml').write_text('a: [1,\n')
    with pytest.raises(ConfigError, match='is no YAML') as error:
        load_limits(tmp_path / 'bad.yaml', limits())
    assert '\n' not in str(error.value)
