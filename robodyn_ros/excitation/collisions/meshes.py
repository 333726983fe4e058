# SPDX-License-Identifier: Apache-2.0
"""Mesh files, read by the library for collisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robodyn_ros.bounds import MESH, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll

try:
    import coal
except ImportError:  # its name before version 3
    import hppfcl as coal

__all__ = ['PACKAGE', 'coal', 'load_mesh', 'missing_meshes']
PACKAGE = 'package://'


def load_mesh(loader: Any, path: str, scale: Array) -> Any:
    """Load a mesh; a `CachedMeshLoader` keeps it.

    One takes a fraction of a second, so that many can be cancelled.

    :param scale: in x, y and z, shape (3,)
    :raises MotionError: it is too large, or cannot be read
    """
    poll()
    check_bound(MESH, Path(path).stat().st_size, path)
    try:
        return loader.load(path, scale)
    except (ValueError, RuntimeError) as error:
        raise MotionError(
            f'the mesh {path} cannot be read: {" ".join(str(error).split())}'
        ) from error


def missing_meshes(lost: Sequence[str]) -> str:
    """Say which meshes were not found, and what to do; of each package, one mesh is named.

    :param lost: names of the meshes as in the URDF, at least one
    """
    packages: dict[str, str] = {}
    files = []
    for name in lost:
        if name.startswith(PACKAGE):
            packages.setdefault(name.removeprefix(PACKAGE).partition('/')[0], name)
        else:
            files.append(name)
    named = [*files, *packages.values()]
    more = ', ...' if len(named) < len(lost) else ''
    count = '1 mesh was' if len(lost) == 1 else f'{len(lost)} meshes were'
    text = f'{count} not found ({", ".join(named)}{more})'
    if packages:
        several = 's' if len(packages) > 1 else ''
        text += (
            f': install, or build and source, the description package{several} '
            f'{", ".join(packages)}'
        )
    return text
