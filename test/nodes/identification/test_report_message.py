# SPDX-License-Identifier: Apache-2.0
"""The message says what the result says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from prg_results import model_of, result_of
from rclpy.serialization import deserialize_message, serialize_message
from robodyn_ros.msg import IdentificationReport
from verdicts import with_bad

from robodyn_ros.findings import Finding
from robodyn_ros.identification.files.export import Exported
from robodyn_ros.identification.physical.named_parameters import NamedParameters
from robodyn_ros.identification.result.verdict import Use
from robodyn_ros.nodes.identification.report_message import report_message

FILES = Exported(
    facts=Path('/a/result.json'),
    result=Path('/a/result.yaml'),
    prg=Path('/a/IDNT1.PRG'),
    signals=Path('/a/identification'),
    page=Path('/a/report.html'),
)


def sent(result, files=FILES):
    """Return the message as a subscriber gets it."""
    data = serialize_message(report_message(result, files))
    return deserialize_message(data, IdentificationReport)


@pytest.fixture
def result():
    model = model_of('rotary3')
    named = NamedParameters(
        names=('I', 'L^2'),
        units=('kg m^2', 'm^2'),
        values=np.array([0.5, np.nan]),
        stddevs=np.array([0.1, np.nan]),
        status=('identified', 'unseen'),
    )
    plain = result_of(model, [0.5, 0.0, 4.0, 0.0, 0.3, 0.7])
    findings = (Finding('a_code', 'some text', 'joint1', 'error'),)
    return replace(plain, named=named, completion_rule='some rule', findings=findings)


def test_the_facts_of_the_document_are_in_it(result):
    message = sent(result)
    fit = result.identification
    assert message.success and message.model == 'sum' and list(message.joint) == ['joint1']
    assert (message.samples, message.raw_samples) == (49876, 50000)
    assert message.filter_cutoff_frequency == 20.0
    assert message.max_relative_torque_error_allowed == 0.5
    assert list(message.max_relative_torque_error) == fit.max_relative_torque_error.tolist()
    assert list(message.mean_relative_torque_error) == fit.mean_relative_torque_error.tolist()
    assert list(message.moving_samples) == fit.moving_samples.tolist()
    assert list(message.velocity_threshold) == fit.velocity_threshold.tolist()
    assert list(message.upper_velocity_threshold) == [np.inf]
    assert not message.validated and not len(message.validation_rms_error)


def test_the_verdict_is_in_it(result):
    bad = with_bad(result.verdict)
    message = sent(replace(result, verdict=replace(bad, payload=Use('with care', ('short',)))))
    assert list(message.feedforward) == list(message.monitoring) == ['not usable: because']
    assert message.inertials.startswith('with care: ') and message.payload == 'with care: short'
    assert np.isnan(message.error).all() and len(message.other_error) == 1


def test_parameters_are_in_it_both_ways(result):
    message = sent(result)
    assert [item.value for item in message.parameters] == result.values.tolist()
    inertia, length = message.dynamic_parameters
    assert (inertia.name, inertia.value, inertia.stddev) == ('I', 0.5, 0.1)
    assert (inertia.unit, inertia.status, length.status) == ('kg m^2', 'identified', 'unseen')
    assert np.isnan([length.value, length.stddev]).all()
    assert [item.name for item in message.base_parameters] == list(result.base_expressions)
    assert message.completion_rule == 'some rule'
    assert not sent(replace(result, named=None)).dynamic_parameters


def test_files_findings_and_validation(result):
    checked = replace(result, validation=result.identification, filter_cutoff=None)
    message = sent(checked)
    assert message.result_file == '/a/result.yaml' and message.prg_file == '/a/IDNT1.PRG'
    assert message.signals_file == '/a/identification' and message.urdf_file == ''
    assert message.report_file == '/a/report.html' and len(message.summary.splitlines()) <= 25
    written = 'written to /a: result.yaml, IDNT1.PRG, identification, report.html, '
    assert written in message.summary
    assert message.validated and message.validation_relative_residual == 0.03
    assert message.filter_cutoff_frequency == 0.0
    (finding,) = message.findings
    assert (finding.code, finding.joint, finding.text) == ('a_code', 'joint1', 'some text')
    assert finding.severity == finding.ERROR
