// SPDX-License-Identifier: Apache-2.0
// What a robot's torque is made of: parts that are linear in their parameters, tau = Y(q, qd, qdd) p.
//
// The C++ counterpart of robodyn_ros/models: the same equations, one sample at a time, without
// allocating. The Python models are the oracle (test/controller/test_law.py).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

/// Position, velocity and acceleration of all joints; [rad] or [m], per second, per second squared.
struct Motion
{
  Vector q;
  Vector qd;
  Vector qdd;

  explicit Motion(Eigen::Index joints)
  : q(Vector::Zero(joints)), qd(Vector::Zero(joints)), qdd(Vector::Zero(joints))
  {
  }
};

/// What is known of a joint: limits in [rad] or [m], effort in [Nm] or [N], 0: not known.
struct JointFacts
{
  double lower = -3.141592653589793;
  double upper = 3.141592653589793;
  double effort = 0.0;
  bool sliding = false;
};

/// The bodies of a robot, or what its joints have beside them.
class Part
{
public:
  virtual ~Part() = default;

  /// False for what is no body: it has no gravity, and carries nothing.
  virtual bool is_robot() const {return true;}

  /// How many parameters it has.
  virtual Eigen::Index width() const = 0;

  /// Add the torque of a motion to `tau`, in [Nm] or [N]. Never allocates or throws.
  virtual void add(const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) = 0;

  /// The same of the motion of the last `add`, with other values.
  virtual void add_again(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau)
  {
    add(motion, values, tau);
  }

  /// Begin anew, without the motions before. Never allocates or throws.
  virtual void forget() {}

  /// What is known of each joint of a robot.
  const std::vector<JointFacts> & joint_facts() const {return facts_;}

  /// Link that carries the payload of a URDF robot; empty for the others.
  const std::string & payload_frame() const {return carrier_;}

  /// How parameter values change with a payload: a mass [kg] with its first moments [kg m] and the
  /// six inertias about the frame's origin [kg m^2] for a URDF robot; else mass and inertia.
  /// `frame`: the link that carries it, only of a URDF robot; empty: the one of `payload_frame`.
  /// Throws std::invalid_argument where the robot cannot carry one.
  virtual void add_payload(
    const Eigen::Ref<const Vector> &, const std::string &, Eigen::Ref<Vector>) const
  {
  }

protected:
  std::vector<JointFacts> facts_;
  std::string carrier_;
};

/// A robot whose values change in proportion to mass and inertia of its payload.
class ClosedForm : public Part
{
public:
  Eigen::Index width() const override {return effect_.rows();}

  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string &,
    Eigen::Ref<Vector> values) const override
  {
    if (!refusal_.empty() && !payload.isZero(0.0)) {
      throw std::invalid_argument(refusal_);
    }
    values += effect_ * payload;
  }

protected:
  ClosedForm(Eigen::Index joints, Eigen::Index width)
  : effect_(Eigen::MatrixXd::Zero(width, 2))
  {
    facts_.resize(static_cast<std::size_t>(joints));
  }

  Eigen::MatrixXd effect_;  // a column for the mass, and one for the inertia
  std::string refusal_;     // why it carries no payload; empty: it does
};

}  // namespace robodyn_ros
