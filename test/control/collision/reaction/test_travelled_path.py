# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from robodyn_ros.control.collision.reaction.travelled_path import TravelledPath


def test_the_path_leads_back_as_far_as_the_distance_of_any_joint() -> None:
    path = TravelledPath(np.array([0.1, 1.0]))
    for s in np.linspace(0.0, 2.0, 5000):  # joint 1 reaches its distance first
        path.add(np.array([s, np.sin(s)]))
    here = np.array([2.0, np.sin(2.0)])
    back = path.back(here)
    np.testing.assert_array_equal(back[0], here)
    np.testing.assert_allclose(back[:, 1], np.sin(back[:, 0]))
    assert (np.diff(back[:, 0]) <= 0.0).all()
    assert 0.09 < here[0] - back[-1, 0] <= 0.1


def test_standstill_and_noise_need_no_space_and_a_gap_ends_the_path() -> None:
    path = TravelledPath(np.array([0.1, 0.1]), capacity=20)
    path.add(np.zeros(2))
    random = np.random.default_rng(1)
    for noise in random.uniform(-5e-4, 5e-4, (1000, 2)):
        path.add(np.array([0.05, 0.0]) + noise)
    assert len(path.back(np.array([0.05, 0.0]))) == 3
    path.clear()
    assert len(path.back(np.zeros(2))) == 1


def test_a_long_motion_overwrites_its_beginning() -> None:
    path = TravelledPath(np.array([1.0]), spacing=0.1, capacity=5)
    for s in np.linspace(0.0, 3.0, 301):
        path.add(np.array([s]))
    back = path.back(np.array([3.0]))[:, 0]
    assert len(back) == 6 and back[-1] == min(back) > 2.4
