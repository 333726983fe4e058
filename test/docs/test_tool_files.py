# SPDX-License-Identifier: Apache-2.0
"""Files for RViz, rqt, PlotJuggler, Foxglove and the diagnostics aggregator.

Every topic in them is published according to docs/architecture.md, and every field exists in the
definition of its message.
"""

import re

import pytest
import yaml
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tool_files import CONFIG, OTHERS, READERS, ROOT, TYPES, path_of, rviz, topic_of


def rows() -> dict[str, str]:
    """Published topics of each node in the table of docs/architecture.md."""
    text = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    table = text.partition('| node | subscribes | publishes')[2].partition('\n\n')[0]
    cells = [line.split('|') for line in table.splitlines() if line.startswith('| `')]
    return {row[1].split('`')[1]: row[3] for row in cells}


def store():
    made = get_typestore(Stores.ROS2_JAZZY)
    for name in ('CollisionState', 'TorqueState'):
        kind = f'robodyn_ros/msg/{name}'
        made.register(get_types_from_msg((ROOT / 'msg' / f'{name}.msg').read_text(), kind))
    return made


STORE = store()


@pytest.mark.parametrize('read', READERS)
def test_topics_are_published_and_fields_exist(read):
    published = {
        full
        for node, cell in rows().items()
        for name in re.findall(r'`([\w/]+)`', cell)
        for full in (f'/{name}', f'/{node}/{name}')  # the node is left out where it is clear
    }
    found = {path_of(path) for path in read()}
    assert len(found) >= 3
    for path in found:
        topic = topic_of(path)
        assert topic in published | OTHERS, path
        if field := path[len(topic) + 1 :]:
            name, _, index = field.partition('[')
            kind = dict(STORE.get_msgdef(TYPES[topic]).fields)[name]
            assert bool(index) <= (kind[0].name in ('ARRAY', 'SEQUENCE')), path


def test_each_node_is_in_one_group_of_the_aggregator():
    content = yaml.safe_load((CONFIG / 'diagnostics_aggregator.yaml').read_text())
    groups = content['/**']['ros__parameters']
    starts = [
        name
        for group in groups.values()
        if isinstance(group, dict)
        for name in group['startswith']
    ]
    assert sorted(starts) == sorted(rows())


def test_rviz_of_a_namespace_gets_all_its_topics():
    pytest.importorskip('launch_ros', reason='launch_ros is not installed (it comes with ROS 2)')
    from robodyn_ros.nodes.launching.viewers import RVIZ_TOPICS

    assert {f'/{topic}' for topic in RVIZ_TOPICS} == set(rviz())
