# SPDX-License-Identifier: Apache-2.0
"""The files of one identification in a folder: all of them appear, or none.

They are a set (`file_set.py`): the files of an earlier run leave, result.yaml first, and the new
ones come, result.yaml last, wherever a run was killed. An earlier model is kept in `previous/`.
The result.json of a run says which files are of it. No other file is touched.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from robodyn_ros.bounds import check_regular, parse_json, read_text
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.signals_bag import is_signals
from robodyn_ros.runs.file_set import file_set

MODEL, FACTS, SIGNALS = 'result.yaml', 'result.json', 'identification'
PAGE = 'report.html'
PREVIOUS = 'previous'
_FILES = ('result_file', 'urdf_file', 'prg_file', 'signals_file')


class ResultFolder:
    """A context in which files are written to `partial`; at its end they are in the folder.

    After an error the folder is as it was.
    """

    def __init__(self, folder: Path) -> None:
        """Find out what an earlier run left.

        :raises IdentificationError: the folder has a file of ours that no identification wrote
        """
        self.folder = self.partial = folder
        self._open = ExitStack()
        self._look()

    def _look(self) -> None:
        self.former = _files_of_run(self.folder)
        for name in (MODEL, FACTS):
            if (self.folder / name).exists() and not _is_ours(self.folder / name):
                raise IdentificationError(
                    f'{self.folder / name}: it exists already, is not of an identification and is '
                    'kept: choose another folder'
                )

    def is_taken(self, name: str) -> bool:
        """Tell whether a file of this name is in the folder that no earlier run wrote."""
        return (self.folder / name).exists() and name not in self.former

    @property
    def has_model(self) -> bool:
        """Tell whether the earlier run left a model."""
        return (self.folder / MODEL).exists()

    def __enter__(self) -> ResultFolder:
        """Lock the folder, look again, and make the hidden folder.

        :raises IdentificationError: another run writes to the folder
        """
        with ExitStack() as opened:
            self.partial = opened.enter_context(
                file_set(self.folder, IdentificationError, self._leave)
            )
            self._look()
            self._open = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put the new files in place of the former ones."""
        self._open.__exit__(kind, error, trace)

    def _leave(self) -> None:
        """Remove the files of the earlier run; keep its model."""
        if self.has_model:
            self._keep_former(self.folder / PREVIOUS)
        for name in self.former:
            _remove(self.folder / name)

    def _keep_former(self, previous: Path) -> None:
        """Move the earlier run to a folder, in place of an even earlier one."""
        previous.mkdir(exist_ok=True)
        for name in _files_of_run(previous):
            _remove(previous / name)
        if FACTS in self.former:  # it says which files are of the run, so it is there first
            shutil.copyfile(self.folder / FACTS, previous / FACTS)
        for name in self.former:
            if not (previous / name).exists():
                (self.folder / name).rename(previous / name)


def _files_of_run(folder: Path) -> list[str]:
    """Return the names of what a run left in a folder, result.yaml first and result.json last."""
    content = _facts(folder / FACTS)
    keys = (*_FILES, 'inertials_file', 'mjcf_file', 'isaac_lab_file')
    named = {Path(str(content[key])).name for key in keys if content.get(key)}
    names = [name for name in sorted(named) if (folder / name).is_file()]
    first = [MODEL] if _is_ours(folder / MODEL) else []
    signals = [SIGNALS] if is_signals(folder / SIGNALS) else []
    page = [PAGE] if is_page(folder / PAGE) else []
    names = [*first, *(name for name in names if name not in (MODEL, FACTS)), *signals, *page]
    return [*names, FACTS] if content else names


def is_page(path: Path) -> bool:
    """Return True if a file is a report of an identification."""
    try:
        check_regular(path)
        with path.open('rb') as file:
            return b'<meta name="generator" content="robodyn_ros">' in file.read(400)
    except OSError:
        return False


def _is_ours(path: Path) -> bool:
    """Return True if an identification wrote a result.yaml or result.json."""
    if path.name == FACTS:
        return bool(_facts(path))
    try:
        return 'ros__parameters:\n    dynamic_model:' in read_text(path)
    except (OSError, UnicodeDecodeError):
        return False


def _facts(path: Path) -> dict[str, object]:
    """Return the content of a result.json; {}: it is none."""
    try:
        content = parse_json(read_text(path))
    except (OSError, ValueError):
        return {}
    known = isinstance(content, dict) and {'success', *_FILES} <= content.keys()
    return content if known else {}


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
