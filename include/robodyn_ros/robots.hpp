// SPDX-License-Identifier: Apache-2.0
// Robots and springs, one function for each kind: the equations are explained in robodyn_ros/models.
// All of them throw std::invalid_argument for facts that no such robot has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// What the mass of a payload of an axis acts with: L^2, and g L or g cos(alpha). They are known
/// beforehand, because identified ones are of no effect without a payload. NaN: not known.
struct AxisLevers
{
  double square, weight;
};

struct ScaraGeometry
{
  double l1, l2, s4, z_sense, gravity;
};

struct PumaGeometry
{
  double a2, a3, d2, d3, d4, gravity;
};

/// Lengths [m]: base, platform, arm, rod, and height of the shaft's upper joint; gravity [m/s^2].
struct DeltaGeometry
{
  double r_b, r_p, l_ab, l_bc, h_o, gravity;
};

/// Radius [m] beyond which a force acts on the platform of a delta, and the largest force [N].
struct PlatformForce
{
  double r_ext, fr_max;
};

/// One rotary or linear axis with one of its five models: closed_forms/axis.py.
std::unique_ptr<Part> axis_part(
  bool rotary, int dynamic_model, double payload_mass, double payload_inertia,
  const AxisLevers & levers);

/// SCARA with three or four axes, eight parameters: closed_forms/scara.py.
std::unique_ptr<Part> scara_part(Eigen::Index joints, const ScaraGeometry & geometry);

/// PUMA, dynamic model 1: 34 parameters, or 26 with a geometry (null: none): closed_forms/puma.py.
std::unique_ptr<Part> puma_part(const PumaGeometry * geometry);

/// PUMA, dynamic model 2: gravity of a slow motion.
std::unique_ptr<Part> puma_gravity_part(bool fifth_term, const PumaGeometry * geometry);

/// DELTA with three arms, and as fourth axis a telescopic shaft to the platform:
/// closed_forms/delta.py. `force`: null where the model has none.
std::unique_ptr<Part> delta_part(
  Eigen::Index joints, const DeltaGeometry & geometry, const PlatformForce * force);

/// Springs and balancers of every joint's position, no term twice: springs.py.
std::unique_ptr<Part> spring_part(std::size_t joints, const std::vector<std::string> & terms);

/// Rigid bodies of a serial robot: serial/urdf.py. Ten parameters of each moving link, in the order
/// of the joints, then a rotor inertia per joint. `xml` without meshes, as a result file holds it;
/// joints that are not named are locked at zero.
std::unique_ptr<Part> urdf_part(
  const std::string & xml, const std::vector<std::string> & joints,
  const Eigen::Vector3d & gravity, bool rotor_inertia);

}  // namespace robodyn_ros
