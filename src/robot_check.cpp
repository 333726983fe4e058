// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/robot_check.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Eigenvalues>

#include "robodyn_ros/payload_limit.hpp"
#include "robodyn_ros/result_file.hpp"

namespace robodyn_ros
{
namespace
{

// As in Python, where they are explained.
constexpr Eigen::Index kPoses = 64;
constexpr double kSpeeds[] = {0.03, 0.15, 0.75};
constexpr double kMeasured = 5.0, kNoDrive = 1e6, kSlow = 0.1, kUsual = 5.0, kDriving = 0.1;

/// Smallest and largest eigenvalue of rotary or linear joints.
Eigen::Vector2d range_of(const Eigen::MatrixXd & mass, const std::vector<Eigen::Index> & kind)
{
  const Vector found = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(
    mass(kind, kind), Eigen::EigenvaluesOnly).eigenvalues();
  return {found.minCoeff(), found.maxCoeff()};
}

}  // namespace

void check_possible(const std::string & result_file)
{
  const IdentifiedModel model = read_result(result_file);
  ModelTorque & torque = *model.torque;
  const bool loaded = model.payload.size() > 0;
  if (loaded) {
    torque.set_values(torque.with_payload(model.payload, model.payload_frame));
  }
  const auto joints = torque.joint_facts();
  const auto count = static_cast<Eigen::Index>(joints.size());
  Vector low(count), high(count), most(count);
  std::vector<Eigen::Index> kinds[2];
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const auto index = static_cast<std::size_t>(joint);
    const JointFacts & facts = joints[index];
    low[joint] = facts.lower;
    high[joint] = facts.upper;
    kinds[facts.sliding].push_back(joint);
    const double usual = model.usual_torque.size() == joints.size() ? model.usual_torque[index] : 0;
    const double known = std::isfinite(facts.effort) ? facts.effort : 0.0;
    most[joint] = std::max(known, std::isfinite(usual) ? kMeasured * usual : 0.0);
    most[joint] = most[joint] > 0.0 ? most[joint] : kNoDrive;
  }
  const auto refuse = [&](const std::string & what, const auto & bad) {
      for (Eigen::Index joint = 0; joint < count; ++joint) {
        if (bad[joint]) {
          throw std::invalid_argument(
            "no robot has the parameters of " + result_file + ": " + what + ", at " +
            torque.joints()[static_cast<std::size_t>(joint)] + ". Identify it again");
        }
      }
    };
  Vector rest(count), moved(count), friction(count), offset(count);
  Vector drives = Vector::Zero(count), still = Vector::Zero(count), moving = Vector::Zero(count);
  Eigen::MatrixXd mass(count, count);
  Eigen::Matrix2d range = Eigen::Matrix2d::Zero();  // columns: rotary and linear joints
  Motion motion(count);
  for (Eigen::Index pose = 1; pose <= kPoses; ++pose) {
    motion.q = start_pose(pose, low, high);
    torque.body(motion, rest);
    offset.setZero();
    torque.add_friction(motion, Vector::Zero(count), offset);
    for (const double speed : kSpeeds) {
      for (const double sign : {1.0, -1.0}) {
        friction.setZero();
        torque.add_friction(motion, Vector::Constant(count, sign * speed), friction);
        friction = sign * (friction - offset);
        drives = drives.cwiseMax(-friction);
        refuse("friction is above the torque of the drive", !(friction.array().abs() <= most.array()));
      }
    }
    for (Eigen::Index joint = 0; joint < count; ++joint) {
      motion.qdd[joint] = 1.0;
      torque.body(motion, moved);
      mass.col(joint) = moved - rest;
      motion.qdd[joint] = 0.0;
    }
    rest += offset;
    refuse("the torque at rest is above that of the drive", !(rest.array().abs() <= most.array()));
    refuse(
      "the inertia is too large for the drive",
      !(kSlow * mass.diagonal().array().abs() <= most.array()));
    still = still.cwiseMax(rest.cwiseAbs());
    moving = moving.cwiseMax(mass.diagonal().cwiseAbs());
    for (const int kind : {0, 1}) {
      if (!kinds[kind].empty()) {
        const Eigen::Vector2d own = range_of(mass, kinds[kind]);
        range(0, kind) = std::min(range(0, kind), own[0]);
        range(1, kind) = std::max(range(1, kind), own[1]);
      }
    }
  }
  refuse(
    "friction drives the joint",
    drives.array() > kDriving * (still + kUsual * moving + drives).array());
  const bool strict = model.consistent && !loaded && torque.payload_width() == 10;
  for (const int kind : {0, 1}) {
    if (range(0, kind) < -range(1, kind) * (strict ? 1e-9 : 1.0)) {
      throw std::invalid_argument(
        "no robot has the parameters of " + result_file +
        ": the mass matrix is not positive. Identify it again");
    }
  }
}

}  // namespace robodyn_ros
