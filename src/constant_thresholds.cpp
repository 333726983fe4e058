// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/constant_thresholds.hpp"

#include <algorithm>
#include <cmath>

namespace robodyn_ros
{

ConstantThresholds::ConstantThresholds(const CollisionSettings & settings)
: Thresholds(settings.max_torque_error, settings.contact_threshold),
  constant_collision_(settings.max_torque_error),
  constant_contact_(settings.contact_threshold),
  extra_(settings.low_velocity_torque),
  low_velocity_(settings.low_velocity),
  fade_(settings.period / settings.low_velocity_hold),
  slowness_(Vector::Ones(settings.max_torque_error.size()))
{
}

void ConstantThresholds::update(double, const Vector & velocity, const Vector &)
{
  for (Eigen::Index joint = 0; joint < slowness_.size(); ++joint) {
    const double slow =
      std::clamp(2.0 - std::abs(velocity[joint]) / low_velocity_[joint], 0.0, 1.0);
    slowness_[joint] = std::max(slowness_[joint] - fade_, slow);
    const double extra = slowness_[joint] * extra_[joint];
    contact_[joint] = constant_contact_[joint] + extra;
    collision_[joint] = constant_collision_[joint] + extra;
  }
}

}  // namespace robodyn_ros
