// SPDX-License-Identifier: Apache-2.0
// Torque by measured deflections of the gears: robodyn_ros/models/gear_torque.py.
#pragma once

#include <memory>

#include "robodyn_ros/gear_maps.hpp"

namespace robodyn_ros
{

/// Second-order Butterworth low pass of several signals with their derivatives, a column each:
/// robodyn_ros/control/torque/low_pass.py.
class MatchedLowPass
{
public:
  /// `cutoff` [Hz], below the Nyquist frequency; `period` of the samples [s].
  MatchedLowPass(Eigen::Index rows, Eigen::Index signals, double cutoff, double period);

  /// Settle on constant signals.
  void restart(const Eigen::MatrixXd & signals);

  /// Take the next sample of every signal. Never allocates or throws.
  void update(const Eigen::MatrixXd & signals);

  const Eigen::MatrixXd & value() const {return value_;}
  const Eigen::MatrixXd & derivative() const {return derivative_;}

private:
  double gain_, first_, second_, slope_;
  Eigen::MatrixXd before_, last_, newest_, value_, derivative_;
};

/// Torque of every joint by its deflection, limited to the range of the training data. Never
/// allocates or throws once built.
struct GearTorqueLaw
{
  std::unique_ptr<GearMap> map;
  Eigen::MatrixXd low, high;  // features in training, a column for each joint
  Vector limit;               // largest torque in training, [Nm] or [N]; 0: none
  Vector gear_ratio;          // motor revolutions per revolution of the joint
  double cutoff = 0.0;        // of the low pass of the inputs in training, [Hz]; 0: none

  /// Torque of one joint, [Nm] or [N]; it fades to zero within half a range beyond the training.
  ///
  /// `deflection`: motor position minus joint position, joint side, [rad] or [m]; `rate`: of it;
  /// `velocity`: of the motor, joint side.
  double torque(Eigen::Index joint, double deflection, double rate, double velocity) const;
};

/// Torque of each cycle from measured positions that come at any time. Nothing here allocates,
/// locks, logs or throws once built.
class MeasuredGearTorque
{
public:
  /// `scale`: share of the torque that is applied, above 0 to 1; `period` of the cycles, [s]; `fade_time`
  /// from full torque to zero and back, [s]; `timeout`: older measurements are not used, [s].
  /// Throws std::invalid_argument, naming the value.
  MeasuredGearTorque(
    GearTorqueLaw law, double scale, double period, double fade_time, double timeout = 0.02);

  /// Forget the measurements; the torque is zero at once.
  void clear();

  /// Take measured positions of joints and motors, at a time [s]; false for those that are not
  /// finite, not newer, or of a motor whose value stays the same though its joint moves.
  bool read(const Vector & position, const Vector & motor, double stamp);

  /// Advance by one cycle; the torque to add, [Nm] or [N].
  const Vector & torque();

  /// Whether the measurements are new enough to be used.
  bool measured() const {return age_ < stale_;}

private:
  void compute();
  bool stuck(const Vector & position, const Vector & motor);

  GearTorqueLaw law_;
  double scale_, period_, timeout_;
  MatchedLowPass low_pass_;
  int stale_;                // cycles after which a measurement is too old
  double step_;              // of the share, in one cycle
  double stamp_ = 0.0, due_ = 0.0;
  int age_ = 0;              // cycles since the last measurement
  double share_ = 0.0;
  bool fresh_ = false;
  bool restarting_ = false;  // after a gap: the torque of before goes to zero first
  Eigen::MatrixXd signals_;  // deflection and motor position, joint side
  Vector play_;              // motion of a joint in which its motor must change
  Vector motor_, left_;      // value of the motor, and position of the joint when it changed
  Vector found_, last_, applied_;
};

}  // namespace robodyn_ros
