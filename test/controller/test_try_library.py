# SPDX-License-Identifier: Apache-2.0
"""An optional compile check never ends the configuration of the project that asks for it."""

import shutil
import subprocess
from pathlib import Path

import pytest

CMAKE = Path(__file__).resolve().parents[2] / 'cmake'
PROJECT = f"""
cmake_minimum_required(VERSION 3.16)
project(asks CXX)
include({CMAKE}/try_library.cmake)
find_package(fake REQUIRED)
robodyn_try_library(fits ${{CMAKE_CURRENT_SOURCE_DIR}}/probe.cpp fake fake::fake)
message(STATUS "fits: ${{fits}}")
"""
PACKAGE = """
if(NOT TARGET fake::fake)
  add_library(fake::fake INTERFACE IMPORTED)
  set_target_properties(fake::fake PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_LIST_DIR}}"
    INTERFACE_LINK_LIBRARIES "{needs}")
endif()
"""


@pytest.fixture
def fits(tmp_path):
    """Return a function that configures the project, and says whether the source fits."""
    if not (shutil.which('cmake') and shutil.which('g++')):
        pytest.skip('there is no cmake or no g++')

    def fits(needs='', source='#include "fake.hpp"\nint f() {return fake;}\n', prefixes=1):
        package = tmp_path / 'prefix' / 'fake'
        package.mkdir(parents=True)
        (package / 'fakeConfig.cmake').write_text(PACKAGE.format(needs=needs))
        (package / 'fake.hpp').write_text('constexpr int fake = 1;\n')
        (tmp_path / 'CMakeLists.txt').write_text(PROJECT)
        (tmp_path / 'probe.cpp').write_text(source)
        folders = ';'.join([str(tmp_path / 'other')] * (prefixes - 1) + [str(tmp_path / 'prefix')])
        done = subprocess.run(
            ['cmake', '-S', tmp_path, '-B', tmp_path / 'build', f'-DCMAKE_PREFIX_PATH={folders}'],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return 'fits: TRUE' in done.stdout

    return fits


@pytest.mark.parametrize('prefixes', [1, 2])
def test_a_source_that_compiles_fits(fits, prefixes):
    assert fits(prefixes=prefixes)


def test_a_source_that_does_not_compile_does_not_fit(fits):
    assert not fits(source='int f() {return other;}\n')


def test_a_target_that_lacks_a_dependency_does_not_end_the_configuration(fits):
    assert not fits(needs='missing::dependency')
