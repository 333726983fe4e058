// SPDX-License-Identifier: Apache-2.0
// Torque of an identified model: robodyn_ros/control/torque/model_torque.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Bodies with their place in the parameter values.
struct PlacedPart
{
  std::unique_ptr<Part> part;
  Eigen::Index first;
};

/// Friction with its place, and the body's values that load-dependent friction goes by, or none.
struct PlacedFriction
{
  Friction friction;
  Eigen::Index first;
  Vector load;
};

/// A model with its values, friction made continuous around standstill.
class ModelTorque
{
public:
  /// One body at least; the load of friction is that of the first one.
  ModelTorque(
    std::vector<std::string> joints, std::vector<PlacedPart> bodies,
    std::vector<PlacedFriction> frictions, Vector values);

  const std::vector<std::string> & joints() const {return joints_;}
  const Vector & values() const {return values_;}

  /// Velocities below it count as standing still; 0: no smoothing. [rad/s] or [m/s], one per joint.
  void set_velocity_window(const Vector & window);
  const Vector & velocity_window() const {return window_;}

  /// Values of the model with a payload; see Part::add_payload. May throw std::invalid_argument.
  Vector with_payload(const Vector & payload, const std::string & frame = {}) const;

  /// How many numbers tell a payload: 10 for a URDF robot, else 2.
  Eigen::Index payload_width() const {return payload_frame().empty() ? 2 : 10;}

  /// Link in whose frame the payload of a URDF robot is given by default; empty for other kinds.
  const std::string & payload_frame() const {return bodies_.front().part->payload_frame();}

  /// What is known of the robot's joints, and where its parameters begin.
  const std::vector<JointFacts> & joint_facts() const {return bodies_.front().part->joint_facts();}
  Eigen::Index first_of_robot() const {return bodies_.front().first;}

  /// Take other values; does not allocate.
  void set_values(const Vector & values);

  /// Forget the motions before, by which slips are deflected. Never allocates or throws.
  void forget();

  /// Joints whose drive adds the gravity torque itself: it is left out of their torque.
  void set_gravity_excluded(const std::vector<bool> & excluded);

  /// Torque of everything but friction into `tau`. Never allocates or throws.
  void body(const Motion & motion, Vector & tau);

  /// The same of the robot alone, without its springs.
  void robot(const Motion & motion, Vector & tau) {bodies(motion, tau, false);}

  /// Add the friction torque of the motion whose `body` was just computed, at the velocities `qd`;
  /// within the window on a straight line.
  void add_friction(const Motion & motion, const Vector & qd, Vector & tau);

private:
  void bodies(const Motion & motion, Vector & tau, bool springs);
  void friction_at(bool per_load, const Vector & qd, Vector & tau) const;

  std::vector<std::string> joints_;
  std::vector<PlacedPart> bodies_;
  std::vector<PlacedFriction> frictions_;
  const PlacedFriction * loaded_ = nullptr;  // friction that depends on the load
  Vector identified_;
  Vector values_;
  Vector window_;
  Vector lower_;     // ends of the window; without one the smallest velocities there are
  Vector upper_;
  Vector backward_;  // friction at the lower end of the window
  Vector range_;     // from there to the upper end
  Vector backward_load_;  // the same per load
  Vector range_load_;
  Vector friction_;
  Vector per_load_;
  Vector load_;
  std::vector<bool> gravity_excluded_;
  bool gravity_left_out_ = false;
  Motion resting_;
  Vector weight_;
};

}  // namespace robodyn_ros
