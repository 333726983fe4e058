# SPDX-License-Identifier: Apache-2.0
"""Numbers of the plugin's parameters that are none: refused, whatever bounds they have.

The check needs a compiler only: rclcpp::Parameter is replaced by a class with the same functions.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / 'src'
PROGRAM = """
#include <cctype>
#include <cstdio>
#include "robodyn_ros/finite_parameters.hpp"
enum class Type : unsigned char {PARAMETER_BOOL, PARAMETER_DOUBLE, PARAMETER_DOUBLE_ARRAY};
struct Parameter
{
  Type type;
  std::vector<double> values;
  Type get_type() const {return type;}
  std::string name = "p";
  std::string get_name() const {return name;}
  double as_double() const {return values.at(0);}
  const std::vector<double> & as_double_array() const {return values;}
};
int main(int count, char ** words)
{
  std::vector<Parameter> all{{Type::PARAMETER_BOOL, {}}};
  if (count > 1 && std::isalpha(words[1][0]) && std::string(words[1]).size() > 4) {
    all.push_back({Type::PARAMETER_DOUBLE, {1.0}, words[1]});
    std::printf("%s", robodyn_ros::parameter_problem(all).c_str());
    return 0;
  }
  for (int k = 1; k < count; ++k) {
    const double value = std::stod(words[k]);
    all.push_back({Type::PARAMETER_DOUBLE, {0.0}});
    all.push_back(k % 2 ? Parameter{Type::PARAMETER_DOUBLE, {value}} :
      Parameter{Type::PARAMETER_DOUBLE_ARRAY, {0.0, value}});
  }
  std::printf("%s", robodyn_ros::parameter_problem(all).c_str());
}
"""


@pytest.fixture(scope='module')
def check(tmp_path_factory):
    """Return what the check says of numbers, alone and in arrays."""
    compiler = shutil.which('g++') or pytest.skip('there is no g++')
    folder = tmp_path_factory.mktemp('finite')
    source, program = folder / 'check.cpp', folder / 'check'
    source.write_text(PROGRAM)
    flags = ['-std=c++17', '-Wall', '-Wextra', '-Wpedantic', '-Werror', f'-I{ROOT / "include"}']
    subprocess.run([compiler, *flags, str(source), '-o', str(program)], check=True)
    return lambda *words: (
        subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.parametrize('word', ['nan', '-nan', 'inf', '-inf'])
def test_a_number_that_is_none_is_refused_alone_and_in_an_array(check, word):
    for words in ((word,), ('1', word)):
        assert check(*words).startswith('parameter p must be finite, got ')


def test_limits_that_are_not_watched_here_are_refused_by_name(check):
    assert check('torque_max').startswith('parameter torque_max is not for this controller')
    for name in ('max_torque', 'collision.thresholds', 'collision.residual'):
        assert check(name) == ''


def test_numbers_pass(check):
    assert check() == check('0', '-0', '1e308', '-1e-300') == ''


def test_the_controller_checks_all_parameters_where_it_reads_them():
    """Which it has is in the YAML; ros2_control is not there to ask a running one."""
    text = (SOURCE / 'feedforward_torque_controller_parameters.yaml').read_text()
    kinds = [row['type'] for row in flat(yaml.safe_load(text)['feedforward_torque_controller'])]
    assert kinds.count('double') + kinds.count('double_array') > 8
    init = (SOURCE / 'feedforward_torque_controller.cpp').read_text().split('on_init()')[1]
    assert 'check_numbers();' in init.split('InterfaceConfiguration')[0]


def flat(block):
    """Yield the parameters in a block of generate_parameter_library."""
    for entry in block.values():
        if 'type' in entry:
            yield entry
        else:
            yield from flat(entry)
