// SPDX-License-Identifier: Apache-2.0
// Blocks of a result file and their fingerprints: the content of `describe` of robodyn_ros/models,
// and robodyn_ros/identification/files/{gear_torque_block,result_file}.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "robodyn_ros/gear_torque.hpp"
#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Robots and springs of a description, one function for each kind; their equations are explained
/// in robodyn_ros/models. They throw std::invalid_argument with what is wrong in it.
std::unique_ptr<Part> urdf_part(const YAML::Node & map);
std::unique_ptr<Part> axis_part(const YAML::Node & map);
std::unique_ptr<Part> scara_part(const YAML::Node & map, std::size_t joints);
std::unique_ptr<Part> puma_part(const YAML::Node & map);
std::unique_ptr<Part> delta_part(const YAML::Node & map, std::size_t joints);
std::unique_ptr<Part> spring_part(const YAML::Node & map, std::size_t joints);

/// Friction of a description. Throws std::invalid_argument with what is wrong in it.
Friction friction_of(const YAML::Node & map);

/// Torque of gear deflection of a block, for the joints of a model and its hash. Throws
/// std::invalid_argument or YAML::Exception: a key is missing, a number is none or too many, arrays
/// do not fit, or the block was changed or belongs to another model.
GearTorqueLaw read_gear_torque(
  const YAML::Node & block, const std::vector<std::string> & joints,
  const std::string & model_hash);

/// SHA-256 in hexadecimal digits over what determines the torque; numbers by their exact value.
std::string result_hash(
  int format, const std::string & description, const std::vector<std::string> & names,
  const std::vector<double> & values);

/// The same of a block `residual_torque`: identification/files/gear_torque_block.py, `_hash`.
///
/// `words`: joints, inputs and names of arrays; `numbers`: limit, gear ratio, low, high and those of
/// the arrays; `shapes`: of the arrays, as JSON.
std::string gear_hash(
  const std::string & kind, double cutoff, const std::vector<std::vector<std::string>> & words,
  const std::vector<std::vector<double>> & numbers, const std::vector<std::string> & shapes,
  const std::string & model_hash);

}  // namespace robodyn_ros
