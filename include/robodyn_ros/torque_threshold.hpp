// SPDX-License-Identifier: Apache-2.0
// torque_threshold: limit of measured and additive torque, as control/torque_threshold.py.
#pragma once

#include <cmath>

namespace robodyn_ros
{

/// Whether a torque [Nm] or [N] of a joint is beyond its limit, or is no number. No limits: false.
template<typename Values>
bool beyond(const Values & torque, const Values & limit)
{
  for (decltype(limit.size()) joint = 0; joint < limit.size(); ++joint) {
    if (!(std::abs(torque[joint]) <= limit[joint])) {
      return true;
    }
  }
  return false;
}

}  // namespace robodyn_ros
