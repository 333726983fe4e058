# SPDX-License-Identifier: Apache-2.0
"""The live page in a browser during a demonstration with a push: delay, CPU time, restarts.

    python3 bench/bench_watch.py [FOLDER]      screenshots go to FOLDER (default: none are kept)

It needs Chromium (Debian: apt install chromium). The delay is from the stamp of the joint states
that raised the alarm to the change of the page's document, and to the first red face in the
three-dimensional view, both on this computer's clock. The exit code is 1 if a figure is beyond
its limit.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from browser import EXECUTABLE, Browser

from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.length import SHORT
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.cli.demo.stage import Stage

PORT = 8791
PUSHES = 5
SECONDS = 20.0
LATEST, LARGEST = 200.0, 0.05
"""Limits: delay of a red joint, in [ms], and CPU time of the node with a browser."""
TICKS = os.sysconf('SC_CLK_TCK')
OBSERVE = """
window.red = 0;
new MutationObserver(() => {
  const red = document.querySelector('#joints li[data-level=collision]');
  if (red && !window.red) window.red = Date.now();
}).observe(document.getElementById('joints'), {subtree: true, attributes: true});
window.red3d = 0;
window.fills = 0;
const fill = CanvasRenderingContext2D.prototype.fill;
CanvasRenderingContext2D.prototype.fill = function (...given) {
  if (this.canvas.id === 'scene') {
    window.fills += 1;
    const [r, g, b] = [1, 3, 5].map((k) => parseInt(this.fillStyle.slice(k, k + 2), 16));
    if (r > 100 && 2 * g < r && 2 * b < r && !window.red3d) window.red3d = Date.now();
  }
  return fill.apply(this, given);
};
"""
COUNT = """
window.taken = 0;
const parse = JSON.parse;
JSON.parse = (...given) => {
  window.taken += 1;
  return parse(...given);
};
"""
"""Count the messages: a browser that is too slow for them would make them cheap."""
OK_JOINT = "document.querySelector('#joints li[data-level=ok]') !== null"
NO_RED = """(() => {
  const none = window.fills > 0 && !window.red3d;
  window.fills = window.red3d = 0;
  return none;
})()"""
DRAWN = "window.fills > 0 && document.getElementById('scene-note').textContent === ''"
VERDICT = "document.getElementById('verdict-text').textContent"


def cpu_time(pid: int) -> float:
    """CPU time of a process so far, in [s]."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def share_of_core(pid: int, seconds: float, wait) -> float:
    """CPU time of a process per time."""
    before, start = cpu_time(pid), time.monotonic()
    wait(seconds)
    return (cpu_time(pid) - before) / (time.monotonic() - start)


def push(stage: Stage, page: Browser, number: int) -> tuple[float, float]:
    """Push the robot; delay from the alarm to the red joint in list and view, in [ms]."""
    page.wait("document.querySelector('#joints li[data-level=collision]') === null", 'the reset')
    page.wait(NO_RED, 'a view without a collision')
    page.run('window.red = window.red3d = 0')
    with stage.count_alarms() as alarms:
        stage.push(stage.facts.pushes[number % len(stage.facts.pushes)])
    page.wait('window.red > 0 && window.red3d > 0', 'a red joint')
    alarm = alarms.first_collision * 1e-6
    return page.run('window.red') - alarm, page.run('window.red3d') - alarm


class Restartable(NodeProcesses):
    """Processes that can be started again as before."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._starts: dict[str, tuple[tuple, dict]] = {}

    def start(self, module, parameters, *, name='', remappings=None) -> None:
        self._starts[name or module] = (module, parameters), {'remappings': remappings}
        super().start(module, parameters, name=name, remappings=remappings)

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def restart(self, name: str, client: Client) -> None:
        (module, parameters), options = self._starts[name]
        self.stop(name)
        client.spin(1.0)
        self.start(module, parameters, name=name, **options)

    @property
    def names(self) -> list[str]:
        return list(self._running)


def restart_all(nodes: Restartable, client: Client, page: Browser) -> None:
    """Restart each node in turn; the page must say so where it shows the node, and recover."""
    for name in nodes.names:
        if name == 'collision_monitor':
            nodes.stop(name)
            page.wait(f'!({OK_JOINT})', 'no ok joint')
            print(f'   collision_monitor stopped: {page.run(VERDICT)}', flush=True)
            (module, parameters), options = nodes._starts[name]
            nodes.start(module, parameters, name=name, **options)
        else:
            nodes.restart(name, client)
        page.wait(OK_JOINT, f'an ok joint after the restart of {name}', 60.0)
        page.run('window.fills = 0')
        page.wait(DRAWN, f'the robot at a present position after the restart of {name}', 60.0)
        print(f'   {name} restarted: {page.run(VERDICT)}', flush=True)


def pictures(page: Browser, folder: Path | None, name: str) -> None:
    if folder is not None:
        for width in (1280, 390):
            for scheme in ('light', 'dark'):
                page.screenshot(folder / f'{name}_{width}_{scheme}.png', width, scheme)


def main(folder: Path | None) -> int:
    """Run; return 1 if a figure is beyond its limit, or the page logs an error."""
    os.environ |= describe_domain()
    with (
        tempfile.TemporaryDirectory() as out,
        Restartable(Path(out) / 'nodes') as nodes,
        Client(nodes.check, fast=True, simulated=False) as client,
    ):
        stage = Stage(robot='six_axis', folder=Path(out), nodes=nodes, client=client, length=SHORT)
        address = stage.start_watch(PORT)
        stage.run_identification()
        stage.start_monitor()
        stage.start_feedforward()
        stage.wait_for_feedforward()
        watch = nodes.pid('watch')
        wait = client.spin
        idle = share_of_core(watch, SECONDS, wait)
        with Browser(address, Path(out) / 'chromium') as page:
            page.wait(OK_JOINT, 'joints')
            page.run(COUNT)
            busy = share_of_core(watch, SECONDS, wait)
            print(
                f'CPU of the watch node: {100 * idle:.1f} % of a core, with a browser '
                f'{100 * busy:.1f} %, which took {page.run("window.taken") / SECONDS:.1f} '
                'messages per second',
                flush=True,
            )
            pictures(page, folder, 'ok')
            page.run(OBSERVE)
            delays = []
            for number in range(PUSHES):
                delays.append(push(stage, page, number))
                if number == 0:
                    wait(2.0)
                    pictures(page, folder, 'collision')
                stage.recover()
            for place, each in zip(('list', 'view'), zip(*delays, strict=True), strict=True):
                print(f'joint red in the {place}: {", ".join(f"{x:.0f}" for x in each)} ms')
            restart_all(nodes, client, page)
            nodes.stop('feedforward')
            wait(2.0)
            pictures(page, folder, 'no_feedforward')
            nodes.stop('cell')
            page.wait(f"{VERDICT} === 'Not monitored'", 'that nothing is monitored')
            print(f'   cell stopped: {page.run(VERDICT)}')
            pictures(page, folder, 'cell_stopped')
            nodes.stop('watch')
            time.sleep(3.0)
            pictures(page, folder, 'lost')
            lost = 'net::ERR_CONNECTION_REFUSED'  # while the node watch is stopped
            logged = sorted({each for each in page.console if lost not in each})
            print(f'other messages in the console: {logged or "none"}')
    late = max(max(each) for each in delays) > LATEST
    return int(late or busy > LARGEST or bool(logged))


if __name__ == '__main__':
    if not EXECUTABLE:
        sys.exit('bench_watch needs chromium: apt install chromium')
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if target is not None:
        target.mkdir(parents=True, exist_ok=True)
    sys.exit(main(target))
