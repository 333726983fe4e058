# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.report.charts import Box


@pytest.mark.parametrize(
    ('low', 'high', 'shown'),
    [
        (0.0, 9.5, '0 2 4 6 8'),
        (-1.0, 1.0, '-1 0 1'),
        (-50.0, 40.0, '-40 -20 0 20 40'),
        (0.0, 0.49, '0 0.2 0.4'),
        (3.0, 3.0, '3'),
    ],
)
def test_an_axis_has_three_round_numbers_or_a_few_more(low, high, shown):
    frame = Box((low, low), (high, high)).frame()
    for axis in 'xy':
        assert ' '.join(tick['text'] for tick in frame[axis]) == shown
    assert frame['left'] <= frame['x'][0]['at'] <= frame['x'][-1]['at'] <= frame['right']
