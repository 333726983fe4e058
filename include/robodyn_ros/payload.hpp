// SPDX-License-Identifier: Apache-2.0
// The numbers of a payload, from what people know of it: robodyn_ros/models/payload.py.
#pragma once

#include <vector>

#include "robodyn_ros/model_torque.hpp"

namespace robodyn_ros
{

/// What `ModelTorque::with_payload` takes.
///
/// `mass` [kg]. URDF robots: `centre` of mass in the frame [m], empty: its origin, and `inertia`
/// about it [kg m^2], xx, xy, xz, yy, yz, zz; others: no centre and one inertia. Empty: a point.
/// Throws std::invalid_argument for data that no body has.
Vector payload_numbers(
  const ModelTorque & torque, double mass, const std::vector<double> & centre,
  const std::vector<double> & inertia);

}  // namespace robodyn_ros
