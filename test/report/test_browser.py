# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: its scripts run under its policy, and it prints."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from healthy_arm import MODEL

from robodyn_ros.report.curves import event_curves
from robodyn_ros.report.facts_page import facts_page
from robodyn_ros.report.page import page_text

BROWSER = next(
    filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None
)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason='no Chromium: apt-get install chromium runs this test'
)


def browse(page, profile, *options):
    """Open a page and return what the browser says on both outputs."""
    command = [
        BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
        f'--user-data-dir={profile}', '--enable-logging=stderr', '--virtual-time-budget=3000',
        *options, page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    # The browser's log names each message of the page's console, also refusals of the policy.
    assert 'CONSOLE' not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.slow
def test_scripts_draw_the_curves_and_the_robot_and_it_prints(source, tmp_path):
    page, profile = tmp_path / 'report.html', tmp_path / 'profile'
    page.write_text(page_text(source), encoding='utf-8')
    dom = browse(page, profile, '--window-size=390,900', '--dump-dom')
    assert 'data-ready="true"' in dom
    assert dom.count('class="plot"') == len(source.joints)
    assert len(re.findall(r'<canvas[^>]* width="\d+"', dom)) == len(source.joints) + 1
    for name in source.joints:
        assert f'<span>{name}</span><b>' in dom, 'its torque error at the shown time'
    start, end = re.search(r'id="range"[^>]*>([\d.]+) s to ([\d.]+) s<', dom).groups()
    assert float(end) - float(start) == pytest.approx(source.signals.time[-1], abs=0.02)
    pdf = tmp_path / 'report.pdf'
    browse(page, profile, f'--print-to-pdf={pdf}')
    assert len(re.findall(rb'/Type\s*/Page\b', pdf.read_bytes())) >= 2


@pytest.mark.slow
def test_the_page_of_an_event_draws_its_torque_errors(tmp_path):
    time, joints = np.linspace(0.0, 5.0, 500), len(MODEL.joints)
    error, threshold = np.outer(np.sin(time), np.ones(joints)), np.full((500, joints), 0.9)
    given = event_curves(time, error, threshold, MODEL.joints, 2.0)
    page = tmp_path / 'event.html'
    page.write_text(facts_page('Event', {'reason': 'x'}, 'text', curves=given), 'utf-8')
    dom = browse(page, tmp_path / 'profile', '--window-size=390,900', '--dump-dom')
    assert 'data-ready="true"' in dom
    assert dom.count('class="plot"') == joints == len(re.findall(r'<canvas[^>]* width="\d+"', dom))
    for shade, name in (('measured', 'threshold'), ('error', 'torque error')):
        assert f'<span class="key {shade}"></span>{name}</label>' in dom
    assert re.search(r'id="range"[^>]*>[\d.]+ s to [\d.]+ s<', dom)
