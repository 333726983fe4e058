"""File names as users give them: with ~, or in the share folder of a ROS package."""

from __future__ import annotations

from pathlib import Path

from robodyn_ros.errors import ConfigError

LONGEST = 255
"""Longest name of a file, in bytes (NAME_MAX of Linux)."""
DEEPEST = 200
"""Most folders in a path; Python makes folders by recursion."""
PACKAGE = 'package://'


def expanded(name: str) -> Path:
    """Return the path with ~ replaced by the home folder.

    :raises ConfigError: there is no such home, or no file can have this name
    """
    parts = name.split('/')
    longest = max(len(part.encode(errors='replace')) for part in parts)
    if longest > LONGEST or len(parts) > DEEPEST or '\0' in name:
        raise ConfigError(
            f'{name[:60]}...: a path must have at most {DEEPEST} folders, got {len(parts)}, and '
            f'names of at most {LONGEST} bytes without null, got {longest}'
        )
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ConfigError(f'{name}: {error}') from error


def resource(name: str) -> Path:
    """Return the path of a file; `package://PACKAGE/...` is in the share folder of a package.

    :raises ConfigError: there is no such package, or no such home
    """
    if not name.startswith(PACKAGE):
        return expanded(name)
    package, _, rest = str(expanded(name[len(PACKAGE) :])).partition('/')
    try:
        # part of ROS 2, without which everything else here works
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(package)) / rest
    except (ImportError, LookupError, ValueError) as error:
        raise ConfigError(f'{name}: there is no ROS package {package!r}') from error
