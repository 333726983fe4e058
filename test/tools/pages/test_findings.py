# SPDX-License-Identifier: Apache-2.0
from robodyn_ros.findings import FINDINGS, code_of
from tools.pages.findings import page


def test_every_code_has_a_row_of_four_cells():
    count = len({code_of(key) for key, entry in FINDINGS.items() if entry.severities})
    rows = page().splitlines()[-count:]
    assert all(row.startswith('| `') and row.count(' | ') == 3 for row in rows)
    assert '*share*' in page() and not set('{}') & set(page()) and '`correction`' not in page()
