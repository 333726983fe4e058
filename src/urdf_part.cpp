// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinocchio/spatial/force.hpp>
#include <pinocchio/spatial/motion.hpp>
#include <pinocchio/spatial/se3.hpp>
#include <urdf_parser/urdf_parser.h>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/result_blocks.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

constexpr char kChild[] = "<child";
constexpr std::size_t kMostJoints = 200;  // as in robodyn_ros/bounds.py

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

pinocchio::SE3 placement_of(const urdf::Joint & joint)
{
  const auto & pose = joint.parent_to_joint_origin_transform;
  const Eigen::Quaterniond turn(
    pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z);
  return pinocchio::SE3(
    turn.toRotationMatrix(),
    Eigen::Vector3d(pose.position.x, pose.position.y, pose.position.z));
}

urdf::ModelInterfaceSharedPtr parse(const std::string & xml)
{
  // Before it is parsed: urdfdom takes a chain of links apart by recursion.
  std::size_t children = 0;
  for (auto at = xml.find(kChild); at != std::string::npos; at = xml.find(kChild, at + 1)) {
    if (++children > kMostJoints) {
      throw std::invalid_argument(
        "the URDF of the model has more than " + std::to_string(kMostJoints) + " joints");
    }
  }
  const auto tree = urdf::parseURDF(xml);
  if (!tree) {
    throw std::invalid_argument("the URDF of the model cannot be read");
  }
  // urdfdom lets a link hang on two joints: such a robot is no tree, and may have no end.
  std::set<std::string> moved;
  for (const auto & [name, joint] : tree->joints_) {
    if (!moved.insert(joint->child_link_name).second) {
      throw std::invalid_argument("a link in the URDF of the model is the child of two joints");
    }
  }
  return tree;
}

JointFacts facts_of(const urdf::Joint & joint)
{
  JointFacts result;
  result.sliding = joint.type == urdf::Joint::PRISMATIC;
  if (joint.limits) {
    result.effort = joint.limits->effort;
  }
  if (joint.limits && joint.type != urdf::Joint::CONTINUOUS) {
    result.lower = joint.limits->lower;
    result.upper = joint.limits->upper;
  }
  return result;
}

// A continuous joint is a plain revolute one: an angle is all the dynamics needs.
Body body_of(
  const urdf::Joint & joint, int parent, const pinocchio::SE3 & home, Eigen::Index index)
{
  const bool sliding = joint.type == urdf::Joint::PRISMATIC;
  if (!sliding && joint.type != urdf::Joint::REVOLUTE && joint.type != urdf::Joint::CONTINUOUS) {
    throw std::invalid_argument("joint " + joint.name + " is neither revolute nor prismatic");
  }
  const Eigen::Vector3d axis(joint.axis.x, joint.axis.y, joint.axis.z);
  const auto still = pinocchio::Motion::Zero();
  return {
    parent, index, sliding, axis.normalized(), home, home, still, still, pinocchio::Force::Zero(),
    facts_of(joint)};
}

/// What moves the link of a body as it moves, with its ten parameters.
pinocchio::Force force_of(
  const Body & body, const Eigen::Ref<const Eigen::Matrix<double, 10, 1>> & ten)
{
  const double mass = ten[0];
  const Eigen::Vector3d first = ten.segment<3>(1);
  Eigen::Matrix3d inertia;
  inertia << ten[4], ten[5], ten[7], ten[5], ten[6], ten[8], ten[7], ten[8], ten[9];
  const Eigen::Vector3d v = body.velocity.linear(), w = body.velocity.angular();
  const Eigen::Vector3d a = body.acceleration.linear(), turn = body.acceleration.angular();
  const Eigen::Vector3d momentum = mass * v + w.cross(first);
  const Eigen::Vector3d spin = inertia * w + first.cross(v);
  return pinocchio::Force(
    mass * a + turn.cross(first) + w.cross(momentum),
    inertia * turn + first.cross(a) + w.cross(spin) + v.cross(momentum));
}

/// Pseudo-inertia of ten parameters in Pinocchio's order: linear in them, turned by a placement P
/// as P J P'.
Eigen::Matrix4d pseudo_inertia(const Eigen::Ref<const Vector> & ten)
{
  Eigen::Matrix3d moment;
  moment << ten[4], ten[5], ten[7], ten[5], ten[6], ten[8], ten[7], ten[8], ten[9];
  Eigen::Matrix4d result;
  result.topLeftCorner<3, 3>() = 0.5 * moment.trace() * Eigen::Matrix3d::Identity() - moment;
  result.topRightCorner<3, 1>() = ten.segment<3>(1);
  result.bottomLeftCorner<1, 3>() = ten.segment<3>(1).transpose();
  result(3, 3) = ten[0];
  return result;
}

Vector ten_parameters(const Eigen::Matrix4d & pseudo)
{
  const Eigen::Matrix3d second = pseudo.topLeftCorner<3, 3>();
  const Eigen::Matrix3d moment = second.trace() * Eigen::Matrix3d::Identity() - second;
  Vector ten(10);
  ten << pseudo(3, 3), pseudo.topRightCorner<3, 1>(), moment(0, 0), moment(0, 1), moment(1, 1),
    moment(0, 2), moment(1, 2), moment(2, 2);
  return ten;
}

/// Ten parameters of each moving link, in the order of the joints, then a rotor inertia per joint.
/// `xml` without meshes, as a result file holds it; joints that are not named are locked at zero.
class UrdfPart : public Part
{
public:
  UrdfPart(
    const std::string & xml, const std::vector<std::string> & joints,
    const Eigen::Vector3d & gravity, bool rotor_inertia)
  : ground_(-gravity, Eigen::Vector3d::Zero()),
    rotor_inertia_(rotor_inertia)
  {
    const auto tree = parse(xml);
    add_children(*tree->getRoot(), {}, joints);
    if (joints.empty() || bodies_.size() != joints.size()) {
      throw std::invalid_argument("the URDF of the model lacks some of the model's joints");
    }
    facts_.resize(joints.size());
    for (const Body & body : bodies_) {
      facts_[static_cast<std::size_t>(body.joint)] = body.facts;
    }
    carrier_ = tree->getJoint(joints.back())->child_link_name;
  }

  Eigen::Index width() const override
  {
    return (rotor_inertia_ ? 11 : 10) * static_cast<Eigen::Index>(bodies_.size());
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override
  {
    for (Body & body : bodies_) {
      move(body, motion);
    }
    add_again(motion, values, tau);
  }

  // Newton and Euler with mass, first moments and inertia about the joint, not RNEA: that needs a
  // centre of mass, and the links of an unconstrained estimate may have any mass, none or below it.
  void add_again(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override
  {
    const auto count = static_cast<Eigen::Index>(bodies_.size());
    for (Body & body : bodies_) {
      body.force = force_of(body, values.segment<10>(10 * body.joint));
    }
    for (std::size_t index = bodies_.size(); index-- > 0; ) {
      const Body & body = bodies_[index];
      const auto & load = body.sliding ? body.force.linear() : body.force.angular();
      tau[body.joint] += body.axis.dot(load);
      if (rotor_inertia_) {
        tau[body.joint] += values[10 * count + body.joint] * motion.qdd[body.joint];
      }
      if (body.parent >= 0) {
        bodies_[static_cast<std::size_t>(body.parent)].force += body.placement.act(body.force);
      }
    }
  }

  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override
  {
    const auto place = links_.find(frame.empty() ? carrier_ : frame);
    if (place == links_.end()) {
      throw std::invalid_argument("the robot has no link '" + quoted_text(frame) + "' to carry a payload");
    }
    const LinkPlace & link = place->second;
    if (link.body < 0) {
      throw std::invalid_argument(
        "link '" + quoted_text(frame) + "' is not moved by any joint: a payload there has no effect");
    }
    const Eigen::Matrix4d turn = link.placement.toHomogeneousMatrix();
    values.segment<10>(10 * bodies_[static_cast<std::size_t>(link.body)].joint) +=
      ten_parameters(turn * pseudo_inertia(payload) * turn.transpose());
  }

private:
  void add_children(
    const urdf::Link & link, const LinkPlace & place, const std::vector<std::string> & joints)
  {
    links_[link.name] = place;
    for (const auto & joint : link.child_joints) {
      const pinocchio::SE3 here = place.placement * placement_of(*joint);
      const urdf::Link & child = **std::find_if(
        link.child_links.begin(), link.child_links.end(),
        [&](const auto & item) {return item->name == joint->child_link_name;});
      const auto found = std::find(joints.begin(), joints.end(), joint->name);
      if (found != joints.end()) {
        bodies_.push_back(body_of(*joint, place.body, here, found - joints.begin()));
        add_children(
          child, {static_cast<int>(bodies_.size()) - 1, pinocchio::SE3::Identity()}, joints);
      } else {
        add_children(child, {place.body, here}, joints);
      }
    }
  }

  // Velocities and accelerations outwards: Featherstone, Rigid Body Dynamics Algorithms, table 5.1.
  // Pinocchio's forwardKinematics does the same; its code for any kind of joint took half of the
  // time of a cycle to come into the cache.
  void move(Body & body, const Motion & motion) const
  {
    const double q = motion.q[body.joint];
    const Eigen::Vector3d none = Eigen::Vector3d::Zero();
    const Eigen::Vector3d speed = body.axis * motion.qd[body.joint];
    const Eigen::Vector3d change = body.axis * motion.qdd[body.joint];
    body.placement = body.home;
    if (body.sliding) {
      body.placement.translation() += body.home.rotation() * (body.axis * q);
    } else {
      body.placement.rotation() *= Eigen::AngleAxisd(q, body.axis).toRotationMatrix();
    }
    const pinocchio::Motion own = body.sliding ? pinocchio::Motion(speed, none) :
      pinocchio::Motion(none, speed);
    body.velocity = own;
    body.acceleration = body.sliding ? pinocchio::Motion(change, none) :
      pinocchio::Motion(none, change);
    if (body.parent < 0) {
      body.acceleration += body.placement.actInv(ground_);
      return;
    }
    const Body & parent = bodies_[static_cast<std::size_t>(body.parent)];
    body.velocity += body.placement.actInv(parent.velocity);
    body.acceleration += body.placement.actInv(parent.acceleration) + body.velocity.cross(own);
  }

  std::vector<Body> bodies_;  // a parent before its children
  std::map<std::string, LinkPlace> links_;
  pinocchio::Motion ground_;  // acceleration of the ground less gravity
  bool rotor_inertia_;
};

}  // namespace

std::unique_ptr<Part> urdf_part(const YAML::Node & map)
{
  Eigen::Vector3d gravity(0.0, 0.0, -9.81);
  if (map["gravity"]) {
    const auto given = map["gravity"].as<std::vector<double>>();
    if (given.size() != 3 || !vector_of(given).allFinite()) {
      throw error("gravity needs three finite numbers");
    }
    gravity = vector_of(given);
  }
  const bool rotors = !map["rotor_inertia"] || map["rotor_inertia"].as<bool>();
  return std::make_unique<UrdfPart>(
    get<std::string>(map, "urdf"), get<std::vector<std::string>>(map, "joints"), gravity, rotors);
}

}  // namespace robodyn_ros
