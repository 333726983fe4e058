// SPDX-License-Identifier: Apache-2.0
// Numbers of YAML that readers in C++ and in Python understand in the same way.
#pragma once

#include <string>

namespace YAML
{
class Node;
}

namespace robodyn_ros
{

/// A decimal number without quotes. Throws std::invalid_argument, naming it: text that only one of
/// the readers takes for a number, such as 1e-3 or "1.0", or takes for another one, such as 010.
double yaml_number(const YAML::Node & node, const std::string & name);

}  // namespace robodyn_ros
