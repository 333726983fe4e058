// SPDX-License-Identifier: Apache-2.0
// Momentum observer: robodyn_ros/control/collision/momentum_observer.py, which derives the law.
#pragma once

#include "robodyn_ros/residual.hpp"

namespace robodyn_ros
{

/// External torque behind a first-order low pass, without a signal of acceleration.
///
/// With the model's torque tau at the means of two samples and the difference quotient of the
/// velocity, r[k] = a r[k-1] + (1 - a) (tau - mean feedback), a = exp(-2 pi bandwidth T). Velocity
/// and acceleration pass the same low pass and only select thresholds.
class MomentumObserver : public Residual
{
public:
  /// `bandwidth`: -3 dB corner of the external torque [Hz]; `period` [s]. `torque` is not changed.
  /// Throws std::invalid_argument: a bandwidth outside 0 to half of the sampling rate.
  MomentumObserver(ModelTorque & torque, double bandwidth, double period);

  void restart(const Eigen::MatrixXd & signals) override;
  void update(const Eigen::MatrixXd & signals) override;

private:
  ModelTorque & torque_;
  double rate_;   // samples per second
  double share_;  // 1 - a
  Motion motion_;
  Vector external_;
  Eigen::MatrixXd before_;
};

}  // namespace robodyn_ros
