// SPDX-License-Identifier: Apache-2.0
// Thresholds by speed, acceleration and time since the last reversal of each joint:
// robodyn_ros/control/collision/threshold_map.py, which explains the cells.
#pragma once

#include <limits>
#include <vector>

#include "robodyn_ros/thresholds.hpp"

namespace robodyn_ros
{

/// Bands of motion and collision thresholds of one joint, [rad] or [m], [s], [Nm] or [N].
struct ThresholdRow
{
  double still = 0.0;                // at standstill below this speed
  std::vector<double> speed;         // inner edges of the bands, in ascending order
  std::vector<double> acceleration;
  std::vector<double> reversal;      // of the time since the last reversal or standstill
  double fastest = 0.0;              // largest learned values; beyond, thresholds grow with them
  double hardest = 0.0;
  std::vector<double> collision;     // by cell; the last two are passing standstill, and rest
  /// Of the change of the torque error while the reference rests; infinite: not learned.
  double change = std::numeric_limits<double>::infinity();

  /// Number of thresholds that the bands need.
  std::size_t cells() const;

  /// Throws std::invalid_argument: values that would hide collisions or raise alarms for nothing.
  void check() const;
};

/// Thresholds of all joints.
struct ThresholdMap
{
  std::vector<ThresholdRow> rows;
  double contact = 1.0;  // contact thresholds relative to the collision thresholds, 0..1
  double rest = 0.2;     // time below the speed of standstill after which a joint rests, [s]

  /// As ThresholdRow::check. All rows have the same numbers of bands.
  void check() const;
};

/// Thresholds of a map for the present motion.
class MappedThresholds : public Thresholds
{
public:
  /// `given` was checked. It starts with the thresholds of passing standstill.
  explicit MappedThresholds(const ThresholdMap & given);

  /// As after a reversal, because nothing is known of the time before.
  void restart(double stamp) override;
  void update(double stamp, const Vector & velocity, const Vector & acceleration) override;

private:
  double threshold(std::size_t joint, double stamp, double velocity, double hard);

  ThresholdMap map_;
  std::vector<double> since_;  // last reversal or standstill, and last motion, of each joint [s]
  std::vector<double> moved_;
  std::vector<bool> forward_;
};

}  // namespace robodyn_ros
