# SPDX-License-Identifier: Apache-2.0
import xml.etree.ElementTree as ET

import pytest

from robodyn_ros.bounds import (
    EXPANSION,
    RECORD,
    XML_DEPTH,
    XML_ELEMENTS,
    YAML_DEPTH,
    BoundError,
    check_bound,
    check_expansion,
    parse_json,
    parse_xml,
    read_text,
)
from robodyn_ros.errors import RobodynError


def test_the_message_has_bound_and_value():
    check_bound(YAML_DEPTH, YAML_DEPTH.most)
    with pytest.raises(
        BoundError, match=r'^x: nesting of YAML: at most 100 levels, got 101$'
    ) as caught:
        check_bound(YAML_DEPTH, 101, 'x')
    assert isinstance(caught.value, RobodynError)
    with pytest.raises(BoundError, match='got nan'):
        check_bound(YAML_DEPTH, float('nan'))


def test_small_files_may_expand_more():
    check_expansion(RECORD.most, 1)
    check_expansion(EXPANSION.most * 10**9, 10**9)
    with pytest.raises(BoundError, match='at most 200 times its size'):
        check_expansion(EXPANSION.most * 10**9 + 1, 10**9)


@pytest.mark.timeout(20)
def test_files_of_the_kernel_are_refused_without_waiting(tmp_path):
    (tmp_path / 'link.yaml').symlink_to('/proc/kmsg')
    for path in ('/proc/kmsg', '/proc/self/environ', tmp_path / 'link.yaml'):
        with pytest.raises(BoundError, match='a file of the kernel'):
            read_text(path)
    (tmp_path / 'empty').touch()
    assert read_text(tmp_path / 'empty') == ''


def test_xml_is_parsed_as_by_the_library():
    text = '<?xml version="1.0" encoding="latin-1"?><r a="ä"><b>t</b>u</r>'
    assert ET.tostring(parse_xml(text)) == ET.tostring(ET.fromstring(text))


@pytest.mark.parametrize(
    'text',
    [
        '<a>' * (XML_DEPTH.most + 1) + '</a>' * (XML_DEPTH.most + 1),
        '<r>' + '<a/>' * XML_ELEMENTS.most + '</r>',
        '<r>',
        '',
        '<?xml version="1.0" encoding="none"?><r',
        '\ud800',
    ],
)
def test_other_xml_is_a_parse_error(text):
    with pytest.raises(ET.ParseError):
        parse_xml(text)


@pytest.mark.parametrize('text', ['[' * 100_000, '{"a":' * 100_000, '{', ''])
def test_json_is_refused_by_a_value_error_also_if_it_is_deeply_nested(text):
    with pytest.raises(ValueError, match='too deeply nested' if len(text) > 1 else 'Expecting'):
        parse_json(text)
    assert parse_json('{"a": [1]}') == {'a': [1]}
