# SPDX-License-Identifier: Apache-2.0
"""Page of a command for a browser, beside its other files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.files.result_folder import is_page
from robodyn_ros.output_files import write_file
from robodyn_ros.report.facts_page import facts_page
from robodyn_ros.runs.file_set import file_set


def with_page(
    arguments: argparse.Namespace,
    facts: Mapping[str, Any],
    text: str,
    *,
    name: str,
    title: str,
    sentence: str = '',
    good: bool | None = None,
) -> dict[str, Any]:
    """Write NAME.html to the folder of `--out`; return the facts with its path among the files.

    The files are in the same set (`file_set.py`).

    :param good: verdict; None: the command gives none
    :raises ConfigError: it cannot be written, or would replace a file that is no page of ours
    """
    path = Path(arguments.out) / f'{name}.html'
    if path.exists() and not is_page(path):
        raise ConfigError(f'{path} exists already, is no report and is kept: use another --out')
    files = facts.get('files', {})
    with file_set(path.parent, ConfigError) as partial:
        new = {kind: str(partial / Path(each).name) for kind, each in files.items()}
        page = facts_page(
            title, {**facts, 'files': new}, text, good=good, command=arguments.command_line,
            sentence=sentence,
        )  # fmt: skip
        write_file(partial / path.name, lambda file: file.write_text(page, 'utf-8'), ConfigError)
    return {**facts, 'files': {**files, 'report': str(path)}}
