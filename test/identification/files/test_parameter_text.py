# SPDX-License-Identifier: Apache-2.0
import numpy as np
import yaml

from robodyn_ros.identification.files.parameter_text import parameter_text


def test_parameters_are_those_of_every_node_and_lists_are_in_one_line():
    parameters = {'block': {'numbers': [1.0, float('nan')], 'text': 'a: 1\nb: 2\n'}, 'flag': True}
    text = parameter_text(parameters)
    assert '      numbers: [1.0, .nan]\n' in text and 'text: |' in text
    back = yaml.safe_load(text)['/**']['ros__parameters']
    assert back['flag'] is True and back['block']['text'] == 'a: 1\nb: 2\n'
    assert back['block']['numbers'][0] == 1.0 and np.isnan(back['block']['numbers'][1])
