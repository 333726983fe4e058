# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.nodes.robot.same_robot import check_same_robot

URDF = (Path(__file__).parents[3] / 'urdf' / 'six_axis.urdf').read_text()


def six_axis(folder, old='', new='', count=1):
    """A model of the six-axis arm with a part of its URDF replaced."""
    assert old in URDF
    path = folder / 'changed.urdf'
    path.write_text(URDF.replace(old, new, count))
    return robot_model(str(path))


def test_joints_that_the_robot_does_not_have_are_named_with_both_files(tmp_path):
    words = (
        r'^result\.yaml is of another robot: it has the joints joint1, elbow, .* but the robot '
        r'file six_axis \(.*six_axis\.urdf\) has no elbow: give the robot that was identified'
    )
    model = six_axis(tmp_path, '"joint2"', '"elbow"', -1)
    with pytest.raises(ConfigError, match=words):
        check_same_robot('six_axis', model, 'result.yaml')


@pytest.mark.parametrize('robot', ['', 'six_axis', 'fr3'])
def test_the_same_or_an_unknown_robot_is_no_other_robot(robot, tmp_path):
    check_same_robot(robot, six_axis(tmp_path), 'result.yaml')


def test_a_urdf_that_cannot_be_read_is_not_needed(tmp_path):
    (tmp_path / 'arm.yaml').write_text('urdf: missing.urdf\n')
    check_same_robot(str(tmp_path / 'arm.yaml'), six_axis(tmp_path), 'result.yaml')


def origins():
    """The xyz of the origins of joints 2 to 6."""
    return re.findall(r'<joint name="joint[2-6]".*?xyz="([^"]+)"', URDF, re.DOTALL)


@pytest.mark.parametrize('index, axis', [(0, 0), (2, 2)])
def test_a_longer_link_is_another_robot(index, axis, tmp_path):
    old = origins()[index]
    numbers = [float(word) for word in old.split()]
    numbers[axis] += 0.05
    model = six_axis(tmp_path, f'"{old}"', '"' + ' '.join(map(str, numbers)) + '"')
    with pytest.raises(
        ConfigError, match=r'of another robot: the axes of joint\d and joint\d lie '
    ):
        check_same_robot('six_axis', model, 'result.yaml')
    numbers[axis] -= 0.048  # as a calibration does
    model = six_axis(tmp_path, f'"{old}"', '"' + ' '.join(map(str, numbers)) + '"')
    check_same_robot('six_axis', model, 'result.yaml')


def test_a_reversed_axis_is_another_robot(tmp_path):
    axis = re.findall(r'<joint name="joint3".*?<axis xyz="([^"]+)"', URDF, re.DOTALL)[0]
    reversed_axis = ' '.join(str(-float(word)) for word in axis.split())
    start = URDF.index('<joint name="joint3"')
    text = URDF[:start] + URDF[start:].replace(f'"{axis}"', f'"{reversed_axis}"', 1)
    (tmp_path / 'reversed.urdf').write_text(text)
    with pytest.raises(ConfigError, match='of another robot: the axes of'):
        check_same_robot('six_axis', robot_model(str(tmp_path / 'reversed.urdf')), 'result.yaml')


@pytest.mark.parametrize('roll', [0.0005, 0.006])
def test_a_calibration_that_turns_parallel_axes_is_no_other_robot(roll, tmp_path):
    start = URDF.index('<joint name="joint3"')
    turned = URDF[start:].replace('rpy="0 0 0"', f'rpy="{roll} 0 {roll}"', 1)
    (tmp_path / 'calibrated.urdf').write_text(URDF[:start] + turned)
    check_same_robot('six_axis', robot_model(str(tmp_path / 'calibrated.urdf')), 'result.yaml')


def test_a_slide_that_is_drawn_elsewhere_is_no_other_robot(tmp_path):
    text = (Path(__file__).parents[3] / 'urdf' / 'scara.urdf').read_text()
    for joint, shift in (('joint3', 0.05), ('joint4', -0.05)):
        start = text.index(f'<joint name="{joint}"')
        x, rest = re.findall(r'xyz="(\S+) ([^"]+)"', text[start:])[0]
        moved = text[start:].replace(f'xyz="{x} {rest}"', f'xyz="{float(x) + shift} {rest}"', 1)
        text = text[:start] + moved
    (tmp_path / 'drawn.urdf').write_text(text)
    check_same_robot('scara', robot_model(str(tmp_path / 'drawn.urdf')), 'result.yaml')
