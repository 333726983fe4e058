"""Collision data in the files of a robot: geometry of the URDF, disabled pairs of the SRDF."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.bounds import parse_xml, read_text
from robodyn_ros.errors import MotionError

_PACKAGE, _FILE = 'package://', 'file://'
_SEARCHED = (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', ''))
"""Environment variables with folders, and where packages are in each of them."""


@dataclass(frozen=True)
class CollisionFile:
    """A URDF whose meshes all exist.

    :param text: XML with the paths of the meshes; meshes that were not found are left out
    :param source: name of the URDF in messages
    :param solid: links with collision geometry that can be used
    :param bare: bodies (links with a mass or a `<visual>`) without any, in the file's order
    :param lost: mesh files that were not found
    """

    text: str
    source: str
    solid: tuple[str, ...]
    bare: tuple[str, ...]
    lost: tuple[str, ...]


def read_collision_file(urdf: str) -> CollisionFile:
    """Read the `<collision>` elements of a URDF; `<visual>` elements do not count.

    :param urdf: file, or the XML text itself
    :raises MotionError: it cannot be read or is not a URDF
    """
    is_text = urdf.lstrip().startswith('<')
    root = _root(urdf, 'the URDF') if is_text else _parsed(urdf, 'the URDF')
    folder = None if is_text else Path(urdf).absolute().parent
    solid, bare, lost = [], [], []
    for link in root.iter('link'):
        for collision in link.findall('collision'):
            mesh = collision.find('geometry/mesh')
            if mesh is None:
                continue
            path = next(filter(Path.is_file, _places(mesh.get('filename', ''), folder)), None)
            if path is None:
                lost.append(mesh.get('filename', ''))
                link.remove(collision)
            else:
                mesh.set('filename', str(path))
        name = link.get('name', '')
        if link.find('collision/geometry') is not None:
            solid.append(name)
        elif link.find('visual') is not None or link.find('inertial/mass') is not None:
            bare.append(name)
    source = 'the URDF' if is_text else urdf
    text = ET.tostring(root, encoding='unicode')
    return CollisionFile(text, source, tuple(solid), tuple(bare), tuple(dict.fromkeys(lost)))


def disabled_pairs(srdf: str) -> frozenset[frozenset[str]]:
    """Return pairs of links whose collisions an SRDF disables.

    :param srdf: file
    :raises MotionError: it cannot be read or is not an SRDF
    """
    root = _parsed(srdf, 'the SRDF')
    return frozenset(
        frozenset((item.get('link1', ''), item.get('link2', '')))
        for item in root.iter('disable_collisions')
    )


def _parsed(path: str, what: str) -> ET.Element:
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise MotionError(f'{what} {path} cannot be read: {error}') from error
    return _root(text, f'{what} {path}')


def _root(text: str, what: str) -> ET.Element:
    try:
        root = parse_xml(text)
    except ET.ParseError as error:
        raise MotionError(f'{what} is not XML: {error}') from error
    if root.tag != 'robot':
        raise MotionError(f'{what} must have the root <robot>, got <{root.tag}>')
    return root


def _places(name: str, folder: Path | None) -> Iterator[Path]:
    """Yield the paths at which a mesh file may be."""
    if not name.startswith(_PACKAGE):
        path = Path(name.removeprefix(_FILE))
        if path.is_absolute() or folder is not None:
            yield path if folder is None else folder / path
        return
    package, _, rest = name.removeprefix(_PACKAGE).partition('/')
    # most URDFs are in the package that has their meshes
    for parent in () if folder is None else (folder, *folder.parents):
        if parent.name == package:
            yield parent / rest
    for variable, where in _SEARCHED:
        for item in filter(None, os.environ.get(variable, '').split(os.pathsep)):
            yield Path(item) / where / package / rest
