# SPDX-License-Identifier: Apache-2.0
"""Which requests are answered; every file of the page is of this package."""

import re

import pytest

from robodyn_ros.watch.requests import FILES, refusal


@pytest.mark.parametrize(
    'headers',
    [
        {'Host': '127.0.0.1:8780'},
        {'Host': 'localhost:1', 'Origin': 'http://localhost:1'},
        {'Host': '[::1]:8780'},
        {'Host': '192.168.1.7:8780', 'Origin': 'http://192.168.1.7:8780'},
    ],
)
def test_addresses_and_localhost_are_answered(headers):
    assert refusal(headers) == ''


@pytest.mark.parametrize(
    'headers',
    [
        {},
        {'Host': 'attacker.example:8780'},
        {'Host': 'localhost.attacker.example'},
        {'Host': '127.0.0.1:8780', 'Origin': 'http://attacker.example'},
        {'Host': '127.0.0.1:8780', 'Origin': 'https://127.0.0.1:8780'},
        {'Host': '127.0.0.1:8780', 'Origin': 'http://127.0.0.1:9999'},
        {'Host': '127.0.0.1:8780', 'Origin': 'null'},
        {'Host': "localhost:1; script-src 'unsafe-inline' *"},
        {'Host': 'localhost:8780:'},
        {'Host': 'localhost:'},
        {'Host': '[::1]x:1'},
        {'Host': '[::1;]'},
        {'Host': 'localhost:١'},
    ],
)
def test_rebound_names_and_other_origins_are_refused(headers):
    assert 'refused' in refusal(headers)


def test_the_page_has_no_external_resource_and_nothing_inline():
    for path, (file, _) in FILES.items():
        text = file.read_text(encoding='utf-8')
        if 'uPlot' not in path:
            links = re.findall(
                r'(?:https?:)?//[\w.]+\.\w+', re.sub(r'//.*$', '', text, flags=re.M)
            )
            assert links in ([], ['http://www.w3.org']), path
    page = FILES['/'][0].read_text(encoding='utf-8')
    used = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    scripts = [
        FILES[name][0].read_text(encoding='utf-8') for name in FILES if name.endswith('.js')
    ]
    used += [name for text in scripts for name in re.findall(r"from '(/\w+\.js)'", text)]
    assert set(used) | {'/'} == set(FILES)
    assert '<style' not in page and ' style=' not in page and not re.search(r'\son\w+=', page)
    assert not re.search(r'<script>|innerHTML|\beval\(', page + ''.join(scripts[:4]))
