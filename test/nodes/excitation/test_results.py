# SPDX-License-Identifier: Apache-2.0
"""The result of a goal is kept until the action server asks, and has time to leave."""

from types import SimpleNamespace

import pytest
from robodyn_ros.action import Excite

from robodyn_ros.nodes.excitation import results
from robodyn_ros.nodes.excitation.results import Results


@pytest.mark.parametrize(
    ('cancelled', 'success', 'ending'),
    [(True, True, 'canceled'), (False, True, 'succeed'), (False, False, 'abort')],
)
def test_a_goal_ends_with_its_result_and_status(monkeypatch, cancelled, success, ending):
    done = []
    goal = SimpleNamespace(
        goal_id=SimpleNamespace(uuid=bytes(16)), is_cancel_requested=cancelled,
        **{name: lambda name=name: done.append(name)
           for name in ('execute', 'canceled', 'succeed', 'abort')},
    )  # fmt: skip
    kept = Results()
    assert kept.left
    kept.give(goal, Excite.Result(success=success, message='text'))
    assert not kept.left and done == ['execute']
    assert kept.conclude(goal).message == 'text' and done == ['execute', ending]
    monkeypatch.setattr(results, 'LINGER', 0.0)
    assert kept.left
