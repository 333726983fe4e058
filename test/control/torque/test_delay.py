# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.torque.delay import DelayLine
from robodyn_ros.errors import ControlError


@pytest.mark.parametrize('cycles', [0, 1, 3, 7])
def test_the_line_is_a_plain_shift(cycles: int) -> None:
    values = np.random.default_rng(1).normal(size=(20, 3))
    line = DelayLine(width=3, cycles=cycles)
    seen = np.array([line.push(value).copy() for value in values])
    shifted = np.vstack([np.repeat(values[:1], cycles, axis=0), values])[: len(values)]
    np.testing.assert_array_equal(seen, shifted)


def test_clear_forgets() -> None:
    line = DelayLine(width=1, cycles=2)
    for value in (1.0, 2.0, 3.0):
        line.push(np.array([value]))
    line.clear()
    assert [float(line.push(np.array([v]))[0]) for v in (7.0, 8.0, 9.0, 10.0)] == [7, 7, 7, 8]


def test_refuses_negative_delay() -> None:
    with pytest.raises(ControlError, match='0 cycles or more, got -1'):
        DelayLine(width=1, cycles=-1)
