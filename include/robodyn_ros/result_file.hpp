// SPDX-License-Identifier: Apache-2.0
// Read the result file of an identification: robodyn_ros/identification/result.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "robodyn_ros/gear_torque.hpp"
#include "robodyn_ros/model_torque.hpp"

namespace robodyn_ros
{

/// What a controller needs of a result.
struct IdentifiedModel
{
  std::unique_ptr<ModelTorque> torque;
  std::string hash;
  Vector payload;  // identified with the result; empty: none
  std::string payload_frame;
  bool consistent = true;  // false: rotors and friction may be apparent, and negative
  std::vector<double> usual_torque;  // of the recording, [Nm] or [N]; empty: not known
  std::vector<std::string> no_torque;  // joints that the verdict calls not usable for feed-forward
  std::unique_ptr<GearTorqueLaw> gears;  // torque by measured deflections; null: none
};

/// Read a result file. Throws std::invalid_argument with one sentence that names the file.
IdentifiedModel read_result(const std::string & path);

/// Refuse a result file whose torque no robot has by std::invalid_argument:
/// robodyn_ros/control/robot_check.py, which explains it.
void check_possible(const std::string & path);

}  // namespace robodyn_ros
