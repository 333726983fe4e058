# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.excitation.design.candidate import Candidate


@pytest.mark.parametrize(
    ('repaired', 'slow', 'note'),
    [
        (1.0, '', ''),
        (1.0, 'j has 2 cycles', 'j has 2 cycles'),
        (0.9, '', 'joints were scaled down, to 90.0% at least: before, a and b collide'),
    ],
)
def test_a_note_says_what_was_changed_and_what_is_missing(repaired, slow, note):
    assert Candidate(1.0, None, repaired, 'a and b collide', slow).note == note


def test_both_are_said():
    both = Candidate(1.0, None, 0.9, 'a and b collide', 'j has 2 cycles').note
    assert both.startswith('joints were scaled down') and both.endswith('; j has 2 cycles')
