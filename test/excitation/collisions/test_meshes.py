# SPDX-License-Identifier: Apache-2.0
"""Meshes that are not found, and what to do."""

from robodyn_ros.excitation.collisions.meshes import missing_meshes


def test_missing_meshes_are_counted_and_their_packages_named():
    assert missing_meshes(['hand.stl']) == '1 mesh was not found (hand.stl)'
    lost = ['package://a/1.stl', 'hand.stl', 'package://a/2.stl', 'package://b/1.stl']
    assert missing_meshes(lost) == (
        '4 meshes were not found (hand.stl, package://a/1.stl, package://b/1.stl, ...): install, '
        'or build and source, the description packages a, b'
    )
    assert missing_meshes(lost[:1]).endswith('the description package a')
