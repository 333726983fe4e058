# SPDX-License-Identifier: Apache-2.0
"""Collision data in the files of a robot: geometry of the URDF, disabled pairs of the SRDF.

Every `<collision>` becomes a shape, or its link is named. Links without `<collision>` take the
shapes of their `<visual>`, see `_substitute`.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import parse_xml, read_text
from robodyn_ros.errors import ModelError, MotionError
from robodyn_ros.excitation.collisions.capsules import Capsule, around, between, has_volume
from robodyn_ros.excitation.collisions.link_shape import LinkShape, read_shape
from robodyn_ros.excitation.collisions.meshes import PACKAGE
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.models.serial.urdf_file import UrdfFile, parse_urdf, robot_element

_FILE = 'file://'
_SEARCHED = (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', ''))
"""Environment variables with folders, and where packages are in each of them."""


@dataclass
class CollisionFile:
    """Shapes of the links of a URDF, whose meshes all exist.

    :param shapes: of `<collision>`, or of `<visual>`
    :param solid: links with shapes
    :param bare: bodies (see `_is_body`) without any, in the file's order
    :param lost: meshes of bare and guessed links that were not found
    :param unread: sentences about elements of bodies that are no shapes
    :param capsules: of links without `<collision>`
    :param shown: links without `<collision>` whose `<visual>` is used
    :param guessed: links whose shapes can be thinner than the link: what is free of them proves
        nothing
    """

    urdf: UrdfFile
    shapes: list[LinkShape] = field(default_factory=list)
    solid: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    capsules: list[Capsule] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)

    @property
    def substituted(self) -> set[str]:
        """Return the links with shapes that stand in for `<collision>`."""
        return {*self.shown, *(item.link for item in self.capsules)}


def read_collision_file(urdf: str, *, substitutes: bool = True) -> CollisionFile:
    """Read the `<collision>` elements of a URDF, and substitutes where a link has none.

    :param urdf: file, or the XML text itself
    :param substitutes: use visual shapes or capsules for links without
    :raises RobodynError: it cannot be read or is not a URDF
    """
    is_text, text = _text(urdf)
    source = 'the URDF' if is_text else urdf
    file = parse_urdf(text, source=source, warn=False)
    folder = None if is_text else Path(urdf).absolute().parent
    geometry = CollisionFile(file)
    reader = _GeometryReader(geometry, folder, substitutes=substitutes)
    for link in robot_element(text, source).findall('link'):
        reader.read(link)
    return geometry


def link_names(urdf: str) -> frozenset[str]:
    """Return the names of all links of a URDF.

    :param urdf: file, or the XML text itself
    :raises RobodynError: it cannot be read or is not a URDF
    """
    robot = robot_element(_text(urdf)[1], 'the URDF')
    return frozenset(link.get('name', '') for link in robot.findall('link'))


def _text(urdf: str) -> tuple[bool, str]:
    """Return whether this is the text of a URDF, not its file, and the text."""
    is_text = urdf.lstrip().startswith('<')
    return is_text, urdf if is_text else _read(urdf, 'the URDF')


class _GeometryReader:
    """Collector of the geometry of links."""

    def __init__(self, file: CollisionFile, folder: Path | None, *, substitutes: bool) -> None:
        self._file, self._folder, self._substitutes = file, folder, substitutes

    def read(self, link: ET.Element) -> None:
        """Collect the geometry of a link."""
        name, is_body = link.get('name', ''), _is_body(link)
        lost: list[str] = []
        shapes, complete = self._read_shapes(link, 'collision', lost)
        self._file.shapes += shapes
        solid = bool(shapes)
        if is_body and not solid and self._substitutes:
            solid, complete = self._substitute(link, lost)
        if solid:
            self._file.solid.append(name)
        elif is_body:
            self._file.bare.append(name)
        if solid and not complete:
            self._file.guessed.append(name)
        if is_body and not (solid and complete):
            self._file.lost = list(dict.fromkeys([*self._file.lost, *lost]))

    def _read_shapes(
        self, link: ET.Element, tag: str, lost: list[str]
    ) -> tuple[list[LinkShape], bool]:
        """Return the shapes of a tag, and whether these are all; add lost meshes to `lost`."""
        shapes, elements = [], link.findall(tag)
        for element in elements:
            try:
                shape = read_shape(element, link.get('name', ''))
            except ModelError as error:
                self._file.unread.append(str(error))
                continue
            if shape.mesh:
                path = next(filter(_is_file, _places(shape.mesh, self._folder)), None)
                if path is None:
                    lost.append(shape.mesh)
                    continue
                shape = replace(shape, mesh=str(path))
            shapes.append(shape)
        return shapes, len(shapes) == len(elements)

    def _substitute(self, link: ET.Element, lost: list[str]) -> tuple[bool, bool]:
        """Use the visual shapes of a link, or the distance to its next joint.

        :return: whether the link has a shape now, and whether it contains all that is drawn
        """
        name, flat = link.get('name', ''), []
        shapes, complete = self._read_shapes(link, 'visual', lost)
        for shape in shapes:
            points = shape.vertices() if shape.mesh else None
            if points is not None and not has_volume(points):
                flat.append(points)
                continue
            self._file.shown.append(name)
            self._file.shapes.append(shape)
        if flat:
            self._file.capsules.append(around(name, np.concatenate(flat)))
        if shapes:
            return True, complete
        end = self._next_joint(name)
        if end.any():
            self._file.capsules.append(between(name, end))
        return bool(end.any()), False

    def _next_joint(self, name: str) -> Array:
        """Return the place (3,) of the farthest joint that a link carries, in [m]; 0: none."""
        carried = [item.origin[:3, 3] for item in self._file.urdf.joints if item.parent == name]
        return max([np.zeros(3), *carried], key=lambda place: float(np.linalg.norm(place)))


def _is_body(link: ET.Element) -> bool:
    """Return False for a frame: a link without geometry and with practically no mass."""
    if link.find('visual') is not None or link.find('collision') is not None:
        return True
    mass = link.find('inertial/mass')
    # Frames get up to 1 g for simulators that need a mass: a steel ball of 6 mm.
    return mass is not None and float(mass.get('value', '')) > 1e-3


def read_disabled_pairs(srdf: str) -> frozenset[frozenset[str]]:
    """Return pairs of links whose collisions an SRDF disables.

    :raises MotionError: it cannot be read or is not an SRDF
    """
    what = f'the SRDF {srdf}'
    try:
        root = parse_xml(_read(srdf, 'the SRDF'))
    except ET.ParseError as error:
        raise MotionError(f'{what} is not XML: {error}') from error
    if root.tag != 'robot':
        raise MotionError(f'{what} must have the root <robot>, got <{root.tag}>')
    return frozenset(
        frozenset((item.get('link1', ''), item.get('link2', '')))
        for item in root.iter('disable_collisions')
    )


def _read(path: str, what: str) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise MotionError(f'{what} {path} cannot be read: {error}') from error


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
