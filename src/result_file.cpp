// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/result_file.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/result_blocks.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

using Names = std::vector<std::string>;

/// Most joints: the time that PayloadLimit takes grows with the fourth power, 64 take half a minute.
constexpr std::size_t kMostJoints = 64;
/// Most parts of a sum: a robot and its friction are two, each is computed in every cycle.
constexpr std::size_t kMostParts = 20;
/// Version of the parameter file.
constexpr int kFormat = 1;

/// Names of a part's joints; friction has their types beside them.
Names joints_of(const YAML::Node & map)
{
  Names result;
  for (const auto & joint : map["joints"]) {
    result.push_back((joint.IsMap() ? joint["name"] : joint).as<std::string>());
  }
  return result;
}

std::string listed(const Names & names)
{
  std::string result;
  for (const auto & name : names) {
    result += (result.empty() ? "" : ", ") + name;
  }
  return "[" + quoted_text(result) + "]";
}

/// Joints of a robot in closed form, which its equations take for granted.
void check_count(const Names & joints, std::size_t least, std::size_t most)
{
  if (joints.size() < least || joints.size() > most) {
    throw error("its kind of robot has not " + std::to_string(joints.size()) + " joints");
  }
}

/// Bodies or springs of a description.
std::unique_ptr<Part> body_part(
  const YAML::Node & map, const std::string & kind, const Names & joints)
{
  if (kind == "urdf") {
    return urdf_part(map);
  }
  if (kind == "axis") {
    check_count(joints, 1, 1);
    return axis_part(map);
  }
  if (kind == "scara") {
    check_count(joints, 3, 4);
    return scara_part(map, joints.size());
  }
  if (kind == "puma") {
    check_count(joints, 6, 6);
    return puma_part(map);
  }
  if (kind == "springs") {
    return spring_part(map, joints.size());
  }
  if (kind == "delta") {
    check_count(joints, 3, 4);
    return delta_part(map, joints.size());
  }
  throw error("there is no model kind \"" + quoted_text(kind) + "\" in this controller");
}

/// The values that load-dependent friction goes by, or none.
Vector load_of(const YAML::Node & map)
{
  const auto numbers =
    map["load"] ? map["load"].as<std::vector<double>>() : std::vector<double>{};
  if (!vector_of(numbers).allFinite()) {
    throw error("friction's load must be finite");
  }
  return vector_of(numbers);
}

/// Parts of a model with their places in its parameter values.
struct Parts
{
  Names joints;  // of the model, and so of every part
  Eigen::Index width = 0;
  std::size_t count = 0;
  std::vector<PlacedPart> bodies;
  std::vector<PlacedFriction> frictions;

  void add(const YAML::Node & map)
  {
    const auto kind = get<std::string>(map, "kind");
    if (++count > kMostParts) {
      throw error("a model has at most " + std::to_string(kMostParts) + " parts");
    }
    if (kind == "sum") {
      for (const auto & part : map["parts"]) {
        add(part);
      }
      return;
    }
    // The hash says nothing about the names beside the description.
    if (const Names own = joints_of(map); own != joints) {
      throw error("the joints " + listed(joints) + " are not those of its model, " + listed(own));
    }
    if (kind == "friction") {
      frictions.push_back({friction_of(map), width, load_of(map)});
      width += frictions.back().friction.width();
    } else {
      bodies.push_back({body_part(map, kind, joints), width});
      width += bodies.back().part->width();
    }
  }
};

/// Joints of a model; their number is taken for granted from here on.
Names checked_joints(const YAML::Node & content)
{
  const auto names = get<Names>(content, "joints");
  if (names.empty() || names.size() > kMostJoints) {
    throw error(
      "it has " + std::to_string(names.size()) + " joints, expected 1 to " +
      std::to_string(kMostJoints));
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    throw error("its joints " + listed(names) + " must have different names");
  }
  return names;
}

/// Unwrap `<node>: ros__parameters:`, as far as it is there.
YAML::Node parameters_of(const YAML::Node & content)
{
  if (!content.IsMap()) {
    throw error("it is no mapping");
  }
  if (content["dynamic_model"]) {
    return content;
  }
  for (const auto & item : content) {
    if (item.second.IsMap() && item.second["ros__parameters"]) {
      return item.second["ros__parameters"];
    }
  }
  throw error("it has no \"dynamic_model\"");
}

/// Payload of a result: identification/payload/block.py.
void read_payload(const YAML::Node & block, IdentifiedModel & model)
{
  const auto names = get<Names>(block, "parameter_names");
  const auto values = get<std::vector<double>>(block, "parameter_values");
  const Vector numbers = vector_of(values);
  if (values.size() != names.size() || !numbers.allFinite()) {
    throw error("its payload has not one finite value for each of its names");
  }
  model.payload = Vector::Zero(model.torque->payload_width());
  if (model.payload.size() == 10) {
    if (values.size() != 10) {
      throw error("its payload must be given by ten parameters");
    }
    model.payload = numbers;
    model.payload_frame = block["frame"] ? block["frame"].as<std::string>() : "";
    return;
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] != "payload.mass" && names[k] != "payload.inertia") {
      throw error("this controller cannot take the payload parameter " + quoted_text(names[k]));
    }
    model.payload[names[k] == "payload.mass" ? 0 : 1] = values[k];
  }
}

/// Torque of gear deflection of a result.
void read_gears(const YAML::Node & block, IdentifiedModel & model)
{
  try {
    model.gears = std::make_unique<GearTorqueLaw>(
      read_gear_torque(block, model.torque->joints(), model.hash));
  } catch (const std::exception & reason) {
    throw error(std::string("its block residual_torque: ") + reason.what());
  }
}

/// Joints that the verdict calls not usable: robodyn_ros/identification/result/verdict.py.
void read_verdict(const YAML::Node & block, IdentifiedModel & model)
{
  static const Names words{"not usable", "with care", "usable"};
  const auto joints = get<Names>(block, "joints");
  std::vector<double> places;
  for (const std::string use : {"feedforward", "monitoring"}) {
    const auto given = get<Names>(block, use);
    for (std::size_t k = 0; k < given.size() && k < joints.size(); ++k) {
      const auto place = std::find(words.begin(), words.end(), given[k]) - words.begin();
      places.push_back(static_cast<double>(place));
      if (place == 0 && use == "feedforward") {
        model.no_torque.push_back(joints[k]);
      }
    }
  }
  if (
    joints != model.torque->joints() ||
    get<std::string>(block, "hash") != result_hash(kFormat, model.hash, joints, places))
  {
    throw error(
      "its verdict does not fit its hash: the file was changed. To use a joint that is not "
      "usable, name it in allowed_joints");
  }
}

/// The hash of a result, held against its content as the Python nodes do.
std::string checked_hash(const YAML::Node & content, const std::vector<double> & values)
{
  const auto hash = get<std::string>(content, "hash");
  const auto own = result_hash(
    get<int>(content, "format"), get<std::string>(content, "description"),
    get<Names>(content, "parameter_names"), values);
  if (hash != own) {
    throw error("the hash does not fit the content: the file was changed or is damaged");
  }
  return hash;
}

IdentifiedModel read(const YAML::Node & parameters)
{
  const YAML::Node content = parameters["dynamic_model"];
  if (get<int>(content, "format") != kFormat) {
    throw error("its format is not known, expected " + std::to_string(kFormat));
  }
  const auto numbers = get<std::vector<double>>(content, "parameter_values");
  const Vector values = vector_of(numbers);
  if (!values.allFinite()) {
    throw error("a parameter value is not finite");
  }
  Parts parts;
  parts.joints = checked_joints(content);
  parts.add(parse_yaml(get<std::string>(content, "description")));
  if (parts.width != values.size()) {
    throw error(
      "it has " + std::to_string(values.size()) + " parameter values, the model has " +
      std::to_string(parts.width) + " parameters");
  }
  IdentifiedModel result;
  result.hash = checked_hash(content, numbers);
  result.torque = std::make_unique<ModelTorque>(
    std::move(parts.joints), std::move(parts.bodies), std::move(parts.frictions), values);
  if (const YAML::Node facts = parameters["identification"]; facts && !facts.IsNull()) {
    if (!facts.IsMap()) {
      throw error("identification must be a mapping");
    }
    result.consistent = facts["physically_consistent"].as<bool>(true);
    result.usual_torque = facts["usual_torque"].as<std::vector<double>>(std::vector<double>());
    if (const YAML::Node block = facts["verdict"]; block && !block.IsNull()) {
      read_verdict(block, result);
    }
  }
  if (const YAML::Node block = parameters["residual_torque"]; block && !block.IsNull()) {
    read_gears(block, result);
  }
  if (parameters["payload"] && parameters["payload"]["parameter_values"]) {
    read_payload(parameters["payload"], result);
  }
  return result;
}

}  // namespace

IdentifiedModel read_result(const std::string & path)
{
  try {
    return read(parameters_of(parse_yaml(read_text(path))));
  } catch (const std::exception & reason) {  // also of memory or of an index
    throw error("the result file " + path + " cannot be used: " + quoted_text(reason.what(), 400));
  }
}

}  // namespace robodyn_ros
