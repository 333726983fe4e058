# SPDX-License-Identifier: Apache-2.0
import pytest

from tools.common import ROOT
from tools.pages.parameters import NODES, declared


def test_every_node_is_in_the_page():
    folders = {path.parent.name for path in (ROOT / 'robodyn_ros' / 'nodes').glob('*/node.py')}
    assert folders == set(NODES)


@pytest.mark.ros
def test_defaults_are_those_of_the_declaration_and_not_of_the_robot_file():
    found = declared('collision_monitor')
    assert found['max_torque_error'][0] == [0.0]
    assert all(descriptor.description for _, descriptor in found.values())
