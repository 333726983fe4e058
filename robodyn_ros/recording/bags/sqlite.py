# SPDX-License-Identifier: Apache-2.0
"""Sequential reader of sqlite3 bags, with bounds on what their tables can demand."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robodyn_ros.bounds import RECORD, ROW_STEPS, check_regular
from robodyn_ros.long_work import progress
from robodyn_ros.recording.bags.scan import Scan
from robodyn_ros.recording.storage import temporary_folder

READ = f"""SELECT topic_id, timestamp, CASE WHEN length(data) <= {RECORD.most} THEN data END
FROM messages NOT INDEXED"""
"""Messages in the order of arrival in the table: the index over the times may be damaged."""


class SqliteScan(Scan):
    """Reader of the messages of one topic in one file."""

    _steps = 0

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag, in [ns], and bytes, in the order of the table.

        :raises sqlite3.Error: the file is damaged, or a view computes for too long
        """
        check_regular(self.path)
        with self._full_size() as file:
            database = sqlite3.connect(f'{file.as_uri()}?mode=ro', uri=True)
            try:
                database.set_progress_handler(self._stepped, 1000)
                yield from self._rows(database)
            finally:
                database.close()

    def _rows(self, database: sqlite3.Connection) -> Iterator[tuple[int, bytes]]:
        self._check_tables(database)
        wanted = set()
        for number, name, kind in database.execute('SELECT id, name, type FROM topics'):
            if self.found(str(name), str(kind)):
                wanted.add(number)
        others = 0
        for number, log_time, data in database.execute(READ):
            self._steps = 0
            if number in wanted:
                if isinstance(data, bytes) and isinstance(log_time, int):
                    self.count += 1
                    if self.expected:
                        progress(self.reading, min(1.0, self.count / self.expected))
                    yield log_time, data
                else:
                    others += 1
        if others:
            self.damage.append(f'{others} rows are no messages')

    def _check_tables(self, database: sqlite3.Connection) -> None:
        """Refuse views and virtual tables, which may be endless; read the definitions."""
        kinds = "SELECT name, type, sql FROM sqlite_master WHERE name IN ('topics', 'messages')"
        for name, kind, sql in database.execute(kinds):
            plain = kind == 'table' and str(sql).upper().startswith('CREATE TABLE')
            if not plain or ' AS ' in str(sql).upper():
                raise ValueError(f'{name} is no plain table')
        try:
            rows = database.execute(
                'SELECT topic_type, encoding, encoded_message_definition FROM message_definitions'
            )
            self.definitions |= {str(row[0]): (str(row[1]), str(row[2])) for row in rows}
        except sqlite3.Error:  # before ROS 2 Iron
            pass

    def _stepped(self) -> bool:
        """Count thousands of steps; return True to end the query."""
        self._steps += 1
        return self._steps > ROW_STEPS.most

    @contextmanager
    def _full_size(self) -> Iterator[Path]:
        """Yield a database that SQLite opens: copy a truncated one and append empty pages."""
        with self.path.open('rb') as stream:
            head = stream.read(32)
        size = int.from_bytes(head[16:18], 'big') * int.from_bytes(head[28:32], 'big')
        actual = self.path.stat().st_size
        if not head.startswith(b'SQLite format 3') or not actual < size < 1000 * actual:
            yield self.path.resolve()
            return
        self.damage.append(f'it is cut off at byte {actual}')
        with temporary_folder(actual) as folder:
            copy = folder / self.path.name
            shutil.copyfile(self.path, copy)
            os.truncate(copy, size)
            yield copy
