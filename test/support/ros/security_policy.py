"""Permissions of config/security/policy.xml, and what a running node has."""

import xml.etree.ElementTree as ET
from pathlib import Path

from rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)

FILE = Path(__file__).resolve().parents[3] / 'config' / 'security' / 'policy.xml'
VERBS = ('publish', 'subscribe', 'reply', 'request', 'execute', 'call')


def permissions() -> dict[str, set[tuple[str, str]]]:
    """Verb and full name of everything that each node is allowed."""
    found = {}
    for enclave in ET.parse(FILE).getroot().iter('enclave'):
        (profile,) = enclave.iter('profile')
        assert enclave.get('path') == f'/robodyn/{profile.get("node")}'
        rows = found[profile.get('node')] = set()
        for group in profile:
            ((verb, allowed),) = group.attrib.items()
            assert verb in VERBS and allowed == 'ALLOW'
            names = [f'/{item.text}' for item in group]
            assert len(names) == len(set(names)) and not rows & {(verb, name) for name in names}
            rows |= {(verb, name) for name in names}
    return found


def used(node, name: str) -> set[tuple[str, str]]:
    """Verb and full name of everything that a running node has, as another node sees it."""
    actions = {
        'execute': get_action_server_names_and_types_by_node(node, name, '/'),
        'call': get_action_client_names_and_types_by_node(node, name, '/'),
    }
    others = {
        'publish': node.get_publisher_names_and_types_by_node(name, '/'),
        'subscribe': node.get_subscriber_names_and_types_by_node(name, '/'),
        'reply': node.get_service_names_and_types_by_node(name, '/'),
        'request': node.get_client_names_and_types_by_node(name, '/'),
    }
    parts = tuple(f'{action}/_action/' for rows in actions.values() for action, _ in rows)
    found = {(verb, action) for verb, rows in actions.items() for action, _ in rows}
    return found | {
        (verb, each)
        for verb, rows in others.items()
        for each, _ in rows
        if not each.startswith(parts or '\0')
    }
