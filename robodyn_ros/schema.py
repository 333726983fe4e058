# SPDX-License-Identifier: Apache-2.0
"""Plain data, such as the content of a YAML file, as a dataclass whose annotations are the schema.

msgspec checks types and ranges; what it finds wrong becomes one sentence here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from robodyn_ros.errors import RobodynError

LARGEST = 1e300
"""Bound of finite numbers: msgspec knows no other way to refuse infinity and NaN."""
Finite = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[float, Meta(gt=0.0, le=LARGEST)]
NotNegative = Annotated[float, Meta(ge=0.0, le=LARGEST)]
Vector = tuple[Finite, Finite, Finite]

WORDS = {
    'float': 'a finite number', 'int': 'an integer', 'str': 'a text', 'bool': 'true or false',
    'array': 'a list', 'object': 'a mapping of names to values',
}  # fmt: skip
_Kind = TypeVar('_Kind')


def convert(content: object, kind: type[_Kind], where: str, error: type[RobodynError]) -> _Kind:
    """Return the content as a dataclass; a field may be an instance of its class already.

    :param where: start of messages, such as the file and the section
    :raises RobodynError: of class `error`: an entry is unknown, missing, or not as annotated
    """
    if not isinstance(content, Mapping):
        raise error(f'{where}: expected a mapping of names to values, got {content!r:.60}')
    known = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    for name in content:
        if name not in known:
            raise error(f'{where}: unknown entry {name!r:.60}, expected some of {known}')
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as reason:
        raise error(f'{where}: {_sentence(str(reason), content, kind)}') from reason


def _sentence(text: str, content: Mapping[str, Any], kind: type) -> str:
    """Return a sentence for the message of msgspec, which ends in the place of the value."""
    wanted, _, place = text.partition(' - at `')
    place = place.removeprefix('$.').rstrip('`')
    if missing := re.match(r'Object missing required field `(\w+)`$', wanted):
        return f'{place and place + ": "}entry {missing[1]!r} is missing'
    words = re.findall(r'\w+', place)
    value: Any = content
    with suppress(LookupError, TypeError, ValueError):  # `[...]` is any key of a mapping
        for word in words:
            value = value[word if isinstance(value, Mapping) else int(word)]
    wanted = wanted.partition(', got ')[0].replace(' | null', '')
    wanted = re.sub(r'`([\w| ]+)`', lambda match: _words(match[1]), wanted)
    wanted = wanted.replace('Number out of range', 'a finite number')
    wanted = wanted.replace('Expected ', '').replace(f' <= {LARGEST:g}', '')
    wanted = wanted.replace(f' >= {-LARGEST:g}', '')
    hint: Any = kind
    for word in words:
        hint = get_type_hints(hint).get(word) if is_dataclass(hint) else (*get_args(hint), None)[0]
    if get_origin(hint) is Literal:
        wanted = f'one of {", ".join(map(str, get_args(hint)))}'
    return f'{place} must be {wanted}, got {value!r:.60}'


def _words(types: str) -> str:
    """Return the types of msgspec as words: 'a text or a list'."""
    return ' or '.join(WORDS.get(name, name) for name in types.split(' | '))
