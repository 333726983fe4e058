// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/result_file.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Eigenvalues>

#include "robodyn_ros/payload.hpp"

namespace robodyn_ros
{
namespace
{

// As in Python, where they are explained.
constexpr Eigen::Index kPoses = 64;
constexpr double kSpeeds[] = {0.03, -0.03, 0.15, -0.15, 0.75, -0.75};
constexpr double kMeasured = 5.0, kNoDrive = 1e6, kSlow = 0.1, kUsual = 5.0, kDriving = 0.1;

void require(bool kept, const std::string & problem)
{
  if (!kept) {
    throw std::invalid_argument(
      "no robot has its parameters: " + problem +
      ". Identify it again, as a consistent robot (--consistent)");
  }
}

/// Torque of the recording in times of which the joint may need torque; 0: not known.
double measured(const IdentifiedModel & model, std::size_t joint)
{
  const auto & usual = model.usual_torque;
  const double known = usual.size() == model.torque->joints().size() ? usual[joint] : 0.0;
  return known > 0.0 ? std::min(kMeasured * known, kNoDrive) : 0.0;
}

/// Torque of a drive, [Nm] or [N].
double rated_torque(const IdentifiedModel & model, std::size_t joint)
{
  const double effort = model.torque->joint_facts()[joint].effort;
  const double most = measured(model, joint);
  if (std::isfinite(effort) && effort > 0.0 && kMeasured * effort >= most) {
    return effort;
  }
  return most > 0.0 ? most : kNoDrive;
}

}  // namespace

void check_possible(const std::string & path)
{
  const IdentifiedModel model = read_result(path);
  ModelTorque & torque = *model.torque;
  const bool loaded = model.payload.size() > 0;
  if (loaded) {
    torque.set_values(torque.with_payload(model.payload, model.payload_frame));
  }
  const auto joints = torque.joint_facts();
  const auto count = static_cast<Eigen::Index>(joints.size());
  Vector low(count), high(count), most(count);
  std::vector<Eigen::Index> kinds[2];  // rotary and linear joints
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const auto index = static_cast<std::size_t>(joint);
    low[joint] = joints[index].lower;
    high[joint] = joints[index].upper;
    kinds[joints[index].sliding].push_back(joint);
    most[joint] = std::max(rated_torque(model, index), measured(model, index));
  }
  Vector body(count), other(count), offset(count), rest = Vector::Zero(count);
  Vector inertia = rest, friction = rest, drives = rest;
  Eigen::MatrixXd mass(count, count);
  Eigen::Matrix2d range = Eigen::Matrix2d::Zero();  // of the eigenvalues of each kind
  Motion motion(count);
  for (Eigen::Index pose = 1; pose <= kPoses; ++pose) {
    motion.q = start_pose(pose, low, high);
    torque.body(motion, body);
    offset.setZero();
    torque.add_friction(motion, Vector::Zero(count), offset);
    rest = rest.cwiseMax((body + offset).cwiseAbs());
    for (const double speed : kSpeeds) {
      other.setZero();
      torque.add_friction(motion, Vector::Constant(count, speed), other);
      friction = friction.cwiseMax((other - offset).cwiseAbs());
      drives = drives.cwiseMax((offset - other) * (speed > 0.0 ? 1.0 : -1.0));
    }
    for (Eigen::Index joint = 0; joint < count; ++joint) {
      motion.qdd[joint] = 1.0;
      torque.body(motion, other);
      mass.col(joint) = other - body;
      motion.qdd[joint] = 0.0;
    }
    inertia = inertia.cwiseMax(mass.diagonal().cwiseAbs());
    require((body + offset + other).allFinite() && mass.allFinite(), "its torque is not finite");
    for (const int kind : {0, 1}) {
      if (!kinds[kind].empty()) {
        const Vector own = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(
          mass(kinds[kind], kinds[kind]), Eigen::EigenvaluesOnly).eigenvalues();
        range(0, kind) = std::min(range(0, kind), own.minCoeff());
        range(1, kind) = std::max(range(1, kind), own.maxCoeff());
      }
    }
  }
  const double least = model.consistent && !loaded && torque.payload_width() == 10 ? 1e-9 : 1.0;
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const std::string & name = torque.joints()[static_cast<std::size_t>(joint)];
    const double usual = rest[joint] + kUsual * inertia[joint];
    require(
      std::max({rest[joint], friction[joint], kSlow * inertia[joint]}) <= most[joint],
      name + " needs more torque than its drive has");
    require(drives[joint] <= kDriving * (usual + drives[joint]), "friction drives " + name);
  }
  require(
    (range.row(0).array() >= -least * range.row(1).array()).all(),
    "the mass matrix is not positive");
}

}  // namespace robodyn_ros
