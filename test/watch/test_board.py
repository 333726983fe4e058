# SPDX-License-Identifier: Apache-2.0
"""Data that the page may show as valid, by the clock of the test."""

import json
import math
import re

from robodyn_ros.watch.board import Board
from robodyn_ros.watch.joint_levels import NO_DATA

UNKNOWN, OK, CONTACT, COLLISION = range(4)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def board():
    clock = Clock()
    return Board(units={'a': 'Nm'}, clock=clock, wall=clock), clock


def monitor(made, *levels, error=(1.0, -2.0), latched=False, message='ok'):
    made.monitor(['a', 'b'], levels, error, [10.0, 5.0], latched=latched, message=message)


def frame(made):
    return json.loads(made.frame())


def rows(made, key):
    return [joint.get(key) for joint in frame(made)['joints']]


def events(made):
    return [row['text'] for row in json.loads(made.lists())['events']]


def feedforward(made, feedback, **state):
    columns = {'requested': [1.0, 2.0], 'additive': [0.5, 1.5], 'feedback': feedback}
    made.feedforward(['a', 'b'], columns, **{'enabled': True, 'fault': '', **state})


def test_a_latched_collision_is_known_until_the_monitor_clears_it():
    made, clock = board()
    monitor(made, OK, COLLISION, latched=True, message='collision at b')
    clock.now += 60.0
    last = frame(made)['monitor']
    assert last['latched'] and not last['fresh']
    assert re.fullmatch(r'collision at b at \d\d:\d\d:\d\d', last['collision'])
    for levels in ((OK, OK), (UNKNOWN, UNKNOWN)):  # the monitor was started again, the second
        monitor(made, *levels)  # time within the half second in which data are fresh
        assert 'was not acknowledged before the monitor ended' in events(made)[0]
        monitor(made, OK, OK)
        assert frame(made)['monitor']['collision'] == last['collision']
        monitor(made, OK, COLLISION, latched=True, message='collision at b')
        last = frame(made)['monitor']
    monitor(made, OK, OK)
    assert frame(made)['monitor']['collision'] == '' and 'collision cleared' in events(made)


def test_old_data_are_never_shown_as_ok():
    made, clock = board()
    monitor(made, OK, OK)
    made.take_torque({'a': 3.0, 'b': 4.0})
    assert rows(made, 'level') == [OK, OK]
    assert rows(made, 'model') == [4.0, 2.0]
    clock.now += 0.6
    shown = frame(made)
    assert [joint['level'] for joint in shown['joints']] == [NO_DATA, NO_DATA]
    assert {joint[key] for joint in shown['joints'] for key in ('error', 'model', 'measured')} == {
        None
    }
    assert shown['monitor']['fresh'] is False and shown['monitor']['age'] == 0.6
    assert events(made)[0] == 'no data any more'
    monitor(made, OK, OK)
    assert rows(made, 'level') == [OK, OK]
    assert events(made)[:2] == ['data received', 'no data any more']


def test_a_contact_of_one_sample_is_shown_for_half_a_second():
    made, clock = board()
    for levels in ((OK, OK), (OK, CONTACT), (OK, OK)):
        monitor(made, *levels)
    for _ in range(5):  # a slow browser skips frames
        assert rows(made, 'level') == [OK, CONTACT]
        monitor(made, OK, OK)
        clock.now += 0.11
    assert rows(made, 'level') == [OK, OK]
    monitor(made, CONTACT, OK)
    assert rows(made, 'level') == [CONTACT, OK]
    monitor(made, COLLISION, OK)
    assert rows(made, 'level') == [COLLISION, OK]  # a worse one at once
    assert 'contact at b: torque error -2, collision threshold 5' in events(made)


def test_unknown_is_worse_than_ok_and_has_no_torque_error():
    made, _ = board()
    for levels in ((OK, OK), (UNKNOWN, OK)):
        monitor(made, *levels)
    assert rows(made, 'level') == [UNKNOWN, OK]
    assert rows(made, 'error') == [None, -2.0]
    monitor(made, UNKNOWN, UNKNOWN, message='no model')
    told = {row['text']: row['severity'] for row in made.events.newest_first()}
    assert told['joints are monitored'] == 'info'
    assert told['no joint is monitored: no model'] == 'warning'


def test_a_message_that_fits_no_joints_is_unknown():
    made, _ = board()
    monitor(made, OK, error=(1.0, 2.0))
    assert rows(made, 'level') == [UNKNOWN, UNKNOWN]
    monitor(made, OK, 77)
    assert rows(made, 'level') == [UNKNOWN, UNKNOWN]


def test_numbers_that_json_does_not_have_are_missing():
    made, _ = board()
    monitor(made, OK, OK, error=(math.nan, math.inf))
    assert 'NaN' not in made.frame() and 'Infinity' not in made.frame()
    assert rows(made, 'error') == [None, None]


def test_reset_and_collision_are_events():
    made, _ = board()
    monitor(made, OK, OK)
    monitor(made, OK, COLLISION, latched=True)
    monitor(made, OK, OK)
    assert 'collision at b: torque error -2, collision threshold 5' in events(made)
    assert events(made)[0] == 'collision cleared'


def test_feed_forward_gives_measured_torque_and_its_changes_are_events():
    made, clock = board()
    feedforward(made, [7.0, 8.0])
    assert rows(made, 'measured') == [7.0, 8.0] and rows(made, 'additive') == [0.5, 1.5]
    feedforward(made, [math.nan, math.nan], enabled=False, fault='too fast')
    severities = {row['text']: row['severity'] for row in made.events.newest_first()}
    assert severities.pop('fault: too fast') == 'error' and {*severities.values()} == {'info'}
    assert {'torque enabled', 'fault: too fast'} <= {*events(made)}
    clock.now += 0.6
    assert frame(made)['feedforward']['fresh'] is False
    assert rows(made, 'additive') == [None, None]


def test_diagnostics_that_stop_are_stale_and_bounded():
    made, clock = board()
    for number in range(100):
        made.diagnostics.take(f'node{number:03}', 0, 'idle', {'a': 'b'})
    made.diagnostics.take('node000', 2, 'x' * 9000, {})
    found = json.loads(made.lists())['diagnostics']
    assert len(found) == 64 and found[0]['level'] == 'error' and len(found[0]['message']) < 5000
    clock.now += 4.0
    assert {row['level'] for row in json.loads(made.lists())['diagnostics']} == {'stale'}


def test_events_are_bounded_and_repeated_ones_are_counted():
    made, clock = board()
    for _ in range(5):
        made.events.add('x', 'info', 'again', key='same')
    assert made.events.changes == 5 and len(events(made)) == 1
    for number in range(300):
        clock.now += 1.0
        made.events.add('x', 'info', f'event {number}')
    found = made.events.newest_first()
    assert len(found) == 200 and found[0]['text'] == 'event 299'
    made.events.add('x', 'info', 'event 299')
    assert made.events.newest_first()[0]['count'] == 2
    clock.now -= 0.5  # the clock was set back: how long ago the other one was is unknown
    made.events.add('x', 'info', 'event 299')
    assert made.events.newest_first()[0]['count'] == 1


def test_progress_of_the_containing_action_has_priority_until_it_is_silent():
    made, clock = board()
    assert frame(made)['progress']['age'] is None
    made.progress('identification', 'exciting', 0.256, '3 s to the end')
    made.progress('excitation', 'exciting', math.nan, '')
    found = frame(made)['progress']
    assert (found['task'], found['share'], found['fresh']) == ('identification', 0.256, True)
    clock.now += 1.5
    assert frame(made)['progress']['fresh'] is True
    clock.now += 1.0
    assert frame(made)['progress']['fresh'] is False
    made.progress('excitation', 'moving to start', 7.0, '')
    assert frame(made)['progress']['task'] == 'excitation'
    assert frame(made)['progress']['share'] == 1.0
