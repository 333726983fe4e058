# SPDX-License-Identifier: Apache-2.0
"""Words in the view of bodies, by Node.js on a canvas that draws nothing."""

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest

NODE = shutil.which('node')
pytestmark = pytest.mark.skipif(NODE is None, reason='no Node.js: apt-get install nodejs')
SOLID = (files('robodyn_ros') / 'report' / 'page' / 'solid.js').read_text(encoding='utf-8')
DRAWN = """
const drawn = [], window = { devicePixelRatio: RATIO };
const context = { measureText: () => ({ width: 60 }), strokeText() {}, beginPath() {}, lineTo() {},
  moveTo() {}, stroke() {}, fillText(_, x, y) { drawn.push([x, y]); } };
const canvas = { clientWidth: 600, clientHeight: 400, getContext: () => context, addEventListener() {} };
const view = solid.view(canvas, () => {});
view.clear('grey');
for (const z of HEIGHTS) view.text([0, 0, z], 'words', 'black', 'white');
console.log(JSON.stringify(drawn));
"""  # noqa: E501


@pytest.mark.parametrize('ratio', [1.0, 1.1, 60 / 54, 1.25, 4 / 3, 2.2])
def test_words_at_any_ratio_of_pixels_are_above_each_other(ratio, tmp_path):
    heights = [*np.linspace(0.0, 0.3, 40), 0.1, 0.1]
    script = tmp_path / 'words.js'
    numbers = f'const RATIO = {ratio}, HEIGHTS = {json.dumps(heights)};'
    script.write_text(SOLID + numbers + DRAWN)
    done = subprocess.run([NODE, script], capture_output=True, text=True, timeout=20, check=True)
    found = np.array(json.loads(done.stdout))
    assert len(found) == len(heights)
    assert np.diff(np.sort(found[:, 1])).min() >= 14.0 * ratio - 1e-9
