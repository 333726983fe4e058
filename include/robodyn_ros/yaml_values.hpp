// SPDX-License-Identifier: Apache-2.0
// Values of a YAML document, or std::invalid_argument with what is missing.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

inline std::invalid_argument error(const std::string & text)
{
  return std::invalid_argument(text);
}

template<typename Value>
Value get(const YAML::Node & map, const std::string & key)
{
  const YAML::Node node = map[key];
  if (!node) {
    throw error("it has no \"" + key + "\"");
  }
  return node.as<Value>();
}

inline double get_or(const YAML::Node & map, const std::string & key, double fallback)
{
  return map && map[key] ? map[key].as<double>() : fallback;
}

inline Vector vector_of(const std::vector<double> & numbers)
{
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

}  // namespace robodyn_ros
