// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/effort_command.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace robodyn_ros
{

EffortCommand::EffortCommand(
  const std::string & unit, const std::string & side, const Eigen::VectorXd & factor,
  const Eigen::VectorXd & max_torque, const std::vector<std::string> & joints)
: factor_(factor),
  most_(unit == "permille" ? 32767.0 : std::numeric_limits<double>::infinity())
{
  if (!factor_.allFinite() || (factor_.array() == 0.0).any()) {
    throw std::invalid_argument("effort.command_per_torque must be finite and not 0");
  }
  if ((factor_.array() == 1.0).all() && (unit != "SI" || side == "motor")) {
    throw std::invalid_argument(
      "effort.unit " + unit + " on the " + side + " side needs effort.command_per_torque: the "
      "effort command per Nm or N at the joint");
  }
  for (Eigen::Index joint = 0; joint < factor_.size(); ++joint) {
    const double largest = std::abs(max_torque[joint] * factor_[joint]);
    if (!std::isfinite(largest)) {
      throw std::invalid_argument(
        "max_torque of joint " + joints[static_cast<std::size_t>(joint)] + " times "
        "effort.command_per_torque must be finite");
    }
    if (largest > most_) {
      throw std::invalid_argument(
        "max_torque of joint " + joints[static_cast<std::size_t>(joint)] + " is " +
        std::to_string(largest) + " permille, a drive takes at most 32767: check "
        "effort.command_per_torque");
    }
  }
}

double EffortCommand::operator()(Eigen::Index joint, double torque) const
{
  return std::clamp(torque * factor_[joint], -most_, most_);
}

}  // namespace robodyn_ros
