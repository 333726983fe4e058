# SPDX-License-Identifier: Apache-2.0
"""A joint that the result calls not usable is unmonitored, unless it is allowed by name."""

import pytest
from collision_client import COLLISION, MODEL, NAMES, OK, UNKNOWN, VALUES, Monitor, levels
from diagnostic_msgs.msg import DiagnosticStatus
from node_process import closed
from ros_client import details
from writers import result_file

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('allowed', [False, True])
def test_it_is_never_ok_and_the_monitor_says_so(allowed, tmp_path):
    path = result_file(tmp_path, MODEL, VALUES, bad=[NAMES[1]])
    options = {'allowed_joints': f'[{NAMES[1]}]'} if allowed else {}
    (tmp_path / 'monitor').mkdir()  # it writes a result too
    with closed(Monitor(tmp_path / 'monitor', 4, **options, result_file=path)) as monitor:
        assert (levels(monitor.run(120))[-1] == [OK, OK if allowed else UNKNOWN]).all()
        status, log = monitor.process.status(), monitor.process.said()
        text = f'joint {NAMES[1]} is not usable, it is unmonitored'
        assert (text in log) is (text in status.message) is not allowed
        assert details(status)['not_usable'] == ('' if allowed else NAMES[1])
        good = DiagnosticStatus.OK if allowed else DiagnosticStatus.WARN
        assert status.level == good
        last = levels(monitor.run(20, push=9.0))[-1]
        assert (last == [OK, COLLISION if allowed else UNKNOWN]).all()
