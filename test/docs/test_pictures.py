# SPDX-License-Identifier: Apache-2.0
"""Pictures of the documentation: small, each in a page, and with a text for who cannot see it."""

import re

from fences import DOCS

IMAGE = re.compile(r'!\[([^\]]*)\]\((?:\.\./)?(pictures/[^)]*)\)')
SHOWN = [each for page in DOCS.rglob('*.md') for each in IMAGE.findall(page.read_text('utf-8'))]
FILES = {path.relative_to(DOCS).as_posix(): path for path in (DOCS / 'pictures').iterdir()}


def test_every_picture_is_in_a_page_and_every_page_has_its_pictures():
    assert {path for _, path in SHOWN} == set(FILES) and len(FILES) >= 20


def test_every_picture_has_a_text():
    assert not [path for text, path in SHOWN if not text]


def test_no_picture_is_larger_than_150_kb():
    assert not [name for name, path in FILES.items() if path.stat().st_size > 150_000]
