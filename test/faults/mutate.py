# SPDX-License-Identifier: Apache-2.0
"""Seeded mutations of bytes, text, YAML trees, and members of archives."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from functools import partial
from itertools import islice
from random import Random
from typing import Any

import yaml

INTEGERS = (0, 1, 2, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1,
            2**63, 2**64 - 1)  # fmt: skip
NUMBERS = ('0', '-1', '1', '1e308', '-1e308', '1e-320', '1e400', 'nan', 'inf', '-inf', '.nan',
           '.inf', '9223372036854775808', '-9223372036854775809', '1' + 400 * '0', '1' * 5000,
           '0x7fffffffffffffff', '1_000', '12:34:56', '1e5', '1e9', '100000', '10000000', '',
           'true', 'null', '~', '1,5', '١', '1e', '--1', '0.1.2')  # fmt: skip
WORDS = ('', ' ', '\0', 'null', '*a', '&a', '<<', '!!python/name:os.system', '!!binary x',
         '!!timestamp 1', '\ud7ff', 'ä', '😀', '/dev/zero', '/dev/stdin', '..', '/', '~nobody/x',
         'x' * 300, 'a' * 5000, 'package://none/x', 'joint1', 'a', 'nan')  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**63, -(2**63) - 1, 10**400, 1e308, 1e-320, float('nan'), float('inf'),
    1e5, 1e9, '', 'x', 'nan', [], {}, [[]], {'a': None}, [None], [1], ['a'], [1e308, -1e308],
    [0.0, 0.0], 100000, '9' * 5000, [[1.0, 2.0]], {1: 2}, {None: None}, {(1, 2): 3},
)  # fmt: skip


def mutated(data: bytes, form: str, rng: Random) -> bytes:
    """Return the data with one to four mutations.

    :param form: 'bytes', 'text', 'yaml', 'json' or 'zip'
    """
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        kind = form if form == 'bytes' or rng.random() < 0.8 else 'bytes'
        if kind in ('yaml', 'json') and rng.random() < 0.4:
            kind = 'text'
        data = FORMS[kind](data, rng)
    return data


def _bytes(data: bytes, rng: Random) -> bytes:
    content = bytearray(data)
    # Headers and indices are at the ends, and matter most.
    span = rng.choice((64, 1024, len(content), len(content)))
    start = rng.randrange(max(1, min(span, len(content))))
    at = start if rng.random() < 0.6 else max(0, len(content) - 1 - start)
    length = rng.choice((1, 1, 2, 4, 8, 16, 100, 1000))
    how = rng.randrange(9)
    if how == 0 and content:
        content[min(at, len(content) - 1)] ^= 1 << rng.randrange(8)
    elif how == 1:
        content[at : at + length] = rng.randbytes(length)
    elif how == 2:
        content[at:at] = rng.randbytes(length)
    elif how == 3:
        del content[at : at + length]
    elif how == 4:
        content[at:at] = content[at : at + 10 * length]
    elif how == 5:
        del content[at:]
    elif how == 6:
        content[at : at + length] = bytes(length)
    elif how == 7:
        width = rng.choice((1, 2, 4, 8))
        value = rng.choice(INTEGERS) % 2 ** (8 * width)
        content[at : at + width] = value.to_bytes(width, rng.choice(('little', 'little', 'big')))
    else:
        other = rng.randrange(max(1, len(content)))
        content[at : at + length] = content[other : other + length]
    return bytes(content)


def _text(data: bytes, rng: Random) -> bytes:
    text = data.decode('utf-8', 'surrogateescape')
    how = rng.randrange(8)
    if how <= 2:
        text = _replaced(text, r'[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?', NUMBERS, rng)
    elif how == 3:
        text = _replaced(text, r'[A-Za-z_]\w*', (*WORDS, *re.findall(r'\w+', text)[:50]), rng)
    elif how == 4:
        mark = rng.choice(('[', '{a: ', '- ', '<a>', '"', '(', '<!--', '&a [*a, ', '\t', ' '))
        at = rng.randrange(len(text) + 1)
        text = text[:at] + mark * rng.choice((1, 2, 50, 200, 2000)) + text[at:]
    else:
        lines = text.splitlines(keepends=True) or ['']
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        if how == 5:
            del lines[at : at + rng.choice((1, 2, 10))]
        elif how == 6:
            lines[at:at] = lines[other : other + rng.choice((1, 3, 30))]
        else:
            lines[at], lines[other] = lines[other], lines[at]
        text = ''.join(lines)
    return text.encode('utf-8', 'surrogateescape')


def _replaced(text: str, pattern: str, values: tuple[str, ...], rng: Random) -> str:
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(values) + text[place.end() :]


def _yaml(data: bytes, rng: Random) -> bytes:
    def dump(value: Any) -> str:
        return yaml.safe_dump(value, sort_keys=False, width=10**6)

    return _tree(data, rng, partial(yaml.load, Loader=yaml.CSafeLoader), dump)


def _json(data: bytes, rng: Random) -> bytes:
    return _tree(data, rng, json.loads, json.dumps)


def _tree(
    data: bytes, rng: Random, load: Callable[[bytes], Any], dump: Callable[[Any], str]
) -> bytes:
    try:
        root = [load(data)]
    except Exception:  # constructors raise any error
        return _text(data, rng)
    places = list(islice(_places(root, 0), 100_000))  # aliases: levels multiply
    parent, key = rng.choice(places)
    how = rng.randrange(6)
    if how == 0 and isinstance(parent, dict):
        del parent[key]
    elif how == 1 and isinstance(parent, dict):
        parent[rng.choice((*WORDS, *VALUES[:10]))] = parent.pop(key)
    elif how == 2 and isinstance(parent, list) and parent is not root:
        # A list of itself would grow without end.
        parent[:] = (parent * rng.choice((0, 2, 3, 200)))[:20_000]
    elif how == 3:
        other, place = rng.choice(places)
        if place in other if isinstance(other, dict) else place < len(other):
            parent[key] = other[place]
    elif how == 4:
        parent[key] = rng.choice(WORDS)
    else:
        parent[key] = rng.choice(VALUES)
    try:
        return dump(root[0]).encode('utf-8', 'replace')
    except (yaml.YAMLError, RecursionError, TypeError, ValueError):
        return data


def _places(value: Any, depth: int) -> Any:
    """Yield each container with each of its keys; a value may contain itself."""
    if depth > 12:
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(entries)[:200]:
        yield value, key
        if isinstance(item, (dict, list)):
            yield from _places(item, depth + 1)


def _zip(data: bytes, rng: Random) -> bytes:
    """Mutate a member, with checksums that fit."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return _bytes(data, rng)
    if not members:
        return data
    name = rng.choice(sorted(members))
    content = members[name]
    members[name] = _bytes(content, rng) if rng.random() < 0.5 else _header(content, rng)
    if rng.random() < 0.2:
        members[f'{rng.choice(WORDS)}.npy'] = members.pop(name)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace('\0', '') or 'x', content)
    return stream.getvalue()


def _header(content: bytes, rng: Random) -> bytes:
    """Change shape or type of an array, whose header keeps its length."""
    head, newline, rest = content[10:].partition(b'\n')
    text = head.decode('latin-1')
    text = rng.choice((
        lambda: _replaced(text, r'\d+', ('0', '1', '2', '300', '99999999999', '-1', '600'), rng),
        lambda: _replaced(text, r"'[<|]\w+'", (
            "'<f4'", "'<i8'", "'>f8'", "'|O'", "'<U9'", "'<c16'", "'<M8[s]'", "'|b1'", "'<f2'",
            "'|V8'", "'<i1'", "'|S3'", "[('a', '<f8')]"), rng),
        lambda: text.replace('False', 'True'),
    ))()  # fmt: skip
    fitted = text.rstrip().ljust(len(head)).encode('latin-1')
    return content[:8] + len(fitted + newline).to_bytes(2, 'little') + fitted + newline + rest


FORMS = {'bytes': _bytes, 'text': _text, 'yaml': _yaml, 'json': _json, 'zip': _zip}
