// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/momentum_observer.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace robodyn_ros
{

MomentumObserver::MomentumObserver(ModelTorque & torque, double bandwidth, double period)
: Residual(static_cast<Eigen::Index>(torque.joints().size())),
  torque_(torque),
  rate_(1.0 / period),
  share_(-std::expm1(-2.0 * std::acos(-1.0) * bandwidth * period)),
  motion_(torque_error_.size()),
  external_(torque_error_),
  before_(Eigen::MatrixXd::Zero(torque_error_.size(), 3))
{
  if (!(bandwidth > 0.0 && bandwidth <= 0.5 / period)) {
    throw std::invalid_argument(
      "observer_bandwidth must be above 0 and at most " + std::to_string(0.5 / period) +
      " Hz at this period, got " + std::to_string(bandwidth));
  }
}

void MomentumObserver::restart(const Eigen::MatrixXd & signals)
{
  before_ = signals;
  torque_error_.setZero();
  velocity_ = signals.col(1);
  acceleration_.setZero();
}

void MomentumObserver::update(const Eigen::MatrixXd & signals)
{
  motion_.q = 0.5 * (signals.col(0) + before_.col(0));
  motion_.qd = 0.5 * (signals.col(1) + before_.col(1));
  motion_.qdd = rate_ * (signals.col(1) - before_.col(1));
  torque_.body(motion_, external_);
  external_ -= 0.5 * (signals.col(2) + before_.col(2));
  torque_error_ += share_ * (external_ - torque_error_);
  velocity_ += share_ * (motion_.qd - velocity_);
  acceleration_ += share_ * (motion_.qdd - acceleration_);
  before_ = signals;
}

}  // namespace robodyn_ros
