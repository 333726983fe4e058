# SPDX-License-Identifier: Apache-2.0
import re

import pytest

from tools.common import ROOT
from tools.pages.parameters import NODES, _plugin, read_declarations


def test_every_node_is_in_the_page():
    folders = {path.parent.name for path in (ROOT / 'robodyn_ros' / 'nodes').glob('*/node.py')}
    assert folders == set(NODES)


@pytest.mark.ros
def test_defaults_are_those_of_the_declaration_and_not_of_the_robot_file():
    found = read_declarations('collision_monitor')
    assert found['max_torque_error'][0] == [0.0]
    assert all(descriptor.description for _, descriptor in found.values())


def test_the_plugin_has_a_table_too_with_what_is_required():
    text = _plugin()
    assert '| `joints` | list of text | Joints in the order of the hardware' in text
    assert re.search(r'\| `max_torque` \| list of number Nm or N \| .*\(required\)', text)
    assert '| `reference_timeout` | `0.02` s |' in text
    assert r'| `feedforward_scale`\* | `1.0` | ' in text
