# SPDX-License-Identifier: Apache-2.0
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.report.source import source_of


@pytest.fixture(scope='session')
def result():
    """Result of two rotary joints, with a validation and its signals."""
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    other = record(model, truth, 600, seed=1, noise=0.02)
    options = IdentifyOptions(keep_signals=True)
    recording = record(model, truth, 1500, noise=0.02)
    return identify(recording, model, options=options, validation=other)


@pytest.fixture(scope='session')
def source(result):
    return source_of(result, json_facts(result))
