// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/gear_torque.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace robodyn_ros
{
namespace
{

double checked_scale(double scale)
{
  if (!(0.0 <= scale && scale <= 1.0)) {
    throw std::invalid_argument(
      "residual_scale must be from 0 to 1, got " + std::to_string(scale));
  }
  return scale;
}

double checked_time(const char * name, double value)
{
  if (!(value > 0.0 && std::isfinite(value))) {
    throw std::invalid_argument(
      std::string(name) + " of the gear torque must be above 0 and finite, got " +
      std::to_string(value));
  }
  return value;
}

/// Cut-off of the training, or the highest one at this period.
double usable_cutoff(double trained, double period)
{
  const double highest = kHighestShare / period;
  return trained == 0.0 ? highest : std::min(trained, highest);
}

}  // namespace

double GearTorqueLaw::torque(
  Eigen::Index joint, double deflection, double rate, double velocity) const
{
  Features inside(deflection, rate, std::copysign(std::sqrt(std::abs(velocity)), velocity));
  double share = 1.0;
  for (Eigen::Index input = 0; input < low.rows(); ++input) {
    const double least = low(input, joint), most = high(input, joint), given = inside[input];
    // In this order, a value that is not a number stays one.
    inside[input] = std::min(std::max(given, least), most);
    const double beyond = std::abs(given - inside[input]) / (0.5 * (most - least));
    share *= std::max(1.0 - beyond, 0.0);
  }
  for (Eigen::Index input = low.rows(); input < inside.size(); ++input) {
    inside[input] = 0.0;
  }
  const double found = map->torque(static_cast<std::size_t>(joint), inside);
  return share * std::min(std::max(found, -limit[joint]), limit[joint]);
}

MeasuredGearTorque::MeasuredGearTorque(
  GearTorqueLaw law, double scale, double period, double fade_time, double timeout)
: law_(std::move(law)),
  scale_(checked_scale(scale)),
  period_(checked_time("period", period)),
  timeout_(checked_time("timeout", timeout)),
  low_pass_(law_.limit.size(), 2, usable_cutoff(law_.cutoff, period), period),
  stale_(static_cast<int>(std::clamp(timeout / period + 1e-9, 1.0, 1e9))),
  step_(std::min(1.0, period / checked_time("fade_time", fade_time))),
  signals_(Eigen::MatrixXd::Zero(law_.limit.size(), 2)),
  found_(Vector::Zero(law_.limit.size())),
  last_(found_),
  applied_(found_)
{
  clear();
}

void MeasuredGearTorque::clear()
{
  age_ = stale_;
  share_ = 0.0;
  fresh_ = false;
  last_.setZero();
  applied_.setZero();
}

void MeasuredGearTorque::read(const Vector & position, const Vector & motor, double stamp)
{
  const double elapsed = stamp - stamp_;
  stamp_ = stamp;
  if (!(elapsed > 0.0)) {
    return;
  }
  signals_.col(1) = motor.cwiseQuotient(law_.gear_ratio);
  signals_.col(0) = signals_.col(1) - position;
  if (!signals_.allFinite()) {
    return;
  }
  if (!measured() || elapsed > timeout_) {
    low_pass_.restart(signals_);
    due_ = 0.0;
  } else {
    due_ += elapsed / period_;
    const double steps = std::nearbyint(due_);
    due_ -= steps;
    for (double step = 0.0; step < steps; ++step) {
      low_pass_.update(signals_);
    }
  }
  age_ = 0;
  fresh_ = true;
}

const Vector & MeasuredGearTorque::torque()
{
  const bool stale = !measured();
  age_ = std::min(age_ + 1, stale_);
  share_ = std::clamp(share_ + (stale ? -step_ : step_), 0.0, 1.0);
  if (fresh_ && !stale) {
    compute();
  }
  fresh_ = false;
  applied_ = last_ * (scale_ * share_);
  return applied_;
}

/// Torque of the filtered measurements, unless it is not finite.
void MeasuredGearTorque::compute()
{
  const Eigen::MatrixXd & value = low_pass_.value(), & rate = low_pass_.derivative();
  for (Eigen::Index joint = 0; joint < found_.size(); ++joint) {
    found_[joint] = law_.torque(joint, value(joint, 0), rate(joint, 0), rate(joint, 1));
  }
  if (found_.allFinite()) {
    last_ = found_;
  }
}

}  // namespace robodyn_ros
