// SPDX-License-Identifier: Apache-2.0
// Check of a result: robodyn_ros/control/robot_check.py, which explains it.
#pragma once

#include <string>

namespace robodyn_ros
{

/// Refuse a result whose torque no robot has, by std::invalid_argument with one sentence. It reads
/// the file itself, so that any thread may ask.
void check_possible(const std::string & result_file);

}  // namespace robodyn_ros
