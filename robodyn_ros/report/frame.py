# SPDX-License-Identifier: Apache-2.0
"""Frame of every page: template, style, scripts and the policy that allows only these."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from robodyn_ros.report.numbers import share, short

FOLDER = Path(__file__).with_name('page')
"""Templates, style sheets and scripts."""


def render_page(template: str, data: Mapping[str, Any] | None = None, **content: Any) -> str:
    """Return a page as text of an HTML file.

    :param data: of the page's script; None: a page without scripts
    :param content: variables of the template; every text is escaped
    """
    names = ('vendored/uPlot.iife.min.js', 'solid.js', 'page.js') if data is not None else ()
    scripts = [_asset(name) for name in names]
    styles = [_asset('vendored/uPlot.min.css'), _asset('page.css')]
    return (
        _environment()
        .get_template(template)
        .render(
            **content,
            data=None if data is None else _json(data),
            licence=_asset('vendored/uPlot.LICENSE'),
            scripts=[Markup(text) for text in scripts],
            styles=[Markup(text) for text in styles],
            policy=_policy(scripts, styles),
        )
    )


def _json(data: Mapping[str, Any]) -> Markup:
    """Return data as JSON that no text in it can leave."""
    text = json.dumps(data, allow_nan=False, separators=(',', ':'))
    for sign in '<>&':
        text = text.replace(sign, f'\\u{ord(sign):04x}')
    return Markup(text)


def _policy(scripts: list[str], styles: list[str]) -> str:
    """Return a content security policy: only these scripts and styles, nothing from outside."""
    script, style = (' '.join(map(_hash, texts)) or "'none'" for texts in (scripts, styles))
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src data:; "
        f"base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode('utf-8')).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding='utf-8')


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {'short': short, 'share': share}
    return environment
