from tools.limits_page import PAGE, page


def test_the_page_of_limits_is_current():
    assert PAGE.read_text(encoding='utf-8') == page(), 'run: python -m tools.limits_page'
