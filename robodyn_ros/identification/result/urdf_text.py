# SPDX-License-Identifier: Apache-2.0
"""Elements in the text of a URDF: found and replaced, while all other bytes stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from robodyn_ros.bounds import parse_xml
from robodyn_ros.errors import IdentificationError

_START_TAG = re.compile(rb"""<[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>""")


@dataclass
class Element:
    """Place of an element in the text.

    :param inside: behind its start tag
    :param empty: it has no end tag (`<link name="x"/>`)
    :param end: behind the element
    """

    tag: str
    attributes: Mapping[str, str]
    start: int
    inside: int = 0
    empty: bool = False
    end: int = 0
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return the children of a tag."""
        return [child for child in self.children if child.tag == tag]


class UrdfText:
    """Text of a URDF whose links and joints get other elements.

    Comments, CDATA, namespaces, order and white space stay.
    """

    def __init__(self, text: str) -> None:
        """Find the elements.

        :raises IdentificationError: it is not XML, too large, or has a DOCTYPE, whose entities
            could stand for elements
        """
        self._data = text.encode('utf-8')
        self._edits: list[tuple[int, int, bytes]] = []
        self._newline = '\r\n' if b'\r\n' in self._data else '\n'
        try:
            parse_xml(text.strip())  # bounds of depth and number
            root = _elements(self._data)
        except (expat.ExpatError, SyntaxError) as error:
            raise IdentificationError(f'the URDF cannot be changed: {error}') from error
        kinds = ('link', 'joint')
        self._elements = {
            (item.tag, item.attributes.get('name', '')): item
            for item in root.children
            if item.tag in kinds
        }

    def find(self, tag: str, name: str) -> Element:
        """Return a link or joint."""
        return self._elements[tag, name]

    def remove(self, item: Element, text: str) -> None:
        """Put a comment in the place of an element."""
        self._edit(item.start, item.end, comment(text))

    def put(self, parent: Element, tag: str, lines: Iterable[str], *, first: bool) -> None:
        """Replace the child of a tag, or add it.

        :param lines: of the new element
        :param first: where it is added: as the first child, or as the last one
        """
        former = parent.all(tag)
        for extra in former[1:]:
            self.remove(extra, f'{tag}: there was a second one')
        if former:
            indent = self._indent(former[0])
            text = (self._newline + indent).join(lines)
            self._edit(former[0].start, former[0].end, text)
            return
        outer = self._indent(parent)
        inner = self._indent(parent.children[0]) if parent.children else f'{outer}  '
        text = (self._newline + inner).join(['', *lines])
        if parent.empty:
            text = f'>{text}{self._newline}{outer}</{parent.tag}>'
            self._edit(self._data.rindex(b'/', parent.start, parent.end), parent.end, text)
        elif first:
            self._edit(parent.inside, parent.inside, text)
        else:
            last = parent.children[-1].end if parent.children else parent.inside
            self._edit(last, last, text)

    def result(self) -> str:
        """Return the text with all changes."""
        parts, at = [], 0
        for start, end, new in sorted(self._edits):
            parts += [self._data[at:start], new]
            at = end
        return b''.join([*parts, self._data[at:]]).decode('utf-8')

    def _edit(self, start: int, end: int, text: str) -> None:
        self._edits.append((start, end, text.encode('utf-8')))

    def _indent(self, item: Element) -> str:
        """Return the white space in front of an element on its line; '' if there is more."""
        line = self._data[self._data.rfind(b'\n', 0, item.start) + 1 : item.start]
        return line.decode('utf-8') if not line.strip() else ''


def tag(name: str, attributes: Mapping[str, str]) -> str:
    """Return an empty element."""
    words = [name, *(f'{key}={quoteattr(text)}' for key, text in attributes.items())]
    return f'<{" ".join(words)}/>'


def comment(text: str) -> str:
    """Return a comment; two dashes, which would end it, are separated."""
    return f'<!-- {text.replace("--", "- -")} -->'


def _elements(data: bytes) -> Element:
    """Return the root element, with three levels of children."""
    parser: Any = expat.ParserCreate('utf-8')
    root = Element('', {}, 0)
    stack = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        item = Element(name, attributes, at)
        match = _START_TAG.match(data, at)
        item.inside = match.end() if match else at
        item.empty = data[item.inside - 2 : item.inside] == b'/>'
        if len(stack) <= 3:
            stack[-1].children.append(item)
        stack.append(item)

    def end(name: str) -> None:
        item = stack.pop()
        close = parser.CurrentByteIndex
        item.end = item.inside if item.empty else data.index(b'>', close) + 1

    def doctype(*_: object) -> None:
        raise IdentificationError(
            'the URDF has a DOCTYPE, whose entities could stand for elements: remove it'
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = doctype
    parser.Parse(data, True)
    return root.children[0]
