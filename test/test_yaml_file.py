# SPDX-License-Identifier: Apache-2.0
"""Reading YAML: plain data, and one sentence for what is none."""

import math

import pytest
import yaml

from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import DUMPER, LOADER, parse_yaml, read_yaml


def test_plain_data_come_back(tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_text('a: [1, 2.5, -8e-06, 1E3, "1e3"]\nb: {c: null}\n')
    expected = {'a': [1, 2.5, -8e-06, 1000.0, '1e3'], 'b': {'c': None}}
    assert read_yaml(path, 'the file', ConfigError) == expected


def test_angles_have_the_tags_of_xacro():
    found = parse_yaml('a: !degrees 180\nb: [!radians 0.5, !degrees -90.0]')
    assert found == {'a': math.pi, 'b': [0.5, -math.pi / 2]}
    with pytest.raises(yaml.YAMLError, match='a value does not fit its tag'):
        parse_yaml('a: !degrees x')


def test_what_is_written_is_read_by_either_parser():
    text = ' a: "b"\n\t# \x85\u2028\x07é😀 - [~] \'&*!%@\\ \r\n  '
    content = {
        'text': text,
        'numbers': [1, -2.5e-300, 1e300, '12e3'],
        text: {'none': None, 'on': True},
    }
    written = yaml.dump(content, Dumper=DUMPER, sort_keys=False, width=10**6)
    assert yaml.load(written, Loader=LOADER) == content == yaml.safe_load(written)
    with pytest.raises(yaml.YAMLError):
        yaml.dump(object(), Dumper=DUMPER)


@pytest.mark.parametrize(
    'content, sentence',
    [
        (b'a: [1\nb: 2', 'the facts .*file.yaml cannot be read: it is no YAML: .*line 2'),
        (b'\xff\xfe\x00', 'the facts .*file.yaml'),
        (b'!!python/object/apply:os.getcwd []', 'the facts .*it is no YAML: .*constructor'),
    ],
)
def test_one_sentence_names_the_file_and_the_reason(tmp_path, content, sentence):
    path = tmp_path / 'file.yaml'
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=sentence) as caught:
        read_yaml(path, 'the facts', ConfigError)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('loader', ['C', 'Python'])
@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('a: 1\nkey: [hidden, words', 'line [23], column .*expected'),
        ('\n  key: *hidden-words', 'line 2, column 8: found undefined alias'),
        ('a: !!int hidden words', 'a value does not fit its tag .ValueError.'),
        ('hidden words\n\x07', 'it is no YAML: .*characters'),
    ],
)
def test_lines_of_the_file_are_not_in_the_sentence(monkeypatch, loader, text, sentence):
    if loader == 'Python':
        kind = type('Loader', (yaml.SafeLoader,), {})
        monkeypatch.setattr('robodyn_ros.yaml_file.LOADER', kind)
    with pytest.raises(yaml.YAMLError, match=sentence) as caught:
        parse_yaml(text)
    assert 'hidden words' not in str(caught.value) and '\n' not in str(caught.value)


@pytest.mark.parametrize(
    'text, expected', [('9223372036854775807', 2**63 - 1), ('-9223372036854775808', -(2**63))]
)
def test_integers_of_64_bits_are_read(text, expected):
    assert parse_yaml(f'a: {text}') == {'a': expected}


@pytest.mark.parametrize(
    'text', ['9223372036854775808', '-9223372036854775809', '0xFFFFFFFFFFFFFFFFF', '9' * 5000]
)
def test_larger_integers_are_refused_with_their_line(text):
    with pytest.raises(yaml.YAMLError, match=r'^line 2: integers in YAML, .* at most 92233720368'):
        parse_yaml(f'b: 1\na: {text}')


@pytest.mark.parametrize(
    'text, line',
    [
        ('a: 1\nb: 2\na: 3', 3),
        ('a: {b: 1, c: [1, {d: 1}], b: 2}', 1),
        ('- {x: 1}\n- {x: 1,\n   "x": 2}', 3),
    ],
)
def test_a_key_that_is_there_twice_is_refused_with_both_lines(tmp_path, text, line):
    (tmp_path / 'file.yaml').write_text(text)
    with pytest.raises(ConfigError, match=rf"line {line}: the key '.' is in line \d already"):
        read_yaml(tmp_path / 'file.yaml', 'the file', ConfigError)


def test_the_same_key_elsewhere_and_keys_of_a_merge_are_no_repetition():
    found = parse_yaml('a: &a {k: 1, j: 2}\nb: {<<: *a, k: 3}\nc: [{k: 1}, {k: 2}, k, k]')
    assert found['b'] == {'k': 3, 'j': 2}
