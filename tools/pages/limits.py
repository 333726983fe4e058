# SPDX-License-Identifier: Apache-2.0
"""Page of the bounds of files, made from their table."""

from __future__ import annotations

from robodyn_ros import bounds

PAGE = 'reference/limits.md'

HEAD = """# Limits of files

Made from `robodyn_ros/bounds.py` by `python -m tools.pages`; do not edit.

Files can be damaged or hostile. Every reader checks a file against these bounds before it takes
memory or time, and refuses it with one sentence. Files must be regular ones: devices, pipes and
sockets are refused.

| what | at most |
|---|---|
"""

TAIL = """
- **YAML** has only plain data. A value that contains itself is refused.
- **NPZ** archives never contain pickled objects.
- **MAT** files are read by scipy in another process, because a damaged one can crash it.
- **Bags** are compared with the numbers of messages and the checksums that they state. A
  difference is the finding `damaged_bag`.
- **Meshes** must have a volume.
- **Recordings**: samples with larger numbers are left out, like those with NaN.

`python -m test.faults --cases 100000` damages valid files of every kind at random and runs the
commands on them with 1 GB of memory and 10 s of CPU time. No case may end in a crash or a
traceback, exceed these limits, or leave output files. `make test` runs a few thousand cases.
"""


def page() -> str:
    """Return the text of the page."""
    every = [item for item in vars(bounds).values() if isinstance(item, bounds.Bound)]
    rows = [f'| {item.what} | {_size(item)} |\n' for item in every]
    return HEAD + ''.join(rows) + TAIL


def _size(bound: bounds.Bound) -> str:
    """Return the number with its unit; bytes in MiB."""
    if bound.unit == 'bytes':
        return f'{bound.most // 2**20} MiB'
    if bound is bounds.YAML_INTEGER:
        return '2^63 - 1'
    if bound is bounds.NUMBER:
        return '10^15'
    return f'{bound.most:,} {bound.unit}'.replace(',', ' ')
