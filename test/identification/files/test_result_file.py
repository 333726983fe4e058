# SPDX-License-Identifier: Apache-2.0
"""Values of another kind in a result file: refused by its reader, or used by all that use it."""

import copy

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.analysis.compare import _stddevs
from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.files.result_file import (
    load_identified_model,
    parameter_text,
    write_result,
)
from robodyn_ros.identification.pipeline import identify

VALUES = (None, True, -1, 'x', [], {}, ['x'], [None], float('nan'))


@pytest.fixture(scope='module')
def content(tmp_path_factory):
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    path = tmp_path_factory.mktemp('result') / 'result.yaml'
    write_result(identify(record(model, truth, 1500, noise=0.02), model), path, export_failed=True)
    return yaml.safe_load(path.read_text())


def places(node, path=()):
    """Paths of all values; of a list, its first."""
    yield path
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node[:1])
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


def changed(content, path, value):
    content = copy.deepcopy(content)
    parent = content
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return content


def use(content):
    """Read a result as the nodes and the commands do."""
    model = load_identified_model(content)
    model.summary()
    assert np.isfinite(model.gain_uncertainty)
    assert np.array(model.facts.get('base_parameter_stddevs', ()), dtype=float).ndim == 1
    assert all(isinstance(value, float) for value in _stddevs(model).values())
    assert float(model.facts.get('filter_cutoff', 0.0)) is not None


def test_every_value_of_another_kind_is_refused_or_used(content):
    use(content)
    refused = 0
    for path in places(content):
        for value in VALUES if path else ():
            try:
                use(changed(content, path, value))
            except RobodynError:
                refused += 1
    assert refused > 200


def test_the_sentence_names_the_value(content):
    place = ('/**', 'ros__parameters', 'identification', 'base_parameter_stddevs')
    sentence = r'identification: base_parameter_stddevs\[0\] must be a finite number, got None'
    with pytest.raises(IdentificationError, match=sentence):
        load_identified_model(changed(content, place, [None]))


def test_parameters_are_those_of_every_node_and_lists_are_in_one_line():
    parameters = {'block': {'numbers': [1.0, float('nan')], 'text': 'a: 1\nb: 2\n'}, 'flag': True}
    text = parameter_text(parameters)
    assert '      numbers: [1.0, .nan]\n' in text and 'text: |' in text
    back = yaml.safe_load(text)['/**']['ros__parameters']
    assert back['flag'] is True and back['block']['text'] == 'a: 1\nb: 2\n'
    assert back['block']['numbers'][0] == 1.0 and np.isnan(back['block']['numbers'][1])
