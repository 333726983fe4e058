// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/additive_torque.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace robodyn_ros
{

void check_between(const std::string & name, double value, double low, double high)
{
  if (!(low <= value && value <= high)) {
    throw std::invalid_argument(
      name + " must be from " + std::to_string(low) + " to " + std::to_string(high) + ", got " +
      std::to_string(value));
  }
}

void check_each(
  const std::string & name, const Vector & values, const std::vector<std::string> & joints)
{
  if (values.size() != static_cast<Eigen::Index>(joints.size())) {
    throw std::invalid_argument(
      name + " needs one value for each of the " + std::to_string(joints.size()) +
      " joints, got " + std::to_string(values.size()));
  }
  for (std::size_t joint = 0; joint < joints.size(); ++joint) {
    const double value = values[static_cast<Eigen::Index>(joint)];
    if (!(std::isfinite(value) && value > 0.0)) {
      throw std::invalid_argument(
        name + " of joint " + joints[joint] + " must be above 0, got " + std::to_string(value));
    }
  }
}

void LawSettings::check(const std::vector<std::string> & joints) const
{
  check_between("period", period, 1e-5, 1.0);
  check_between("additive_torque_delay", additive_torque_delay, 0, 1000);
  check_between("feedforward_scale", scale, 0.0, 1.0);
  check_between("ramp_up_time", ramp_up_time, period, 60.0);
  check_between("ramp_down_time", ramp_down_time, period, 60.0);
  check_between("friction_fade_time", friction_fade_time, period, 60.0);
  check_each("max_torque", max_torque, joints);
  check_each("max_torque_rate", max_torque_rate, joints);
  for (std::size_t joint = 0; joint < joints.size(); ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    const double slope = max_torque_rate[place] * period * ramp_down_cycles();
    if (max_torque[place] > slope * (1.0 + 1e-9)) {
      throw std::invalid_argument(
        "joint " + joints[joint] + ": max_torque cannot fall to zero within ramp_down_time at "
        "max_torque_rate; at least " +
        std::to_string(max_torque[place] / max_torque_rate[place]) + " s are needed");
    }
  }
}

int cycles_in(double time, double period)
{
  return std::max(1, static_cast<int>(time / period + 1e-9));
}

const char * fault_text(Fault fault)
{
  switch (fault) {
    case Fault::kReferenceNotFinite: return "the reference is not finite";
    case Fault::kTorqueNotFinite: return "the model torque of the reference is not finite";
    case Fault::kReferenceMissing: return "no reference came for reference_timeout";
    case Fault::kReferenceFrozen:
      return "the reference position stood still for reference_timeout while its velocity did not";
    case Fault::kStateMissing: return "a measured position was not finite for state_timeout";
    case Fault::kStateFrozen:
      return "the measured positions stood still for state_timeout while the reference moved";
    case Fault::kTimeBack: return "the time of the cycle went back";
    case Fault::kTimeForward:
      return "the time of the cycle jumped forward by more than reference_timeout";
    case Fault::kReferenceIncomplete:
      return "the reference lacks position, velocity or acceleration: the controller that commands "
             "it needs command_interfaces: [position, velocity, acceleration]";
    case Fault::kTorqueThreshold:
      return "a measured or additive torque is beyond torque_threshold";
    default: return "";
  }
}

AdditiveTorque::AdditiveTorque(
  ModelTorque & torque, const LawSettings & settings, std::unique_ptr<MeasuredGearTorque> gears)
: torque_(torque),
  limit_(settings.max_torque),
  step_(settings.max_torque_rate * settings.period),
  period_(settings.period),
  up_(settings.period / settings.ramp_up_time),
  down_cycles_(settings.ramp_down_cycles()),
  fade_time_(settings.friction_fade_time),
  scale_(settings.scale),
  scale_before_(settings.scale),
  scale_after_(settings.scale),
  values_before_(torque.values()),
  values_after_(torque.values()),
  values_(torque.values()),
  gears_(std::move(gears))
{
  settings.check(torque.joints());
  const auto count = static_cast<Eigen::Index>(torque.joints().size());
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const auto & name = torque.joints()[static_cast<std::size_t>(joint)];
    if (std::count(settings.refused.begin(), settings.refused.end(), name) > 0) {
      limit_[joint] = 0.0;
    }
  }
  for (Vector * values :
    {&requested_, &applied_, &fading_, &delayed_, &computed_, &velocity_, &side_,
      &rest_})
  {
    *values = Vector::Zero(count);
  }
  ring_ = Eigen::MatrixXd::Zero(count, settings.additive_torque_delay + 1);
}

bool AdditiveTorque::start()
{
  if (fault_ != Fault::kNone) {
    return false;
  }
  if (!enabled()) {
    ring_empty_ = true;
    side_.setZero();
    torque_.forget();  // the robot may be elsewhere, as after a pause
    if (gears_) {
      gears_->clear();
    }
    ramp_ = 0.0;
    follow_changes();  // while no torque is applied they count at once
    state_ = LawState::kRampingIn;
  }
  return true;
}

void AdditiveTorque::resume(double pause)
{
  if (enabled()) {
    approach(applied_, 0.0, pause / period_);
    state_ = LawState::kInactive;
    start();
  } else {
    fade(pause / period_);
  }
}

void AdditiveTorque::set_scale(double scale)
{
  if (0.0 <= scale && scale <= 1.0 && scale != scale_after_) {
    scale_before_ = scale_;
    scale_after_ = scale;
    rescaled_ = 0.0;
  }
}

void AdditiveTorque::set_values(const Vector & values)
{
  values_before_ = values_;
  values_after_ = values;
  revalued_ = 0.0;
}

void AdditiveTorque::follow_changes()
{
  const double step = enabled() ? up_ : 1.0;
  if (rescaled_ < 1.0) {
    rescaled_ = std::min(1.0, rescaled_ + step);
    scale_ = rescaled_ == 1.0 ? scale_after_ :
      scale_before_ + rescaled_ * (scale_after_ - scale_before_);
  }
  if (revalued_ < 1.0) {
    revalued_ = std::min(1.0, revalued_ + step);
    values_ = values_after_;
    if (revalued_ < 1.0) {
      values_ = values_before_ + revalued_ * (values_after_ - values_before_);
    }
    torque_.set_values(values_);
  }
}

void AdditiveTorque::stop()
{
  if (enabled()) {
    fading_ = applied_;
    ramp_ = 1.0;
    state_ = LawState::kRampingOut;
  }
}

void AdditiveTorque::trip(Fault fault)
{
  if (enabled()) {  // then there is none yet
    fault_ = fault;
    stop();
  }
}

void AdditiveTorque::clear()
{
  state_ = LawState::kInactive;
  ramp_ = 0.0;
  applied_.setZero();
  requested_.setZero();
}

const Vector & AdditiveTorque::update(const Motion & motion)
{
  follow_changes();
  const Fault problem = request(motion);
  accepted_ = problem == Fault::kNone;
  if (!accepted_) {
    trip(problem);
    return idle();
  }
  delay();
  if (!enabled()) {
    return idle();
  }
  if (gears_) {
    delayed_ += gears_->torque();
  }
  ramp_ = std::min(1.0, ramp_ + up_);
  if (ramp_ == 1.0) {
    state_ = LawState::kActive;
  }
  approach(delayed_, scale_ * ramp_, 1.0);
  return applied_;
}

const Vector & AdditiveTorque::idle()
{
  fade(1.0);
  return applied_;
}

/// Continue the ramp to zero; LawSettings::check ensures that it keeps the rate.
void AdditiveTorque::fade(double cycles)
{
  if (state_ == LawState::kRampingOut) {
    ramp_ -= cycles / down_cycles_;
    if (ramp_ < 1e-9) {
      state_ = LawState::kInactive;
      ramp_ = 0.0;
    }
    applied_ = fading_ * ramp_;
  }
}

Fault AdditiveTorque::request(const Motion & motion)
{
  // One number tells whether any value is not finite (or absurdly large).
  if (!std::isfinite(
      motion.q.squaredNorm() + motion.qd.squaredNorm() + motion.qdd.squaredNorm()))
  {
    return Fault::kReferenceNotFinite;
  }
  hold_friction(motion.qd);
  torque_.body(motion, computed_);
  torque_.add_friction(motion, velocity_, computed_);
  if (!std::isfinite(computed_.squaredNorm())) {
    return Fault::kTorqueNotFinite;
  }
  requested_ = computed_;
  return Fault::kNone;
}

/// At standstill of the reference, friction keeps the value of the motion before and fades out:
/// control/torque/standstill.py.
void AdditiveTorque::hold_friction(const Vector & qd)
{
  for (Eigen::Index joint = 0; joint < velocity_.size(); ++joint) {
    const double speed = qd[joint];
    const double reach =
      std::max(torque_.velocity_window()[joint], std::numeric_limits<double>::min());
    velocity_[joint] = speed;
    if (std::abs(speed) >= reach) {
      side_[joint] = speed > 0.0 ? 1.0 : -1.0;
      rest_[joint] = 0.0;
    } else if (side_[joint] != 0.0) {
      rest_[joint] += period_;
      const double held = 2.0 - 2.0 * rest_[joint] / fade_time_;
      if (held >= 1.0) {
        velocity_[joint] = side_[joint] * reach;
      } else if (held > 0.0) {
        velocity_[joint] = speed + held * (side_[joint] * reach - speed);
      }
    }
  }
}

void AdditiveTorque::delay()
{
  if (ring_empty_) {  // the first value counts as if it had been there before
    ring_.colwise() = requested_;
    ring_empty_ = false;
  }
  ring_.col(next_) = requested_;
  next_ = (next_ + 1) % ring_.cols();
  delayed_ = ring_.col(next_);
}

/// Move the applied torque towards a share of `target`: all torque that is not ramping out passes
/// limit and rate here.
void AdditiveTorque::approach(const Vector & target, double share, double cycles)
{
  for (Eigen::Index joint = 0; joint < applied_.size(); ++joint) {
    const double limit = limit_[joint], step = step_[joint] * cycles;
    const double wanted = std::clamp(target[joint] * share, -limit, limit);
    const double change = std::clamp(wanted - applied_[joint], -step, step);
    applied_[joint] = std::clamp(applied_[joint] + change, -limit, limit);
  }
}

}  // namespace robodyn_ros
