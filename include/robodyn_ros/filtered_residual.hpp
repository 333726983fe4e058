// SPDX-License-Identifier: Apache-2.0
// Torque error from signals that pass one low pass:
// robodyn_ros/control/collision/filtered_residual.py.
#pragma once

#include "robodyn_ros/low_pass.hpp"
#include "robodyn_ros/residual.hpp"

namespace robodyn_ros
{

/// Model torque of filtered motion minus filtered feedback, by softMC's torque error filter.
class FilteredResidual : public Residual
{
public:
  /// `cutoff` [Hz]; `share` of the newest value, 0..1; `period` [s]. `torque` is not changed.
  /// Throws std::invalid_argument: a cutoff that does not fit the period.
  FilteredResidual(ModelTorque & torque, double cutoff, double share, double period);

  void restart(const Eigen::MatrixXd & signals) override;
  void update(const Eigen::MatrixXd & signals) override;

private:
  ModelTorque & torque_;
  double share_;
  MatchedLowPass low_pass_;
  Motion motion_;
  Vector current_;
};

}  // namespace robodyn_ros
