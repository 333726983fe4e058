"""The flow of docs/architecture.md, held against the imports of the code."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / 'robodyn_ros'
FLOW = ('wire', 'models', 'excitation', 'recording', 'identification', 'control', 'analysis')
ALLOWED = {
    **{room: set(FLOW[: index + 1]) for index, room in enumerate(FLOW)},
    'cell': {'cell', 'excitation'},
    'nodes': {*FLOW, 'cell', 'nodes'},
    'cli': {*FLOW, 'cell', 'nodes', 'cli'},
}
ROS = {
    'rclpy', 'sensor_msgs', 'std_msgs', 'std_srvs', 'trajectory_msgs', 'diagnostic_msgs',
    'lifecycle_msgs', 'rcl_interfaces', 'builtin_interfaces', 'action_msgs', 'launch',
}  # fmt: skip


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: relative import'
            found |= {f'{node.module}.{alias.name}' for alias in node.names}
    return found


def sources() -> list[Path]:
    return sorted(path for path in ROOT.rglob('*.py') if path.parent != ROOT)


@pytest.mark.parametrize('path', sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_imports_only_from_rooms_to_its_left(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    rooms = {
        name.split('.')[1]
        for name in imports(path)
        if name.startswith('robodyn_ros.') and (ROOT / name.split('.')[1]).is_dir()
    }
    assert rooms <= ALLOWED[room], f'{path} imports from {sorted(rooms - ALLOWED[room])}'


@pytest.mark.parametrize('path', sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_nodes_and_cli_know_ros(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    generated = {'robodyn_ros.msg', 'robodyn_ros.srv', 'robodyn_ros.action'}
    ros = {
        name
        for name in imports(path)
        if name.split('.')[0] in ROS or '.'.join(name.split('.')[:2]) in generated
    }
    assert room in ('nodes', 'cli') or not ros, f'{path} imports {sorted(ros)}'


def test_the_core_runs_where_ros_is_missing() -> None:
    """The pip-installed command must work without ROS: importing it pulls in no rclpy."""
    import subprocess

    code = (
        'import sys\n'
        'class Missing:\n'
        '    def find_spec(self, name, path=None, target=None):\n'
        f'        if name.split(".")[0] in {sorted(ROS)!r}: raise ImportError(name)\n'
        'sys.meta_path.insert(0, Missing())\n'
        'import robodyn_ros.cli.main\n'
        'robodyn_ros.cli.main.build_parser()\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        cwd=ROOT.parent,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
