// SPDX-License-Identifier: Apache-2.0
// Read the block `residual_torque` of a result: robodyn_ros/identification/files/gear_torque_block.py.
#pragma once

#include <string>
#include <vector>

#include "robodyn_ros/gear_torque.hpp"

namespace YAML
{
class Node;
}

namespace robodyn_ros
{

/// Torque of gear deflection of a block, for the joints of a model and its hash. Throws
/// std::invalid_argument or YAML::Exception: a key is missing, a number is none or too many, arrays
/// do not fit, or the block was changed or belongs to another model.
GearTorqueLaw read_gear_torque(
  const YAML::Node & block, const std::vector<std::string> & joints,
  const std::string & model_hash);

}  // namespace robodyn_ros
