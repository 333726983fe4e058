// SPDX-License-Identifier: Apache-2.0
// Checks of settings with one value per joint.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

/// Throws std::invalid_argument, naming the joint, unless there is one finite value above 0 for each
/// joint.
inline void check_each(
  const std::string & name, const Vector & values, const std::vector<std::string> & joints)
{
  if (values.size() != static_cast<Eigen::Index>(joints.size())) {
    throw std::invalid_argument(
      name + " needs one value for each of the " + std::to_string(joints.size()) +
      " joints, got " + std::to_string(values.size()));
  }
  for (std::size_t joint = 0; joint < joints.size(); ++joint) {
    const double value = values[static_cast<Eigen::Index>(joint)];
    if (!(std::isfinite(value) && value > 0.0)) {
      throw std::invalid_argument(
        name + " of joint " + joints[joint] + " must be above 0, got " + std::to_string(value));
    }
  }
}

}  // namespace robodyn_ros
