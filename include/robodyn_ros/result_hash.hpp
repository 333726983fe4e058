// SPDX-License-Identifier: Apache-2.0
// Fingerprints of a result file: robodyn_ros/identification/files/result_file.py, `_hash`.
#pragma once

#include <string>
#include <vector>

namespace robodyn_ros
{

/// SHA-256 in hexadecimal digits over what determines the torque; numbers by their exact value.
std::string result_hash(
  int format, const std::string & description, const std::vector<std::string> & names,
  const std::vector<double> & values);

/// The same of a block `residual_torque`: identification/files/gear_torque_block.py, `_hash`.
///
/// `words`: joints, inputs and names of arrays; `numbers`: limit, gear ratio, low, high and those of
/// the arrays; `shapes`: of the arrays, as JSON.
std::string gear_hash(
  const std::string & kind, double cutoff, const std::vector<std::vector<std::string>> & words,
  const std::vector<std::vector<double>> & numbers, const std::vector<std::string> & shapes,
  const std::string & model_hash);

}  // namespace robodyn_ros
