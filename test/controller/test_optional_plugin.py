# SPDX-License-Identifier: Apache-2.0
"""The controller plugin is optional: packages that it lacks never end the configuration."""

import shutil
import subprocess
from pathlib import Path

import pytest

CMAKE = Path(__file__).resolve().parents[2] / 'cmake'
PROJECT = f"""
cmake_minimum_required(VERSION 3.20)
project(asks CXX)
set(ROBODYN_CPP_INTERFACES ON)
include({CMAKE}/controller.cmake)
"""


def test_a_pinocchio_that_lacks_a_dependency_does_not_end_a_build_without_the_plugin(tmp_path):
    """Its configuration file demands Boost and coal, which no QUIET of ours makes optional."""
    cmake = shutil.which('cmake') or pytest.skip('there is no cmake')
    (tmp_path / 'CMakeLists.txt').write_text(PROJECT)
    package = tmp_path / 'prefix' / 'pinocchio'
    package.mkdir(parents=True)
    (package / 'pinocchioConfig.cmake').write_text('find_package(no_such_package REQUIRED)\n')
    words = [
        f'-DCMAKE_PREFIX_PATH={tmp_path / "prefix"}',
        '-DCMAKE_DISABLE_FIND_PACKAGE_controller_interface=ON',
    ]
    done = subprocess.run(
        [cmake, '-S', tmp_path, '-B', tmp_path / 'build', *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'the controller plugin is left out, not found: controller_interface' in done.stdout
