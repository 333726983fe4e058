# SPDX-License-Identifier: Apache-2.0
import base64

import numpy as np
from matplotlib.figure import Figure

from robodyn_ros.analysis.picture import png
from robodyn_ros.findings import Finding
from robodyn_ros.report.facts_page import facts_page


def test_values_lists_mappings_findings_and_pictures_are_shown(tmp_path):
    picture = tmp_path / 'law.png'
    picture.write_bytes(png(Figure(figsize=(1.0, 1.0))))
    facts = {
        'duration': 20.0,
        'note': '',
        'hint': 'joints were scaled down',
        'recording': '/data/a_long_path/of/the_recording.mcap',
        'joints': [{'name': 'a<b', 'share': np.float64(0.25)}, {'name': 'c', 'lag': None}],
        'torque_errors': {'CAD': {'rms_error': np.arange(15.0)}},
        'checked': {'floor': True},
        'findings': (Finding('late', 'It is late.', 'j', 'warning', 'Wait.'),),
        'files': {'law': str(picture), 'table': 'x.csv'},
    }
    text = facts_page('Title', facts, 'printed <text>', good=False, command='robodyn friction x')
    for shown in (
        '<title>Title</title>', '<dt>duration</dt><dd>20 s</dd>', 'robodyn friction x',
        '<th scope="row" class="expression">a&lt;b</th><td class="number">0.25</td>',
        '10, 11, and 3 more', '<td class="number">yes</td>', 'It is late.', 'Wait.',
        'printed &lt;text&gt;', 'script-src &#39;none&#39;', 'verdict bad',
        '<strong>hint:</strong> joints were scaled down', '<div class="long"><dt>recording</dt>',
        '<h2>law</h2>', f'data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}',
    ):  # fmt: skip
        assert shown in text, shown
    assert (
        '<dt>note</dt>' not in text
        and '<dt>hint</dt>' not in text
        and '<script' not in text
        and 'x.csv' not in text
    )
