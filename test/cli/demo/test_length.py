# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest
from demo_robots import DEMO_ROBOTS

from robodyn_ros.cli.demo.facts import Facts, Limits, PushFacts
from robodyn_ros.cli.demo.length import FULL, SHORT, shorten_motion
from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.catalog import load_motion

CONFIG = Path(__file__).resolve().parents[3] / 'config'


@pytest.mark.parametrize('robot', DEMO_ROBOTS)
def test_a_shortened_motion_keeps_the_limits_of_the_motion(robot, tmp_path):
    file = CONFIG / 'motions' / f'{robot}_tracking.yaml'
    long, short = load_motion(file), load_motion(shorten_motion(file, 4.0, tmp_path))
    assert (long.duration, short.duration) == (12.0, 4.0)
    before, after = long.grid(0.003), short.grid(0.001)
    np.testing.assert_allclose(after.acceleration, before.acceleration, atol=1e-6)
    np.testing.assert_allclose(after.velocity, before.velocity / 3.0, atol=1e-6)
    middle = np.asarray(long.describe()['center'])
    expected = (before.position - middle) / 9.0
    np.testing.assert_allclose(after.position - middle, expected, atol=1e-6)


def test_only_a_fourier_series_is_shortened(tmp_path):
    file = tmp_path / 'motion.yaml'
    file.write_text('kind: sine\n')
    with pytest.raises(ConfigError, match='expected a motion of kind fourier'):
        shorten_motion(file, 4.0, tmp_path)


def test_the_full_length_is_that_of_the_files_and_the_short_one_pushes_once():
    pushes = tuple(PushFacts(f'link{number}', force=(1.0, 0.0, 0.0)) for number in (1, 2))
    facts = Facts(pushes, {}, Limits(torque_error=0.01))
    file = CONFIG / 'motions' / 'axis_validation.yaml'
    assert (FULL.profile, SHORT.profile) == ('', 'ideal')
    assert FULL.of(facts) == facts and FULL.motion_file(file, CONFIG) == file
    assert SHORT.of(facts).pushes == pushes[:1]
    assert SHORT.of(facts).limits == SHORT.limits
