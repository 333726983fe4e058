// SPDX-License-Identifier: Apache-2.0
// Fingerprint of a result file's model: robodyn_ros/identification/result.py, `_hash`.
#pragma once

#include <string>
#include <vector>

namespace robodyn_ros
{

/// SHA-256 in hexadecimal digits over what determines the torque; numbers by their exact value.
std::string result_hash(
  int format, const std::string & description, const std::vector<std::string> & names,
  const std::vector<double> & values);

}  // namespace robodyn_ros
