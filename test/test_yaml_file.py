"""Reading YAML: plain data, and one sentence for what is none."""

import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import read_yaml


def test_plain_data_come_back(tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_text('a: [1, 2.5]\nb: {c: null}\n')
    assert read_yaml(path, 'the file', ConfigError) == {'a': [1, 2.5], 'b': {'c': None}}


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


def test_a_missing_file(tmp_path):
    with pytest.raises(ConfigError, match=r'the facts .*no.yaml cannot be read: .*No such file'):
        read_yaml(tmp_path / 'no.yaml', 'the facts', ConfigError)
