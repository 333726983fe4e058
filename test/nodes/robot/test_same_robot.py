# SPDX-License-Identifier: Apache-2.0
import pytest
from control_arm import small_arm
from node_process import EFFORT, NodeProcess, closed
from writers import result_file

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.robot.same_robot import check_same_robot


def test_joints_that_the_robot_does_not_have_are_named_with_both_files():
    words = (
        r'^result\.yaml is of another robot: it has the joints joint1, elbow, but the robot file '
        r'six_axis \(.*six_axis\.urdf\) has no elbow: give the robot that was identified'
    )
    with pytest.raises(ConfigError, match=words):
        check_same_robot('six_axis', ['joint1', 'elbow'], 'result.yaml')


@pytest.mark.parametrize('robot', ['', 'six_axis', 'fr3'])
def test_a_part_of_its_joints_or_an_unknown_urdf_is_no_other_robot(robot):
    check_same_robot(robot, ['joint6', 'joint2'], 'result.yaml')


def test_a_urdf_that_cannot_be_read_is_not_needed(tmp_path):
    (tmp_path / 'arm.yaml').write_text('urdf: missing.urdf\n')
    check_same_robot(str(tmp_path / 'arm.yaml'), ['elbow'], 'result.yaml')


@pytest.mark.ros
def test_a_node_refuses_the_result_of_another_robot(tmp_path):
    model, values = small_arm()
    given = {**EFFORT, 'robot': 'ur10', 'autostart': True}
    given['result_file'] = result_file(tmp_path, model, values)
    with closed(NodeProcess('feedforward', 78, tmp_path / 'log', given)) as node:
        node.wait_for('cannot be configured: ')
        assert 'result.yaml is of another robot: it has the joints joint1, joint2' in node.said()
