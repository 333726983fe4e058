// SPDX-License-Identifier: Apache-2.0
// Thresholds of the torque error for the present motion.
#pragma once

#include <limits>
#include <utility>

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

/// One collision and one contact threshold per joint, [Nm] or [N]. `restart` and `update` never
/// allocate or throw.
class Thresholds
{
public:
  virtual ~Thresholds() = default;

  /// Start after a gap, at a time [s].
  virtual void restart(double stamp) = 0;

  /// Set the thresholds for a filtered motion at a time [s].
  virtual void update(double stamp, const Vector & velocity, const Vector & acceleration) = 0;

  const Vector & collision() const {return collision_;}
  const Vector & contact() const {return contact_;}

  /// Of the change of the torque error while the reference rests; infinite: none.
  const Vector & change() const {return change_;}

protected:
  Thresholds(Vector collision, Vector contact)
  : collision_(std::move(collision)),
    contact_(std::move(contact)),
    change_(Vector::Constant(collision_.size(), std::numeric_limits<double>::infinity()))
  {
  }

  Vector collision_, contact_, change_;
};

}  // namespace robodyn_ros
