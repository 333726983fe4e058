// SPDX-License-Identifier: Apache-2.0
// Parameters that are refused: numbers that are none (the bounds of generate_parameter_library let
// NaN pass, and those with one side infinity), and limits of the Python nodes.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace robodyn_ros
{

/// A sentence about the first double among parameters that is NaN or infinite, or "".
///
/// `Parameter` is rclcpp::Parameter, or has the same functions.
template<typename Parameter>
std::string number_problem(const std::vector<Parameter> & parameters)
{
  for (const Parameter & parameter : parameters) {
    const auto type = parameter.get_type();
    std::vector<double> values;
    if (type == decltype(type)::PARAMETER_DOUBLE) {
      values.push_back(parameter.as_double());
    } else if (type == decltype(type)::PARAMETER_DOUBLE_ARRAY) {
      values = parameter.as_double_array();
    }
    for (const double value : values) {
      if (!std::isfinite(value)) {
        return "parameter " + parameter.get_name() + " must be finite, got " +
               std::to_string(value);
      }
    }
  }
  return "";
}

/// A sentence about the first parameter that must not be given, or "".
///
/// The Python nodes have limits that would be ignored here without a word.
template<typename Parameter>
std::string parameter_problem(const std::vector<Parameter> & parameters)
{
  for (const Parameter & parameter : parameters) {
    if (parameter.get_name() == "torque_max") {
      return "parameter torque_max is not for this controller, which does not know the motion "
             "ahead: give it to the node that plans or sends the motion";
    }
  }
  return number_problem(parameters);
}

}  // namespace robodyn_ros
