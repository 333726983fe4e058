# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robodyn_ros.control.collision.black_box.detector_state import decoded, encoded
from robodyn_ros.errors import RecordingError

ARRAYS = (np.array([[1.5, -0.0]]), np.array([True, False]), np.uint8(3), np.arange(2))


def test_numbers_and_arrays_come_back_to_the_last_bit() -> None:
    state = {'arrays': list(ARRAYS), 'float': 0.1, 'none': None, 'word': 'a'}
    back = decoded(encoded(state))
    for one, other in zip(ARRAYS, back['arrays'], strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)
    assert (back['float'], back['none'], back['word']) == (0.1, None, 'a')


@pytest.mark.parametrize('kind', ['9' * 5000, 'O', 'f8,f8', 'M8[s]', None, ['<f8'], '<f9'])
def test_an_array_of_a_type_that_no_detector_has_is_refused(kind: Any) -> None:
    damaged = {'type': kind, 'shape': [1], 'data': ''}
    with pytest.raises(RecordingError):
        decoded({'x': damaged})
