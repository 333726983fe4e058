# SPDX-License-Identifier: Apache-2.0
"""Sections of the pages that commands write, as pictures: headless Chromium."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import Image

from bench.browser import Browser
from bench.pictures.places import UR10, folder
from robodyn_ros.cli.main import main

WIDTH = 1000
"""Width of the page, in pixels."""


@dataclass(frozen=True)
class Section:
    """A section of a page.

    :param command: words of `robodyn` that write the page, without `--out`
    :param page: its file in that folder
    :param selector: CSS selector of the element that is shown
    :param tall: pixels of its height that are shown at most
    """

    command: tuple[str, ...]
    page: str
    selector: str
    tall: int = 700


REPORT = ('identify', str(UR10), '--robot', 'ur10', '--effort', 'Nm', '--split', '0.7')
EXCITE = ('excite', '--robot', 'ur10', '--floor', '0', '--time', '15')
MOTION = ('motion', 'config/motions/six_axis_validation.yaml', '--robot', 'six_axis')
COMPARE = ('compare', '{}/result.yaml', str(UR10), '--urdf', 'urdf/ur10.urdf', '--effort', 'Nm')
PICTURE = 'section img'
SECTIONS = {
    'report_verdict': Section(REPORT, 'report.html', 'header'),
    'report_torque_errors': Section(REPORT, 'report.html', '#validation'),
    'report_gain': Section(REPORT, 'report.html', '#gain'),
    'report_findings': Section(REPORT, 'report.html', '#findings'),
    'report_robot': Section(REPORT, 'report.html', '#motion'),
    'report_curves': Section(REPORT, 'report.html', '#curves'),
    'report_residuals': Section(REPORT, 'report.html', '#residuals'),
    'report_friction': Section(REPORT, 'report.html', '#friction'),
    'report_coverage': Section(REPORT, 'report.html', '#coverage'),
    'report_links': Section(REPORT, 'report.html', '#links'),
    'excite_design': Section(EXCITE, 'motion.html', 'header'),
    'excite_joints': Section(EXCITE, 'motion.html', 'section:has(img)'),
    'motion_check': Section(MOTION, 'motion.html', 'header'),
    'compare_base': Section(COMPARE, 'comparison.html', 'section:has(img)'),
    'compare_torques': Section(COMPARE, 'comparison.html', 'section:has(img) + section:has(img)'),
}


@cache
def written(command: Sequence[str]) -> Path:
    """Run a command and return its folder."""
    out = folder(command[0])
    words = [word.format(folder('identify')) for word in command]
    main([*words, '--out', str(out)])
    return out


def draw(name: str, path: Path) -> None:
    """Write the picture of a section."""
    section = SECTIONS[name]
    if section.command == COMPARE:
        written(REPORT)
    page = (written(section.command) / section.page).as_uri()
    with Browser(page, folder('profile') / name) as browser:
        size = {'width': WIDTH, 'height': 900, 'deviceScaleFactor': 1, 'mobile': False}
        browser.call('Emulation.setDeviceMetricsOverride', **size)
        tall = browser.run('document.documentElement.scrollHeight')
        browser.call('Emulation.setDeviceMetricsOverride', **{**size, 'height': tall})
        browser.wait(SETTLED, 'its drawings')
        box = browser.run(BOX.format(selector=section.selector))
        clip = {**box, 'height': min(box['height'], section.tall), 'scale': 1}
        shot = browser.call('Page.captureScreenshot', clip=clip, captureBeyondViewport=True)
    picture = Image.open(io.BytesIO(base64.b64decode(shot['data'])))
    picture.convert('RGB').quantize(128).save(path, optimize=True)


SETTLED = '(window.since ??= Date.now()) < Date.now() - 1500'
BOX = """(() => {{
    const box = document.querySelector('{selector}').getBoundingClientRect();
    return {{x: box.x, y: box.y + window.scrollY, width: box.width, height: box.height}};
}})()"""
