// SPDX-License-Identifier: Apache-2.0
// Maps from the deflection of a gear to torque: robodyn_ros/identification/gears/rbf.py and gmr.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

/// Deflection, its rate, and the signed root of the motor's velocity: 0 for a map of two inputs.
using Features = Eigen::Vector3d;

/// Array of a result file: sizes after the axis of the joints, and all numbers, joint by joint.
struct GearArray
{
  std::string name;
  std::vector<Eigen::Index> sizes;
  std::vector<double> numbers;
};

/// Torque of every joint as a function of its features. Never allocates or throws once built.
class GearMap
{
public:
  virtual ~GearMap() = default;

  /// Torque of a joint, [Nm] or [N]; not finite for features that are not.
  virtual double torque(std::size_t joint, const Features & features) = 0;
};

/// Map of a kind: `rbf`, normalised radial basis functions on a grid, whose grids of two inputs have
/// one plane; or `gmr`, the mean torque under a Gaussian mixture of features and torque. Throws
/// std::invalid_argument: arrays that are missing, or have other sizes than the inputs need, or a
/// covariance that cannot be inverted.
std::unique_ptr<GearMap> gear_map(
  const std::string & kind, const std::vector<GearArray> & arrays, std::size_t joints,
  std::size_t inputs);

}  // namespace robodyn_ros
