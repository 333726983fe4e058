# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

EXECUTABLE = next(
    filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), ''
)
"""Chromium of this computer; '' without one."""
LOADED = 'document.readyState === "complete"'


class Browser:
    """One page of a headless Chromium.

    :ivar console: errors and warnings of the page
    """

    def __init__(self, address: str, profile: Path) -> None:
        """Open a page; `profile` is a folder that need not exist."""
        self.console: list[str] = []
        self._numbers = itertools.count(1)
        self._open_sockets = ExitStack()
        self._process = subprocess.Popen(
            [
                EXECUTABLE, '--headless=new', '--no-sandbox',
                '--disable-gpu',
                '--hide-scrollbars', '--remote-debugging-port=0', f'--user-data-dir={profile}',
                '--window-size=1280,900', 'about:blank',
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            self._open(address, profile)
        except BaseException:
            self._process.kill()
            self._process.wait(10)
            raise

    def _open(self, address: str, profile: Path) -> None:
        port = self._port(profile / 'DevToolsActivePort')
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/json/list', timeout=10) as answer:
            pages = [each for each in json.load(answer) if each['type'] == 'page']
        found = connect(pages[0]['webSocketDebuggerUrl'], max_size=2**26)
        self._socket = self._open_sockets.enter_context(found)
        for part in ('Page', 'Runtime', 'Log'):
            self.call(f'{part}.enable')
        self.call('Page.navigate', url=address)
        self.wait(f'location.href !== "about:blank" && {LOADED}', 'the page')

    @staticmethod
    def _port(file: Path) -> int:
        deadline = time.monotonic() + 60.0
        while not file.exists() or not file.read_text().split():
            if time.monotonic() > deadline:
                raise TimeoutError('chromium does not start')
            time.sleep(0.1)
        return int(file.read_text().split()[0])

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({'id': number, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=60.0))
            if message.get('id') == number:
                if 'error' in message:
                    raise RuntimeError(f'{method}: {message["error"]}')
                return message['result']
            self._note(message)

    def _note(self, message: Any) -> None:
        kind, values = message.get('method'), message.get('params', {})
        if kind == 'Log.entryAdded' and values['entry']['level'] in ('error', 'warning'):
            self.console.append(values['entry']['text'])
        elif kind == 'Runtime.exceptionThrown':
            self.console.append(json.dumps(values['exceptionDetails'])[:500])
        elif kind == 'Runtime.consoleAPICalled' and values['type'] in ('error', 'warning'):
            self.console.append(json.dumps(values['args'])[:500])

    def run(self, script: str) -> Any:
        """Evaluate JavaScript and return its value."""
        done = self.call(
            'Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True
        )
        if 'exceptionDetails' in done:
            raise RuntimeError(json.dumps(done['exceptionDetails'])[:500])
        return done['result'].get('value')

    def wait(self, condition: str, what: str, timeout: float = 30.0) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + timeout
        while not self.run(condition):
            if time.monotonic() > deadline:
                shown = self.run('document.body.innerText')
                raise TimeoutError(
                    f'waited {timeout:g} s for {what}: {shown[:1500]} {self.console}'
                )
            time.sleep(0.1)

    def show(self, width: int, scheme: str = 'light') -> dict[str, Any]:
        """Show the page in a width, in [px], and a colour scheme; return the size that was set."""
        self.call(
            'Emulation.setEmulatedMedia',
            features=[{'name': 'prefers-color-scheme', 'value': scheme}],
        )
        size = {'width': width, 'height': 900, 'deviceScaleFactor': 1, 'mobile': width < 600}
        self.call('Emulation.setDeviceMetricsOverride', **size)
        return size

    def pdf(self) -> bytes:
        """Print the page."""
        return base64.b64decode(self.call('Page.printToPDF', printBackground=True)['data'])

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag the mouse between two places, in [px] of the window."""
        for kind, (x, y), held in (
            ('mouseMoved', start, 0), ('mousePressed', start, 1), ('mouseMoved', end, 1),
            ('mouseReleased', end, 0),
        ):  # fmt: skip
            values = {'x': x, 'y': y, 'button': 'left' if held or 'R' in kind else 'none'}
            self.call('Input.dispatchMouseEvent', type=kind, buttons=held, clickCount=1, **values)

    def screenshot(self, file: Path, width: int, scheme: str = 'light') -> None:
        """Write a picture of the complete page as PNG; all of it is on the screen then."""
        size = self.show(width, scheme)
        tall = self.run('document.documentElement.scrollHeight')
        self.call('Emulation.setDeviceMetricsOverride', **{**size, 'height': tall})
        time.sleep(1.0)
        file.write_bytes(base64.b64decode(self.call('Page.captureScreenshot')['data']))
        wide = self.run('document.documentElement.scrollWidth')
        if wide > width:
            self.console.append(f'{file.name}: the page is {wide} px wide')
        self.call('Emulation.setDeviceMetricsOverride', **size)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._open_sockets.close()
        self._process.terminate()
        self._process.wait(10)
