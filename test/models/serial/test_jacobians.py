# SPDX-License-Identifier: Apache-2.0
import mujoco
import numpy as np
import pytest
from robots import SIX_AXIS

from robodyn_ros.errors import ModelError
from robodyn_ros.models.serial.jacobians import LinkJacobians
from robodyn_ros.models.serial.urdf import UrdfModel


@pytest.fixture(scope='module')
def body():
    return UrdfModel.from_file(SIX_AXIS)


def test_jacobians_are_those_of_mujoco(body):
    jacobians = LinkJacobians(body)
    model = mujoco.MjModel.from_xml_path(str(SIX_AXIS))
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    linear, angular = np.zeros((2, 3, 6))
    for q in random.uniform(-2.0, 2.0, (5, 6)):
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        found = jacobians.at(q)
        for number, name in enumerate(jacobians.links):
            link = model.body(name).id
            after = model.body(jacobians.links[number + 1]).id if number < 5 else None
            end = data.xpos[after] if after else found.place
            points = np.linspace(data.xpos[link], end, 3)
            for point, seen in zip(points, found.linear[number], strict=True):
                mujoco.mj_jac(model, data, linear, angular, point, link)
                np.testing.assert_allclose(seen, linear, atol=1e-12)
            np.testing.assert_allclose(found.angular[number], angular, atol=1e-12)
        np.testing.assert_allclose(found.tool, np.vstack([linear, angular]), atol=1e-12)


def test_the_tool_is_the_end_of_the_fixed_links(body):
    assert LinkJacobians(body).tool == 'tool0'
    assert LinkJacobians(body, tool='link6').tool == 'link6'
    with pytest.raises(ModelError, match='not moved by the last joint joint6'):
        LinkJacobians(body, tool='link3')


def test_branches_have_no_last_joint(body):
    reversed_joints = UrdfModel(urdf=body.urdf, joints=body.joint_names[::-1])
    with pytest.raises(ModelError, match='not one after the other'):
        LinkJacobians(reversed_joints)
