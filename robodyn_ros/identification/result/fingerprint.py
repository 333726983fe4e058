# SPDX-License-Identifier: Apache-2.0
"""Hash of a result, which detects another model or changed values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

FORMAT = 1
"""Version of the parameter file."""


def fingerprint(described: str, names: Iterable[str], values: Iterable[float]) -> str:
    """Return the SHA-256 over what determines the torque; numbers by their exact value.

    :param described: description of the model, or the hash of what the values come on top of
    """
    exact = [float(value).hex() for value in values]
    parts = [FORMAT, described.strip(), [str(name) for name in names], exact]
    return hashlib.sha256(json.dumps(parts).encode('utf-8')).hexdigest()
