# SPDX-License-Identifier: Apache-2.0
import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from robodyn_ros.report.page import page_text

HOSTILE = '</script><img src=x onerror=alert(1)>"\'{{ 7919 * 7907 }}'


class Page(HTMLParser):
    """Tags, their attributes, and the text of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self._open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ('script', 'style'):
            self.texts.append([tag, dict(attrs), ''])
            self._open = self.texts[-1]

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self._open[2] += data


def test_it_is_one_file_that_allows_nothing_from_outside(source):
    text = page_text(source)
    page = Page(text)
    assert 100_000 < len(text.encode()) < 5_000_000
    assert not [a for _, a in page.tags if 'src' in a or a.get('href', '#')[:1] != '#']
    assert not [a for _, a in page.tags if 'style' in a or any(k.startswith('on') for k in a)]
    (policy,) = [a['content'] for _, a in page.tags if 'http-equiv' in a]
    assert policy.startswith("default-src 'none';") and 'unsafe' not in policy
    code = [text for tag, a, text in page.texts if a.get('type') != 'application/json']
    for each in code:
        digest = base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert len(code) == 5


def test_every_finding_and_joint_is_in_it_and_drawings_have_names(source):
    text = page_text(source)
    assert source.facts['findings'] and 'Identification succeeded' in text
    for item in source.facts['findings']:
        assert item['text'].replace("'", '&#39;') in text and item['remedy'] in text
    page = Page(text)
    assert all(a.get('aria-label') for tag, a in page.tags if a.get('role') == 'img')
    tables = [tag for tag, _ in page.tags if tag in ('table', 'caption')]
    assert tables == ['table', 'caption'] * (len(tables) // 2)
    data = json.loads(next(t for _, a, t in page.texts if a.get('id') == 'data'))
    assert [joint['name'] for joint in data['curves']['joints']] == source.joints
    assert data['robot']['joints'] == source.joints


def test_names_and_messages_cannot_leave_their_place(source):
    hostile = {
        'code': HOSTILE, 'text': HOSTILE, 'joint': HOSTILE, 'severity': 'error', 'remedy': HOSTILE,
    }  # fmt: skip
    facts = {
        **source.facts, 'joints': [HOSTILE, 'b'], 'findings': [hostile],
        'completion_rule': HOSTILE,
        'repeat': {'command': HOSTILE, 'folder': HOSTILE, 'versions': {HOSTILE: HOSTILE},
                   'inputs': [{'file': HOSTILE, 'bytes': 1, 'sha256': HOSTILE}]},
    }  # fmt: skip
    clean = Page(page_text(source))
    # Without a model, the names of the facts are those of the curves too.
    for given in (replace(source, facts=facts), replace(source, facts=facts, model=None)):
        text = page_text(given)
        page = Page(text)
        assert 'img' not in [tag for tag, _ in page.tags] and '62615533' not in text
        assert len(page.texts) == len(clean.texts)
        assert not re.search(r'<img', text) and '&lt;img src=x' in text


@pytest.mark.parametrize('part', ['signals', 'model'])
def test_what_is_missing_is_said(source, part):
    missing = 'The folder is not there.' if part == 'signals' else ''
    values = {'values': None, 'stddevs': None} if part == 'model' else {}
    text = page_text(replace(source, **{part: None}, **values, missing=missing))
    assert ('There are no curves. The folder is not there.' in text) == (part == 'signals')
    assert 'canvas id=' not in text and 'Identification succeeded' in text
    assert ('Links: URDF against identified' in text) and (
        ('was not exported' in text) == (part == 'model')
    )
