// Numbers of parameters that are none. The bounds of generate_parameter_library let NaN pass, and
// those with one side infinity.
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

}  // namespace robodyn_ros
