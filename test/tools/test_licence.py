# SPDX-License-Identifier: Apache-2.0
"""The licence line: which files need it, and where."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import licence

LINE = 'SPDX-License-Identifier: Apache-2.0\n'
GOOD = {
    'a.py': f'# {LINE}"""Text."""\n',
    'scripts/cell': f'#!/usr/bin/env python3\n# {LINE}x\n',
    'src/b.cpp': f'// {LINE}',
    'robot.yaml': 'a: 1\n',
    'page/vendored/d.py': 'x\n',
    'ignored/e.py': 'x\n',
    'docs/requirements.txt': 'x\n',
    '.gitignore': 'ignored/\n',
    'scripts/README.md': 'x\n',
}
BAD = {
    'CMakeLists.txt': 'a()\n',
    'cmake/c.cmake': f'// {LINE}',
    'include/b.hpp': '#pragma once\n',
    'new.py': f'x = 1\n\n# {LINE}',
    'pkg/__init__.py': '',
    'scripts/watch': '#!/usr/bin/env python3\n# SPDX-License-Identifier: MIT\n',
}


def test_each_source_without_the_line_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(licence, 'ROOT', tmp_path)
    for name, text in {**GOOD, **BAD}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(['git', 'init', '-q'], cwd=tmp_path, check=True)
    assert licence.main() == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(':')[0] for line in lines] == [str(tmp_path / name) for name in BAD]
    for name in BAD:
        (tmp_path / name).unlink()
    assert licence.main() == 0
