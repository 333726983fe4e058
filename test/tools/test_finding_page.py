from robodyn_ros.identification.findings import FINDINGS
from tools.finding_page import PAGE, page


def test_the_page_of_findings_is_current():
    assert PAGE.read_text(encoding='utf-8') == page(), 'run: python -m tools.finding_page'


def test_every_wording_has_a_row_of_four_cells():
    rows = page().splitlines()[-len(FINDINGS) :]
    assert all(row.count(' | ') == 3 for row in rows)
    assert '*share*' in page() and '{' not in page()
