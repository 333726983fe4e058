# SPDX-License-Identifier: Apache-2.0
"""The folders that requests may name, of a real recorder, and the fields with paths."""

import pytest
import robodyn_ros.action as actions
import robodyn_ros.srv as services
from node_process import EFFORT, NodeProcess, closed
from robodyn_ros.srv import StartRecording, StopRecording

from robodyn_ros.nodes.base.allowed import FIELDS, LISTS

NOT_PATHS = {'owner', 'payload_frame', 'frame'}
"""Fields of text that are names."""


def test_every_text_in_a_request_is_known_as_a_path_or_as_a_name():
    found = [*vars(services).values(), *vars(actions).values()]
    kinds = [getattr(kind, 'Request', getattr(kind, 'Goal', None)) for kind in found]
    texts = {
        (type_, field)
        for kind in kinds
        if kind is not None
        for field, type_ in kind.get_fields_and_field_types().items()
        if 'string' in type_
    }
    single = {('string', field) for field in (*FIELDS, *NOT_PATHS)}
    assert texts == single | {('sequence<string>', field) for field in LISTS}


@pytest.mark.ros
def test_the_parameter_replaces_the_defaults_and_only_the_operator_sets_it(tmp_path):
    for name in ('out', 'allowed', 'other'):
        (tmp_path / name).mkdir()
    parameters = {
        **EFFORT,
        'output_directory': tmp_path / 'out',
        'allowed_directories': f'[{tmp_path / "allowed"}]',
    }
    with closed(NodeProcess('recorder', 42, tmp_path / 'log', parameters)) as recorder:

        def start(path):
            return recorder.call(StartRecording, 'start', StartRecording.Request(recording=path))

        refused = start(str(tmp_path / 'other' / 'bag'))
        assert not refused.success and not (tmp_path / 'other' / 'bag').exists()
        assert f'{tmp_path}/out, {tmp_path}/allowed)' in refused.message
        assert not start('../other/bag').success
        for path in ('named', str(tmp_path / 'allowed' / 'bag'), ''):
            answer = start(path)
            assert answer.success, answer.message
            recorder.call(StopRecording, 'stop', StopRecording.Request())
        assert (tmp_path / 'out' / 'named').is_dir() and (tmp_path / 'allowed' / 'bag').is_dir()
        result = recorder.set_parameter('recorder', 'allowed_directories', [str(tmp_path)])
        assert not result.successful and 'read-only' in result.reason
