// SPDX-License-Identifier: Apache-2.0
// From torque at the joint to what the hardware's effort interface takes, and back.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

namespace robodyn_ros
{

/// Effort commands of all joints; a command in per mille never leaves what an int16 holds, since
/// drivers cast to it without looking.
class EffortCommand
{
public:
  EffortCommand() = default;

  /// `unit`: SI, A or permille; `side`: joint or motor; `factor`: effort command per Nm or N at the
  /// joint. Throws std::invalid_argument where they do not go together, or where a joint's
  /// `max_torque` is more than the drive can take.
  EffortCommand(
    const std::string & unit, const std::string & side, const Eigen::VectorXd & factor,
    const Eigen::VectorXd & max_torque, const std::vector<std::string> & joints);

  /// Command for a torque [Nm] or [N] of a joint.
  double operator()(Eigen::Index joint, double torque) const;

  /// Torque [Nm] or [N] of a joint, for a measured effort in the unit of the commands.
  double torque(Eigen::Index joint, double effort) const {return effort / factor_[joint];}

private:
  Eigen::VectorXd factor_;
  double most_ = 0.0;
};

}  // namespace robodyn_ros
