// SPDX-License-Identifier: Apache-2.0
// Parts of a model from their descriptions, the content of `describe` of robodyn_ros/models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Bodies or springs of a description. Throws std::invalid_argument with what is wrong in it.
std::unique_ptr<Part> body_part(
  const YAML::Node & map, const std::string & kind, const std::vector<std::string> & joints);

/// Friction of a description. Throws std::invalid_argument with what is wrong in it.
Friction friction_of(const YAML::Node & map);

}  // namespace robodyn_ros
