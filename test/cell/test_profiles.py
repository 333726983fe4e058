# SPDX-License-Identifier: Apache-2.0
"""Profiles of the drives."""

import pytest
from robots import SIX_AXIS

from robodyn_ros.cell.config import CellConfig, JointConfig
from robodyn_ros.cell.profiles import DEFAULT, fill_from_profile, profiles
from robodyn_ros.errors import CellError


def made(**content):
    return CellConfig.from_mapping({'urdf': str(SIX_AXIS), **content})


def test_a_profile_holds_where_the_file_says_nothing():
    config = made(
        profile='cobot',
        defaults={'velocity_bandwidth': 33.0},
        joints={'joint1': {'deflection': 2e-3}},
        cycle_jitter=0.02,
    )
    cobot = profiles()['cobot']['defaults']
    one, other = config.joints['joint1'], config.defaults
    assert (one.deflection, other.deflection) == (2e-3, cobot['deflection'])
    assert one.velocity_bandwidth == other.velocity_bandwidth == 33.0
    assert one.position_bandwidth == cobot['position_bandwidth']
    assert config.cycle_jitter == 0.02 and made(profile='cobot').cycle_jitter == 0.05


def test_industrial_is_the_default_and_ideal_has_the_defaults_of_the_keys():
    assert made() == made(profile=DEFAULT) and DEFAULT == 'industrial'
    assert made(profile='ideal').defaults == JointConfig()
    assert made(profile='ideal').cycle_jitter == 0.0


def test_a_profile_is_chosen_over_that_of_the_file(tmp_path):
    file = tmp_path / 'cell.yaml'
    file.write_text(f'urdf: {SIX_AXIS}\nprofile: cobot\n')
    assert CellConfig.from_yaml(file).profile == 'cobot'
    assert CellConfig.from_yaml(file, profile='ideal') == made(profile='ideal')


def test_a_profile_that_does_not_exist_is_refused():
    with pytest.raises(CellError, match=r"no profile 'perfect', there are: ideal, industrial, c"):
        made(profile='perfect')
    with pytest.raises(CellError, match='x: there is no profile'):
        fill_from_profile({'profile': ['ideal']}, 'x')


def test_the_velocity_loops_of_real_cells_have_20_to_60_hz():
    for name in ('industrial', 'cobot'):
        assert 20.0 <= made(profile=name).defaults.velocity_bandwidth <= 60.0
