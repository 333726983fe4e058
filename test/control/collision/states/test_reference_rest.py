# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.collision.states.reference_rest import ReferenceRest


def test_a_reference_rests_after_a_while_and_only_while_it_is_known() -> None:
    reference, still = ReferenceRest(2), np.array([0.1, 0.2])
    assert not reference.rests(0.0)
    for time in np.arange(0.0, 0.3, 0.01):
        reference.update(time, still)
        assert reference.rests(time) == (time >= 0.05)
    assert reference.rests(0.33) and not reference.rests(0.35), 'five intervals'
    reference.update(0.51, still)
    assert reference.rests(0.51)
    reference.update(0.52, still + np.array([0.0, 1e-12]))
    assert not reference.rests(0.52) and not reference.rests(0.71)


@pytest.mark.parametrize('what', ['time goes back', 'not finite', 'restart'])
def test_a_reference_that_cannot_be_trusted_does_not_rest(what: str) -> None:
    reference, still = ReferenceRest(2), np.array([0.1, 0.2])
    for time in np.arange(0.0, 0.4, 0.01):
        reference.update(time, still)
    if what == 'time goes back':
        reference.update(0.1, still)
    elif what == 'not finite':
        reference.update(0.4, np.array([0.1, np.nan]))
    else:
        reference.restart()
    assert not reference.rests(0.4)
