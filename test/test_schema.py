# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import dataclass, field
from typing import Literal

import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.schema import Finite, NotNegative, Positive, Vector, convert


@dataclass(frozen=True)
class Gear:
    ratio: Positive = 1.0


@dataclass(frozen=True)
class Axis:
    name: str
    side: Literal['motor', 'joint'] = 'motor'
    offset: Finite | None = None
    friction: NotNegative = 0.0
    gravity: Vector = (0.0, 0.0, 0.0)
    gear: Gear = field(default_factory=Gear)


def test_values_and_instances_are_taken():
    found = convert({'name': 'a', 'offset': -3, 'gear': Gear(5.0)}, Axis, 'x.yaml', ConfigError)
    assert found == Axis('a', offset=-3.0, gear=Gear(5.0))


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ([1], r'expected a mapping of names to values, got \[1\]'),
        ({}, "entry 'name' is missing"),
        ({'name': 'a', 'nam': 1}, r"unknown entry 'nam', expected some of \['name', "),
        ({'name': 3}, 'name must be a text, got 3'),
        ({'name': 'a', 'offset': True}, 'offset must be a finite number, got True'),
        ({'name': 'a', 'offset': math.nan}, 'offset must be a finite number, got nan'),
        ({'name': 'a', 'offset': math.inf}, 'offset must be a finite number, got inf'),
        ({'name': 'a', 'friction': -1}, 'friction must be a finite number >= 0.0, got -1'),
        ({'name': 'a', 'side': 'tool'}, "side must be one of motor, joint, got 'tool'"),
        ({'name': 'a', 'gravity': [0, 1]}, r'gravity must be a list of length 3, got \[0, 1\]'),
        ({'name': 'a', 'gear': {'ratio': 0}}, 'gear.ratio must be a finite number > 0.0, got 0'),
        ({3: 4, 'name': 'a'}, 'unknown entry 3'),
    ],
)
def test_what_cannot_be_used_is_one_sentence(content, sentence):
    with pytest.raises(ConfigError, match=f'^x.yaml: {sentence}') as caught:
        convert(content, Axis, 'x.yaml', ConfigError)
    assert '\n' not in str(caught.value) and '`' not in str(caught.value)
