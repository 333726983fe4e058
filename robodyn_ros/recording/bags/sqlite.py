# SPDX-License-Identifier: Apache-2.0
"""Reader of sqlite3 bags.

That of rosbags opens them as immutable, without the journal of a killed recorder, and reads
nothing of a truncated file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

from robodyn_ros.bounds import RECORD, check_regular
from robodyn_ros.long_work import progress
from robodyn_ros.recording.bags.scan import Scan

READ = f"""SELECT topic_id, timestamp, CASE WHEN length(data) <= {RECORD.most} THEN data END
FROM messages NOT INDEXED"""
"""Messages in the order of arrival in the table: the index over the times may be damaged."""
DEFINITIONS = 'SELECT topic_type, encoding, encoded_message_definition FROM message_definitions'
TABLES = (
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('topics', 'messages')"
)


class SqliteScan(Scan):
    """Reader of the messages of one topic in one file."""

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag, in [ns], and bytes, in the order of the table.

        :raises sqlite3.Error: the file is damaged
        :raises ValueError: it is no bag; a view may be endless
        """
        check_regular(self.path)
        address = f'{self.path.resolve().as_uri()}?mode=ro'
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.execute('PRAGMA writable_schema = ON')  # opens a truncated file, too
            if database.execute(TABLES).fetchone() != (2,):
                raise ValueError('it has no tables topics and messages')
            rows = database.execute('SELECT id, name, type FROM topics')
            wanted = {
                number for number, name, kind in rows if self.add_topic(str(name), str(kind))
            }
            with suppress(sqlite3.Error):  # before ROS 2 Iron there are no definitions
                for kind, form, text in database.execute(DEFINITIONS):
                    self.definitions[str(kind)] = str(form), str(text)
            for number, log_time, data in database.execute(READ) if wanted else ():
                if number in wanted and isinstance(data, bytes) and isinstance(log_time, int):
                    self.count += 1
                    if self.expected:
                        progress(self.reading, min(1.0, self.count / self.expected))
                    yield log_time, data
