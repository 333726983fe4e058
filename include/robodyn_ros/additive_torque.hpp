// SPDX-License-Identifier: Apache-2.0
// The additive torque law (softMC Taddcmd): test/support/controller/additive_torque.py is its oracle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "robodyn_ros/gear_torque.hpp"
#include "robodyn_ros/model_torque.hpp"

namespace robodyn_ros
{

/// Throws std::invalid_argument, naming the value, unless it is from `low` to `high`.
void check_between(const std::string & name, double value, double low, double high);

/// Throws std::invalid_argument, naming the joint, unless there is one finite value above 0 for each
/// joint.
void check_each(
  const std::string & name, const Vector & values, const std::vector<std::string> & joints);

/// Complete cycles in a time [s], at least one.
int cycles_in(double time, double period);

/// How additive torque may leave; one number per joint, [Nm] or [N], [Nm/s] or [N/s], [s].
struct LawSettings
{
  Vector max_torque;
  Vector max_torque_rate;
  std::vector<std::string> refused;  // names of joints that get no torque
  double period = 0.002;
  int additive_torque_delay = 3;
  double scale = 1.0;
  double ramp_up_time = 0.25;
  double ramp_down_time = 0.1;
  double friction_fade_time = 0.5;

  /// Rounded down: the ramp ends within ramp_down_time, not a cycle later.
  int ramp_down_cycles() const {return cycles_in(ramp_down_time, period);}

  /// Throws std::invalid_argument, naming the value, for `joints` joints.
  void check(const std::vector<std::string> & joints) const;
};

/// What the additive torque is doing; inactive means: exactly zero.
enum class LawState { kInactive, kRampingIn, kActive, kRampingOut };

/// Why torque is held at zero. The numbers are the codes of robodyn_ros/faults.yaml, which
/// `TorqueState` publishes.
enum class Fault : std::uint16_t
{
  kNone = 0, kReferenceNotFinite = 1, kTorqueNotFinite = 2, kReferenceMissing = 3,
  kReferenceFrozen = 4, kStateMissing = 5, kStateFrozen = 6, kTimeBack = 7,
  kReferenceIncomplete = 8, kTimeForward = 9, kTorqueThreshold = 12
};

const char * fault_text(Fault fault);

/// One call per cycle. What leaves is finite, within the limit, and at most the rate times the
/// period away from the torque before. Nothing here allocates, locks, logs or throws once built.
class AdditiveTorque
{
public:
  /// `gears`: torque by measured deflections, added without the delay of the model torque; null:
  /// none.
  AdditiveTorque(
    ModelTorque & torque, const LawSettings & settings,
    std::unique_ptr<MeasuredGearTorque> gears = nullptr);

  /// Ramp the model torque in from the torque of now; false while a fault is latched.
  bool start();

  /// Ramp the torque out.
  void stop();

  /// Latch a fault (the first one is kept) and ramp the torque out. Where no torque is applied,
  /// nothing is wrong with it: no fault then.
  void trip(Fault fault);

  /// Clear the fault; `start` is needed to apply torque again.
  void reset() {fault_ = Fault::kNone;}

  /// Go on after a pause [s] in which the drives got no commands: the torque of before falls by what
  /// the rate allows in it, and the model torque ramps in again from there.
  void resume(double pause);

  /// Advance by one cycle with this reference; what cannot be used is a fault.
  const Vector & update(const Motion & motion);

  /// Advance by one cycle without a reference: ramp on, or hold the torque of now.
  const Vector & idle();

  /// Back to exactly zero at once, as when the controller no longer commands anything; a fault stays.
  void clear();

  /// Blend another share of the model torque in over ramp_up_time; it stays as it is for a number
  /// that is not from 0 to 1 (NaN).
  void set_scale(double scale);

  /// Blend other parameter values in over ramp_up_time, of another payload for example; as many as
  /// the model has.
  void set_values(const Vector & values);

  /// Whether the reference of the last `update` could be used.
  bool accepted() const {return accepted_;}

  bool enabled() const {return state_ == LawState::kRampingIn || state_ == LawState::kActive;}
  Fault fault() const {return fault_;}
  const Vector & requested() const {return requested_;}
  const Vector & applied() const {return applied_;}

  /// Torque by measured deflections, which takes the measurements; null: none.
  MeasuredGearTorque * gears() {return gears_.get();}

private:
  Fault request(const Motion & motion);
  void follow_changes();
  void hold_friction(const Vector & qd);
  void delay();
  void approach(const Vector & target, double share, double cycles);
  void fade(double cycles);

  ModelTorque & torque_;
  Vector limit_;
  Vector step_;      // largest change in one cycle
  double period_;
  double up_;
  int down_cycles_;
  double fade_time_;
  double scale_;
  double scale_before_;       // of the last change
  double scale_after_;
  double rescaled_ = 1.0;     // share of that change that is done
  Vector values_before_;
  Vector values_after_;
  Vector values_;
  double revalued_ = 1.0;
  LawState state_ = LawState::kInactive;
  Fault fault_ = Fault::kNone;
  bool accepted_ = false;
  double ramp_ = 0.0;
  Vector requested_;
  Vector applied_;
  Vector fading_;
  Vector delayed_;
  Vector computed_;
  Vector velocity_;  // at which friction is taken
  Vector side_;      // last direction of motion, 0: not known
  Vector rest_;      // time since then, [s]
  std::unique_ptr<MeasuredGearTorque> gears_;
  Eigen::MatrixXd ring_;
  Eigen::Index next_ = 0;
  bool ring_empty_ = true;
};

}  // namespace robodyn_ros
