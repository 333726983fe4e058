# SPDX-License-Identifier: Apache-2.0
"""Names of phases: every constant of the action files has one."""

import pytest
from robodyn_ros.action import Excite, RunIdentification

from robodyn_ros.nodes.robot.phases import phase_name

EXCITE = ['moving to start', 'exciting', 'stopping', 'designing']
RUN = [
    'moving to start',
    'exciting',
    'identifying',
    'validating',
    'designing',
    'rehearsing',
    'waiting',
]


@pytest.mark.parametrize(('action', 'names'), [(Excite, EXCITE), (RunIdentification, RUN)])
def test_names_are_those_of_the_constants(action, names):
    found = [phase_name(action.Feedback(phase=number)) for number in range(len(names) + 1)]
    assert found == [*names, f'phase {len(names)}']
