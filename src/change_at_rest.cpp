// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/change_at_rest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace robodyn_ros
{
namespace
{

/// Time without a change of the reference after which it rests [s]: REST in Python.
constexpr double kRest = 0.2;
/// Times the interval of the commands after which they are not known any more: LAPSE in Python.
constexpr double kLapse = 5.0;
/// Time constant of the mean [s]: MEMORY in Python.
constexpr double kMemory = 5.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ReferenceRest::ReferenceRest(Eigen::Index width)
: position_(Vector::Constant(width, std::numeric_limits<double>::quiet_NaN())),
  moved_(-kInfinity),
  last_(-kInfinity),
  interval_(kRest)
{
}

void ReferenceRest::update(double time, const Vector & position)
{
  if (time < last_ || !(position.array() == position_.array()).all()) {
    moved_ = time;
    position_ = position;
  }
  interval_ = std::clamp(time - last_, 0.0, kRest);
  last_ = time;
}

bool ReferenceRest::rests(double time) const
{
  const bool fresh = time - last_ <= std::min(kLapse * interval_, kRest);
  return fresh && last_ - moved_ >= kRest;
}

ChangeAtRest::ChangeAtRest(Eigen::Index width, double period)
: value_(Vector::Zero(width)),
  mean_(value_),
  count_(value_),
  most_(std::max(1.0, kMemory / period))
{
}

void ChangeAtRest::restart()
{
  value_.setZero();
  count_.setZero();
}

void ChangeAtRest::update(const Vector & torque_error, const Vector & limit)
{
  for (Eigen::Index joint = 0; joint < value_.size(); ++joint) {
    if (count_[joint] == 0.0) {
      mean_[joint] = torque_error[joint];
    }
    value_[joint] = torque_error[joint] - mean_[joint];
    if (std::abs(value_[joint]) <= limit[joint]) {
      count_[joint] += count_[joint] < most_ ? 1.0 : 0.0;
      mean_[joint] += value_[joint] / std::max(count_[joint], 1.0);
    }
  }
}

}  // namespace robodyn_ros
