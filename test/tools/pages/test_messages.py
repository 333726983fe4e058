# SPDX-License-Identifier: Apache-2.0
from tools.common import ROOT
from tools.pages.messages import KINDS, page


def test_every_file_is_in_the_page_with_its_comments_and_without_constants_of_faults():
    lines = {
        line
        for kind in KINDS
        for path in (ROOT / kind).iterdir()
        for line in path.read_text().splitlines()
        if line and not line.startswith('uint16 FAULT_')
    }
    assert len(lines) > 100 and lines <= set(page().splitlines())
    assert 'FAULT_NONE' not in page()
