// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/collision_settings.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/joint_values.hpp"

namespace robodyn_ros
{
namespace
{

void check_above(const std::string & name, double value, double least)
{
  if (!(std::isfinite(value) && value > least)) {
    throw std::invalid_argument(
      name + " must be above " + std::to_string(least) + ", got " + std::to_string(value));
  }
}

}  // namespace

void CollisionSettings::check(const std::vector<std::string> & joints) const
{
  const std::pair<const char *, double> positive[]{
    {"period", period}, {"settle_time", settle_time}, {"low_velocity_hold", low_velocity_hold},
    {"filter_cutoff", filter_cutoff}, {"observer_bandwidth", observer_bandwidth},
    {"torque_error_filter", torque_error_filter}};
  for (const auto & [name, value] : positive) {
    check_above(name, value, 0.0);
  }
  check_above("stale_timeout", stale_timeout, period);
  if (torque_error_filter > 1.0) {
    throw std::invalid_argument(
      "torque_error_filter must be above 0 and at most 1, got " +
      std::to_string(torque_error_filter));
  }
  if (residual != "filtered" && residual != "observer") {
    throw std::invalid_argument(
      "residual must be filtered or observer, got " + quoted_text(residual));
  }
  if (debounce < 1 || debounce > kMostDebounce || !(frozen_timeout >= 0.0)) {
    throw std::invalid_argument(
      "debounce must be from 1 to " + std::to_string(kMostDebounce) + " and frozen_timeout at "
      "least 0, got " + std::to_string(debounce) + " and " + std::to_string(frozen_timeout));
  }
  if (torque_error_enable.size() != joints.size()) {
    throw std::invalid_argument(
      "torque_error_enable needs one value for each of the " + std::to_string(joints.size()) +
      " joints, got " + std::to_string(torque_error_enable.size()));
  }
  check_each("max_torque_error", max_torque_error, joints, false);
  check_each("contact_threshold", contact_threshold, joints, false);
  check_each("low_velocity", low_velocity, joints, false);
  check_each("low_velocity_torque", low_velocity_torque, joints, true);
  for (std::size_t joint = 0; joint < joints.size(); ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    if (contact_threshold[place] > max_torque_error[place]) {
      throw std::invalid_argument(
        "joint " + joints[joint] + ": contact_threshold " +
        std::to_string(contact_threshold[place]) + " is above max_torque_error " +
        std::to_string(max_torque_error[place]));
    }
  }
}

}  // namespace robodyn_ros
