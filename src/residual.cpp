// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/residual.hpp"

#include "robodyn_ros/filtered_residual.hpp"
#include "robodyn_ros/momentum_observer.hpp"

namespace robodyn_ros
{

std::unique_ptr<Residual> make_residual(ModelTorque & torque, const CollisionSettings & settings)
{
  if (settings.residual == "observer") {
    return std::make_unique<MomentumObserver>(
      torque, settings.observer_bandwidth, settings.period);
  }
  return std::make_unique<FilteredResidual>(
    torque, settings.filter_cutoff, settings.torque_error_filter, settings.period);
}

}  // namespace robodyn_ros
