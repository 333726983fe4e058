# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from healthy_arm import flat_law

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.thresholds_file import (
    LearnedThresholds,
    read_thresholds,
    write_thresholds,
)
from robodyn_ros.errors import ControlError

DETECTOR = {
    'period': 0.01, 'filter_cutoff': 40.0, 'torque_error_filter': 0.5, 'debounce': 3,
}  # fmt: skip


def learned() -> LearnedThresholds:
    random = np.random.default_rng(4)
    given = flat_law('hash of the model', np.array([8.0, 5.0]), **DETECTOR)
    law, spread = given.law, random.normal(size=(5, 2, 9))
    bands = replace(law.bands, speed=np.array([[0.5, 1.5], [0.25, 0.75]]))
    law = replace(
        law, bands=bands, mean=random.normal(size=law.mean.shape),
        whitening=random.normal(size=law.whitening.shape),
        scale=random.uniform(1.0, 2.0, (2, bands.cells, 5)),
        covariance=spread @ spread.transpose(0, 2, 1), single=1.5, joint=2.5,
    )  # fmt: skip
    return replace(given, law=law, contact=0.8, hours=1.5)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path, before = tmp_path / 'thresholds.yaml', learned()
    write_thresholds(before, path)
    after = read_thresholds(path)
    assert after.joints == before.joints and after.model_hash == before.model_hash
    assert (after.contact, after.hours, after.wanted, after.rate) == (0.8, 1.5, 10.0, 3.0)
    for item in fields(before.law):
        one, other = (getattr(each.law, item.name) for each in (before, after))
        if item.name == 'bands':
            one, other = (np.hstack([each.speed, each.acceleration]) for each in (one, other))
        np.testing.assert_array_equal(one, other, item.name)
    np.testing.assert_array_equal(after.law.bands.still, before.law.bands.still)
    settings = after.settings(CollisionSettings(before.joints, 1.0, settle_time=0.3))
    assert {name: getattr(settings, name) for name in DETECTOR} == DETECTOR
    assert settings.settle_time == 0.3
    after.check_model('hash of the model', after.joints, 'x')
    with pytest.raises(
        ControlError,
        match=r'x: the .* another model or payload \(hash hash of the , this result has another ',
    ):
        after.check_model('another hash', after.joints, 'x')
    with pytest.raises(ControlError, match='x: the thresholds are those of the joints '):
        after.check_model('hash of the model', ('a',), 'x')


@pytest.mark.parametrize(
    ('old', 'new', 'text'),
    [
        ('robodyn collision thresholds 2', 'robodyn collision thresholds 1',
         "expected format .* 2', got .* 1': learn thresholds with `robodyn thresholds`"),
        ('contact_share: 0.8', 'contact_share: 1.2', 'contact_share must be '),
        ('period: 0.01', 'period: .nan', 'period must be a finite number.*, got nan'),
        ('debounce: 3', 'debounce: 1000', 'thresholds.yaml: .* is damaged .*delay collisions'),
        ('debounce: 3', 'debounce: 2.5', 'debounce must be an integer, got 2.5'),
        ('debounce: 3', 'debounce: 3\n  residual: observer', "unknown entry 'residual'|damaged"),
        ('contact_share: 0.8', "contact_share: '0.8'", 'contact_share must be .*, got .0.8'),
        ('- 0.5\n', '- 9.5\n', 'the edges of speed must be in ascending order'),
        ('- 0.5\n', '', 'speed must have as many values for each joint'),
        ('acceleration: []', 'acceleration: {}', 'acceleration must be a list'),
        ('fastest: 100.0', 'fastest: 0.0', 'fastest must be a finite number above 0|fastest must'),
        ('hardest: 100.0', 'hardest: .inf', 'hardest must be'),
        ('threshold_of_one_joint: 1.5', 'threshold_of_one_joint: -1.0', 'one_joint must be'),
        ('healthy_hours: 1.5', '', "entry 'healthy_hours' is missing"),
        ('covariance:\n', 'covariance: []\nx:\n', 'unknown entry .x.|damaged'),
        ('  joint2:', '  joint3: 3\n  joint2:', 'is damaged'),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ('name', 'value', 'text'),
    [
        (
            'whitening',
            np.zeros((2, 2, 3)),
            r'whitening must have the shape \(2, 2, 8\)',
        ),
        ('mean', np.zeros((9, 2)), r'mean must have the shape \(2, 17\), got \(2, 9\)'),
        ('scale', np.ones((2, 4, 5)), 'scale must have the shape'),
        ('covariance', np.zeros((5, 2, 2)), 'covariance must be symmetric and positive definite'),
        ('covariance', np.tile([[2.0, 1.0], [0.0, 2.0]], (5, 1, 1)), 'must be symmetric'),
    ],
)
def test_values_that_do_not_fit_are_refused(
    tmp_path: Path, name: str, value: object, text: str
) -> None:
    path, given = tmp_path / 'thresholds.yaml', learned()
    changed: dict[str, object] = {name: value}
    write_thresholds(replace(given, law=replace(given.law, **changed)), path)  # type: ignore[arg-type]
    with pytest.raises(ControlError, match=text):
        read_thresholds(path)
