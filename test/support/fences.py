# SPDX-License-Identifier: Apache-2.0
"""Commands in the fences of a page of the documentation."""

import re
import shlex
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / 'docs'
FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.M | re.S)


def commands(page):
    """Lists of words of every command in the fences without a language; comments are left out."""
    text = (DOCS / page).read_text(encoding='utf-8')
    fences = [inside for language, inside in FENCE.findall(text) if not language]
    lines = '\n'.join(fences).replace('\\\n', ' ').splitlines()
    found = [shlex.split(line, comments=True) for line in lines]
    return [words for words in found if words]


def given(words):
    """Arguments NAME:=VALUE among words."""
    return dict(word.split(':=', 1) for word in words if ':=' in word)
