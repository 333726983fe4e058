# SPDX-License-Identifier: Apache-2.0
"""Node processes of the demonstration."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import yaml

from robodyn_ros.errors import RobodynError
from robodyn_ros.nodes.launching.dds_profiles import environment


class NodeProcesses:
    """Context that starts nodes of the suite as processes, and stops all of them on exit."""

    stop_timeout = 8.0
    """Longest time from SIGINT to the end of a node; then it is killed, in [s]."""

    def __init__(self, folder: Path) -> None:
        """Keep logs and parameter files in `folder`."""
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        module: str,
        parameters: Mapping[str, object],
        *,
        name: str = '',
        remappings: Mapping[str, str] | None = None,
    ) -> None:
        """Start `robodyn_ros.nodes.<module>` under a node name (default: the module's)."""
        name = name or module
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f'{name}.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': dict(parameters)}}))
        command = [
            sys.executable,
            '-c',
            f'from robodyn_ros.nodes.{module}.node import main; raise SystemExit(main())',
            '--ros-args',
            '-r',
            f'__node:={name}',
            '--params-file',
            str(file),
        ]
        for old, new in (remappings or {}).items():
            command += ['-r', f'{old}:={new}']
        with (self._folder / f'{name}.log').open('wb') as log, _interruptible():
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, 'PYTHONUNBUFFERED': '1', **environment(module)},
            )

    def check(self) -> None:
        """Check that all nodes still run.

        :raises RobodynError: a node has ended; the message has the last line of its log
        """
        for name, process in self._running.items():
            if process.poll() is not None:
                lines = (self._folder / f'{name}.log').read_text(errors='replace').splitlines()
                last = lines[-1] if lines else 'no output'
                raise RobodynError(
                    f'node {name!r} ended with code {process.returncode}: {last} '
                    f'(log: {self._folder / name}.log)'
                )

    def stop(self, *names: str) -> None:
        """Interrupt nodes, wait for them, and kill those that do not end."""
        for name in names:
            if self._running[name].poll() is None:
                self._running[name].send_signal(signal.SIGINT)
        deadline = time.monotonic() + self.stop_timeout
        for name in names:
            process = self._running.pop(name)
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __enter__(self) -> NodeProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(*list(self._running))


@contextmanager
def _interruptible() -> Iterator[None]:
    """Give processes that start inside the default action of SIGINT, also if it is ignored here.

    A shell script starts `make demo &` with SIGINT ignored, and a process passes that on: a node
    would ignore SIGINT until it has its handler. A handler is reset in a new process.
    """
    before = signal.getsignal(signal.SIGINT)
    if before != signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
