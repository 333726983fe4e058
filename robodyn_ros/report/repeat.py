# SPDX-License-Identifier: Apache-2.0
"""Everything that is needed to repeat an identification: command, versions, hashes."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from robodyn_ros import __version__
from robodyn_ros.bounds import check_regular
from robodyn_ros.identification.files.result_file import model_parameters
from robodyn_ros.identification.result.result import IdentificationResult

LIBRARIES = ('numpy', 'scipy', 'pin', 'clarabel', 'rosbags')


def repeat_facts(result: IdentificationResult, command: str, robot: str = '') -> dict[str, Any]:
    """Return plain facts for result.json and the page.

    :param command: how the identification was started
    """
    sources = [each.source for each in result.recordings]
    if result.validation is not None:
        sources.append(result.validation.source)
    facts: dict[str, Any] = {
        'command': command,
        'robot': robot,
        'folder': str(Path.cwd()),
        'versions': versions(),
        'inputs': list(_inputs(sources)),
    }
    if result.has_estimate:
        content = model_parameters(result.model, result.values, result.stddevs)
        facts['model_hash'] = content['hash']
    return facts


def versions() -> dict[str, str]:
    """Return the versions of this package, Python, the system and the libraries."""
    result = {'robodyn_ros': __version__, 'Python': sys.version.split()[0]}
    for name in LIBRARIES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:  # a ROS 2 from apt has Pinocchio under another name
            result[name] = 'unknown'
    return result | {'system': platform.platform()}


def _inputs(sources: Iterable[str]) -> Iterable[dict[str, Any]]:
    """Yield name, size and SHA-256 of the files of each recording."""
    for source in dict.fromkeys(source for source in sources if source):
        for file in _files(Path(source)):
            try:
                size, digest = file.stat().st_size, _digest(file)
            except OSError as error:
                size, digest = 0, f'not read: {error}'
            yield {'file': str(file), 'bytes': size, 'sha256': digest}


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        kinds = ('.mcap', '.db3', '.yaml')
        return sorted(each for each in path.iterdir() if each.suffix in kinds)
    return [path] if path.is_file() else []


def _digest(file: Path) -> str:
    check_regular(file)
    digest = hashlib.sha256()
    with file.open('rb') as content:
        while data := content.read(2**20):
            digest.update(data)
    return digest.hexdigest()
