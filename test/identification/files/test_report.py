# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.files.report import text_report
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import build_model


@pytest.fixture(scope='module')
def result():
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    other = record(model, truth, 800, seed=1, noise=0.05)
    return identify(record(model, truth, 1500, noise=0.05), model, validation=other)


def crank(**options):
    model = build_model(
        {
            'kind': 'axis',
            'type': 'rotary',
            'dynamic_model': 3,
            'joints': ['joint1'],
            'friction': ['viscous', 'coulomb'],
        }
    )
    values = np.array([0.5, 0.0, 4.0, 0.0, 0.3, 0.7])
    return identify(record(model, values, 1500), model, options=IdentifyOptions(**options))


def test_verdict_errors_and_every_base_parameter_are_in_it(result):
    lines = text_report(result).splitlines()
    assert lines[0] == 'identification succeeded' and result.date in lines[1]
    assert 'inertials         usable' in lines
    (title,) = [number for number, line in enumerate(lines) if line.endswith('  why')]
    assert all(lines[title + row].split()[-1] == 'usable' for row in (1, 2))
    for title, report in (
        ('identification:', result.identification),
        ('validation:', result.validation),
    ):
        (first,) = [k for k, line in enumerate(lines) if line.startswith(title)]
        assert f'{100 * report.relative_residual:.2f} %' in lines[first]
        for row in range(2):
            words = lines[first + 2 + row].split()
            assert words[0] == f'joint{row + 1}'
            assert int(words[1]) == report.moving_samples[row]
            assert float(words[2]) == pytest.approx(report.velocity_threshold[row], rel=1e-2)
            assert float(words[-2]) == pytest.approx(
                100 * report.mean_relative_torque_error[row], abs=0.006
            )
    for expression, value in zip(result.base_expressions, result.base_values, strict=True):
        assert any(expression[:50] in line and f'{value:.5g}' in line for line in lines)


def test_the_document_s_parameters_are_numbered_and_said_how_they_are_known():
    text = text_report(crank())
    rows = [line for line in text.splitlines() if ' 2 L^2' in line or ' 4 g*L' in line]
    assert len(rows) == 2
    for row in rows:
        assert row.split()[:2] == ['-', '-'] and 'not identifiable without payload' in row
    (own,) = [line for line in text.splitlines() if line.endswith(' 3 M*g*A')]
    assert float(own.split()[0]) == pytest.approx(4.0, rel=1e-3)
    assert 'minimum norm in SI units' in text
