// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/result_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/robots.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

using Names = std::vector<std::string>;

/// Joints of a robot in closed form, which its equations take for granted.
void check_count(const Names & joints, std::size_t least, std::size_t most)
{
  if (joints.size() < least || joints.size() > most) {
    throw error("its kind of robot has not " + std::to_string(joints.size()) + " joints");
  }
}

std::unique_ptr<Part> read_urdf(const YAML::Node & map)
{
  Eigen::Vector3d gravity(0.0, 0.0, -9.81);
  if (map["gravity"]) {
    const auto given = map["gravity"].as<std::vector<double>>();
    if (given.size() != 3 || !vector_of(given).allFinite()) {
      throw error("gravity needs three finite numbers");
    }
    gravity = vector_of(given);
  }
  const bool rotors = !map["rotor_inertia"] || map["rotor_inertia"].as<bool>();
  return urdf_part(
    get<std::string>(map, "urdf"), get<Names>(map, "joints"), gravity, rotors);
}

std::unique_ptr<Part> read_puma(const YAML::Node & map)
{
  PumaGeometry lengths{};
  const YAML::Node geometry = map["geometry"];
  if (geometry) {
    lengths = {
      get<double>(geometry, "a2"), get<double>(geometry, "a3"), get<double>(geometry, "d2"),
      get<double>(geometry, "d3"), get<double>(geometry, "d4"), get_or(map, "gravity", 9.81)};
  }
  const PumaGeometry * known = geometry ? &lengths : nullptr;
  if (get<int>(map, "dynamic_model") == 2) {
    const bool fifth = map["fifth_term"] && map["fifth_term"].as<bool>();
    return puma_gravity_part(fifth, known);
  }
  return puma_part(known);
}

std::unique_ptr<Part> read_delta(const YAML::Node & map, bool shaft)
{
  const YAML::Node geometry = map["geometry"], force = map["platform_force"];
  PlatformForce numbers{};
  if (force) {
    numbers = {get<double>(force, "R_ext"), get<double>(force, "Fr_max")};
    if (!std::isfinite(numbers.r_ext) || !std::isfinite(numbers.fr_max) || numbers.fr_max < 0.0) {
      throw error("platform_force needs a finite R_ext, and a finite Fr_max of 0 or more");
    }
  }
  return delta_part(
    shaft ? 4 : 3,
    DeltaGeometry{
      get<double>(geometry, "R_b"), get<double>(geometry, "r_p"), get<double>(geometry, "L_AB"),
      get<double>(geometry, "L_BC"), shaft ? get<double>(geometry, "h_O") : 0.0,
      get_or(map, "gravity", 9.81)},
    force ? &numbers : nullptr);
}

Vector figure(const YAML::Node & map, const char * name, std::size_t joints)
{
  const auto given = map[name].as<std::vector<double>>();
  const auto usable = [](double value) {return std::isfinite(value) && value >= 0.0;};
  if (given.size() != joints || !std::all_of(given.begin(), given.end(), usable)) {
    throw error(std::string("friction's ") + name + " needs one number per joint, 0 or more");
  }
  return vector_of(given);
}

}  // namespace

std::unique_ptr<Part> body_part(
  const YAML::Node & map, const std::string & kind, const Names & joints)
{
  if (kind == "urdf") {
    return read_urdf(map);
  }
  if (kind == "axis") {
    check_count(joints, 1, 1);
    const bool rotary = get<std::string>(map, "type") == "rotary";
    const YAML::Node prior = map["prior"];
    return axis_part(
      rotary, get<int>(map, "dynamic_model"), get_or(map, "payload_mass", 0.0),
      get_or(map, "payload_inertia", 0.0),
      AxisLevers{
        get_or(prior, "L^2", NAN), get_or(prior, rotary ? "g*L" : "g*cos(alpha)", NAN)});
  }
  if (kind == "scara") {
    check_count(joints, 3, 4);
    const YAML::Node geometry = map["geometry"];
    return scara_part(
      static_cast<Eigen::Index>(joints.size()),
      ScaraGeometry{
        get<double>(geometry, "L1"), get<double>(geometry, "L2"), get_or(geometry, "s4", 1.0),
        get_or(geometry, "z_sense", 1.0), get_or(map, "gravity", 9.81)});
  }
  if (kind == "puma") {
    check_count(joints, 6, 6);
    return read_puma(map);
  }
  if (kind == "springs") {
    return spring_part(joints.size(), get<Names>(map, "terms"));
  }
  if (kind == "delta") {
    check_count(joints, 3, 4);
    return read_delta(map, joints.size() > 3);
  }
  throw error("there is no model kind \"" + quoted_text(kind) + "\" in this controller");
}

Friction friction_of(const YAML::Node & map)
{
  static const std::set<std::string> understood{
    "kind", "joints", "terms", "load", "smoothing", "breakaway_speed", "threshold", "reach",
    "exponent"};
  for (const auto & item : map) {
    if (const auto key = item.first.as<std::string>(); understood.count(key) == 0) {
      throw error("friction's \"" + quoted_text(key) + "\" is not known to this controller");
    }
  }
  const std::size_t joints = map["joints"].size();
  std::vector<Figures> figures(joints);
  const std::pair<const char *, double Figures::*> known[]{
    {"smoothing", &Figures::smoothing}, {"breakaway_speed", &Figures::breakaway_speed},
    {"threshold", &Figures::threshold}, {"reach", &Figures::reach},
    {"exponent", &Figures::exponent}};
  for (const auto & [name, member] : known) {
    if (map[name]) {
      const Vector numbers = figure(map, name, joints);
      for (std::size_t joint = 0; joint < joints; ++joint) {
        figures[joint].*member = numbers[static_cast<Eigen::Index>(joint)];
      }
    }
  }
  return Friction(get<Names>(map, "terms"), figures);
}

}  // namespace robodyn_ros
