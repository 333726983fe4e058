// SPDX-License-Identifier: Apache-2.0
// Rigid bodies of a serial robot from its URDF: robodyn_ros/models/serial/urdf.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <pinocchio/spatial/force.hpp>
#include <pinocchio/spatial/motion.hpp>
#include <pinocchio/spatial/se3.hpp>

#include "robodyn_ros/part.hpp"

namespace urdf
{
class Link;
}

namespace robodyn_ros
{

/// Where a link is: placed on one of the bodies; none: on the ground.
struct LinkPlace
{
  int body = -1;
  pinocchio::SE3 placement = pinocchio::SE3::Identity();
};

/// What one joint moves, in that joint's frame, with its motion. All of a body lies together: in a
/// cell, unlike in a loop of a test, nothing of it is in the cache when its cycle comes.
struct Body
{
  int parent;                     // -1: the ground
  Eigen::Index joint;             // of the model
  bool sliding;                   // prismatic
  Eigen::Vector3d axis;
  pinocchio::SE3 home;            // on the parent at joint position zero
  pinocchio::SE3 placement;       // and now
  pinocchio::Motion velocity;
  pinocchio::Motion acceleration;  // less gravity
  pinocchio::Force force;         // that the joint takes up
  JointFacts facts;
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
  std::vector<JointFacts> joint_facts(std::size_t joints) const override;
  std::string payload_frame() const override {return carrier_;}
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  void add_children(
    const urdf::Link & link, const LinkPlace & place, const std::vector<std::string> & joints);
  void move(Body & body, const Motion & motion) const;

  std::vector<Body> bodies_;  // a parent before its children
  std::map<std::string, LinkPlace> links_;
  pinocchio::Motion ground_;  // acceleration of the ground less gravity
  bool rotor_inertia_;
  std::string carrier_;
};

}  // namespace robodyn_ros
