// SPDX-License-Identifier: Apache-2.0
// Change of the torque error while the reference rests:
// robodyn_ros/control/collision/change_at_rest.py, which explains it.
#pragma once

#include "robodyn_ros/friction.hpp"

namespace robodyn_ros
{

/// Tells whether the commanded positions rest. A position that is not finite, and a time that goes
/// back, count as motion.
class ReferenceRest
{
public:
  explicit ReferenceRest(Eigen::Index width);

  /// Take commanded positions at a time [s].
  void update(double time, const Vector & position);

  /// Whether they rest at a time [s]; no, if the last ones are too old.
  bool rests(double time) const;

private:
  Vector position_;
  double moved_, last_, interval_;
};

/// Difference of the torque error to its mean since rest began. Nothing allocates once built.
class ChangeAtRest
{
public:
  /// `period` of the samples [s].
  ChangeAtRest(Eigen::Index width, double period);

  /// Forget the mean: rest begins anew.
  void restart();

  /// Take a torque error; a change above `limit` is a contact and does not count for the mean.
  void update(const Vector & torque_error, const Vector & limit);

  /// Of the last sample, [Nm] or [N].
  const Vector & value() const {return value_;}

private:
  Vector value_, mean_, count_;
  double most_;  // samples of the mean
};

}  // namespace robodyn_ros
