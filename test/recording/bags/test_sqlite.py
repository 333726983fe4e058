# SPDX-License-Identifier: Apache-2.0
import sqlite3
from contextlib import closing

import pytest
from bags import JOINT_STATE

from robodyn_ros.recording.bags.sqlite import SqliteScan

TOPICS = ('CREATE TABLE topics(id INTEGER, name TEXT, type TEXT)',
          f"INSERT INTO topics VALUES (1, '/joint_states', '{JOINT_STATE}')")  # fmt: skip
MESSAGES = 'CREATE TABLE messages(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)'


def scan(tmp_path, *statements):
    path = tmp_path / 'a.db3'
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)
    return SqliteScan(path, '/joint_states', JOINT_STATE)


@pytest.mark.timeout(20)
def test_views_are_refused(tmp_path):
    messages = (
        'CREATE VIEW messages AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) '
        "SELECT x AS id, 1 AS topic_id, x AS timestamp, x'00' AS data FROM n"
    )
    with pytest.raises(ValueError, match='no tables topics and messages'):
        list(scan(tmp_path, *TOPICS, messages).messages())


def test_rows_that_are_no_messages_are_left_out(tmp_path):
    rows = "INSERT INTO messages VALUES (1, 1, 7, x'00'), (2, 1, 'now', x'00'), (3, 1, 8, 'text')"
    assert list(scan(tmp_path, *TOPICS, MESSAGES, rows).messages()) == [(7, b'\0')]
