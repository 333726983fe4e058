#include "robodyn_ros/urdf_part.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <urdf_parser/urdf_parser.h>

namespace robodyn_ros
{
namespace
{

pinocchio::SE3 placement_of(const urdf::Joint & joint)
{
  const auto & pose = joint.parent_to_joint_origin_transform;
  const Eigen::Quaterniond turn(
    pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z);
  return pinocchio::SE3(
    turn.toRotationMatrix(),
    Eigen::Vector3d(pose.position.x, pose.position.y, pose.position.z));
}

// A continuous joint becomes a plain revolute one: an angle is all the dynamics needs.
pinocchio::JointModel joint_model(const urdf::Joint & joint)
{
  const Eigen::Vector3d axis(joint.axis.x, joint.axis.y, joint.axis.z);
  if (joint.type == urdf::Joint::PRISMATIC) {
    return pinocchio::JointModelPrismaticUnaligned(axis.normalized());
  }
  if (joint.type == urdf::Joint::REVOLUTE || joint.type == urdf::Joint::CONTINUOUS) {
    return pinocchio::JointModelRevoluteUnaligned(axis.normalized());
  }
  throw std::invalid_argument("joint " + joint.name + " is neither revolute nor prismatic");
}

void add_children(
  pinocchio::Model & model, const urdf::Link & link, pinocchio::JointIndex parent,
  const pinocchio::SE3 & placement, const std::map<std::string, std::size_t> & moving)
{
  for (const auto & joint : link.child_joints) {
    const pinocchio::SE3 here = placement * placement_of(*joint);
    const urdf::Link & child = **std::find_if(
      link.child_links.begin(), link.child_links.end(),
      [&](const auto & item) {return item->name == joint->child_link_name;});
    if (moving.count(joint->name)) {
      const auto index = model.addJoint(parent, joint_model(*joint), here, joint->name);
      add_children(model, child, index, pinocchio::SE3::Identity(), moving);
    } else {
      add_children(model, child, parent, here, moving);
    }
  }
}

urdf::ModelInterfaceSharedPtr parse(const std::string & xml)
{
  const auto tree = urdf::parseURDF(xml);
  if (!tree) {
    throw std::invalid_argument("the URDF of the model cannot be read");
  }
  return tree;
}

pinocchio::Model build(
  const urdf::ModelInterface & tree, const std::vector<std::string> & joints,
  const Eigen::Vector3d & gravity)
{
  std::map<std::string, std::size_t> moving;
  for (std::size_t place = 0; place < joints.size(); ++place) {
    moving[joints[place]] = place;
  }
  pinocchio::Model model;
  model.gravity.linear() = gravity;
  add_children(model, *tree.getRoot(), 0, pinocchio::SE3::Identity(), moving);
  if (static_cast<std::size_t>(model.nv) != joints.size()) {
    throw std::invalid_argument("the URDF of the model lacks some of the model's joints");
  }
  return model;
}

}  // namespace

UrdfPart::UrdfPart(
  const std::string & xml, const std::vector<std::string> & joints,
  const Eigen::Vector3d & gravity, bool rotor_inertia)
: model_(build(*parse(xml), joints, gravity)),
  data_(model_),
  motion_(model_.nv),
  values_(Vector::Zero(10 * model_.nv)),
  torque_(Vector::Zero(model_.nv)),
  rotor_inertia_(rotor_inertia)
{
  for (const auto & name : joints) {
    place_.push_back(static_cast<Eigen::Index>(model_.getJointId(name)) - 1);
  }
  carrier_ = parse(xml)->getJoint(joints.back())->child_link_name;
}

Eigen::Index UrdfPart::width() const
{
  return (rotor_inertia_ ? 11 : 10) * model_.nv;
}

// The regressor times the values, not RNEA: it needs no centre of mass, so that the links of an
// unconstrained estimate may have any mass, none at all or less than that.
void UrdfPart::add(
  const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau)
{
  const Eigen::Index count = model_.nv;
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const Eigen::Index place = place_[joint];
    motion_.q[place] = motion.q[joint];
    motion_.qd[place] = motion.qd[joint];
    motion_.qdd[place] = motion.qdd[joint];
  }
  pinocchio::computeJointTorqueRegressor(model_, data_, motion_.q, motion_.qd, motion_.qdd);
  add_again(motion, values, tau);
}

void UrdfPart::add_again(
  const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau)
{
  const Eigen::Index count = model_.nv;
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    values_.segment<10>(10 * place_[joint]) = values.segment<10>(10 * joint);
  }
  torque_.noalias() = data_.jointTorqueRegressor * values_;
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    tau[joint] += torque_[place_[joint]];
    if (rotor_inertia_) {
      tau[joint] += values[10 * count + joint] * motion.qdd[joint];
    }
  }
}

void UrdfPart::add_payload(
  const Eigen::Ref<const Vector> & payload, Eigen::Ref<Vector> values) const
{
  if (payload.size() != 10) {
    throw std::invalid_argument("a payload of a URDF robot has ten parameters");
  }
  values.segment<10>(10 * (model_.nv - 1)) += payload;
}

}  // namespace robodyn_ros
