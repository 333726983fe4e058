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
@pytest.mark.parametrize(
    'messages',
    [
        'CREATE VIEW messages AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) '
        "SELECT x AS id, 1 AS topic_id, x AS timestamp, x'00' AS data FROM n",
        'CREATE TABLE messages(topic_id INTEGER, timestamp INTEGER, data BLOB AS (zeroblob(9)))',
    ],
)
def test_views_and_computed_columns_are_refused(tmp_path, messages):
    with pytest.raises(ValueError, match='messages is no plain table'):
        list(scan(tmp_path, *TOPICS, messages).messages())


def test_rows_that_are_no_messages_are_counted(tmp_path):
    rows = "INSERT INTO messages VALUES (1, 1, 7, x'00'), (2, 1, 'now', x'00'), (3, 1, 8, 'text')"
    reader = scan(tmp_path, *TOPICS, MESSAGES, rows)
    assert list(reader.messages()) == [(7, b'\0')]
    assert reader.count == 1 and reader.damage == ['2 rows are no messages']
