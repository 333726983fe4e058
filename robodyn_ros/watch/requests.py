# SPDX-License-Identifier: Apache-2.0
"""Requests of browsers: which are answered, and the files of the page."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parent / 'page'
REPORT = Path(__file__).parents[1] / 'report' / 'page'
CHARTS = REPORT / 'vendored'
"""Folder of uPlot, which the static report uses too, as `solid.js`."""
FILES = {
    '/': (PAGE / 'index.html', 'text/html; charset=utf-8'),
    '/watch.css': (PAGE / 'watch.css', 'text/css; charset=utf-8'),
    '/icon.svg': (PAGE / 'icon.svg', 'image/svg+xml'),
    **{
        f'/{name}.js': (PAGE / f'{name}.js', 'text/javascript; charset=utf-8')
        for name in ('main', 'joints', 'plots', 'lists', 'scene')
    },
    '/solid.js': (REPORT / 'solid.js', 'text/javascript; charset=utf-8'),
    '/uPlot.iife.min.js': (CHARTS / 'uPlot.iife.min.js', 'text/javascript; charset=utf-8'),
    '/uPlot.min.css': (CHARTS / 'uPlot.min.css', 'text/css; charset=utf-8'),
}
"""Path of a request -> file and its type. There are no others."""
LIVE = '/live'
"""Path of the WebSocket."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy: nothing but this server, no inline script or style."""

_HOST = re.compile(r'(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?')
"""Name or address with a port, and nothing else: it becomes part of the policy."""


def refusal(headers: Mapping[str, str]) -> str:
    """Return why a request is refused, or ''.

    A page of the Internet can let its own name point to this computer (DNS rebinding). Its
    requests then carry its name as host. Addresses, localhost and the name of this computer are
    no such names. A page of another server is recognised by its origin.

    :param headers: of the request; names are case-insensitive
    """
    host = headers.get('Host', '')
    named = _HOST.fullmatch(host)
    if named is None or not _is_here(named[1] or named[2]):
        return f'host {host[:80]!r} is refused: use the address that robodyn watch printed'
    origin = headers.get('Origin')
    if origin is not None and origin.lower() != f'http://{host}'.lower():
        return f'origin {origin[:80]!r} is refused: the page must come from this server'
    return ''


def answer_headers(host: str, kind: str, length: int) -> dict[str, str]:
    """Return the headers of an answer.

    :param host: header of the request, checked by `refusal`
    """
    return {
        'Content-Type': kind,
        'Content-Length': str(length),
        'Content-Security-Policy': POLICY.format(host=host),
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Cache-Control': 'no-store',
        'Connection': 'close',
    }


def is_loopback(bind: str) -> bool:
    """Return True if only this computer reaches an address."""
    try:
        return ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind == 'localhost'


def _is_here(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
        return True
    except ValueError:
        computer = socket.gethostname().lower()
        return name.lower() in ('localhost', computer, f'{computer}.local')
