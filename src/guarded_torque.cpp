// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/guarded_torque.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace robodyn_ros
{
namespace
{

/// Way of the reference in which no measured position may stay the very same, [rad] or [m].
constexpr double kMoved = 0.01;

bool all_nan(const Vector & values)
{
  return values.array().isNaN().all();
}

/// What a joint_trajectory_controller leaves behind where it is deactivated: zero velocities and
/// accelerations, one joint after the other, but no position.
bool left_behind(const Motion & given)
{
  const auto none = [](const Vector & values) {
      return (values.array().isNaN() || values.array() == 0.0).all();
    };
  return all_nan(given.q) && none(given.qd) && none(given.qdd);
}

/// Count up while something holds, from zero again when it does not.
bool longer(int & count, bool holds, int most)
{
  count = holds ? std::min(count + 1, most + 1) : 0;
  return count > most;
}

}  // namespace

void WatchSettings::check(double period, const std::vector<std::string> & joints) const
{
  if (torque_threshold.size() > 0) {
    check_each("torque_threshold", torque_threshold, joints);
  }
  check_between("reference_timeout", reference_timeout, period, 1.0);
  check_between("state_timeout", state_timeout, period, 1.0);
}

GuardedTorque::GuardedTorque(
  ModelTorque & torque, const LawSettings & settings, const WatchSettings & watch,
  std::unique_ptr<MeasuredGearTorque> gears)
: law_(torque, settings, std::move(gears)),
  window_(torque.velocity_window().cwiseMax(std::numeric_limits<double>::min())),
  threshold_(watch.torque_threshold),
  longest_(watch.reference_timeout),
  reference_cycles_(cycles_in(watch.reference_timeout, settings.period)),
  state_cycles_(cycles_in(watch.state_timeout, settings.period)),
  last_(static_cast<Eigen::Index>(torque.joints().size())),
  taken_(last_),
  measured_(last_.q),
  left_(last_.q)
{
  watch.check(settings.period, torque.joints());
}

void GuardedTorque::clear(const Vector & position)
{
  law_.clear();
  last_.q = measured_ = position;
  seen_ = timed_ = moved_ = false;
  without_ = still_ = unknown_ = frozen_ = 0;
}

bool GuardedTorque::start()
{
  if (!law_.enabled()) {
    left_ = last_.q;
    moved_ = false;
  }
  return law_.start();
}

const Vector & GuardedTorque::update(
  const Motion & given, const Vector & measured, const Vector & torque, std::int64_t time,
  double elapsed)
{
  watch_torque(torque);
  watch_time(time, elapsed);
  watch_state(measured);
  if (left_behind(given) && (seen_ || (all_nan(given.qd) && all_nan(given.qdd)))) {
    return without_reference();
  }
  without_ = 0;
  if (all_nan(given.q) || all_nan(given.qd) || all_nan(given.qdd)) {
    ++refused_;
    law_.trip(Fault::kReferenceIncomplete);
    return law_.idle();
  }
  watch_reference(given);
  take(given);
  const Vector & applied = law_.update(taken_);
  if (law_.accepted()) {
    if (!seen_) {
      left_ = taken_.q;
    }
    seen_ = true;
    std::swap(last_, taken_);
  } else {
    ++refused_;
  }
  return applied;
}

/// First joint whose torque is beyond its threshold or no number; -1: none.
int GuardedTorque::beyond(const Vector & torque) const
{
  for (Eigen::Index joint = 0; joint < threshold_.size(); ++joint) {
    if (!(std::abs(torque[joint]) <= threshold_[joint])) {
      return static_cast<int>(joint);
    }
  }
  return -1;
}

void GuardedTorque::watch_torque(const Vector & measured)
{
  if (!law_.enabled()) {
    return;
  }
  const int first = beyond(measured), joint = std::max(first, beyond(law_.applied()));
  if (joint >= 0) {
    exceeded_torque_ = joint == first ? measured[joint] : law_.applied()[joint];
    exceeded_ = joint;
    law_.trip(Fault::kTorqueThreshold);
  }
}

void GuardedTorque::watch_time(std::int64_t time, double elapsed)
{
  if (timed_ && elapsed > longest_) {
    law_.resume(elapsed);
    ++paused_;
  }
  if (timed_ && time < time_) {
    law_.trip(Fault::kTimeBack);
  }
  // Less than a pause of the loop explains: the clock was set.
  if (timed_ && 1e-9 * static_cast<double>(time - time_) > std::max(0.0, elapsed) + longest_) {
    law_.trip(Fault::kTimeForward);
  }
  timed_ = true;
  time_ = time;
}

void GuardedTorque::watch_state(const Vector & measured)
{
  if (longer(unknown_, !measured.allFinite(), state_cycles_)) {
    law_.trip(Fault::kStateMissing);
  }
  // A robot may stand for long, takes time to follow, and moves by steps of its encoders: it is
  // frozen when the reference has moved away from where it was at the last change.
  if (!seen_ || measured != measured_) {
    measured_ = measured;
    left_ = last_.q;
    moved_ = false;
  }
  moved_ = moved_ || (last_.q - left_).cwiseAbs().maxCoeff() > kMoved;
  if (longer(frozen_, moved_, state_cycles_)) {
    law_.trip(Fault::kStateFrozen);
  }
}

void GuardedTorque::watch_reference(const Motion & given)
{
  if (longer(still_, seen_ && given.q == last_.q && moves(given), reference_cycles_)) {
    law_.trip(Fault::kReferenceFrozen);
  }
}

const Vector & GuardedTorque::without_reference()
{
  if (!seen_) {
    return law_.idle();
  }
  ++missed_;
  if (longer(without_, true, reference_cycles_)) {
    law_.trip(Fault::kReferenceMissing);
    return law_.idle();
  }
  return law_.update(last_);
}

void GuardedTorque::take(const Motion & given)
{
  taken_ = given;
  // A JTC that holds after a cancel goes on commanding the last acceleration of the motion.
  for (Eigen::Index joint = 0; joint < last_.q.size(); ++joint) {
    if (given.qd[joint] == 0.0 && given.q[joint] == last_.q[joint]) {
      taken_.qdd[joint] = 0.0;
    }
  }
}

bool GuardedTorque::moves(const Motion & motion) const
{
  return (motion.qd.array().abs() >= window_.array()).any();
}

}  // namespace robodyn_ros
