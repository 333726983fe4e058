// Rigid bodies of a serial robot from its URDF, by Pinocchio: robodyn_ros/models/urdf.py.
#pragma once

#include <string>
#include <vector>

#include <pinocchio/algorithm/regressor.hpp>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Ten parameters of each moving link, in the order of the joints, then a rotor inertia per joint.
class UrdfPart : public Part
{
public:
  /// `xml` without meshes, as a result file holds it; joints that are not named are locked at zero.
  UrdfPart(
    const std::string & xml, const std::vector<std::string> & joints,
    const Eigen::Vector3d & gravity, bool rotor_inertia);

  Eigen::Index width() const override;
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_again(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  std::string payload_frame() const override {return carrier_;}
  void add_payload(
    const Eigen::Ref<const Vector> & payload, Eigen::Ref<Vector> values) const override;

private:
  pinocchio::Model model_;
  pinocchio::Data data_;
  std::vector<Eigen::Index> place_;  // of the i-th joint in Pinocchio's order
  Motion motion_;                    // in Pinocchio's order
  Vector values_;
  Vector torque_;
  bool rotor_inertia_;
  std::string carrier_;
};

}  // namespace robodyn_ros
