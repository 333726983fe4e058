# SPDX-License-Identifier: Apache-2.0
import base64

import numpy as np

from robodyn_ros.report.numbers import encode_numbers, extremes, times


def test_thinning_keeps_every_peak_and_its_order():
    values = np.random.default_rng(0).normal(size=(1003, 2))
    thin, size = extremes(values, 50), 21
    assert len(thin) == len(times(np.arange(1003.0), 50)) == 2 * 48
    for bucket in range(48):
        block = values[bucket * size : (bucket + 1) * size]
        for column in range(2):
            pair = thin[2 * bucket : 2 * bucket + 2, column]
            assert sorted(pair) == [block[:, column].min(), block[:, column].max()]
            first, second = (int(np.flatnonzero(block[:, column] == each)[0]) for each in pair)
            assert first <= second
    assert (np.diff(times(np.arange(1003.0), 50)) > 0.0).all()


def test_packed_numbers_are_little_endian_floats():
    assert base64.b64decode(encode_numbers(np.array([1.0, -2.5]))) == b'\0\0\x80?\0\0 \xc0'
