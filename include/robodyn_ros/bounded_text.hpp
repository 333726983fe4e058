// SPDX-License-Identifier: Apache-2.0
// Files and YAML that may be damaged or hostile: robodyn_ros/bounds.py and yaml_file.py.
#pragma once

#include <string>

namespace YAML
{
class Node;
}

namespace robodyn_ros
{

/// Text of a regular file in UTF-8. Throws std::invalid_argument: it cannot be read, is too large,
/// has another encoding, or is a device, pipe or socket, which may never end.
std::string read_text(const std::string & path);

/// YAML of bounded depth and size, in which no value contains itself: whoever walks it comes to an
/// end. Throws std::invalid_argument or YAML::Exception.
YAML::Node parse_yaml(const std::string & text);

/// Text of somebody else for a message: printable, and cut where it is long, or logs are unreadable.
std::string quoted_text(const std::string & text, std::size_t most = 80);

}  // namespace robodyn_ros
