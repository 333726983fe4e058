# SPDX-License-Identifier: Apache-2.0
from robodyn_ros.findings import Finding
from robodyn_ros.identification.result.actions import actions, by_importance


def test_errors_first_joints_with_the_same_remedy_together_and_nothing_else():
    fast = [Finding('slow', f'{n} is slow.', f'j{n}', 'warning', 'Be fast.') for n in range(5)]
    found = [
        Finding('law', 'The law is x.', severity='info'),
        *fast[:2],
        Finding('bad', 'It is bad.', severity='error'),
    ]
    assert actions(found) == ['error: bad: It is bad.', 'warning: slow (j0, j1): Be fast.']
    assert actions(fast) == ['warning: slow (5 joints): Be fast.']
    assert [item.severity for item in by_importance(found)] == [
        'error', 'warning', 'warning', 'info',
    ]  # fmt: skip
