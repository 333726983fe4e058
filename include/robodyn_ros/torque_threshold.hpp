// SPDX-License-Identifier: Apache-2.0
// torque_threshold: limit of measured and additive torque, as control/torque_threshold.py.
#pragma once

#include <cmath>

namespace robodyn_ros
{

/// First joint whose torque [Nm] or [N] is beyond its limit, or is no number; -1: none, as without
/// limits.
template<typename Values>
int beyond(const Values & torque, const Values & limit)
{
  for (decltype(limit.size()) joint = 0; joint < limit.size(); ++joint) {
    if (!(std::abs(torque[joint]) <= limit[joint])) {
      return static_cast<int>(joint);
    }
  }
  return -1;
}

}  // namespace robodyn_ros
