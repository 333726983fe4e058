# SPDX-License-Identifier: Apache-2.0
"""Diagnostics from any program: kept while fresh, bounded in number and length."""

from robodyn_ros.errors import MOST
from robodyn_ros.watch.diagnostics import DiagnosticList
from robodyn_ros.watch.events import Events


def test_hostile_statuses_take_bounded_memory():
    rows = DiagnosticList(Events(), most=3)
    for index in range(10):
        values = {f'{key}' + 'k' * 10_000: 'v' * 100_000 for key in range(100)}
        rows.take(f'{index}', 0, 'm' * 100_000, values)
    rows.take('n' * 100_000, 0, '', {})
    assert len(rows.rows()) == 3
    for row in rows.rows():
        assert len(row['values']) == 3 and len(row['message']) <= MOST
        assert all(len(text) <= MOST for pair in row['values'].items() for text in pair)
