// Rigid bodies of a serial robot from its URDF, by Pinocchio: robodyn_ros/models/urdf.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <pinocchio/algorithm/kinematics.hpp>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Where a link is: placed on what a joint moves; joint 0 moves nothing.
struct LinkPlace
{
  pinocchio::JointIndex joint = 0;
  pinocchio::SE3 placement = pinocchio::SE3::Identity();
};

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
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  /// Of the link that a joint moves, in that joint's frame, in the motion of the last `add`.
  pinocchio::Force force_of(
    pinocchio::JointIndex index,
    const Eigen::Ref<const Eigen::Matrix<double, 10, 1>> & ten) const;

  pinocchio::Model model_;
  pinocchio::Data data_;
  std::map<std::string, LinkPlace> links_;
  Eigen::Vector3d gravity_;
  bool rotor_inertia_;
  std::vector<pinocchio::JointIndex> index_;    // of the i-th joint in Pinocchio's order
  std::vector<pinocchio::Motion> direction_;    // in which it moves
  std::vector<pinocchio::Force> force_;         // in Pinocchio's order
  Vector q_, qd_, qdd_;                         // in Pinocchio's order
  std::string carrier_;
};

}  // namespace robodyn_ros
