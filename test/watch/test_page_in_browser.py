# SPDX-License-Identifier: Apache-2.0
"""The live page in Chromium, with messages as the node sends them."""

import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from browser import EXECUTABLE, Browser
from drawn_markers import marker
from robots import SIX_AXIS

from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.watch.board import Board
from robodyn_ros.watch.scene import Scene
from robodyn_ros.watch.server import WatchServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not EXECUTABLE, reason='no Chromium: apt-get install chromium'),
]
COLOURS = """(() => {
  const canvas = document.getElementById('scene'), { width, height } = canvas;
  const copy = Object.assign(document.createElement('canvas'), { width, height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  let red = 0, grey = 0;
  for (let k = 0; k < data.length; k += 4) {
    const [r, g, b, a] = data.slice(k, k + 4);
    if (a === 255 && r > 120 && g < r / 2 && b < r / 2) red += 1;
    if (a === 255 && Math.abs(r - g) < 40 && b > r && r > 40) grey += 1;
  }
  return [red, grey];
})()"""


@pytest.fixture
def live(tmp_path):
    server, urdf = WatchServer(), read_urdf(SIX_AXIS)
    scene = Scene(urdf)
    server.publish('robot', scene.robot())
    board, shown, lost = Board(), {}, threading.Event()

    def node():
        while not lost.wait(0.2):
            for kind, text in (*shown.items(), ('frame', board.frame())):
                server.publish(kind, text)

    thread = threading.Thread(target=node, daemon=True)
    thread.start()
    try:
        with Browser(f'http://127.0.0.1:{server.port}', tmp_path / 'profile') as page:
            yield SimpleNamespace(shown=shown, page=page, scene=scene, urdf=urdf, lost=lost)
    finally:
        lost.set()
        thread.join(10.0)
        server.close()


def test_the_robot_and_a_marker_of_a_collision_are_drawn_from_the_messages(live, tmp_path):
    page, q = live.page, np.array([0.3, -0.6, 0.9, 0.2, 0.4, 0.1])
    live.shown['scene'] = live.scene.frame(q, [], fresh=True)
    page.wait(f'{COLOURS}[1] > 1000', 'the robot')
    assert page.run(COLOURS)[0] == 0
    ball = marker(live.urdf.joints[2].child, kind=2)
    ball.scale.x = 0.3
    live.shown['scene'] = live.scene.frame(q, [ball], fresh=False)
    page.wait(f'{COLOURS}[0] > 200', 'the marker')
    page.wait("document.getElementById('scene-note').textContent.includes('old')", 'the note')
    before = page.run("document.getElementById('scene').toDataURL()")
    page.run("document.getElementById('scene').dispatchEvent("
             "new KeyboardEvent('keydown', { key: 'ArrowLeft' }))")  # fmt: skip
    page.wait(f"document.getElementById('scene').toDataURL() !== {json.dumps(before)}", 'a turn')
    page.screenshot(tmp_path / 'page.png', 1280)
    live.shown['scene'] = live.scene.frame(q, [ball], fresh=True)
    page.wait("document.getElementById('scene-note').textContent === ''", 'a present view')
    live.lost.set()
    page.wait(f'{COLOURS}[0] === 0', 'no marker without a connection')
    page.wait("document.getElementById('scene-note').textContent.includes('old')", 'the note')
    assert page.console == []
