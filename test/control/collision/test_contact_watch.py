# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from closed_form_oracle import body, urdf
from control_arm import small_arm
from robots import SIX_AXIS

from robodyn_ros.control.collision.contact_watch import ContactWatch, geometry
from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model, robot_model

BENT = np.array([0.3, 0.5, -0.7, 0.8, 0.9, 0.2])


def detector_of(model, **settings):
    count = len(model.joints)
    error = np.zeros(count)
    given = {'period': 0.002, 'enabled': np.ones(count, dtype=bool), **settings}
    return SimpleNamespace(
        joints=model.joint_names, settings=SimpleNamespace(**given), settled=True,
        compared=error, external_torque=error, threshold=np.full(count, 10.0),
        contact_threshold=np.full(count, 7.0),
    )  # fmt: skip


def test_a_contact_starts_and_ends_with_the_contact_threshold():
    model = robot_model(SIX_AXIS)
    detector = detector_of(model)
    watch = ContactWatch(model, detector)
    seen = []
    for error in (0.0, 6.9, 7.1, 6.9):
        detector.compared[1] = -error
        watch.update()
        seen.append(watch.touched)
    assert seen == [False, False, True, False]
    assert watch.describe(watch.estimate(BENT)) == 'no contact'
    detector.settled, detector.compared[1] = False, 90.0
    watch.update()
    assert not watch.touched


def test_a_contact_is_averaged_from_its_start_on():
    model = robot_model(SIX_AXIS)
    detector = detector_of(model)
    detector.threshold[:] = (10.0, 15.0, 6.0, 1.0, 0.9, 0.5)
    watch, late = ContactWatch(model, detector), ContactWatch(model, detector)
    force, found = np.array([100.0, 50.0, -80.0]), {}
    pushed = watch.links.at(BENT).tool[:3].T @ force
    random = np.random.default_rng(0)
    for row in range(150):
        noise = 0.15 * detector.threshold * random.normal(size=6)
        detector.compared[:] = pushed * (row > 50) + noise
        watch.update()
        found[row] = watch.estimate(BENT)
    np.testing.assert_allclose(found[51].wrench[:3], force, atol=15.0)
    np.testing.assert_allclose(found[149].wrench[:3], force, atol=8.0)
    assert not late.touched
    late.update()  # its first sample is one of the contact
    np.testing.assert_allclose(late.estimate(BENT).wrench[:3], force, atol=15.0)
    assert (np.diag(found[149].covariance) < np.diag(found[51].covariance)).all()


def test_a_joint_that_is_not_monitored_tells_nothing():
    model = robot_model(SIX_AXIS)
    detector = detector_of(model, enabled=np.arange(6) != 5)
    watch = ContactWatch(model, detector)
    detector.compared[5] = 500.0
    watch.update()
    assert not watch.touched
    with_it = watch.estimate(BENT)
    detector.compared[5] = 0.0
    watch.update()
    np.testing.assert_allclose(with_it.wrench, watch.estimate(BENT).wrench, atol=1e-2)


def test_models_without_links_claim_no_place():
    scara = build_model({
        'kind': 'scara', 'dynamic_model': 1, 'joints': [f'joint{k}' for k in range(1, 5)],
        'geometry': {'L1': 0.3, 'L2': 0.25},
    })  # fmt: skip
    detector = detector_of(scara)
    watch = ContactWatch(scara, detector)
    detector.compared[:] = 20.0
    watch.update()
    assert watch.estimate(np.zeros(4)) is None
    text = 'contact; place and force are not known: the model has no links (no URDF)'
    assert watch.describe(None) == text


def test_joints_side_by_side_have_no_place_of_a_contact():
    plain = (1.0, [0.0, 0.0, 0.1], [0.1, 0.1, 0.1])
    bodies = [body('revolute', [x, 0.0, 0.0], [0, 0, 1], *plain) for x in (0.0, 0.5)]
    model = robot_model(urdf(bodies).replace('<parent link="link1"/>', '<parent link="link0"/>'))
    links, reason = geometry(model, '')
    assert links is None and 'one after the other' in reason, reason


def test_a_tool_that_does_not_exist_is_refused():
    model, _ = small_arm()
    with pytest.raises(ModelError, match="has no link 'hand'"):
        ContactWatch(model, detector_of(model), tool='hand')


def test_a_link_is_named_alone_only_if_the_torques_tell_it():
    model = robot_model(SIX_AXIS)
    detector = detector_of(model)
    watch = ContactWatch(model, detector)
    link = watch.links.links
    detector.compared[:] = 20.0
    watch.update()
    for probability, text in (
        ([0.0, 0.05, 0.05, 0.0, 0.9, 0.0], f'contact at {link[4]} (90%), '),
        ([0.0, 0.0, 0.15, 0.55, 0.3, 0.0],
         f'contact at one of {link[3]} (55%), {link[4]} (30%), {link[2]} (15%): the torques do '),
        ([0.79, 0.06, 0.05, 0.05, 0.05, 0.0],
         f'contact at one of {link[0]} (79%), {link[1]} (6%): the torques do not tell which, '),
    ):  # fmt: skip
        contact = replace(watch.estimate(BENT), probability=np.array(probability))
        assert watch.describe(contact).startswith(text)
