# SPDX-License-Identifier: Apache-2.0
"""Page of the formats of tables, made from their table."""

from __future__ import annotations

from robodyn_ros.recording.tables.formats import CONVERT, FORMATS
from robodyn_ros.recording.tables.units import NEEDS_SCALE, TIMES, UNITS
from tools.pages import row

PAGE = 'reference/formats.md'

HEAD = """# Formats of tables

Made from `robodyn_ros/recording/tables/` by `python -m tools.pages`; do not edit. Recordings are
also [bags](../recordings.md). All commands and nodes read the same.

| format | endings | what is read | by |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    formats = ''.join(
        row(each.name, ' '.join(f'`{ending}`' for ending in each.endings), each.what, each.library)
        for each in FORMATS
    )
    others = ''.join(row(f'`{ending}`', f'`{command}`') for ending, command in CONVERT.items())
    units = ''.join(
        row(signal, ' '.join(f'`{unit}`{"*" * (unit in NEEDS_SCALE)}' for unit in names))
        for signal, names in UNITS.items()
    )
    return (
        f'{HEAD}{formats}\nOther files are converted first:\n\n| ending | command |\n|---|---|\n'
        f'{others}\n## Time\n\nColumns of time are {", ".join(f"`{name}`" for name in TIMES)}, '
        'alone or as the last part of a name such as `data.t`, and pairs such as `stamp.sec` and '
        '`stamp.nanosec`.\n\n## Units\n\nA unit in the header (`q1 [deg]`, `time_ms`) or in a row '
        'below it is converted. Units with * need a scale.\n\n| signal | units |\n|---|---|\n'
        f'{units}'
    )
