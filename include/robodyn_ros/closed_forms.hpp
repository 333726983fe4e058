// SPDX-License-Identifier: Apache-2.0
// Robots of the softMC document in closed form (robodyn_ros/models/{axis,scara,puma}.py), and springs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// One rotary or linear axis, see models/closed_forms/axis.py for its five models.
class AxisPart : public Part
{
public:
  /// What a payload's mass acts with: values known beforehand, because identified ones are of no
  /// effect without a payload. NaN: not known.
  struct Levers
  {
    double square;  // L^2
    double weight;  // g L, or g cos(alpha)
  };
  AxisPart(
    bool rotary, int dynamic_model, double payload_mass, double payload_inertia,
    const Levers & levers);
  Eigen::Index width() const override;
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  std::vector<JointFacts> joint_facts(std::size_t joints) const override
  {
    std::vector<JointFacts> result(joints);
    result.front().sliding = !rotary_;
    return result;
  }
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  bool rotary_;
  int form_;
  double mass_;
  Levers levers_;
  Eigen::Index named_;  // parameters without the known payload's own
  bool known_payload_;
};

/// SCARA with three or four axes, eight parameters, see models/closed_forms/scara.py.
class ScaraPart : public Part
{
public:
  struct Geometry
  {
    double l1, l2, s4, z_sense, gravity;
  };
  ScaraPart(Eigen::Index joints, const Geometry & geometry);
  Eigen::Index width() const override {return 8;}
  std::vector<JointFacts> joint_facts(std::size_t joints) const override
  {
    std::vector<JointFacts> result(joints);
    result.at(2).sliding = true;
    return result;
  }
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  Eigen::Index joints_;
  Geometry geometry_;
};

/// PUMA, dynamic model 1: 34 parameters, or 26 with known kinematics, see models/closed_forms/puma.py.
class PumaPart : public Part
{
public:
  struct Geometry
  {
    double a2, a3, d2, d3, d4, gravity;
  };
  explicit PumaPart(const Geometry * geometry);
  Eigen::Index width() const override {return relations_.cols();}
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  Eigen::MatrixXd relations_;  // all 34 from the parameters
  Vector all_;
};

/// PUMA, dynamic model 2: gravity of a slow motion, see models/closed_forms/puma.py.
class PumaGravityPart : public Part
{
public:
  PumaGravityPart(bool fifth_term, const PumaPart::Geometry * geometry);
  Eigen::Index width() const override {return fifth_term_ ? 5 : 4;}
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  bool fifth_term_;
  bool known_;
  std::array<double, 3> levers_{};  // torque per mass at the wrist's centre
};

/// Springs and balancers of every joint's position (robodyn_ros/models/springs.py); parameters joint by
/// joint, in the order of the terms.
class SpringPart : public Part
{
public:
  /// Throws std::invalid_argument: no term, an unknown one, or one named twice.
  SpringPart(std::size_t joints, const std::vector<std::string> & terms);
  Eigen::Index width() const override;
  bool is_robot() const override {return false;}
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  using Column = double (*)(double);
  std::size_t joints_;
  std::vector<Column> columns_;
};

}  // namespace robodyn_ros
