# SPDX-License-Identifier: Apache-2.0
"""Links whose shape is unknown are not checked; frames need no check."""

import numpy as np
import pytest
from robots import chain_urdf

from robodyn_ros.excitation.collisions.check import collision_lines
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.options import collision_coverage

JOINTS = ['joint1', 'joint2', 'joint3']
SPACE = {'floor': -5.0, 'box': [-9, -9, -9, 9, 9, 9]}
MESH = '<geometry><mesh filename="package://my_arm/{}.stl"/></geometry>'
BALL = '<geometry><sphere radius="0.1"/></geometry>'
INERTIAL = (
    '<inertial><mass value="{}"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)


def urdf(shape='', *, mass='1', tip=''):
    """Return a chain of three joints, 0.5 m apart; `shape` is that of its last link."""
    more = tip and (
        f'<link name="tip">{tip}</link><joint name="fixed" type="fixed">'
        '<parent link="link3"/><child link="tip"/><origin xyz="0 0 0.1"/></joint>'
    )
    ball = f'<collision>{BALL}</collision>'
    body = INERTIAL.format(1) + ball
    return chain_urdf(ball, body, body, INERTIAL.format(mass) + shape, more=more)


def still():
    points = TrajectoryPoints(tuple(JOINTS), np.array([0.0, 1.0]), np.zeros((2, 3)))
    return SplineTrajectory(points=points)


def test_a_link_with_missing_meshes_is_not_called_free_of_collisions():
    shape = f'<visual>{MESH.format("seen")}</visual><collision>{MESH.format("hull")}</collision>'
    coverage = collision_coverage(SPACE, JOINTS, urdf(shape, tip=INERTIAL.format('1e-6')))
    (text,) = coverage.unchecked
    assert text == (
        'links whose shapes are guessed, and can be thicker than the guess: link3; 2 meshes were '
        'not found (package://my_arm/hull.stl, ...): install, or build and source, the '
        'description package my_arm'
    )
    assert coverage.notes[0].startswith(
        'capsules stand in for the missing geometry of links: link3: capsule of radius 0.012 m'
    )
    facts = coverage.check(still()).facts()
    assert facts['collision']['guessed_links'] == ['link3']
    assert collision_lines(facts)[0].startswith('with guessed shapes (1 links): collisions during')


@pytest.mark.parametrize(('mass', 'checked'), [('1e-6', True), ('0.001', True), ('0.1', False)])
def test_a_frame_is_no_body_and_needs_no_check(mass, checked):
    ball = f'<collision>{BALL}</collision>'
    tip = collision_coverage(SPACE, JOINTS, urdf(ball, tip=INERTIAL.format(mass)))
    gap = 'links without <collision> geometry: tip'
    assert tip.unchecked == (() if checked else (gap,))
    # between two joints, too
    between = collision_coverage(SPACE, JOINTS, urdf(mass=mass, tip=f'<visual>{BALL}</visual>'))
    assert (between.unchecked == ()) is checked


def test_meshes_of_a_link_without_a_mass_are_missed():
    tip = f'<collision>{MESH.format("tool")}</collision>'
    arm = urdf(f'<visual>{BALL}</visual>', tip=tip)
    (text,) = collision_coverage(SPACE, JOINTS, arm).unchecked
    assert text.startswith('links without <collision> geometry: tip; 1 mesh was not found')
