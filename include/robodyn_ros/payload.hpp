// SPDX-License-Identifier: Apache-2.0
// The numbers of a payload (robodyn_ros/models/payload.py) and the largest one that a robot may be
// told to carry (robodyn_ros/control/payload_limit.py).
#pragma once

#include <string>
#include <vector>

#include "robodyn_ros/result_file.hpp"

namespace robodyn_ros
{

/// What `ModelTorque::with_payload` takes.
///
/// `mass` [kg]. URDF robots: `centre` of mass in the frame [m], empty: its origin, and `inertia`
/// about it [kg m^2], xx, xy, xz, yy, yz, zz; others: no centre and one inertia. Empty: a point.
/// Throws std::invalid_argument for data that no body has.
Vector payload_numbers(
  const ModelTorque & torque, double mass, const std::vector<double> & centre,
  const std::vector<double> & inertia);

/// Evenly spread poses between limits; the first one is number 1.
Vector start_pose(Eigen::Index number, const Vector & low, const Vector & high);

/// Checks payloads against the robot. It has a model of its own, so that any thread may ask.
class PayloadLimit
{
public:
  /// Find the worst poses of the robot of a result file. `effort`: limits in place of those of the
  /// URDF where it lacks some, [Nm] or [N]. `max_payload` [kg]; 0: that of the effort limits.
  /// Throws std::invalid_argument.
  PayloadLimit(const std::string & result_file, const Vector & effort, double max_payload);

  /// Refuse a payload that is too large by std::invalid_argument with one sentence. `payload` and
  /// `frame` are those of `ModelTorque::with_payload`.
  void check(const Vector & payload, const std::string & frame);

  /// Refuse more inertia than a body of this mass [kg] within the reach of the robot can have.
  void check_body(double mass, const Vector & payload, const std::string & frame);

private:
  struct Size
  {
    double mass;     // [kg]
    double moment;   // first moment, [kg m]
    double inertia;  // largest, [kg m^2]
  };

  Size size_of(const Vector & payload, const std::string & frame) const;
  Vector unit(Eigen::Index number) const;
  void gravity(const Vector & q, Vector & arm, Vector & per_mass);
  void find_poses();
  void find_levers();
  void check_given(const Size & size) const;
  void check_effort(const Size & payload) const;

  IdentifiedModel model_;
  Vector values_;  // without payload
  Vector loaded_;  // with 1 kg
  Vector effort_;
  double given_;
  Vector low_, high_;
  std::vector<bool> turning_;
  Motion motion_;
  Vector tau_;
  std::vector<Vector> arm_, per_mass_;  // gravity torques at the worst poses, absolute
  Vector lever_;                        // largest distance of a payload from each axis, [m]
  double reach_ = 1.0;
};

}  // namespace robodyn_ros
