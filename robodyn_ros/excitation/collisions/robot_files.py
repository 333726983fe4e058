# SPDX-License-Identifier: Apache-2.0
"""Collision data in the files of a robot: geometry of the URDF, disabled pairs of the SRDF.

Links without `<collision>` take the shapes of their `<visual>`, see `_substitute`.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import parse_xml, read_text
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.capsules import Capsule, around, between, has_volume
from robodyn_ros.excitation.collisions.meshes import PACKAGE, Vector, vertices
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.models.serial.urdf_values import numbers, transform

_FILE = 'file://'
_SEARCHED = (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', ''))
"""Environment variables with folders, and where packages are in each of them."""


@dataclass(frozen=True)
class CollisionFile:
    """A URDF whose meshes all exist.

    :param text: XML with the paths of the meshes; meshes that were not found are left out
    :param bare: bodies (see `_is_body`) without any, in the file's order
    :param lost: meshes of bare and guessed links that were not found
    :param meshes: files of the meshes with their scales, x, y and z
    :param capsules: of links without `<collision>`
    :param shown: links without `<collision>` whose `<visual>` is used
    :param guessed: links whose shapes can be thinner than the link: what is free of them proves
        nothing
    """

    text: str
    source: str
    solid: tuple[str, ...]
    bare: tuple[str, ...]
    lost: tuple[str, ...]
    meshes: tuple[tuple[str, Vector], ...] = ()
    capsules: tuple[Capsule, ...] = ()
    shown: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()

    @property
    def substituted(self) -> set[str]:
        """Return the links with shapes that stand in for `<collision>`."""
        return {*self.shown, *(item.link for item in self.capsules)}


def read_collision_file(urdf: str, *, substitutes: bool = True) -> CollisionFile:
    """Read the `<collision>` elements of a URDF, and substitutes where a link has none.

    :param urdf: file, or the XML text itself
    :param substitutes: use visual shapes or capsules for links without
    :raises MotionError: it cannot be read or is not a URDF
    """
    is_text, root = _urdf(urdf)
    folder = None if is_text else Path(urdf).absolute().parent
    reader = _Reader(root, folder, substitutes=substitutes)
    for link in root.iter('link'):
        reader.read(link)
    return reader.file('the URDF' if is_text else urdf)


def link_names(urdf: str) -> frozenset[str]:
    """Return the names of all links of a URDF.

    :param urdf: file, or the XML text itself
    :raises MotionError: it cannot be read or is not a URDF
    """
    return frozenset(link.get('name', '') for link in _urdf(urdf)[1].iter('link'))


def _urdf(urdf: str) -> tuple[bool, ET.Element]:
    """Return whether this is the text of a URDF, not its file, and the root element."""
    is_text = urdf.lstrip().startswith('<')
    return is_text, _root(urdf, 'the URDF') if is_text else _parsed(urdf, 'the URDF')


class _Reader:
    """Collects the geometry of links; it changes their elements for the library."""

    def __init__(self, root: ET.Element, folder: Path | None, *, substitutes: bool) -> None:
        self._root, self._folder, self._substitutes = root, folder, substitutes
        self._solid: list[str] = []
        self._bare: list[str] = []
        self._lost: list[str] = []
        self._shown: list[str] = []
        self._guessed: list[str] = []
        self._meshes: list[tuple[str, Vector]] = []
        self._capsules: list[Capsule] = []

    def file(self, source: str) -> CollisionFile:
        """Return what was collected."""
        return CollisionFile(
            ET.tostring(self._root, encoding='unicode'),
            source,
            tuple(self._solid),
            tuple(self._bare),
            tuple(dict.fromkeys(self._lost)),
            tuple(dict.fromkeys(self._meshes)),
            tuple(self._capsules),
            tuple(self._shown),
            tuple(self._guessed),
        )

    def read(self, link: ET.Element) -> None:
        """Collect the geometry of a link."""
        name, is_body = link.get('name', ''), _is_body(link)
        lost: list[str] = []
        for element in link.findall('collision'):
            mesh = element.find('geometry/mesh')
            if mesh is not None and self._found(mesh, lost):
                self._meshes.append((mesh.get('filename', ''), _scale(mesh, name)))
            elif mesh is not None:
                link.remove(element)
        solid, complete = link.find('collision/geometry') is not None, not lost
        if is_body and not solid and self._substitutes:
            solid, complete = self._substitute(link, lost)
        if solid:
            self._solid.append(name)
        elif is_body:
            self._bare.append(name)
        if solid and not complete:
            self._guessed.append(name)
        if is_body and not (solid and complete):
            self._lost += lost

    def _found(self, mesh: ET.Element, lost: list[str]) -> bool:
        """Set the path of a mesh; return False and extend `lost` if there is no such file."""
        given = mesh.get('filename', '')
        path = next(filter(_is_file, _places(given, self._folder)), None)
        if path is None:
            lost.append(given)
            return False
        mesh.set('filename', str(path))
        return True

    def _substitute(self, link: ET.Element, lost: list[str]) -> tuple[bool, bool]:
        """Use the visual shapes of a link, or the distance to its next joint.

        They are used like `<collision>`: meshes as their convex hulls. A capsule is fitted around
        meshes without a volume.

        :param lost: is extended by meshes that are not found
        :return: whether the link has a shape now, and whether it contains all that is drawn
        """
        name, flat, before = link.get('name', ''), [], len(lost)
        for element in link.findall('visual'):
            mesh = element.find('geometry/mesh')
            if element.find('geometry') is None:
                continue
            if mesh is not None and not self._found(mesh, lost):
                continue
            points = None if mesh is None else _placed(element, mesh, name)
            if points is not None and not has_volume(points):
                flat.append(points)
                continue
            element.tag = 'collision'
            self._shown.append(name)
            if mesh is not None:
                self._meshes.append((mesh.get('filename', ''), _scale(mesh, name)))
        if flat:
            self._capsules.append(around(name, np.concatenate(flat)))
        if flat or name in self._shown:
            return True, len(lost) == before
        end = self._next_joint(name)
        if end.any():
            self._capsules.append(between(name, end))
        return bool(end.any()), False

    def _next_joint(self, name: str) -> Array:
        """Return the place (3,) of the farthest joint that a link carries, in [m]; 0: none."""
        places = [np.zeros(3)]
        for joint in self._root.findall('joint'):
            parent = joint.find('parent')
            if parent is not None and parent.get('link') == name:
                places.append(numbers(joint.find('origin'), 'xyz', f'link {name!r}', (0.0,) * 3))
        return max(places, key=lambda place: float(np.linalg.norm(place)))


def _is_body(link: ET.Element) -> bool:
    """Return False for a frame: a link without geometry and with practically no mass."""
    if link.find('visual') is not None or link.find('collision') is not None:
        return True
    mass = link.find('inertial/mass')
    # The URDF is checked elsewhere: what is no number here counts as a mass.
    # Frames get up to 1 g for simulators that need a mass: a steel ball of 6 mm.
    return mass is not None and not _number(mass.get('value', '')) <= 1e-3


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _placed(element: ET.Element, mesh: ET.Element, name: str) -> Array:
    """Return the vertices (N, 3) of a visual mesh in the frame of its link, in [m]."""
    pose = transform(element.find('origin'), f'link {name!r}')
    points = vertices(mesh.get('filename', ''), _scale(mesh, name))
    return np.asarray(points @ pose[:3, :3].T + pose[:3, 3])


def _scale(mesh: ET.Element, link: str) -> Vector:
    text = mesh.get('scale', '1 1 1')
    try:
        x, y, z = (float(word) for word in text.split())
    except ValueError as error:
        raise MotionError(
            f'link {link!r}: the scale of a mesh must be three numbers, got {text!r:.60}'
        ) from error
    return x, y, z


def disabled_pairs(srdf: str) -> frozenset[frozenset[str]]:
    """Return pairs of links whose collisions an SRDF disables.

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


def _is_file(path: Path) -> bool:
    """Return whether there is such a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _places(name: str, folder: Path | None) -> Iterator[Path]:
    """Yield the paths at which a mesh file may be."""
    if not name.startswith(PACKAGE):
        path = Path(name.removeprefix(_FILE))
        if path.is_absolute() or folder is not None:
            yield path if folder is None else folder / path
        return
    package, _, rest = name.removeprefix(PACKAGE).partition('/')
    # most URDFs are in the package that has their meshes
    for parent in () if folder is None else (folder, *folder.parents):
        if parent.name == package:
            yield parent / rest
    for variable, where in _SEARCHED:
        for item in filter(None, os.environ.get(variable, '').split(os.pathsep)):
            yield Path(item) / where / package / rest
