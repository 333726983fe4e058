// SPDX-License-Identifier: Apache-2.0
// Collision detection by torque error: robodyn_ros/control/collision/detector.py is its oracle.
// NOT a safety function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "robodyn_ros/additive_torque.hpp"
#include "robodyn_ros/low_pass.hpp"
#include "robodyn_ros/model_torque.hpp"

namespace robodyn_ros
{

/// Settings of the detector, as of control/collision/settings.py: one value per joint, [Nm] or [N],
/// [rad/s] or [m/s]; times [s], frequency [Hz].
struct CollisionSettings
{
  Vector max_torque_error;
  Vector contact_threshold;
  std::vector<bool> torque_error_enable;
  double torque_error_filter = 0.5;
  Vector low_velocity;
  Vector low_velocity_torque;
  double low_velocity_hold = 0.05;
  double period = 0.002;
  double filter_cutoff = 40.0;
  int debounce = 2;
  double settle_time = 0.1;
  double stale_timeout = 0.05;
  double frozen_timeout = 0.2;

  /// Throws std::invalid_argument, naming the value, for `joints` joints.
  void check(const std::vector<std::string> & joints) const;
};

/// State of a joint; the numbers are those of CollisionState.
enum class Level : std::uint8_t { kUnknown, kOk, kContact, kCollision };

/// Why the torque error is not known, as a sentence.
const char * unknown_text(Fault fault);

/// Comparison of model torque with torque feedback, one sample per cycle.
///
/// Data that are not fresh, valid and settled give UNKNOWN, never OK. A joint that reached COLLISION
/// stays there until `reset`. Nothing here allocates, locks, logs or throws once built.
class TorqueErrorDetector
{
public:
  /// `torque`: a model that nothing else changes or evaluates.
  TorqueErrorDetector(ModelTorque & torque, const CollisionSettings & settings);

  /// Take a sample. `stamp` [s]; positions, velocities and torque feedback at the joint.
  void update(double stamp, const Vector & q, const Vector & qd, const Vector & torque);

  /// Set joints to UNKNOWN: there is no usable sample. The next one restarts the filters.
  void lose(Fault reason);

  /// Take the values of another payload; the torque error before it is not valid any more.
  void set_values(const Vector & values);

  /// Clear detected collisions; the filters continue.
  void reset();

  /// Divide the thresholds by a factor of 0.5 to 2; another number (NaN) is ignored.
  void set_sensitivity(double factor);

  /// Whether a collision was detected since the last reset.
  bool latched() const {return any_latched_;}

  /// The highest level of the monitored joints; UNKNOWN is above all but COLLISION.
  Level worst() const;

  const std::vector<Level> & level() const {return level_;}
  const Vector & torque_error() const {return torque_error_;}
  const Vector & threshold() const {return threshold_;}

  /// Why joints are UNKNOWN; kNone while the torque error is valid.
  Fault fault() const {return fault_;}

private:
  Fault inspect(double stamp, const Vector & q, const Vector & qd, const Vector & torque);
  void restart(double stamp);
  void filter();
  bool advance(double stamp);
  void update_thresholds();
  void evaluate();
  void count();
  void set_level(bool known);
  bool settled() const;

  ModelTorque & torque_;
  CollisionSettings settings_;
  MatchedLowPass low_pass_;
  bool monitored_;                // a joint at least
  double scale_ = 1.0;            // of the thresholds
  Vector slowness_;               // degree of standstill of each joint, 0..1, which fades slowly
  Vector contact_;                // present thresholds
  Vector threshold_;
  Vector torque_error_;
  Vector current_;
  Motion motion_;
  Eigen::MatrixXd signals_;       // position, velocity, feedback - friction
  Eigen::MatrixXd before_;
  Eigen::MatrixXd between_;
  Eigen::MatrixXd measured_;      // position, velocity, torque of the last change
  Eigen::MatrixXd newest_;
  std::vector<int> over_contact_, over_collision_;  // samples in a row
  std::vector<bool> latched_;
  bool any_latched_ = false;
  std::vector<Level> level_;
  Fault fault_ = Fault::kStateMissing;
  double stamp_;
  double changed_;
  double settled_;
  double filter_time_ = 0.0;
  bool running_ = false;
};

}  // namespace robodyn_ros
