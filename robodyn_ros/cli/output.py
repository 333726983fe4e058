"""Output and exit codes of the sub-commands."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn_ros.output_files import json_text

EXIT_NEGATIVE, EXIT_ERROR, EXIT_INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: the answer is negative, the command failed, Ctrl-C ended it."""


def add_json(parser: Any) -> None:
    """Add `--json`."""
    parser.add_argument('--json', action='store_true', help='print one JSON object')


def show(arguments: argparse.Namespace, facts: object, text: str) -> None:
    """Print the facts as JSON where --json is given, else the text."""
    print(json_text(facts) if arguments.json else text)
