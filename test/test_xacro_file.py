# SPDX-License-Identifier: Apache-2.0
"""Xacro files, by a program of that name."""

import os
from pathlib import Path

import pytest

from robodyn_ros import xacro_file
from robodyn_ros.bounds import Bound, BoundError
from robodyn_ros.cli.main import main
from robodyn_ros.errors import ConfigError
from robodyn_ros.robot_file import load_robot
from robodyn_ros.xacro_file import expand_xacro, is_xacro, locate_file, urdf_file, urdf_text

UR10 = Path(__file__).resolve().parents[1] / 'urdf' / 'ur10.urdf'


@pytest.fixture
def xacro(tmp_path, monkeypatch):
    """Install a program with this text."""

    def install(text):
        program = tmp_path / 'bin' / 'xacro'
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\n{text}\n')
        program.chmod(0o755)
        monkeypatch.setenv('PATH', f'{program.parent}{os.pathsep}{os.environ["PATH"]}')

    return install


def test_a_command_takes_a_xacro_file(xacro, tmp_path, capsys):
    xacro(f'test "$1" = "{tmp_path}/r.urdf.xacro" && cat {UR10}')
    words = ['--limits', str(UR10.parents[1] / 'config/robots/ur10.yaml')]
    motion = UR10.parents[1] / 'config/robots/ur10.yaml'
    assert main(['advise', str(motion), '--urdf', f'{tmp_path}/r.urdf.xacro', *words]) in (0, 1)
    assert 'error' not in capsys.readouterr().err
    assert Path(urdf_file(f'{tmp_path}/r.urdf.xacro')).read_text() == UR10.read_text()
    assert urdf_file('robot.urdf') == 'robot.urdf'


def test_arguments_follow_the_file(xacro, tmp_path):
    xacro('echo "$#:$1:$2:$3"')
    assert expand_xacro('my r.urdf.xacro a:=1  b:=$(x) ') == '3:my r.urdf.xacro:a:=1:b:=$(x)\n'
    assert Path(urdf_file('/x/r.urdf.xacro a:=/b')).name == 'r.urdf'
    assert locate_file('p://r.xacro a:=b', str.upper) == 'P://R.XACRO a:=b'
    assert locate_file('r.urdf', str.upper) == 'R.URDF' and locate_file('', str.upper) == ''
    assert is_xacro('r.xacro a:=') and not is_xacro('r.xacro --output x')
    assert not is_xacro('/my.xacro folder/r.urdf') and urdf_text(str(UR10)) == UR10.read_text()
    file = tmp_path / 'robot.yaml'
    file.write_text('urdf: r.xacro ur_type:=ur10e f:=../x')
    assert load_robot(str(file)).urdf == f'{tmp_path}/r.xacro ur_type:=ur10e f:=../x'


def test_what_goes_wrong_is_said(xacro, tmp_path, monkeypatch):
    xacro('echo "Traceback" >&2; echo "no macro arm" >&2; exit 2')
    with pytest.raises(ConfigError, match=r'r.xacro: xacro failed: no macro arm'):
        expand_xacro('r.xacro')
    xacro('echo "error: Undefined argument name" >&2; echo "processing file: r" >&2; exit 2')
    words = (
        r'r.xacro: xacro failed: Undefined argument name. Arguments follow the file: FILE.xacro'
    )
    with pytest.raises(ConfigError, match=words):
        expand_xacro('r.xacro')
    xacro('exec sleep 30')
    with pytest.raises(ConfigError, match=r'r.xacro: xacro did not end within 0.2 s'):
        expand_xacro('r.xacro', patience=0.2)
    xacro('exec python3 -c "x = bytearray(3 * 2**30)"')
    with pytest.raises(ConfigError, match=r'r.xacro: xacro failed: MemoryError'):
        expand_xacro('r.xacro')
    xacro('exec yes "<robot/>"')
    with pytest.raises((ConfigError, BoundError), match=r'xacro failed|at most'):
        expand_xacro('r.xacro')
    xacro('echo "<robot/>"')
    monkeypatch.setattr(xacro_file, 'TEXT', Bound(3, 'bytes', 'size', ''))
    with pytest.raises(BoundError, match='at most 3 bytes'):
        expand_xacro('r.xacro')
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(ConfigError, match='the program xacro is not installed: sudo apt'):
        expand_xacro('r.xacro')
