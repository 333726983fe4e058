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

/// Motion of a joint, as a share of the trained range of its deflection, in which the value of its
/// motor must change.
constexpr double kStuck = 0.1;

/// Highest cut-off as a share of the sampling rate; see the Python file.
constexpr double kHighestShare = 0.4;

/// A value that must be above 0 and at most `most`.
double checked(const char * name, double value, double most = std::numeric_limits<double>::max())
{
  if (!(value > 0.0 && value <= most)) {
    throw std::invalid_argument(
      std::string(name) + " of the gear torque must be above 0 and at most " +
      std::to_string(most) + ", got " + std::to_string(value));
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

MatchedLowPass::MatchedLowPass(
  Eigen::Index rows, Eigen::Index signals, double cutoff, double period)
: before_(Eigen::MatrixXd::Zero(rows, signals)),
  last_(before_),
  newest_(before_),
  value_(before_),
  derivative_(before_)
{
  const double warped = std::tan(std::acos(-1.0) * cutoff * period);
  const double norm = 1.0 + std::sqrt(2.0) * warped + warped * warped;
  gain_ = warped * warped / norm;
  first_ = 2.0 * (warped * warped - 1.0) / norm;
  second_ = (1.0 - std::sqrt(2.0) * warped + warped * warped) / norm;
  slope_ = gain_ * 2.0 / period;
}

void MatchedLowPass::restart(const Eigen::MatrixXd & signals)
{
  before_ = signals / (1.0 + first_ + second_);
  last_ = before_;
  value_ = signals;
  derivative_.setZero();
}

void MatchedLowPass::update(const Eigen::MatrixXd & signals)
{
  newest_ = signals - first_ * before_ - second_ * last_;
  derivative_ = slope_ * (newest_ - last_);
  value_ = gain_ * (newest_ + last_ + 2.0 * before_);
  last_.swap(before_);
  before_.swap(newest_);
}

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
  scale_(checked("residual_scale", scale, 1.0)),
  period_(checked("period", period)),
  timeout_(checked("timeout", timeout)),
  low_pass_(law_.limit.size(), 2, usable_cutoff(law_.cutoff, period), period),
  stale_(static_cast<int>(std::clamp(timeout / period + 1e-9, 1.0, 1e9))),
  step_(std::min(1.0, period / checked("fade_time", fade_time))),
  signals_(Eigen::MatrixXd::Zero(law_.limit.size(), 2)),
  play_(kStuck * (law_.high.row(0) - law_.low.row(0)).transpose()),
  motor_(Vector::Zero(law_.limit.size())),
  left_(motor_),
  found_(motor_),
  last_(found_),
  applied_(found_)
{
  for (Eigen::Index joint = 0; joint < play_.size(); ++joint) {
    if (law_.limit[joint] == 0.0) {
      play_[joint] = std::numeric_limits<double>::infinity();  // no torque depends on it
    }
  }
  clear();
}

void MeasuredGearTorque::clear()
{
  age_ = stale_;
  share_ = 0.0;
  fresh_ = restarting_ = false;
  motor_.setConstant(std::numeric_limits<double>::quiet_NaN());
  last_.setZero();
  applied_.setZero();
}

bool MeasuredGearTorque::read(const Vector & position, const Vector & motor, double stamp)
{
  const double elapsed = stamp - stamp_;
  if (!(elapsed > 0.0)) {
    stamp_ = stamp;
    return false;
  }
  signals_.col(1) = motor.cwiseQuotient(law_.gear_ratio);
  signals_.col(0) = signals_.col(1) - position;
  if (!signals_.allFinite() || stuck(position, motor)) {
    return false;
  }
  stamp_ = stamp;
  if (!measured() || elapsed > timeout_) {
    low_pass_.restart(signals_);
    due_ = 0.0;
    restarting_ = true;
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
  return true;
}

/// Whether the value of a motor stays the same though its joint moves.
bool MeasuredGearTorque::stuck(const Vector & position, const Vector & motor)
{
  bool result = false;
  for (Eigen::Index joint = 0; joint < position.size(); ++joint) {
    if (motor[joint] != motor_[joint]) {
      motor_[joint] = motor[joint];
      left_[joint] = position[joint];
    }
    result = result || std::abs(position[joint] - left_[joint]) > play_[joint];
  }
  return result;
}

const Vector & MeasuredGearTorque::torque()
{
  restarting_ = restarting_ && share_ > 0.0;  // first to zero
  const bool stale = restarting_ || !measured();
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
