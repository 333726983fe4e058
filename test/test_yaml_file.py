"""Reading YAML: plain data, and one sentence for what is none."""

import pytest
import yaml

from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import DUMPER, LOADER, read_yaml


def test_plain_data_come_back(tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_text('a: [1, 2.5]\nb: {c: null}\n')
    assert read_yaml(path, 'the file', ConfigError) == {'a': [1, 2.5], 'b': {'c': None}}


def test_what_is_written_is_read_by_either_parser():
    text = ' a: "b"\n\t# \x85\u2028\x07é😀 - [~] \'&*!%@\\ \r\n  '
    content = {'text': text, 'numbers': [1, -2.5e-300, 1e300], text: {'none': None, 'on': True}}
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


def test_a_missing_file(tmp_path):
    with pytest.raises(ConfigError, match=r'the facts .*no.yaml cannot be read: .*No such file'):
        read_yaml(tmp_path / 'no.yaml', 'the facts', ConfigError)
