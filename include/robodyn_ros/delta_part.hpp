// SPDX-License-Identifier: Apache-2.0
// DELTA robot of the softMC document: robodyn_ros/models/closed_forms/delta.py.
#pragma once

#include <string>
#include <vector>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Three arms, and as fourth axis a telescopic shaft to the platform.
class DeltaPart : public Part
{
public:
  /// Lengths [m]: base, platform, arm, rod, and height of the shaft's upper joint; gravity [m/s^2].
  struct Geometry
  {
    double r_b, r_p, l_ab, l_bc, h_o, gravity;
  };
  /// Radius [m] beyond which a force acts on the platform, and the largest force [N].
  struct PlatformForce
  {
    double r_ext, fr_max;
  };
  /// `force`: null where the model has none. Throws std::invalid_argument where no motion is
  /// possible.
  DeltaPart(Eigen::Index joints, const Geometry & geometry, const PlatformForce * force);
  Eigen::Index width() const override;
  /// The arms' working range; the fourth axis is free.
  std::vector<JointFacts> joint_facts(std::size_t joints) const override;
  /// Where the platform is out of reach, the torque is NaN.
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  Eigen::Vector3d pull(const Eigen::Vector3d & x, double stiffness) const;

  bool shaft_, forced_;
  Geometry geometry_;
  PlatformForce force_;
  double lower_, upper_;
};

}  // namespace robodyn_ros
