# SPDX-License-Identifier: Apache-2.0
from tools.common import ROOT
from tools.pages.messages import KINDS, page


def test_every_file_is_in_the_page_with_its_comments():
    files = [path for kind in KINDS for path in (ROOT / kind).iterdir()]
    assert len(files) > 10 and all(path.read_text().strip() in page() for path in files)
