// SPDX-License-Identifier: Apache-2.0
// Read a file of learned thresholds: robodyn_ros/control/collision/thresholds_file.py.
#pragma once

#include <string>
#include <vector>

#include "robodyn_ros/collision_settings.hpp"
#include "robodyn_ros/threshold_map.hpp"

namespace robodyn_ros
{

/// A threshold map with the settings of the detector with which it was learned.
struct LearnedThresholds
{
  ThresholdMap map;
  std::string residual;
  double period = 0.0;
  double filter_cutoff = 0.0;
  double torque_error_filter = 0.0;
  double observer_bandwidth = 0.0;
  int debounce = 0;

  /// Settings with the residual, filters, debounce and period of these thresholds.
  CollisionSettings settings(CollisionSettings given) const;
};

/// What thresholds have to belong to.
struct ThresholdsOwner
{
  std::string model_hash;
  std::vector<std::string> joints;  // in the order of the model
  double period;                    // of the samples [s]
};

/// Read a thresholds file. Throws std::invalid_argument with one sentence that names the file: it
/// is damaged, or its thresholds belong to another model or rate.
///
/// Numbers must be decimal, as `robodyn thresholds` writes them: readers of YAML differ in octal
/// and other numbers.
LearnedThresholds read_thresholds(const std::string & path, const ThresholdsOwner & owner);

}  // namespace robodyn_ros
