# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile thresholds files: plugin and node refuse the same ones, with one sentence.

The program `thresholds_check` reads files as the plugin does.
"""

import copy
import operator
import os
import resource
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
import yaml
from controller_build import program
from controller_models import MODELS
from detector_law import PERIOD, Samples, learned
from writers import result_file

from robodyn_ros.control.collision.thresholds_file import read_thresholds, write_thresholds
from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.payload import payload_of
from robodyn_ros.yaml_file import DUMPER

sys.path.append(str(Path(__file__).resolve().parents[2]))  # `faults` is a program of its own
from faults.hostile_texts import YAML
from faults.mutate import mutated

sys.path.pop()

CASES, SEED = 300, 16
CPU, MEMORY = 60, 2**30
"""Of all files of a run, in [s] and [bytes]."""
NAN, INF = float('nan'), float('inf')
VALUES = (
    None, True, False, 0, 1, -1, 2, 0.0, 0.5, 1.0, 1.5, 2.5, -0.5, 3, 1000, 1001, 1e-300, 1e300,
    NAN, INF, -INF, 2**63 - 1, 2**63, 10**30, '', 'x', '1.0', '0.5', '1e-3', 'nan', 'true', [], {},
    [1.0], [0.5, 0.2], [0.2, 0.5], [0.2, 0.2], [NAN, 1.0], [-1.0, INF], [[1.0]], ['1.0', '2.0'],
    [True, True], [None, None], {'a': 1.0}, 'observer', 'filtered', 'guess',
)  # fmt: skip
"""Values that replace each value of a file in turn."""
TEXTS = (
    '1', '+1', '-1', '0', '-0', '1.', '.5', '+.5', '0.5e0', '0.5e+0', '5e-1', '5.0e-01', '1e-3',
    '00.5', '0.5 # half', '"0.5"', "'0.5'", '.nan', '.NaN', '.inf', '+.inf', '-.INF', 'nan', 'inf',
    '0.5f', '0,5', '1.0e+400', '1.0e-400', '99999999999999999999', '~', 'null', 'yes', '١', '',
    '0.' + '3' * 60, '0.' + '3' * 400, '9' * 5000, '.', '+', 'e', '.e+1', '1.e+1', '1.0e+',
    '1.0e5', '"0\\0.5"', '9.e-1', '0.5E-01', '00.5e-0', '-.5', '..5', '0.5.', '0.5e-0.5',
    '!!str 0.5', '[0.5]', '{}', '2001-01-01', '0.1.2', '--1', '1e', '0 5',
)  # fmt: skip
"""Spellings of numbers, right and wrong ones."""
ONLY_PYTHON = ('0x1', '0b1', '01', '1_0', '0.5_0', '0:1', '!!float 0.5', '00')
"""Numbers of YAML that readers in C++ do not know; their files are refused in any case."""


@pytest.fixture(scope='module')
def base(tmp_path_factory):
    """Result file of an arm, and the content of its thresholds file."""
    folder = tmp_path_factory.mktemp('thresholds')
    model = MODELS['scara']()
    values = np.random.default_rng(1).uniform(0.1, 2.0, len(model.parameters))
    result, file = result_file(folder, model, values), folder / 'thresholds.yaml'
    write_thresholds(learned()(model, result, Samples(model, values)), file)
    return result, yaml.safe_load(file.read_text())


def places(node, path=()):
    """Yield the path of each value; of joints and lists of numbers the first one only."""
    items = list(node.items() if isinstance(node, dict) else enumerate(node))
    for key, value in items[:1] if path == ('joints',) or isinstance(node, list) else items:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


def changed(content, path, change):
    """Return a copy of the content in which `change` was called with a container and its key."""
    result = copy.deepcopy(content)
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return result


def drop(parent, key):
    del parent[key]


def double(parent, key):
    """Lists that are too long, and further joints and settings."""
    if isinstance(parent, list):
        parent.append(parent[key])
    else:
        parent['another'] = parent[key]


def replace(value):
    return lambda parent, key: operator.setitem(parent, key, value)


def every(content):
    """Yield the content with each value dropped, doubled or replaced."""
    yield content
    for path in places(content):
        yield changed(content, path, drop)
        yield changed(content, path, double)
        for value in VALUES:
            yield changed(content, path, replace(value))


def dumped(content):
    return yaml.dump(content, Dumper=DUMPER, sort_keys=False)


def written(folder, contents):
    paths = []
    for number, content in enumerate(contents):
        path = folder / f'{number}.yaml'
        text = dumped(content) if isinstance(content, dict) else content
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths.append(path)
    return paths


def by_node(result, file):
    """Return the refusal of the node's reader, or 'used'.

    A period that is not the controller's is refused here, as by the plugin; the node uses it.
    """
    model = load_identified_model(result)
    try:
        found = read_thresholds(file)
        found.check_model(model.loaded_hash, model.joints, str(file))
    except RobodynError as error:
        return str(error)
    ratio = found.detector['period'] / PERIOD
    return 'used' if 1.0 / 1.1 < ratio < 1.1 else f'{file}: the period'


def by_plugin(result, files, name='thresholds_check', **options):
    done = subprocess.run(
        [program(name), result, str(PERIOD), *files], capture_output=True, timeout=300, text=True,
        errors='replace', **options,
    )  # fmt: skip
    said = done.stdout.splitlines()
    assert done.returncode == 0, f'{files[min(len(said), len(files) - 1)]}: {done.stderr[-3000:]}'
    assert len(said) == len(files)  # a line for each: no sentence has two
    for line, path in zip(said, files, strict=True):
        assert line == 'used' or f'the thresholds file {path} cannot be used: ' in line, line
        assert len(line) < 700 and line.isprintable(), line
    return said


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def check_both(result, files):
    """Compare the readers; return what the plugin's says."""
    said = by_plugin(result, files, preexec_fn=bounded)
    for line, file in zip(said, files, strict=True):
        node = by_node(result, file)
        assert (line == 'used') == (node == 'used'), (line, node, file.read_text())
        assert node == 'used' or str(file) in node, node
    return said


def test_each_value_that_is_dropped_or_replaced_is_refused_by_both_or_used_by_both(base, tmp_path):
    result, content = base
    said = check_both(result, written(tmp_path, every(content)))
    assert said[0] == 'used' and 50 < said.count('used') < len(said) / 4


def test_numbers_as_people_write_them_are_read_by_both_or_by_none(base, tmp_path):
    result, content = base
    text = dumped(content)
    assert 'contact_share: 0.6\n' in text
    texts = [text.replace('contact_share: 0.6\n', f'contact_share: {new}\n') for new in TEXTS]
    said = check_both(result, written(tmp_path, texts))
    assert 5 < said.count('used') < len(said) / 2
    others = [text.replace('contact_share: 0.6\n', f'contact_share: {x}\n') for x in ONLY_PYTHON]
    assert 'used' not in by_plugin(result, written(tmp_path, others))


def test_a_key_that_is_there_twice_is_refused(base, tmp_path):
    """Python takes the last one, readers in C++ the first one."""
    result, content = base
    text = dumped(content)
    lines = ('contact_share: 0.6\n', '  debounce: 3\n', '    fastest: ')
    twice = []
    for line in lines:
        assert line in text
        whole = line if line.endswith('\n') else '    fastest: 1.0\n'
        twice.append(text.replace(line, whole + line, 1))
    for line in by_plugin(result, written(tmp_path, twice)):
        assert line.endswith('is no text, or is there twice'), line


def test_a_second_document_is_refused_by_both(base, tmp_path):
    result, content = base
    texts = [dumped(content) + end for end in ('...\n', '---\na: 1\n', '---\n' + dumped(content))]
    said = check_both(result, written(tmp_path, texts))
    assert [line == 'used' for line in said] == [True, False, False]
    assert said[1].endswith('there is text after the end of its YAML')


@pytest.mark.parametrize(
    ('path', 'value', 'sentence'),
    [
        (('model_hash',), 'other', 'another model or payload (hash other, this result has '),
        (('format',), 'x', 'it is no thresholds file: expected format'),
        (('detector', 'period'), 0.0023, 'a period of 0.002300 s, this controller is updated '
         'every 0.002000 s'),
        (('detector', 'period'), 0.0018, 'a period of 0.001800 s'),
        (('detector', 'debounce'), 2.5, 'debounce must be a whole number from 1 to 1000'),
        (('detector', 'residual'), 'guess', 'residual must be filtered or observer, got guess'),
        (('detector', 'filter_cutoff'), -1.0, 'filter_cutoff must be a finite number above 0'),
        (('joints', 'joint1', 'speed'), [2.0, 1.0], 'the edges of speed must be finite and in '
         'ascending order'),
        (('joints', 'joint1', 'collision'), [1.0], 'expected 20 thresholds for each joint, got 1'),
        (('joints', 'joint2', 'fastest'), 0.0, 'fastest must be finite and above 0'),
        (('joints', 'joint2', 'hardest'), 'x', 'hardest must be a number, got x'),
        (('joints',), {}, 'it has no joints'),
        (('contact_share',), 1.5, 'contact_share must be above 0 and at most 1'),
        (('rest_after',), -1.0, 'rest_after must be finite and not below 0'),
    ],
)  # fmt: skip
def test_the_sentence_says_what_is_wrong(base, tmp_path, path, value, sentence):
    result, content = base
    new = changed(content, path, replace(value))
    (said,) = by_plugin(result, written(tmp_path, [new]))
    assert sentence in said


def test_a_result_with_another_payload_is_refused_by_both(tmp_path):
    model, results = MODELS['scara'](), []
    values = np.random.default_rng(1).uniform(0.1, 2.0, len(model.parameters))
    for number, mass in enumerate((None, 0.5, 0.7)):
        folder = tmp_path / str(number)
        folder.mkdir()
        payload = None if mass is None else payload_of(model, mass)
        results.append(result_file(folder, model, values, payload))
    for result in results:
        file = tmp_path / 'thresholds.yaml'
        write_thresholds(learned()(model, result, Samples(model, values)), file)
        said = [check_both(other, [file])[0] for other in results]
        assert [line == 'used' for line in said] == [other == result for other in results]


def test_joints_in_another_order_are_those_of_another_model(base, tmp_path):
    result, content = base
    joints = dict(reversed(content['joints'].items()))
    (said,) = check_both(result, written(tmp_path, [{**content, 'joints': joints}]))
    assert 'are those of the joints [joint4, joint3, joint2, joint1], the model has [' in said


@pytest.fixture(scope='module')
def hostile(base, tmp_path_factory):
    """Texts that are hostile to any reader, mutated files, and what is no file."""
    folder, rng = tmp_path_factory.mktemp('hostile'), Random(SEED)
    data = dumped(base[1]).encode()
    files = written(folder, [*YAML.values(), *(mutated(data, 'yaml', rng) for _ in range(CASES))])
    return [*files, Path('/dev/zero'), folder, folder / 'missing.yaml']


def test_hostile_and_mutated_files_are_sentences(base, hostile):
    said = by_plugin(base[0], hostile, preexec_fn=bounded)
    assert 0 < said.count('used') < len(said) / 2
    for line, file in zip(said, hostile, strict=True):
        node = by_node(base[0], file) if line == 'used' else ''
        # yaml-cpp is more tolerant of syntax: a stray word is a key without a value.
        assert line != 'used' or node == 'used' or 'it is no YAML: ' in node, file.read_bytes()


def test_so_they_are_under_the_sanitizers(base, hostile):
    if not (Path(program('thresholds_check')).parent / 'sanitized').exists():
        pytest.skip('the plugin was built without ROBODYN_SANITIZERS')
    by_plugin(base[0], hostile, name='sanitized/thresholds_check', env=os.environ)
