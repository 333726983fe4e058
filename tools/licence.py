# SPDX-License-Identifier: Apache-2.0
"""Licence line of each source file: `SPDX-License-Identifier: Apache-2.0`.

    python -m tools.licence

prints each file without the line, and returns exit code 1 if there is one. Part of `make lint`.
The line is the first one, or the second one below `#!`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

if not __package__:  # run as a file: the parent of the package `tools` is not on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.common import ROOT

TEXT = 'SPDX-License-Identifier: Apache-2.0'
MARKS = {'.py': '#', '.sh': '#', '.cmake': '#', 'CMakeLists.txt': '#', '.cpp': '//', '.hpp': '//'}
"""Start of a comment by the end of the file name. Programs in scripts/ have no end: '#'."""
ELSEWHERE = '/vendored/'
"""Part of the paths of files with a licence of their own."""


def main() -> int:
    """Check the lines, and return the exit code."""
    missing = [path for path in sources(ROOT) if not has_line(path)]
    for path in missing:
        print(f'{path}: no licence line; add {mark(path)} {TEXT}', file=sys.stderr)
    return int(bool(missing))


def sources(root: Path) -> list[Path]:
    """Return the source files of a checkout that git knows or could add."""
    command = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z']
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    paths = [root / name for name in sorted(done.stdout.split('\0')) if name]
    return [path for path in paths if path.is_file() and mark(path) and ELSEWHERE not in str(path)]


def mark(path: Path) -> str:
    """Return the start of a comment in a file, or '' if it needs no licence line."""
    if path.parent.name == 'scripts' and not path.suffix:
        return '#'
    return next((comment for end, comment in MARKS.items() if path.name.endswith(end)), '')


def has_line(path: Path) -> bool:
    """Return True if one of the first two lines is the licence line."""
    return f'{mark(path)} {TEXT}' in path.read_text().splitlines()[:2]


if __name__ == '__main__':
    sys.exit(main())
