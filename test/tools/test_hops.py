# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

from tools.hops import hops


def direct(item):
    return item


class Keeper:
    def take(self, items, *, other=None):
        return len(items), direct(other)


def test_functions_that_get_the_object_or_a_sequence_of_it_are_counted():
    here = Path(__file__).parent
    thing = Path('a')
    found = hops(lambda: (direct(thing), Keeper().take([thing]), direct(1)), Path, here)
    assert {name.rpartition('.')[2] for _, name in found} == {'direct', 'take'}
    assert {name for name, _ in found} == {'test_hops.py'}
    assert sys.getprofile() is None
