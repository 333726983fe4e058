# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from tools.mutant_tests import Executed

SOURCE = Path('robodyn_ros/room/limits.py')
TEXT = """LIMIT = 3


def limited(
    value,
):
    if (
        value < LIMIT
    ):
        return min(
            value,
        )
"""
MIRROR, OTHER = 'test/room/test_limits.py', 'test/room/test_user.py'
EXECUTED = Executed(
    {
        str(SOURCE): {
            '1': [''],
            '7': [f'{MIRROR}::one', f'{OTHER}::slow', f'{OTHER}::fast'],
            '10': [f'{OTHER}::fast'],
        }
    },
    {f'{MIRROR}::one': 1.0, f'{MIRROR}::two': 2.0, f'{OTHER}::slow': 9.0, f'{OTHER}::fast': 3.0},
)


def test_mirrored_tests_come_first_and_the_others_within_the_budget() -> None:
    def chosen(line: int, budget: float) -> list[str]:
        return EXECUTED.tests_of(SOURCE, TEXT, line, budget)

    assert chosen(8, 60.0) == [f'{MIRROR}::one', MIRROR, f'{OTHER}::fast', f'{OTHER}::slow']
    assert chosen(8, 3.0) == [f'{MIRROR}::one', MIRROR, f'{OTHER}::fast']
    assert chosen(11, 60.0) == [MIRROR, f'{OTHER}::fast', f'{OTHER}::slow']
    assert chosen(1, 60.0) == [MIRROR, f'{OTHER}::fast', f'{OTHER}::slow'], 'runs at import'
    assert chosen(2, 60.0) == EXECUTED.tests_of(Path('robodyn_ros/x.py'), TEXT, 1, 60.0) == []
