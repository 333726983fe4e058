// SPDX-License-Identifier: Apache-2.0
// Collision detection by torque error: robodyn_ros/control/collision/detector.py is its oracle.
// NOT a safety function.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "robodyn_ros/additive_torque.hpp"
#include "robodyn_ros/change_at_rest.hpp"
#include "robodyn_ros/collision_settings.hpp"
#include "robodyn_ros/model_torque.hpp"
#include "robodyn_ros/residual.hpp"
#include "robodyn_ros/thresholds.hpp"

namespace robodyn_ros
{

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
  /// `torque`: a model that nothing else changes or evaluates. `thresholds`: those by motion; none:
  /// the constant ones of the settings. Throws std::invalid_argument: settings that cannot be used.
  TorqueErrorDetector(
    ModelTorque & torque, const CollisionSettings & settings,
    std::unique_ptr<Thresholds> thresholds = nullptr);

  /// Take a sample. `stamp` [s]; positions, velocities and torque feedback at the joint.
  void update(double stamp, const Vector & q, const Vector & qd, const Vector & torque);

  /// Tell that the commanded positions have come to rest, or move or are unknown.
  void rest(bool resting);

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
  const Vector & torque_error() const {return residual_->torque_error();}
  const Vector & threshold() const {return threshold_;}

  /// Why joints are UNKNOWN; kNone while the torque error is valid.
  Fault fault() const {return fault_;}

private:
  Fault inspect(double stamp, const Vector & q, const Vector & qd, const Vector & torque);
  void restart(double stamp);
  bool advance(double stamp);
  void evaluate();
  void compare();
  void count();
  void set_level(bool known);
  bool settled() const;

  ModelTorque & torque_;
  CollisionSettings settings_;
  std::unique_ptr<Residual> residual_;
  std::unique_ptr<Thresholds> thresholds_;
  bool monitored_;                // a joint at least
  double scale_ = 1.0;            // of the thresholds
  ChangeAtRest change_;
  bool resting_ = false;
  Vector compared_;               // torque error, or its change at rest where that is larger
  Vector limit_;                  // of a change that is no contact
  Vector contact_;                // present thresholds
  Vector threshold_;
  Vector friction_;
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
