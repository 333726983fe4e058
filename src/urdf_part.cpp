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
  pinocchio::Model & model, std::map<std::string, LinkPlace> & links, const urdf::Link & link,
  const LinkPlace & place, const std::vector<std::string> & moving)
{
  links[link.name] = place;
  for (const auto & joint : link.child_joints) {
    const pinocchio::SE3 here = place.placement * placement_of(*joint);
    const urdf::Link & child = **std::find_if(
      link.child_links.begin(), link.child_links.end(),
      [&](const auto & item) {return item->name == joint->child_link_name;});
    if (std::find(moving.begin(), moving.end(), joint->name) != moving.end()) {
      const auto index = model.addJoint(place.joint, joint_model(*joint), here, joint->name);
      add_children(model, links, child, {index, pinocchio::SE3::Identity()}, moving);
    } else {
      add_children(model, links, child, {place.joint, here}, moving);
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

}  // namespace

UrdfPart::UrdfPart(
  const std::string & xml, const std::vector<std::string> & joints,
  const Eigen::Vector3d & gravity, bool rotor_inertia)
: gravity_(gravity),
  rotor_inertia_(rotor_inertia)
{
  const auto tree = parse(xml);
  add_children(model_, links_, *tree->getRoot(), {}, joints);
  if (static_cast<std::size_t>(model_.nv) != joints.size()) {
    throw std::invalid_argument("the URDF of the model lacks some of the model's joints");
  }
  data_ = pinocchio::Data(model_);
  const Vector still = Vector::Zero(model_.nv);
  q_ = qd_ = qdd_ = still;
  for (const auto & name : joints) {
    const auto index = model_.getJointId(name);
    index_.push_back(index);
    auto joint = model_.joints[index].createData();
    model_.joints[index].calc(joint, still);
    const Eigen::VectorXd direction = joint.S().matrix();
    direction_.emplace_back(direction.head<3>(), direction.tail<3>());
  }
  force_.assign(joints.size() + 1, pinocchio::Force::Zero());
  carrier_ = tree->getJoint(joints.back())->child_link_name;
}

Eigen::Index UrdfPart::width() const
{
  return (rotor_inertia_ ? 11 : 10) * model_.nv;
}

void UrdfPart::add(
  const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau)
{
  for (std::size_t joint = 0; joint < index_.size(); ++joint) {
    const auto place = static_cast<Eigen::Index>(index_[joint]) - 1;
    q_[place] = motion.q[static_cast<Eigen::Index>(joint)];
    qd_[place] = motion.qd[static_cast<Eigen::Index>(joint)];
    qdd_[place] = motion.qdd[static_cast<Eigen::Index>(joint)];
  }
  pinocchio::forwardKinematics(model_, data_, q_, qd_, qdd_);
  add_again(motion, values, tau);
}

// Newton and Euler with mass, first moments and inertia about the joint, not RNEA: that needs a
// centre of mass, and the links of an unconstrained estimate may have any mass, none or below it.
void UrdfPart::add_again(
  const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau)
{
  for (std::size_t joint = 0; joint < index_.size(); ++joint) {
    force_[index_[joint]] = force_of(
      index_[joint], values.segment<10>(10 * static_cast<Eigen::Index>(joint)));
  }
  for (std::size_t index = index_.size(); index > 1; --index) {
    const auto parent = model_.parents[index];
    if (parent > 0) {
      force_[parent] += data_.liMi[index].act(force_[index]);
    }
  }
  const Eigen::Index count = model_.nv;
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const auto place = static_cast<std::size_t>(joint);
    tau[joint] += direction_[place].dot(force_[index_[place]]);
    if (rotor_inertia_) {
      tau[joint] += values[10 * count + joint] * motion.qdd[joint];
    }
  }
}

pinocchio::Force UrdfPart::force_of(
  pinocchio::JointIndex index, const Eigen::Ref<const Eigen::Matrix<double, 10, 1>> & ten) const
{
  const double mass = ten[0];
  const Eigen::Vector3d first = ten.segment<3>(1);
  Eigen::Matrix3d inertia;
  inertia << ten[4], ten[5], ten[7], ten[5], ten[6], ten[8], ten[7], ten[8], ten[9];
  const Eigen::Vector3d v = data_.v[index].linear(), w = data_.v[index].angular();
  const Eigen::Vector3d turn = data_.a[index].angular();
  const Eigen::Vector3d a =
    data_.a[index].linear() - data_.oMi[index].rotation().transpose() * gravity_;
  const Eigen::Vector3d momentum = mass * v + w.cross(first);
  const Eigen::Vector3d spin = inertia * w + first.cross(v);
  return pinocchio::Force(
    mass * a + turn.cross(first) + w.cross(momentum),
    inertia * turn + first.cross(a) + w.cross(spin) + v.cross(momentum));
}

void UrdfPart::add_payload(
  const Eigen::Ref<const Vector> & payload, const std::string & frame,
  Eigen::Ref<Vector> values) const
{
  if (payload.size() != 10) {
    throw std::invalid_argument("a payload of a URDF robot has ten parameters");
  }
  const auto found = links_.find(frame.empty() ? carrier_ : frame);
  if (found == links_.end()) {
    throw std::invalid_argument("the robot has no link '" + frame + "' to carry a payload");
  }
  const LinkPlace & link = found->second;
  const auto joint = std::find(index_.begin(), index_.end(), link.joint);
  if (joint == index_.end()) {
    throw std::invalid_argument(
      "link '" + frame + "' is not moved by any joint: a payload there has no effect");
  }
  const Eigen::Matrix4d place = link.placement.toHomogeneousMatrix();
  values.segment<10>(10 * (joint - index_.begin())) +=
    ten_parameters(place * pseudo_inertia(payload) * place.transpose());
}

}  // namespace robodyn_ros
