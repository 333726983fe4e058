// SPDX-License-Identifier: Apache-2.0
// Maps from the deflection of a gear to torque: robodyn_ros/identification/gears/rbf.py and gmr.py.
#pragma once

#include <array>
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

/// Normalised radial basis functions on a grid (RbfMap). Grids of two inputs have one plane.
class RbfMap : public GearMap
{
public:
  /// Throws std::invalid_argument: arrays that are missing, or have other sizes than the inputs need.
  RbfMap(const std::vector<GearArray> & arrays, std::size_t joints, std::size_t inputs);

  double torque(std::size_t joint, const Features & features) override;

private:
  struct Grid
  {
    std::array<Vector, 3> centres;
    std::array<double, 3> widths;
    Vector weights;  // of the last input first
  };
  std::vector<Grid> grids_;
  std::array<Vector, 3> bases_;  // of the features of now
};

/// Mean torque under a Gaussian mixture of features and torque (GmrMap).
class GmrMap : public GearMap
{
public:
  /// Throws std::invalid_argument: arrays that are missing, or have other sizes than the inputs
  /// need, or a covariance that cannot be inverted.
  GmrMap(const std::vector<GearArray> & arrays, std::size_t joints, std::size_t inputs);

  double torque(std::size_t joint, const Features & features) override;

private:
  struct Component  // zeros where there is no third input
  {
    Features mean = Features::Zero(), slope = Features::Zero();
    Eigen::Matrix3d precision = Eigen::Matrix3d::Zero();
    double constant = 0.0, torque = 0.0;
  };
  static Component component(
    double weight, const double * mean, const double * covariance, Eigen::Index inputs);

  std::vector<std::vector<Component>> mixtures_;  // of each joint
  Vector exponents_;                              // of the features of now
};

/// Map of a kind, `rbf` or `gmr`. Throws std::invalid_argument as the maps do.
std::unique_ptr<GearMap> gear_map(
  const std::string & kind, const std::vector<GearArray> & arrays, std::size_t joints,
  std::size_t inputs);

}  // namespace robodyn_ros
