# SPDX-License-Identifier: Apache-2.0
"""Tree of the moving bodies of a URDF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.rigid_columns import Body
from robodyn_ros.models.serial.urdf_file import UrdfFile


@dataclass(frozen=True)
class Tree:
    """Moving bodies, and the place of every link on them.

    :param places: index of the body that carries each link (-1: the root), and the link's pose
        (4, 4) in that body's frame
    """

    source: str
    bodies: tuple[Body, ...]
    places: dict[str, tuple[int, Array]]

    def place(self, link: str) -> tuple[int, Array]:
        """Return body index and pose of a link, see `places`; an unknown one is a ModelError."""
        if link not in self.places:
            raise ModelError(
                f'{self.source} has no link {link!r}, it has: {", ".join(self.places)}'
            )
        return self.places[link]

    def carriers(self, index: int) -> list[int]:
        """Return the indices of the bodies from the root to body `index`."""
        result: list[int] = []
        while index >= 0:
            result.insert(0, index)
            index = self.bodies[index].parent
        return result


def body_tree(urdf: UrdfFile, moving: tuple[str, ...]) -> Tree:
    """Build the tree of the bodies that the `moving` joints carry; other joints are at zero."""
    bodies: list[Body] = []
    places = {urdf.root: (-1, np.eye(4))}
    for joint in urdf.joints:
        index, placement = places[joint.parent]
        placement = placement @ joint.origin
        if joint.name in moving:
            number, slides = moving.index(joint.name), joint.type == 'prismatic'
            bodies.append(Body(index, number, placement, joint.axis, slides))
            index, placement = len(bodies) - 1, np.eye(4)
        places[joint.child] = (index, placement)
    return Tree(urdf.source, tuple(bodies), places)
