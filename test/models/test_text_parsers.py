# SPDX-License-Identifier: Apache-2.0
"""Hypothesis drives the parsers of texts: each refuses with its error, on one line."""

import xml.etree.ElementTree as ET

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robodyn_ros.bounds import parse_xml
from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.catalog import load_motion
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.yaml_file import parse_yaml

WIDE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXTS = st.one_of(
    st.text(max_size=60), st.text('-:?[]{}&*!|>\'"%@#, \n\tab01.e~<=_+', max_size=60)
)
ROBOT = (
    '<robot name="r">', '<link name="a"/>', '<link name="b">', '<inertial>', '<mass value="1"/>',
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>', '</inertial>', '</link>',
    '<joint name="j" type="revolute">', '<parent link="a"/>', '<child link="b"/>',
    '<axis xyz="0 0 1"/>', '<limit lower="-1" upper="1" effort="9" velocity="1"/>', '</joint>',
    '</robot>',
)  # fmt: skip
PARTS = (*ROBOT, '<mimic joint="j"/>', '<origin xyz="0 0 nan"/>', '<!--', '<![CDATA[', '&#x0;')
NUMBERS = ('nan', 'inf', '-1', '1e308', '1e999', '', 'j', 'fixed', 'floating', '1 2', '∞')
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text('ab.:', max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text('ab', max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
MOTION = {
    'kind': 'sine', 'joints': ['a', 'b'], 'start': [0.0, 0.0], 'target': [0.2, 0.3],
    'frequency': [0.3, 0.4], 'duration': 5.0,
}  # fmt: skip


def one_line(error):
    assert str(error) and '\n' not in str(error)


@WIDE
@given(TEXTS)
def test_any_text_is_yaml_or_refused(text):
    try:
        parse_yaml(text)
    except yaml.YAMLError as error:
        one_line(error)


@WIDE
@given(st.one_of(TEXTS, st.lists(st.sampled_from(PARTS), max_size=14).map(''.join)))
def test_any_text_is_xml_or_refused(text):
    try:
        parse_xml(text)
    except ET.ParseError as error:
        one_line(error)


@WIDE
@given(st.data())
def test_a_damaged_urdf_is_a_robot_or_refused(data):
    parts = list(ROBOT)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(parts) - 1))
        words = parts[at].split('"')
        if len(words) > 1 and data.draw(st.booleans()):
            word = data.draw(st.integers(0, len(words) // 2 - 1))
            words[2 * word + 1] = data.draw(st.sampled_from(NUMBERS))
            parts[at] = '"'.join(words)
        else:
            parts[at] = data.draw(st.sampled_from(PARTS))
    try:
        UrdfModel.from_xml(''.join(parts))
    except RobodynError as error:
        one_line(error)


@pytest.mark.filterwarnings('ignore:overflow')
@WIDE
@given(changed=st.sampled_from(sorted(MOTION)), value=VALUES)
def test_a_motion_with_any_value_is_a_motion_or_refused(tmp_path, changed, value):
    path = tmp_path / 'motion.yaml'
    path.write_text(yaml.safe_dump({**MOTION, changed: value}))
    try:
        load_motion(path)
    except RobodynError as error:
        one_line(error)
