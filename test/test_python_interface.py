# SPDX-License-Identifier: Apache-2.0
"""The public Python interface: what `import robodyn_ros` gives, its cost, and its guide."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import robodyn_ros as rd

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / 'docs' / 'reference' / 'python.md').read_text()


def python(code: str, folder: Path = ROOT, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, '-c', code],
        capture_output=True, text=True, cwd=folder, check=True, timeout=120,
    )  # fmt: skip


def test_every_public_name_is_a_documented_function() -> None:
    for name in rd.__all__:
        assert callable(getattr(rd, name)) and getattr(rd, name).__doc__
        assert name in dir(rd)
        assert f'rd.{name}(' in PAGE


def test_an_unknown_name_is_refused_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'robodyn_ros' has no attribute 'identfy'"):
        rd.identfy  # noqa: B018


def test_the_import_loads_a_part_of_the_standard_library_only() -> None:
    """It takes 4.4 ms with these modules. Which they are holds on a busy machine too."""
    code = (
        'import sys; before = {*sys.modules}; import robodyn_ros; '
        'print(*({name.partition(".")[0] for name in sys.modules if name not in before}))'
    )
    loaded = {*python(code).stdout.split()} - {'robodyn_ros'}
    slow = {'asyncio', 'email', 'http', 'logging', 'multiprocessing', 'unittest', 'urllib'}
    assert loaded <= sys.stdlib_module_names - slow, loaded


def test_the_example_of_the_guide_runs(tmp_path: Path) -> None:
    (tmp_path / 'urdf').symlink_to(ROOT / 'urdf')
    example = '\n'.join(re.findall(r'^```python\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL))
    example = example.replace('time=5.0', 'time=1.0')  # seconds of search
    checks = (
        'assert result.success and same.hash\n'
        'assert np.allclose(at_rest, same.torque(*np.zeros((3, 4))))\n'
    )
    output = python(example + checks, tmp_path).stdout
    printed = re.search(r'^```text\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL)
    assert printed
    for line in printed[1].splitlines():
        label = line.partition(' ')[0]
        assert label in output, f'the guide shows a line {label!r} that is not printed'
    for name in ('motion.npz', 'torque.png', 'identified.urdf', 'result.yaml'):
        assert (tmp_path / name).stat().st_size > 0
