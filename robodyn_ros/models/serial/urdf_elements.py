# SPDX-License-Identifier: Apache-2.0
"""Elements and attributes of a URDF that the loaders read, and a check that they miss none."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from difflib import get_close_matches

from robodyn_ros.errors import ModelError

_PARTS = {
    'robot': ('link', 'joint'),
    'link': ('inertial', 'visual', 'collision'),
    'joint': ('origin', 'parent', 'child', 'axis', 'limit', 'mimic'),
    'inertial': ('origin', 'mass', 'inertia'),
    'collision': ('origin', 'geometry'),
    'visual': ('origin', 'geometry'),
}
"""Elements that are read inside others; more are allowed, because simulators have theirs."""
_ATTRIBUTES = {
    'origin': ('xyz', 'rpy'),
    'parent': ('link',),
    'child': ('link',),
    'axis': ('xyz',),
    'limit': ('lower', 'upper', 'velocity', 'effort'),
    'mimic': ('joint', 'multiplier', 'offset'),
    'mass': ('value',),
    'inertia': ('ixx', 'ixy', 'iyy', 'ixz', 'iyz', 'izz'),
}
_NEEDED = {'joint': ('parent', 'child'), 'inertial': ('mass', 'inertia')}
_SEVERAL = ('link', 'joint', 'visual', 'collision')
_PLACED = (
    'collision', 'geometry', 'inertial', 'axis', 'limit', 'mimic', 'mass', 'inertia', 'pose',
)  # fmt: skip
"""Elements that are an error in a wrong place; public URDFs have others there, without effect."""
_FREE = ('origin', 'frame', 'anchor')
"""Elements of other programs that may have a pose, as nothing else may."""


def check_elements(element: ET.Element, where: str) -> None:
    """Refuse an element with parts that a loader would miss without a word.

    Of a fixed joint with several <origin>, as in public files, every reader takes the first one.

    :raises ModelError: a part that is missing, repeated, misspelled or in the wrong place, or one
        with an attribute, text or element instead of an attribute that is read
    """
    expected, tags = _PARTS[element.tag], [part.tag for part in element]
    for tag in _NEEDED.get(element.tag, ()):
        if tag not in tags:
            raise ModelError(f'{where}: <{element.tag}> has no <{tag}>')
    still = element.get('type') == 'fixed'
    for part in element:
        tag = part.tag
        if (element.tag, tag) == ('robot', 'inertial') or (still and tag in ('axis', 'limit')):
            continue  # of no body, and of a joint that does not move
        if tag not in expected:
            what = f'{where}: <{element.tag}> has the element <{tag:.60}>'
            _check_stranger(part, expected, what)
        elif tags.count(tag) > 1 and tag not in (*_SEVERAL, *('origin',) * still):
            raise ModelError(
                f'{where}: <{element.tag}> has {tags.count(tag)} elements <{tag}>, expected one'
            )
        elif tag in _ATTRIBUTES:
            endless = tag == 'limit' and element.get('type') == 'continuous'
            check_attributes(part, _ATTRIBUTES[tag], where, unused=2 if endless else 0)


def check_attributes(
    element: ET.Element, keys: Sequence[str], where: str, *, unused: int = 0
) -> None:
    """Refuse an element that has something else where an attribute is missing.

    With all its attributes, more have no effect; those of an <origin> could turn it.

    :param keys: attributes that are read
    :param unused: how many of them, from the first one, do not matter
    :raises ModelError: naming what it has
    """
    given = set(keys[unused:]) <= set(element.attrib) and element.tag != 'origin'
    unknown = [key for key in element.attrib if key not in keys]
    unknown += [f'<{part.tag}>' for part in element if not part.tag.startswith('{')]
    text = (element.text or '').strip()
    unknown += [f'"{text:.60}"'] if text else []
    if unknown and not given:
        raise ModelError(
            f'{where}: <{element.tag}> has {", ".join(unknown):.200}, expected only the '
            f'attributes {", ".join(keys)}'
        )


def _check_stranger(part: ET.Element, expected: Sequence[str], what: str) -> None:
    """Refuse a part that is not expected, if it looks like one that is read, or hides a body."""
    names = [item.tag.rpartition('}')[2].lower() for item in part.iter()]
    if near := get_close_matches(names[0], expected, 1, 0.75):
        raise ModelError(f'{what}, expected <{near[0]}>')
    hidden = names[0] != 'gazebo' and {'collision', 'inertial'} & set(names)
    placed = names[0] in _PLACED or (names[0] not in _FREE and {'xyz', 'rpy'} & set(part.attrib))
    if placed or hidden:
        raise ModelError(f'{what}, which is not read there: move it to its place')
