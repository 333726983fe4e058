// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/payload.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <Eigen/Eigenvalues>

namespace robodyn_ros
{
namespace
{

void check(const std::string & name, const std::vector<double> & values, std::size_t count)
{
  for (const double value : values) {
    if (!std::isfinite(value)) {
      throw std::invalid_argument("the payload's " + name + " must be finite");
    }
  }
  if (!values.empty() && values.size() != count) {
    throw std::invalid_argument(
      "the payload's " + name + " needs " + std::to_string(count) + " numbers, got " +
      std::to_string(values.size()));
  }
}

/// Moments about the centre of mass; a body has none that its mass distribution cannot give.
Eigen::Matrix3d tensor_of(const std::vector<double> & inertia)
{
  Eigen::Matrix3d own = Eigen::Matrix3d::Zero();
  if (!inertia.empty()) {
    own << inertia[0], inertia[1], inertia[2], inertia[1], inertia[3], inertia[4], inertia[2],
      inertia[4], inertia[5];
  }
  const Eigen::Matrix3d second = 0.5 * own.trace() * Eigen::Matrix3d::Identity() - own;
  const double least = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(
    second, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
  if (least < -1e-9 * std::max(1.0, own.cwiseAbs().maxCoeff())) {
    throw std::invalid_argument(
      "no body has the payload's inertia: its principal moments must not be negative, and none "
      "larger than the sum of the two others");
  }
  return own;
}

}  // namespace

Vector payload_numbers(
  const ModelTorque & torque, double mass, const std::vector<double> & centre,
  const std::vector<double> & inertia)
{
  const bool rigid = torque.payload_width() == 10;
  check("mass", {mass}, 1);
  check("centre of mass", centre, rigid ? 3 : 0);
  check("inertia", inertia, rigid ? 6 : 1);
  if (mass < 0.0) {
    throw std::invalid_argument("the payload's mass must not be negative");
  }
  if (mass == 0.0 && std::any_of(
      inertia.begin(), inertia.end(), [](double moment) {return moment != 0.0;}))
  {
    throw std::invalid_argument("no body of 0 kg has an inertia");
  }
  if (!rigid) {
    const double own = inertia.empty() ? 0.0 : inertia[0];
    if (own < 0.0) {
      throw std::invalid_argument("the payload's inertia must not be negative");
    }
    return Eigen::Vector2d(mass, own);
  }
  const Eigen::Vector3d c = centre.empty() ? Eigen::Vector3d::Zero() :
    Eigen::Vector3d(centre[0], centre[1], centre[2]);
  const Eigen::Matrix3d about = tensor_of(inertia) +
    mass * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  Vector ten(10);
  ten << mass, mass * c, about(0, 0), about(0, 1), about(1, 1), about(0, 2), about(1, 2),
    about(2, 2);
  return ten;
}

}  // namespace robodyn_ros
