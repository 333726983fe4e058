# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
from collision_events import event

from robodyn_ros.control.collision.black_box.reported import ContactReport, Health, Reported
from robodyn_ros.control.collision.detector import Level
from robodyn_ros.report.event.facts import NONE, contacts_of, event_facts, start_of

MADE = event(6)
BEGIN = int(MADE.rows.times[0])


def test_course_place_and_answers_are_facts() -> None:
    wrenches = [np.array([3.0, 0.0, 4.0, 1.0, 2.0, 3.0]), np.array([0.0, 60.0, 0.0, 0, 0, 0])]
    contacts = tuple(
        ContactReport(BEGIN + 10**9 * (k + 1), 0, wrench, f'contact {k}')
        for k, wrench in enumerate([*wrenches, *[np.zeros(6)] * 60])
    )
    reported = Reported(
        Health('PAYLOAD', 0.3, 'joint2', 'payload 2 kg attached?'), contacts,
        ((BEGIN + 5 * 10**8, 'hold', 'commanded'), (BEGIN + 10**9, 'hold', '')), 'base',
        BEGIN + 25 * 10**7,
    )  # fmt: skip
    facts = event_facts(replace(MADE, reported=reported), None)
    assert facts['contact'] == 'contact 1', 'the largest force'
    assert facts['model_health'] == 'payload 2 kg attached?' and facts['reactions_started'] == 0.25
    assert facts['reactions'] == [
        {'time': 0.5, 'reaction': 'hold', 'state': 'commanded'},
        {'time': 1.0, 'reaction': 'hold', 'state': 'cleared'},
    ]
    assert len(facts['wrenches']) == 40
    first = facts['wrenches'][0]
    assert (first['time'], first['force'], first['fz'], first['my']) == (1.0, 5.0, 4.0, 2.0)
    assert facts['equal'] and facts['difference'] is None


def test_an_event_without_reports_says_so() -> None:
    facts = event_facts(MADE, None)
    assert facts['contact'] == facts['model_health'] == NONE
    assert facts['reactions'] == facts['wrenches'] == []


def test_without_its_time_a_reaction_starts_with_the_collision() -> None:
    level = np.ones_like(MADE.rows.level)
    assert start_of(replace(MADE, rows=replace(MADE.rows, level=level))) == BEGIN
    level[40:] = Level.CONTACT
    level[50:, 1] = Level.COLLISION
    found = start_of(replace(MADE, rows=replace(MADE.rows, level=level)))
    assert found == MADE.rows.times[50]


def test_the_contact_is_the_one_that_started_the_reactions() -> None:
    level = np.full_like(MADE.rows.level, Level.OK)
    level[20:30], level[60:, 1] = Level.CONTACT, Level.COLLISION
    times = MADE.rows.times
    contacts = tuple(
        ContactReport(int(times[row]), 0, np.full(6, force), f'{force:g} N')
        for row, force in ((25, 90.0), (61, 20.0), (80, 30.0))
    )
    made = replace(MADE, rows=replace(MADE.rows, level=level))
    made = replace(made, reported=Reported(contacts=contacts, start=int(times[62])))
    assert event_facts(made, None)['contact'] == '30 N', 'an earlier contact was harder'
    assert [each.text for each in contacts_of(made)] == ['20 N', '30 N']


def test_each_joint_has_its_course() -> None:
    rows = MADE.rows
    for joint, row in enumerate(event_facts(MADE, None)['joints']):
        error = np.abs(rows.results[:, 0, joint])
        peak = int(error.argmax())
        assert row['torque_error'] == error[peak]
        assert row['threshold'] == rows.results[peak, 1, joint]
        for key, least in (('contact_from', Level.CONTACT), ('collision_from', Level.COLLISION)):
            at = np.flatnonzero(rows.level[:, joint] >= least)
            want = 1e-9 * float(rows.times[at[0]] - BEGIN) if len(at) else None
            assert row[key] == want
