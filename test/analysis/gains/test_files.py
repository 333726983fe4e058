# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import yaml

from robodyn_ros.analysis.gains.estimate import JointGain
from robodyn_ros.analysis.gains.files import columns_text, effort_text
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Joint

ROTARY = JointGain(Joint('a'), -2.5, -2.6, -2.4)
LINEAR = JointGain(Joint('z', 'prismatic'), 120.0, 119.0, 121.0)


def scales(text, joints):
    declared = EffortDeclaration.from_mapping(yaml.safe_load(text)['effort'])
    return declared.for_joints(joints).scale


@pytest.mark.parametrize('unit', ['raw', 'A', 'permille'])
def test_the_declaration_has_size_and_sign(unit):
    text = effort_text([ROTARY], unit, 'two\nlines')
    assert text.startswith('# two\n# lines\n')
    np.testing.assert_allclose(scales(text, [ROTARY.joint]), [-2.5])


def test_prismatic_joints_have_a_force_constant():
    both = [ROTARY, LINEAR]
    text = effort_text(both, 'raw', '')
    np.testing.assert_allclose(scales(text, [each.joint for each in both]), [-2.5, 120.0])
    with pytest.raises(ConfigError, match="'z' is prismatic: use --unit raw"):
        effort_text(both, 'permille', '')


def test_the_mapping_keeps_what_was_given():
    given = {'time': 't', 'torque': {'columns': ['i1'], 'unit': 'mA'}}
    content = yaml.safe_load(columns_text([ROTARY], given, 'head'))
    assert content == {
        'time': 't', 'torque': {'columns': ['i1'], 'unit': 'mA', 'scale': {'a': -2.5}},
    }  # fmt: skip
    assert yaml.safe_load(columns_text([ROTARY], {'torque': 'i'}, ''))['torque']['columns'] == 'i'
