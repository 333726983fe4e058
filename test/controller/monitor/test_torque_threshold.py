# SPDX-License-Identifier: Apache-2.0
"""The C++ comparison with torque_threshold, against that of the node."""

import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from robodyn_ros.control.torque_threshold import TorqueThreshold

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "robodyn_ros/torque_threshold.hpp"

int main(int count, char ** words)
{
  using Values = std::vector<double>;
  const Values limit{3.0, 5.0};
  for (int k = 1; k + 1 < count; k += 2) {
    const Values torque{std::atof(words[k]), std::atof(words[k + 1])};
    std::printf("%d ", robodyn_ros::beyond(torque, limit));
  }
  std::printf("%d", robodyn_ros::beyond(Values(), Values()));
}
"""


def test_the_same_torques_are_beyond_it_as_in_the_node(tmp_path):
    compiler = shutil.which('g++') or pytest.skip('there is no g++')
    program = tmp_path / 'check'
    (tmp_path / 'check.cpp').write_text(PROGRAM)
    subprocess.run([
        compiler, '-std=c++17', '-Wall', '-Wextra', '-Werror', f'-I{ROOT / "include"}',
        str(tmp_path / 'check.cpp'), '-o', str(program),
    ], check=True)  # fmt: skip
    values = (0.0, 3.0, -3.0, 3.0000001, 5.0, -5.0000001, np.inf, -np.inf, np.nan)
    pairs = list(product(values, repeat=2))
    threshold = TorqueThreshold(('a', 'b'), np.array([3.0, 5.0]))
    told = [str(threshold.command(np.array(pair))) for pair in pairs]
    expected = [0 if "'a'" in text else 1 if "'b'" in text else -1 for text in told]
    words = [str(value) for pair in pairs for value in pair]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    assert [int(word) for word in done.stdout.split()] == [*expected, -1]
    assert {-1, 0, 1} == set(expected)
