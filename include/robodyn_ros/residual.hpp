// SPDX-License-Identifier: Apache-2.0
// Method that computes the torque error from samples of joint states.
#pragma once

#include <memory>

#include "robodyn_ros/collision_settings.hpp"
#include "robodyn_ros/model_torque.hpp"

namespace robodyn_ros
{

/// Torque error of each joint, with the motion that selects thresholds.
///
/// Signals have one row per joint: position, velocity, feedback - friction. `restart` and `update`
/// never allocate or throw.
class Residual
{
public:
  virtual ~Residual() = default;

  /// Settle on constant signals.
  virtual void restart(const Eigen::MatrixXd & signals) = 0;

  /// Take the signals of the next period.
  virtual void update(const Eigen::MatrixXd & signals) = 0;

  /// External torque on each joint, [Nm] or [N].
  const Vector & torque_error() const {return torque_error_;}

  /// Filtered velocity, [rad/s] or [m/s], and acceleration.
  const Vector & velocity() const {return velocity_;}
  const Vector & acceleration() const {return acceleration_;}

  /// Set the torque error to zero: it is not known.
  void clear() {torque_error_.setZero();}

protected:
  explicit Residual(Eigen::Index joints)
  : torque_error_(Vector::Zero(joints)), velocity_(torque_error_), acceleration_(torque_error_)
  {
  }

  Vector torque_error_, velocity_, acceleration_;
};

/// Make the method that the settings name. Throws std::invalid_argument: a frequency that does not
/// fit the period.
std::unique_ptr<Residual> make_residual(ModelTorque & torque, const CollisionSettings & settings);

}  // namespace robodyn_ros
