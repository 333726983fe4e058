// SPDX-License-Identifier: Apache-2.0
// What one cycle of the controller does: the additive torque, and a watch over what comes in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "robodyn_ros/additive_torque.hpp"

namespace robodyn_ros
{

/// How long what comes in may be old, [s], and how large torque may be, [Nm] or [N].
struct WatchSettings
{
  double reference_timeout = 0.02;
  double state_timeout = 0.1;
  Vector torque_threshold = {};  // of measured and additive torque; empty: not watched

  /// Throws std::invalid_argument, naming the value.
  void check(double period, const std::vector<std::string> & joints) const;
};

/// The additive torque of references that may be missing, frozen or not finite, one call per cycle.
///
/// A reference is taken whole or not at all. Nothing here allocates, locks, logs or throws once
/// built.
class GuardedTorque
{
public:
  GuardedTorque(
    ModelTorque & torque, const LawSettings & settings, const WatchSettings & watch,
    std::unique_ptr<MeasuredGearTorque> gears = nullptr);

  /// Back to zero torque and no reference, at these positions; a fault stays.
  void clear(const Vector & position);

  /// Ramp the torque in; what is frozen counts from now on. False while a fault is latched.
  bool start();

  /// Advance by one cycle.
  ///
  /// `given`: the reference; all of it NaN: none came in this cycle, the last one holds on for
  /// `reference_timeout`. `measured`: positions. `torque`: measured, only read with a
  /// `torque_threshold`. `time`: of this cycle, [ns]. `elapsed`: since the cycle before, [s], by a
  /// monotonic clock: longer than `reference_timeout`, it was a pause.
  const Vector & update(
    const Motion & given, const Vector & measured, const Vector & torque, std::int64_t time,
    double elapsed);

  AdditiveTorque & law() {return law_;}

  /// Position of the last reference that was taken, to be passed on.
  const Vector & position() const {return last_.q;}

  /// References that could not be used, and cycles without one, since it was built.
  std::uint64_t refused() const {return refused_;}
  std::uint64_t missed() const {return missed_;}

  /// Pauses of the loop after which the torque ramped in again, since it was built.
  std::uint64_t paused() const {return paused_;}

  /// Joint whose torque was beyond its threshold last, -1: none, and that torque.
  int exceeded() const {return exceeded_;}
  double exceeded_torque() const {return exceeded_torque_;}

private:
  int beyond(const Vector & torque) const;
  void watch_torque(const Vector & measured);
  void watch_time(std::int64_t time, double elapsed);
  void watch_state(const Vector & measured);
  void watch_reference(const Motion & given);
  const Vector & without_reference();
  void take(const Motion & given);
  bool moves(const Motion & motion) const;

  AdditiveTorque law_;
  Vector window_;
  Vector threshold_;
  double longest_;         // pause that is none yet, [s]
  int reference_cycles_;
  int state_cycles_;
  Motion last_;            // reference that was taken last
  Motion taken_;
  Vector measured_;
  Vector left_;            // position of the reference when the measured ones changed last
  bool moved_ = false;     // away from there, since
  bool seen_ = false;
  bool timed_ = false;
  std::int64_t time_ = 0;
  int without_ = 0;        // cycles in a row without a reference
  int still_ = 0;          // in which its position stood still though it moves
  int unknown_ = 0;        // in which a measured position is not finite
  int frozen_ = 0;         // in which all of them stood still though the reference had moved
  std::uint64_t refused_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t paused_ = 0;
  int exceeded_ = -1;
  double exceeded_torque_ = 0.0;
};

}  // namespace robodyn_ros
