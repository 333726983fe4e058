// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/filtered_residual.hpp"

namespace robodyn_ros
{

FilteredResidual::FilteredResidual(
  ModelTorque & torque, double cutoff, double share, double period)
: Residual(static_cast<Eigen::Index>(torque.joints().size())),
  torque_(torque),
  share_(share),
  low_pass_(torque_error_.size(), 3, cutoff, period),
  motion_(torque_error_.size()),
  current_(torque_error_)
{
}

void FilteredResidual::restart(const Eigen::MatrixXd & signals)
{
  low_pass_.restart(signals);
  torque_error_.setZero();
  velocity_ = signals.col(1);
  acceleration_.setZero();
}

void FilteredResidual::update(const Eigen::MatrixXd & signals)
{
  low_pass_.update(signals);
  velocity_ = low_pass_.value().col(1);
  acceleration_ = low_pass_.derivative().col(1);
  motion_.q = low_pass_.value().col(0);
  motion_.qd = velocity_;
  motion_.qdd = acceleration_;
  torque_.body(motion_, current_);
  current_ -= low_pass_.value().col(2);
  torque_error_ += share_ * (current_ - torque_error_);
}

}  // namespace robodyn_ros
