// SPDX-License-Identifier: Apache-2.0
// Constant thresholds, raised around standstill:
// robodyn_ros/control/collision/constant_thresholds.py.
#pragma once

#include "robodyn_ros/collision_settings.hpp"
#include "robodyn_ros/thresholds.hpp"

namespace robodyn_ros
{

/// Thresholds of the settings, plus an extra torque around standstill.
class ConstantThresholds : public Thresholds
{
public:
  explicit ConstantThresholds(const CollisionSettings & settings);

  void restart(double) override {}  // the slowness continues to fade
  void update(double stamp, const Vector & velocity, const Vector & acceleration) override;

private:
  Vector constant_collision_, constant_contact_, extra_, low_velocity_;
  double fade_;      // of the slowness, per cycle
  Vector slowness_;  // degree of standstill of each joint, 0..1
};

}  // namespace robodyn_ros
