# SPDX-License-Identifier: Apache-2.0
import json
from dataclasses import replace

import numpy as np
import pinocchio as pin
from prg_results import model_of, result_of
from robots import random_urdf
from simulation import arm

from robodyn_ros.findings import Finding
from robodyn_ros.identification.physical.named_parameters import compute_named
from robodyn_ros.identification.result.facts import (
    actions,
    by_importance,
    json_facts,
    moving_masses,
)
from robodyn_ros.models.base_parameters import base_parameters


def result():
    model = model_of('scara')
    values = np.linspace(0.5, 1.5, len(model.parameters))
    found = result_of(model, values)
    stddevs = np.where(np.arange(len(values)) % 2, np.nan, 0.1)
    finding = Finding('too_short', 'joint joint1 is short', 'joint1')
    base = base_parameters(model)
    return replace(
        found,
        named=compute_named(model, values, base, 0.01 * np.eye(base.rank)),
        stddevs=stddevs,
        condition_number=np.inf,
        findings=(finding,),
        base_expressions=('a + 2*b',),
        base_units=('kg',),
        base_values=np.array([2.5]),
        base_stddevs=np.array([np.nan]),
    )


def test_masses_of_the_moving_links():
    xml = random_urdf(3, 4, types=('revolute',))
    model, values = arm(xml)
    total = sum(item.mass for item in pin.buildModelFromXML(xml).inertias[1:])
    heavier = np.where([item.name.endswith('.m') for item in model.parameters], 2.0, 1.0)
    found = moving_masses(model, heavier * values, values)
    assert np.allclose([found['moving_mass'], found['moving_mass_of_urdf']], [2 * total, total])
    assert moving_masses(model_of('scara'), values, values) == {}


def test_json_has_none_for_what_is_no_number():
    facts = json_facts(result())
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts['condition_number'] is None
    assert [row['stddev'] is None for row in facts['parameters'][:4]] == [False, True] * 2
    assert facts['base_parameters'] == [
        {
            'expression': 'a + 2*b',
            'value': 2.5,
            'stddev': None,
            'unit': 'kg',
            'status': 'from the prior',
        }
    ]
    assert facts['findings'] == [
        {
            'code': 'too_short',
            'joint': 'joint1',
            'text': 'joint joint1 is short',
            'severity': 'warning',
            'remedy': '',
        }
    ]
    assert facts['actions'] == ['warning: too_short (joint1): joint joint1 is short']
    row = facts['dynamic_parameters'][0]
    assert (row['value'], row['unit'], row['status']) == (0.5, 'kg m^2', 'identified')
    assert facts['joints'] == ['joint1', 'joint2', 'joint3', 'joint4'] and facts['model'] == 'sum'


def test_errors_first_joints_with_the_same_remedy_together_and_nothing_else():
    fast = [Finding('slow', f'{n} is slow.', f'j{n}', 'warning', 'Be fast.') for n in range(5)]
    found = [
        Finding('law', 'The law is x.', severity='info'),
        *fast[:2],
        Finding('bad', 'It is bad.', severity='error'),
        Finding('lost', 'The torque was lost.', 'j1', 'error', 'Check it.'),
    ]
    assert actions(found) == [
        'error: bad: It is bad.',
        'error: lost (j1): The torque was lost. Check it.',  # with what was seen
        'warning: slow (j0, j1): Be fast.',
    ]
    assert actions(fast) == ['warning: slow (5 joints): Be fast.']
    merged = replace(fast[0], joint='j0, j1')  # as `merge` does
    assert actions([merged]) == ['warning: slow (j0, j1): Be fast.']
    assert [item.severity for item in by_importance(found)] == [
        'error', 'error', 'warning', 'warning', 'info',
    ]  # fmt: skip
