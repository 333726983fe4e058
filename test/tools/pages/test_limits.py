# SPDX-License-Identifier: Apache-2.0
from robodyn_ros import bounds
from tools.pages.limits import page


def test_every_bound_has_a_row():
    every = [each for each in vars(bounds).values() if isinstance(each, bounds.Bound)]
    assert every and all(f'| {each.what} | ' in page() for each in every)
