# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import Bands, ThresholdMap
from robodyn_ros.control.collision.thresholds_file import (
    LearnedThresholds,
    read_thresholds,
    write_thresholds,
)
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

DETECTOR = {
    'period': 0.01, 'filter_cutoff': 40.0, 'torque_error_filter': 0.5, 'debounce': 3,
}  # fmt: skip


def learned(rest: float = 0.3, change: Array | None = None) -> LearnedThresholds:
    random = np.random.default_rng(4)
    bands = Bands(
        random.uniform(0.01, 0.1, 2),
        *(np.sort(random.uniform(0.1, 2.0, (2, count))) for count in (2, 1, 0)),
        rest=rest,
    )
    given = ThresholdMap(
        bands, random.uniform(1.0, 9.0, (2, 8)), 0.8, np.ones(2), np.ones(2), change
    )
    return LearnedThresholds(('a', 'b'), 'hash of the model', DETECTOR, given, 1.5, 2.0)


@pytest.mark.parametrize('rest', [0.0, 0.3])
def test_a_file_is_read_as_it_was_written(tmp_path: Path, rest: float) -> None:
    path, before = tmp_path / 'thresholds.yaml', learned(rest)
    write_thresholds(before, path)
    after = read_thresholds(path)
    assert (after.joints, after.model_hash, after.hours, after.rate) == (
        before.joints, before.model_hash, 1.5, 2.0,
    )  # fmt: skip
    np.testing.assert_array_equal(after.map.collision, before.map.collision)
    for name in ('still', 'speed', 'acceleration', 'reversal'):
        np.testing.assert_array_equal(
            getattr(after.map.bands, name), getattr(before.map.bands, name)
        )
    assert after.map.bands.rest == rest
    settings = after.settings(CollisionSettings(('a', 'b'), 1.0, settle_time=0.3))
    assert {name: getattr(settings, name) for name in DETECTOR} == DETECTOR
    assert settings.settle_time == 0.3
    after.check_model('hash of the model', after.joints, 'x')
    with pytest.raises(
        ControlError,
        match=r'x: the .* another model or payload \(hash hash of the , this result has another ',
    ):
        after.check_model('another hash', after.joints, 'x')
    with pytest.raises(
        ControlError, match=r"x: the thresholds are those of the joints \['a', 'b'\]"
    ):
        after.check_model('hash of the model', ('a',), 'x')


@pytest.mark.parametrize(
    ('old', 'new', 'text'),
    [
        ('robodyn collision thresholds 1', 'x', 'is no thresholds file'),
        ('contact_share: 0.8', 'contact_share: 1.2', 'contact_share must be '),
        ('period: 0.01', 'period: .nan', 'period must be a finite number.*, got nan'),
        ('debounce: 3', 'debounce: 1000', 'thresholds.yaml: .* is damaged .*delay collisions'),
        ('debounce: 3', 'debounce: 2.5', 'debounce must be an integer, got 2.5'),
        ('debounce: 3', 'debounce: 3\n  residual: observer', "unknown entry 'residual'"),
        ('contact_share: 0.8', "contact_share: '0.8'", 'contact_share must be .*, got .0.8'),
        ('rest_after: 0.3', 'rest_after: true', 'rest_after must be a finite number.*, got True'),
        ('reversal: []', 'reversal: [[1.0]]', r'reversal.* must be a finite number'),
        ('reversal: []', 'reversal: [1.0]', 'reversal must have as many values for each joint'),
        ('reversal: []', 'reversal: {}', 'reversal must be a list'),
        ('- 1.95', '- 0.1', 'the edges of speed must be in ascending order'),
        ('fastest: 1.0', 'fastest: 0.0', 'fastest must be a finite number above 0|fastest must'),
        ('hardest: 1.0', 'hardest: .inf', 'hardest must be'),
        ('healthy_hours: 1.5', '', "entry 'healthy_hours' is missing"),
        ('  b:', '  c: 3\n  b:', 'is damaged'),
    ],
)
def test_damaged_files_are_refused_in_one_sentence(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    path = tmp_path / 'thresholds.yaml'
    write_thresholds(learned(), path)
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))
    with pytest.raises(ControlError, match=text):
        read_thresholds(path)


def test_the_threshold_of_the_change_at_rest_is_there_if_it_was_learned(tmp_path: Path) -> None:
    path = tmp_path / 'thresholds.yaml'
    write_thresholds(learned(), path)
    assert read_thresholds(path).map.change is None
    assert np.isinf(read_thresholds(path).thresholds().change).all()
    write_thresholds(learned(change=np.array([0.5, 0.25])), path)
    assert read_thresholds(path).thresholds().change.tolist() == [0.5, 0.25]
    text = path.read_text()
    for wrong in ('change_at_rest: 0.0', 'change_at_rest: -1.0', 'change_at_rest: .inf',
                  'change_at_rest: x', 'other: 1.0'):  # fmt: skip
        path.write_text(text.replace('change_at_rest: 0.25', wrong))
        with pytest.raises(ControlError, match='the thresholds file is damaged'):
            read_thresholds(path)


def test_a_file_from_before_the_observer_went_is_read_unless_it_is_of_the_observer(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'thresholds.yaml'
    write_thresholds(learned(), path)
    text = path.read_text()
    path.write_text(
        text.replace('detector:', 'detector:\n  residual: filtered\n  observer_bandwidth: 15.0')
    )
    assert read_thresholds(path).detector == DETECTOR
    path.write_text(text.replace('detector:', 'detector:\n  residual: observer'))
    with pytest.raises(ControlError, match="unknown entry 'residual'"):
        read_thresholds(path)
