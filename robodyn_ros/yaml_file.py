"""The one way this package reads a YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robodyn_ros.errors import RobodynError

LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
DUMPER = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)
"""Of plain data only, in C where PyYAML has it: a tenth of the time."""


def read_yaml(path: str | Path, what: str, error: type[RobodynError]) -> Any:
    """Content of a YAML file, plain data only.

    :param what: names the file in messages, such as 'the model file'
    :param error: class of the error
    :raises RobodynError: of class `error`: it cannot be read, or is no YAML, saying where
    """
    try:
        return yaml.load(Path(path).read_text(encoding='utf-8'), Loader=LOADER)
    except (OSError, UnicodeDecodeError) as reason:
        raise error(f'{what} {path} cannot be read: {reason}') from reason
    except yaml.YAMLError as reason:
        text = ' '.join(str(reason).split())
        raise error(f'{what} {path} cannot be read: it is no YAML: {text}') from reason
