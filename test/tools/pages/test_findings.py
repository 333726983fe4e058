from robodyn_ros.identification.findings import FINDINGS
from tools.pages.findings import page


def test_every_wording_has_a_row_of_four_cells():
    rows = page().splitlines()[-len(FINDINGS) :]
    assert all(row.count(' | ') == 3 for row in rows)
    assert '*share*' in page() and '{' not in page()
