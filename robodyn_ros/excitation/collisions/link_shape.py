# SPDX-License-Identifier: Apache-2.0
"""Shapes of links, from the `<collision>` and `<visual>` elements of a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.errors import ModelError, MotionError
from robodyn_ros.excitation.collisions.capsules import has_volume
from robodyn_ros.excitation.collisions.meshes import coal, load_mesh
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.models.serial.urdf_elements import check_attributes, check_elements
from robodyn_ros.models.serial.urdf_values import attribute, numbers, transform

_SHAPES = {
    'box': (coal.Box, {'size': 3}),
    'sphere': (coal.Sphere, {'radius': 1}),
    'cylinder': (coal.Cylinder, {'radius': 1, 'length': 1}),
    'capsule': (coal.Capsule, {'radius': 1, 'length': 1}),
    'ellipsoid': (coal.Ellipsoid, {'radii': 3}),
}
"""Kind of a shape -> its class, and its attributes with the count of numbers of each."""


@dataclass(frozen=True, eq=False)
class LinkShape:
    """One shape of a link.

    :param size: in [m]: edges; radius; radius and length, of a capsule without its caps; radii;
        of a mesh the factors x, y and z
    :param pose: in the frame of the link, shape (4, 4)
    :param mesh: file; empty: no mesh
    """

    link: str
    kind: str
    size: Array
    pose: Array
    mesh: str = ''

    def vertices(self) -> Array:
        """Return the vertices of a mesh in the frame of the link, shape (N, 3), in [m].

        :raises MotionError: see `load_mesh`
        """
        points = np.array(load_mesh(coal.MeshLoader(), self.mesh, self.size).vertices())
        return np.asarray(points @ self.pose[:3, :3].T + self.pose[:3, 3])

    def solid(self, loader: Any, source: str) -> Any:
        """Return the shape as an object of the collision library; a mesh becomes its convex hull.

        :param loader: a `CachedMeshLoader`
        :raises MotionError: the mesh cannot be read, or has no volume
        """
        if not self.mesh:
            # an ellipsoid without volume has no distance from a wall in coal
            size = np.maximum(self.size, 1e-6) if self.kind == 'ellipsoid' else self.size
            return _SHAPES[self.kind][0](*size.tolist())
        mesh = load_mesh(loader, self.mesh, self.size)
        if not has_volume(mesh.vertices()):  # coal crashes without a hull
            raise MotionError(f'the mesh {self.mesh} of {source} has no volume')
        mesh.buildConvexHull(True, 'Qt')
        return mesh.convex


def read_shape(element: ET.Element, link: str) -> LinkShape:
    """Read a `<collision>` or `<visual>`; a mesh has the file name of the element.

    :raises ModelError: anything in it that is not read, or a size that no body has
    """
    where = f'link {link!r}, <{element.tag}>'
    check_elements(element, where)
    elements = [part for parent in element.findall('geometry') for part in parent]
    kinds = [part.tag for part in elements]
    if len(elements) != 1 or kinds[0] not in (*_SHAPES, 'mesh'):
        raise ModelError(
            f'{where}: expected one <geometry> with one of {", ".join((*_SHAPES, "mesh"))}, '
            f'got {", ".join(kinds) or "none"}'
        )
    (shape,), (kind,) = elements, kinds
    pose = transform(element.find('origin'), where)
    if kind != 'mesh':
        sizes = _SHAPES[kind][1]
        check_attributes(shape, list(sizes), where)
        size = [numbers(shape, key, where, count=sizes[key], least=0.0) for key in sizes]
        return LinkShape(link, kind, np.concatenate(size), pose)
    check_attributes(shape, ['filename', 'scale'], where)
    scale = numbers(shape, 'scale', where, (1.0, 1.0, 1.0))
    if not scale.all():  # a negative one mirrors
        raise ModelError(f'{where}: scale of <mesh> must not be 0, got {scale.tolist()}')
    return LinkShape(link, kind, scale, pose, attribute(shape, 'filename', where))
