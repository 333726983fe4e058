# SPDX-License-Identifier: Apache-2.0
"""Process that learns thresholds, so that the cycle of the monitor does not wait for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from robodyn_ros.errors import ControlError, clip
from robodyn_ros.identification.files.parameter_text import parameter_text, write_text

PROGRAM = (
    'import os, sys; os.nice(10); '
    'from robodyn_ros.cli.main import main; sys.exit(main(sys.argv[1:]))'
)
"""`robodyn` at low priority."""


class LearnProcess:
    """`robodyn thresholds` over a folder of healthy sessions."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: subprocess.Popen[str] | None = None
        self._ended = False

    def run(self, folder: Path, model: dict[str, Any], out: Path) -> dict[str, Any]:
        """Learn and write the file; blocks. Return the facts that the command prints.

        :raises RobodynError: nothing can be learned, or the file cannot be written
        """
        if self._ended:
            raise ControlError('the node ends')
        result = folder / 'model.yaml'
        write_text(parameter_text({'dynamic_model': model}), result)
        command = [sys.executable, '-c', PROGRAM, 'thresholds', str(folder), '--model',
                   str(result), '--out', str(out), '--json']  # fmt: skip
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if self._ended:  # meanwhile
            self.stop()
        try:
            printed, said = self._process.communicate(timeout=1800.0)
        except subprocess.TimeoutExpired as error:
            self.stop()
            raise ControlError('learning took more than half an hour and was ended') from error
        if self._process.returncode != 0:
            lines = said.strip().splitlines() or ['learning was ended']
            raise ControlError(clip(lines[-1].removeprefix('error: ')))
        facts: dict[str, Any] = json.loads(printed)
        return facts

    def end(self) -> None:
        """End a process that runs, and start none any more."""
        self._ended = True
        self.stop()

    def stop(self) -> None:
        """End a process that runs."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
