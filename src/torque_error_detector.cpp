// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/torque_error_detector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "robodyn_ros/constant_thresholds.hpp"

namespace robodyn_ros
{
namespace
{

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The residual of settings that were checked first.
std::unique_ptr<Residual> checked_residual(
  ModelTorque & torque, const CollisionSettings & settings)
{
  settings.check(torque.joints());
  return make_residual(torque, settings);
}

}  // namespace

const char * unknown_text(Fault fault)
{
  switch (fault) {
    case Fault::kTorqueNotFinite: return "the torque error or its threshold is not finite";
    case Fault::kStateMissing: return "no measured values: the controller is not updated";
    case Fault::kStateFrozen: return "the measured values have not changed for frozen_timeout";
    case Fault::kStateTimeBack: return "the time of the cycle does not advance";
    case Fault::kStateRefused: return "a measured position, velocity or effort is not finite";
    case Fault::kSettling: return "settling";
    case Fault::kNothingMonitored: return "no joint is enabled";
    case Fault::kPayloadChanged: return "the payload was changed";
    default: return "";
  }
}

TorqueErrorDetector::TorqueErrorDetector(
  ModelTorque & torque, const CollisionSettings & settings, std::unique_ptr<Thresholds> thresholds)
: torque_(torque),
  settings_(settings),
  residual_(checked_residual(torque, settings)),
  thresholds_(
    thresholds ? std::move(thresholds) : std::make_unique<ConstantThresholds>(settings)),
  change_(static_cast<Eigen::Index>(torque.joints().size()), settings.period),
  compared_(Vector::Zero(static_cast<Eigen::Index>(torque.joints().size()))),
  limit_(compared_),
  contact_(thresholds_->contact()),
  threshold_(thresholds_->collision()),
  friction_(Vector::Zero(threshold_.size())),
  motion_(threshold_.size()),
  signals_(Eigen::MatrixXd::Zero(threshold_.size(), 3)),
  before_(signals_),
  between_(signals_),
  measured_(signals_),
  newest_(signals_),
  over_contact_(torque.joints().size()),
  over_collision_(over_contact_),
  latched_(torque.joints().size()),
  level_(torque.joints().size(), Level::kUnknown),
  stamp_(-kInfinity),
  changed_(-kInfinity),
  settled_(kInfinity)
{
  const auto & enabled = settings_.torque_error_enable;
  monitored_ = std::find(enabled.begin(), enabled.end(), true) != enabled.end();
}

void TorqueErrorDetector::update(
  double stamp, const Vector & q, const Vector & qd, const Vector & torque)
{
  const Fault problem = inspect(stamp, q, qd, torque);
  if (problem != Fault::kNone) {
    lose(problem);
    return;
  }
  // The load uses the last filtered acceleration: it only scales a part of friction.
  motion_.q = q;
  motion_.qd = qd;
  motion_.qdd = residual_->acceleration();
  friction_.setZero();
  torque_.add_friction_alone(motion_, friction_);
  signals_.col(0) = q;
  signals_.col(1) = qd;
  signals_.col(2) = torque - friction_;
  // The second one only where the clock was set and set back: the filters are behind by a gap.
  if (!running_ || stamp - filter_time_ > settings_.stale_timeout + 2.0 * settings_.period) {
    restart(stamp);
  }
  if (advance(stamp)) {
    evaluate();
  }
}

void TorqueErrorDetector::rest(bool resting)
{
  if (resting != resting_) {
    resting_ = resting;
    change_.restart();
  }
}

void TorqueErrorDetector::lose(Fault reason)
{
  running_ = false;
  fault_ = reason;
  set_level(false);
}

void TorqueErrorDetector::set_values(const Vector & values)
{
  torque_.set_values(values);
  lose(Fault::kPayloadChanged);
}

void TorqueErrorDetector::reset()
{
  any_latched_ = false;
  for (std::size_t joint = 0; joint < latched_.size(); ++joint) {
    latched_[joint] = false;
    over_contact_[joint] = over_collision_[joint] = 0;
  }
}

void TorqueErrorDetector::set_sensitivity(double factor)
{
  if (0.5 <= factor && factor <= 2.0) {
    scale_ = 1.0 / factor;
  }
}

Level TorqueErrorDetector::worst() const
{
  Level highest = Level::kUnknown;
  bool unknown = !monitored_;
  for (std::size_t joint = 0; joint < level_.size(); ++joint) {
    if (settings_.torque_error_enable[joint]) {
      highest = std::max(highest, level_[joint]);
      unknown = unknown || level_[joint] == Level::kUnknown;
    }
  }
  return unknown && highest != Level::kCollision ? Level::kUnknown : highest;
}

/// Why a sample cannot be used, or kNone.
Fault TorqueErrorDetector::inspect(
  double stamp, const Vector & q, const Vector & qd, const Vector & torque)
{
  // One number tells whether any value is not finite (or absurdly large).
  if (!std::isfinite(q.squaredNorm() + qd.squaredNorm() + torque.squaredNorm() + stamp)) {
    return Fault::kStateRefused;
  }
  const double step = stamp - stamp_;
  if (step <= 0.0) {
    // A clock that was set back is accepted: the next sample is compared with the new time.
    stamp_ = changed_ = stamp;
    return Fault::kStateTimeBack;
  }
  stamp_ = stamp;
  newest_.col(0) = q;
  newest_.col(1) = qd;
  newest_.col(2) = torque;
  const bool gap = step > settings_.stale_timeout;
  running_ = running_ && !gap;
  if (gap || newest_ != measured_) {
    changed_ = stamp;
    measured_.swap(newest_);
  } else if (0.0 < settings_.frozen_timeout && settings_.frozen_timeout <= stamp - changed_) {
    return Fault::kStateFrozen;
  }
  return Fault::kNone;
}

/// Settle the filters on the current sample.
void TorqueErrorDetector::restart(double stamp)
{
  running_ = true;
  settled_ = stamp + settings_.settle_time;
  filter_time_ = stamp - settings_.period;
  residual_->restart(signals_);
  thresholds_->restart(stamp);
  change_.restart();
  std::fill(over_contact_.begin(), over_contact_.end(), 0);
  std::fill(over_collision_.begin(), over_collision_.end(), 0);
}

/// Filter up to the time of the sample, one step per period; false if it is early.
bool TorqueErrorDetector::advance(double stamp)
{
  const int steps = static_cast<int>((stamp - filter_time_) / settings_.period + 0.5);
  if (steps == 0) {
    return false;
  }
  // Follows the stamps slowly, because their jitter is not that of the sampling.
  filter_time_ += steps * settings_.period;
  filter_time_ += 0.1 * (stamp - filter_time_);
  for (int step = 1; step < steps; ++step) {
    const double share = static_cast<double>(step) / steps;
    between_ = before_ + share * (signals_ - before_);
    residual_->update(between_);
  }
  residual_->update(signals_);
  before_ = signals_;
  return true;
}

/// Set threshold, counters, latch and level from the torque error.
void TorqueErrorDetector::evaluate()
{
  thresholds_->update(stamp_, residual_->velocity(), residual_->acceleration());
  threshold_ = scale_ * thresholds_->collision();
  contact_ = scale_ * thresholds_->contact();
  if (!std::isfinite(residual_->torque_error().cwiseAbs().sum() + threshold_.sum())) {
    lose(Fault::kTorqueNotFinite);
    residual_->clear();
  } else if (!settled()) {
    fault_ = Fault::kSettling;
    set_level(false);
  } else {
    fault_ = monitored_ ? Fault::kNone : Fault::kNothingMonitored;
    compare();
    count();
    set_level(true);
  }
}

/// Take the torque error or, at rest, its change where it is larger relative to its threshold.
void TorqueErrorDetector::compare()
{
  compared_ = residual_->torque_error();
  if (!resting_) {
    return;
  }
  const Vector & collision = thresholds_->collision(), & change = thresholds_->change();
  limit_ = contact_.cwiseProduct(change).cwiseQuotient(collision);
  change_.update(compared_, limit_);
  for (Eigen::Index joint = 0; joint < compared_.size(); ++joint) {
    const double scaled = change_.value()[joint] * (collision[joint] / change[joint]);
    if (std::abs(scaled) > std::abs(compared_[joint])) {
      compared_[joint] = scaled;
    }
  }
}

/// Count samples above the thresholds, and latch a collision.
void TorqueErrorDetector::count()
{
  for (std::size_t joint = 0; joint < level_.size(); ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    const double size = std::abs(compared_[place]);
    const auto longer = [&](int & over, double threshold) {
        over = size > threshold ? std::min(over + 1, settings_.debounce) : 0;
        return over == settings_.debounce;
      };
    (void)longer(over_contact_[joint], contact_[place]);
    if (longer(over_collision_[joint], threshold_[place]) && settings_.torque_error_enable[joint]) {
      latched_[joint] = any_latched_ = true;
    }
  }
}

void TorqueErrorDetector::set_level(bool known)
{
  for (std::size_t joint = 0; joint < level_.size(); ++joint) {
    const bool contact = over_contact_[joint] == settings_.debounce;
    level_[joint] = latched_[joint] ? Level::kCollision :
      !known || !settings_.torque_error_enable[joint] ? Level::kUnknown :
      contact ? Level::kContact : Level::kOk;
  }
}

/// Whether there were valid samples for the settle time.
bool TorqueErrorDetector::settled() const
{
  return running_ && stamp_ >= settled_ - 1e-9;
}

}  // namespace robodyn_ros
