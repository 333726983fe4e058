# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.cell.push import Push
from robodyn_ros.errors import CellError


@pytest.mark.parametrize(
    'text, push',
    [
        ('0.5 1 -2 3', Push('', 0.5, (1.0, -2.0, 3.0))),
        ('hand 0.5 1 2 3', Push('hand', 0.5, (1.0, 2.0, 3.0))),
        ('0.5 1 2 3 4 5 6', Push('', 0.5, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))),
        (' hand  0.5 1e30 2 3 4 5 6 ', Push('hand', 0.5, (1e30, 2.0, 3.0), (4.0, 5.0, 6.0))),
    ],
)
def test_a_push_is_read_and_written(text, push):
    assert Push.parse(text) == push
    assert Push.parse(str(push)) == push


@pytest.mark.parametrize('text', ['', 'hand', '0.5', '0.5 1 2', 'a b 1 2 3', 'hand 0.5 1 2 3 4'])
def test_other_texts_are_refused_with_the_form(text):
    with pytest.raises(CellError, match=r"a push is '\[LINK\] SECONDS FX FY FZ") as error:
        Push.parse(text)
    assert repr(text) in str(error.value)
