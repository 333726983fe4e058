# SPDX-License-Identifier: Apache-2.0
"""The licence line: which files need it, where it goes, and what the check says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools import licence

FILES = {
    'a.py': ('"""Text."""\n', '# SPDX-License-Identifier: Apache-2.0\n"""Text."""\n'),
    'pkg/__init__.py': ('', '# SPDX-License-Identifier: Apache-2.0\n'),
    'scripts/cell': (
        '#!/usr/bin/env python3\nx\n',
        '#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\nx\n',
    ),
    'src/b.cpp': ('int x;\n', '// SPDX-License-Identifier: Apache-2.0\nint x;\n'),
    'include/b.hpp': ('#pragma once\n', '// SPDX-License-Identifier: Apache-2.0\n#pragma once\n'),
    'CMakeLists.txt': ('a()\n', '# SPDX-License-Identifier: Apache-2.0\na()\n'),
    'cmake/c.cmake': ('a()\n', '# SPDX-License-Identifier: Apache-2.0\na()\n'),
}
OTHERS = {
    'robot.yaml': 'a: 1\n', 'page/vendored/d.py': 'x\n', 'ignored/e.py': 'x\n',
    'docs/requirements.txt': 'x\n', '.gitignore': 'ignored/\n', 'scripts/README.md': 'x\n',
}  # fmt: skip


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(licence, 'ROOT', tmp_path)
    for name, text in {**{key: value[0] for key, value in FILES.items()}, **OTHERS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / 'scripts' / 'cell').chmod(0o755)
    subprocess.run(['git', 'init', '-q'], cwd=tmp_path, check=True)
    return tmp_path


def test_written_once_below_the_interpreter_and_nowhere_else(checkout: Path) -> None:
    for _ in range(2):
        assert licence.main(['--write']) == 0
    for name, (_, expected) in FILES.items():
        assert (checkout / name).read_text() == expected, name
    for name, text in OTHERS.items():
        assert (checkout / name).read_text() == text, name
    assert os.access(checkout / 'scripts' / 'cell', os.X_OK)


def test_a_file_without_the_line_fails_the_check(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert licence.main([]) == 1, 'before the lines are written'
    capsys.readouterr()
    licence.main(['--write'])
    assert licence.main([]) == 0
    (checkout / 'new.py').write_text('x = 1\n# SPDX-License-Identifier: MIT\n')
    assert licence.main([]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith(f'{checkout}/new.py: no licence line') and printed.count('\n') == 1
