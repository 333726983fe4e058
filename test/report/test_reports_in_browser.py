# SPDX-License-Identifier: Apache-2.0
"""Reports of real recordings and of a simulated SCARA in Chromium, on a desk and on a phone."""

import json
import re
from pathlib import Path

import pytest
import yaml
from browser import EXECUTABLE, Browser
from real_machines import data_folder
from recorded_cell import recorded
from robots import DATA, SINGLE_AXIS

from robodyn_ros.cli.main import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not EXECUTABLE, reason='no Chromium: apt-get install chromium'),
]
CONFIG = Path(__file__).resolve().parents[2] / 'config'
SCARA = CONFIG / 'robots' / 'scara.yaml'
NORMAL = "text => text.replace(/\\s+/g, ' ')"
SHOWN = f"({NORMAL})(document.getElementById('findings').textContent)"
RANGE = "document.getElementById('range').textContent.match(/[\\d.]+/g).map(Number)"
CLICK = "document.querySelector('{}').click()"
OVERLAPS = """(() => {
  const walker = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
  const boxes = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const hidden = 'script, option, .tall, details:not([open])';
    if (!node.textContent.trim() || node.parentElement.closest(hidden)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width > 1 && box.height > 1) boxes.push([node.textContent.trim(), box]);
    }
  }
  boxes.sort(([, a], [, b]) => a.top - b.top);
  const found = [];
  boxes.forEach(([text, a], k) => {
    for (let n = k + 1; n < boxes.length && boxes[n][1].top < a.bottom - 3; n += 1) {
      const [other, b] = boxes[n];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
          Math.min(a.bottom, b.bottom) - b.top > 3) found.push([text, other]);
    }
  });
  return found;
})()"""
"""Pairs of texts that cover each other."""
CUT = """[...document.querySelectorAll(
    '.compact, figure svg, .controls, .figures dd, .findings li')]
  .filter((each) => {
    const frame = (each.closest('.scroll') || document.documentElement).getBoundingClientRect();
    return each.getBoundingClientRect().right > frame.right + 1;
  }).map((each) => each.textContent.slice(0, 80))"""
"""Texts beyond the right edge that must be readable without scrolling."""
DRAWN = """[...document.querySelectorAll('#plots canvas')].map((canvas) => {
  const { width, height } = canvas;
  const copy = Object.assign(document.createElement('canvas'), { width, height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const seen = new Set();
  for (let k = 0; k < data.length; k += 4) {
    if (data[k + 3] === 255) seen.add(data.slice(k, k + 3).join());
  }
  return [...seen];
})"""


def ur10(_):
    return [str(data_folder('ur10')), '--robot', 'ur10', '--effort', 'Nm', '--split', '0.7']


def lwr4(_):
    one, other = (str(data_folder('kuka_lwr4') / f'measurements_{run}.npz') for run in (1, 2))
    return [one, '--urdf', str(DATA / 'kuka_lwr4' / 'kuka_lwr4.urdf'), '--validate', other]


def emps(folder):
    one, other = (str(data_folder('emps') / f'DATA_EMPS{what}.mat') for what in ('', '_PULSES'))
    urdf = folder / 'my_axis.urdf'
    urdf.write_text(SINGLE_AXIS.read_text().replace('name="joint1"', 'name="axis"'))
    columns = ['--columns', str(CONFIG / 'recordings' / 'emps.yaml'), '--joints', 'axis']
    return [one, *columns, '--urdf', str(urdf), '--friction', 'auto', '--validate', other]


def scara(folder):
    motion = yaml.safe_load(SCARA.read_text())['excitation']['motion']
    recorded(SCARA, {**motion, 'duration': 6.0}, folder / 'excitation')
    return [str(folder / 'excitation'), '--robot', 'scara', '--split', '0.7']


@pytest.fixture(scope='module', params=[ur10, lwr4, emps, scara], ids=lambda make: make.__name__)
def report(request, tmp_path_factory):
    """Report of an identification as a user makes it, with its facts."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    assert main(['identify', *request.param(folder), '--out', str(folder / 'out')]) == 0
    return folder / 'out' / 'report.html', json.loads((folder / 'out/result.json').read_text())


@pytest.mark.parametrize('width', [1280, 390])
def test_a_report_can_be_read_and_used(report, width, tmp_path):
    page, facts = report
    with Browser(page.as_uri(), tmp_path / 'profile') as browser:
        browser.show(width)
        assert browser.run('document.documentElement.dataset.ready') == 'true'
        shown = browser.run(SHOWN)
        assert facts['findings'], 'nothing to look for'
        for finding in facts['findings']:
            for text in (finding['text'], finding['remedy'], finding['code'], finding['joint']):
                assert ' '.join((text or '').split()) in shown
        assert browser.run('document.documentElement.scrollWidth') <= width
        assert browser.run(OVERLAPS) == []
        assert browser.run(CUT) == []
        zooms(browser)
        toggles(browser, facts['joints'])
        assert len(re.findall(rb'/Type\s*/Page\b', browser.pdf())) >= 2
        assert browser.console == []


def zooms(browser):
    """Buttons and the mouse change the times that are shown, of every joint."""
    low, high = browser.run(RANGE)
    browser.run(CLICK.format('[data-zoom=in]'))
    start, end = browser.run(RANGE)
    assert low < start < end < high
    assert end - start == pytest.approx((high - low) / 2, abs=0.02)
    browser.run(CLICK.format('[data-zoom=all]'))
    assert browser.run(RANGE) == [low, high]
    browser.run("document.querySelector('.u-over').scrollIntoView({block: 'center'})")
    box = browser.run("document.querySelector('.u-over').getBoundingClientRect().toJSON()")
    middle, places = box['y'] + box['height'] / 2, (0.25, 0.75)
    browser.drag(*((box['x'] + share * box['width'], middle) for share in places))
    start, end = browser.run(RANGE)
    assert [(t - low) / (high - low) for t in (start, end)] == pytest.approx(places, abs=0.02)
    browser.run(CLICK.format('[data-zoom=all]'))


def toggles(browser, joints):
    """A curve that is switched off is no longer drawn, and neither is a joint."""
    colour = colour_of(browser, 'error')
    for off in (False, True):
        drawn = browser.run(DRAWN)
        assert len(drawn) == len(joints)
        assert all((colour in each) != off for each in drawn)
        browser.run("document.querySelectorAll('#series input')[2].click()")
        browser.run('new Promise(requestAnimationFrame)')
    first = "document.querySelector('.plot').hidden"
    browser.run(CLICK.format('#joints input'))
    assert browser.run(first)
    browser.run(CLICK.format('#joints input'))
    assert not browser.run(first)


def colour_of(browser, name):
    style = 'getComputedStyle(document.documentElement)'
    text = browser.run(f"{style}.getPropertyValue('--{name}').trim()")
    return ','.join(str(int(text[k : k + 2], 16)) for k in (1, 3, 5))
