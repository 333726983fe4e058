# SPDX-License-Identifier: Apache-2.0
"""Names of the parameters of all nodes as a file of the package, which checks robot files."""

from __future__ import annotations

from tools.pages.parameters import NODES, read_declarations

PAGE = '../robodyn_ros/node_parameters/names.yaml'

HEAD = """# SPDX-License-Identifier: Apache-2.0
# Parameters of each node, made from their declarations by `python -m tools.pages`; do not edit.
"""


def page() -> str:
    """Return the text of the file."""
    return HEAD + ''.join(map(_node, NODES))


def _node(name: str) -> str:
    rows = ''.join(f'  - {parameter}\n' for parameter in sorted(read_declarations(name)))
    return f'{name}:\n{rows}'
