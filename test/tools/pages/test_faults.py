# SPDX-License-Identifier: Apache-2.0
from robodyn_ros.faults import FAULTS
from tools.pages.faults import page


def test_every_code_has_a_row_in_the_order_of_the_numbers():
    rows = [line.split(' | ') for line in page().splitlines()[-len(FAULTS) :]]
    assert all(len(cells) == 4 for cells in rows)
    numbers = [int(cells[0].removeprefix('| ')) for cells in rows]
    assert numbers == sorted(entry.number for entry in FAULTS.values())
    assert '| 6 | `STATE_FROZEN` | ' in page()
