# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.analysis import compare_report
from robodyn_ros.analysis.compare import compare
from robodyn_ros.analysis.compare_report import export_comparison
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters
from robodyn_ros.output_files import json_text


@pytest.fixture(scope='module')
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp('compare')
    xml = random_urdf(2, 41)
    (folder / 'cad.urdf').write_text(xml)
    model, values = arm(xml)
    content = model_parameters(model, values, np.full(len(values), np.nan))
    recording = record(model, values, 300, noise=0.01)
    return compare(folder / 'cad.urdf', load_identified_model(content), recording)


def test_files(comparison, tmp_path):
    files = export_comparison(comparison, tmp_path / 'new' / 'out')
    facts = json.loads((tmp_path / 'new/out/comparison.json').read_text())
    assert facts == json.loads(json_text(comparison.to_json()))
    assert None in [row['cad'] for row in facts['base_parameters']]
    measured, predicted, error = compare_report._draw_torques(comparison).axes[0].lines
    difference = predicted.get_ydata() - measured.get_ydata()
    np.testing.assert_allclose(error.get_ydata(), difference)
    assert measured.get_linewidth() > predicted.get_linewidth()  # it is below the other one
    left, right = compare_report._draw_tables(comparison).axes
    shown = [row for row in comparison.rows if not np.isnan(row.cad)]
    for line, name in zip(left.lines, ('cad', 'result'), strict=False):
        np.testing.assert_array_equal(line.get_xdata(), [getattr(row, name) for row in shown])
    middles = [[bar.get_x() + bar.get_width() / 2 for bar in bars] for bars in right.containers]
    np.testing.assert_allclose(np.mean(middles, axis=0), [0.0, 1.0], atol=1e-12)
    for kind in ('tables', 'torques'):
        assert Path(files[kind]).read_bytes()[:8] == b'\x89PNG\r\n\x1a\n'
