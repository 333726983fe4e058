# SPDX-License-Identifier: Apache-2.0
"""Events of random operation, written, read and replayed in a detector that is built anew."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from collision_events import EFFORT, event, setup

from robodyn_ros.control.collision.black_box.event import Setup
from robodyn_ros.control.collision.black_box.event_file import read_event, write_event
from robodyn_ros.control.collision.black_box.recorded_detector import build_detector
from robodyn_ros.control.collision.black_box.replay import replay
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import RecordingError, RobodynError


def test_random_events_are_equal_in_every_bit() -> None:
    levels, thresholds, calls = set(), set(), set()
    for seed in range(36):
        made = event(seed)
        assert len(made.rows.times) == 170, 'from the oldest state in the ring'
        found = replay(made)
        assert found is None, f'seed {seed}: {found}'
        levels |= {*made.rows.level.ravel().tolist()}
        thresholds |= {*made.rows.results[:, 1].ravel().tolist()}
        calls |= {name for _, name, _ in made.rows.calls}
    assert levels == {0, 1, 2, 3} and len(thresholds) > 100
    assert calls == {'lose', 'reset', 'rest', 'set_sensitivity', 'set_values', 'adjust'}


def test_a_file_keeps_every_bit(tmp_path: Path) -> None:
    for seed in range(12):
        made = event(seed)
        write_event(made, tmp_path / f'{seed}')
        again = read_event(tmp_path / f'{seed}')
        assert again.rows.calls == made.rows.calls and again.rows.messages == made.rows.messages
        kept = np.ones(len(made.rows.times), dtype=bool)
        kept[[row for row, _, _ in made.rows.calls]] = False
        for name in ('times', 'results', 'level', 'stamps', 'samples'):
            of_samples = kept if name in ('stamps', 'samples') else slice(None)
            written, read = (getattr(rows, name)[of_samples] for rows in (made.rows, again.rows))
            assert written.tobytes() == read.tobytes(), name
        assert replay(again) is None


def test_the_first_bit_that_differs_is_named() -> None:
    made = event(3)
    results = made.rows.results.copy()
    settled = np.flatnonzero(results[:, 0, 1])[40]
    results[settled:, 0, 1] = np.nextafter(results[settled:, 0, 1], np.inf)
    found = replay(replace(made, rows=replace(made.rows, results=results)))
    assert found is not None
    assert (found.row, found.joint, found.quantity) == (settled, 'joint2', 'torque_error')
    assert found.time == 1e-9 * float(made.rows.times[settled] - made.rows.times[0])
    assert found.recorded != found.computed == made.rows.results[settled, 0, 1]


def test_gravity_that_the_effort_excludes_is_left_out() -> None:
    mapping = {'unit': 'Nm', 'side': 'joint', 'gravity': 'excluded'}
    made = replace(setup(), effort=EffortDeclaration.from_mapping(mapping))
    torque = ModelTorque(made.model.model, made.model.values)
    still = np.zeros((1, 2))
    assert np.abs(torque.torque(still + 0.3, still, still)).max() > 1.0
    build_detector(made, torque)
    np.testing.assert_allclose(torque.torque(still + 0.3, still, still), 0.0, atol=1e-9)


def test_the_state_at_the_start_matters() -> None:
    made = event(4)
    other = build_detector(made.setup)
    assert replay(replace(made, rows=replace(made.rows, state=other.state()))) is not None


def test_a_setup_or_a_call_of_another_version_is_refused() -> None:
    content = setup().content()
    content['settings']['sharpness'] = 1.0
    with pytest.raises(RecordingError, match=r"of another version: .* 'sharpness'"):
        Setup.from_content(content, EFFORT)
    made = event(4)
    calls = ((0, 'explode', None),)
    with pytest.raises(RecordingError, match="the detector has no call 'explode'"):
        replay(replace(made, rows=replace(made.rows, calls=calls)))


@pytest.mark.parametrize(
    ('state', 'text'),
    [
        ({'settings': 1.0}, 'the detector of this version has no settings'),
        ({'update': 1.0}, 'the detector of this version has no update'),
        ({'sensitivity': 1.0}, 'the detector of this version has no sensitivity'),
        ({'none.at_all': 0.0}, 'the detector of this version has no none.at_all'),
        ({'_over': 'text'}, 'the event cannot be replayed'),
        ({}, 'finite parameter values, got 0'),
    ],
)
def test_a_state_of_something_else_is_refused(state: dict[str, object], text: str) -> None:
    made = event(4)
    whole = made.rows.state if state else {}
    with pytest.raises(RobodynError, match=text):
        replay(replace(made, rows=replace(made.rows, state={**whole, **state})))


def test_a_damaged_time_of_the_filters_does_not_take_for_ever() -> None:
    made = event(6)
    state = {**made.rows.state, '_filter_time': 0.0, '_running': True}
    begin = time.monotonic()
    replay(replace(made, rows=replace(made.rows, state=state)))
    assert time.monotonic() - begin < 10.0  # 1.7e9 s in steps of 2 ms would be hours
    state = {**made.rows.state, '_filter_time': -np.inf, '_running': True}
    replay(replace(made, rows=replace(made.rows, state=state)))
    state = {**made.rows.state, '_filter_time': np.nan, '_running': True}
    with pytest.raises(RecordingError, match='the event cannot be replayed'):
        replay(replace(made, rows=replace(made.rows, state=state)))


def test_other_bags_and_damaged_events_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match='no event of the collision monitor'):
        read_event(tmp_path)
    made = event(5)
    odd = replace(made, rows=replace(made.rows, messages=((10**5, 'text'),)))
    write_event(odd, tmp_path / 'odd')
    with pytest.raises(RecordingError, match='a call or message belongs to no sample'):
        read_event(tmp_path / 'odd')
    write_event(made, tmp_path / 'event')
    file = tmp_path / 'event' / 'event_0.mcap'
    whole = file.read_bytes()
    random = np.random.default_rng(1)
    refused = 0
    for place in random.integers(len(whole), size=20):
        file.write_bytes(whole[:place])
        try:
            assert replay(read_event(tmp_path / 'event')) is None, 'only the index is missing'
        except RecordingError:
            refused += 1
    assert refused > 10
