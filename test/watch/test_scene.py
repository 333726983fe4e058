# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pinocchio as pin
from drawn_markers import marker
from robots import random_urdf

from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.watch.scene import Scene

RANDOM = np.random.default_rng(5)
XML = random_urdf(5, 8, types=('revolute', 'prismatic'))
URDF = parse_urdf(XML)
BALL, CUBE, DELETE = 2, 1, 2


def frame(q, *markers):
    return json.loads(Scene(URDF).frame(q, markers, fresh=True))


def test_markers_are_where_pinocchio_has_their_frames():
    model = pin.buildModelFromXML(XML)
    data, q = model.createData(), RANDOM.normal(size=5)
    pin.framesForwardKinematics(model, data, q)
    point, shift = RANDOM.normal(size=3), RANDOM.normal(size=3)
    turn = pin.Quaternion(RANDOM.normal(size=4)).normalized()
    for joint in URDF.joints:
        given = marker(joint.child, [point], position=shift,
                       turn=(turn.w, turn.x, turn.y, turn.z))  # fmt: skip
        (drawn,) = frame(q, given)['markers']
        wanted = data.oMf[model.getFrameId(joint.child)] * pin.SE3(turn, shift) * point
        np.testing.assert_allclose(drawn['points'][0], wanted, atol=1e-4)
        assert (drawn['kind'], drawn['size'], drawn['text']) == ('arrow', 0.02, 'words')


def test_only_markers_of_this_robot_that_the_page_can_draw_are_sent():
    link, many = URDF.joints[0].child, RANDOM.normal(size=(5000, 3))
    others = [marker('other'), marker(link, kind=CUBE), marker(link, action=DELETE)]
    assert frame(np.zeros(5), *others, marker(link, [[np.nan] * 3]))['markers'] == []
    (ball,) = frame(np.zeros(5), marker(f'/{link}', kind=BALL, turn=(0, 0, 0, 0)))['markers']
    assert ball['kind'] == 'ball' and len(ball['points']) == 1
    wrong = marker(link)
    wrong.scale.x = np.nan
    assert frame(np.zeros(5), wrong)['markers'] == [], 'no JSON has NaN'
    (path,) = frame(np.zeros(5), marker(URDF.root, many, kind=4))['markers']
    assert 100 < len(path['points']) <= 201
    (short,) = frame(np.zeros(5), marker(URDF.root, many[:199], kind=4))['markers']
    assert len(short['points']) == 200, 'all, and the last one again'
    np.testing.assert_allclose(path['points'][-1], many[-1], atol=1e-4)
