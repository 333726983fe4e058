// SPDX-License-Identifier: Apache-2.0
// Settings of collision detection: robodyn_ros/control/collision/settings.py.
#pragma once

#include <string>
#include <vector>

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

/// Largest number of consecutive samples above a threshold; more would hide collisions.
constexpr int kMostDebounce = 1000;

/// One value per joint, [Nm] or [N], [rad/s] or [m/s]; times [s], frequencies [Hz].
struct CollisionSettings
{
  Vector max_torque_error;
  Vector contact_threshold;
  std::vector<bool> torque_error_enable;
  double torque_error_filter = 0.5;
  Vector low_velocity;
  Vector low_velocity_torque;
  double low_velocity_hold = 0.05;
  double period = 0.002;
  std::string residual = "filtered";  // or "observer"
  double filter_cutoff = 40.0;        // of the filtered residual
  double observer_bandwidth = 15.0;   // of the observer
  int debounce = 2;
  double settle_time = 0.1;
  double stale_timeout = 0.05;
  double frozen_timeout = 0.2;

  /// Throws std::invalid_argument, naming the value, for `joints` joints.
  void check(const std::vector<std::string> & joints) const;
};

}  // namespace robodyn_ros
