# SPDX-License-Identifier: Apache-2.0
"""Markers without ROS."""

from types import SimpleNamespace


def vector(values):
    return SimpleNamespace(**dict(zip('xyz', values, strict=True)))


def marker(frame, points=(), *, kind=0, action=0, position=(0, 0, 0), turn=(1, 0, 0, 0)):
    """A visualization_msgs/Marker."""
    orientation = SimpleNamespace(**dict(zip('wxyz', turn, strict=True)))
    return SimpleNamespace(
        type=kind, action=action, header=SimpleNamespace(frame_id=frame),
        pose=SimpleNamespace(position=vector(position), orientation=orientation),
        points=[vector(point) for point in points], scale=vector((0.02, 0.04, 0.0)),
        color=SimpleNamespace(r=1.0, g=0.2, b=0.1, a=1.0), text='words',
    )  # fmt: skip
