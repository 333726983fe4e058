// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/payload.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

namespace robodyn_ros
{
namespace
{

// As in Python, where they are explained.
constexpr double kGravity = 9.81;
constexpr Eigen::Index kStarts = 8, kShares = 13;
constexpr int kSweeps = 3;
constexpr Eigen::Index kLeverPoses = 100;
constexpr double kNear = 1e-4, kFree = 1e-9, kRounding = 1e-9, kBody = 0.3;

std::string text(double value)
{
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", value);
  return digits;
}

/// Roots of the first primes.
Vector roots(Eigen::Index width)
{
  std::vector<int> primes;
  for (int item = 2; static_cast<Eigen::Index>(primes.size()) < width; ++item) {
    if (std::none_of(
        primes.begin(), primes.end(), [item](int prime) {return item % prime == 0;}))
    {
      primes.push_back(item);
    }
  }
  Vector result(width);
  for (Eigen::Index k = 0; k < width; ++k) {
    result[k] = std::sqrt(static_cast<double>(primes[static_cast<std::size_t>(k)]));
  }
  return result;
}

[[noreturn]] void refuse(const std::string & sentence)
{
  throw std::invalid_argument(sentence);
}

}  // namespace

Vector start_pose(Eigen::Index number, const Vector & low, const Vector & high)
{
  const Vector steps = static_cast<double>(number) * roots(low.size());
  return low + (high - low).cwiseProduct(steps - steps.array().floor().matrix());
}

PayloadLimit::PayloadLimit(
  const std::string & result_file, const Vector & effort, double max_payload)
: model_(read_result(result_file)),
  values_(model_.torque->values()),
  effort_(effort),
  given_(max_payload),
  motion_(effort.size()),
  tau_(Vector::Zero(effort.size()))
{
  if (!(std::isfinite(max_payload) && max_payload >= 0.0)) {
    refuse("max_payload must be 0 kg or more, got " + text(max_payload));
  }
  const auto joints = model_.torque->joint_facts();
  const auto count = static_cast<Eigen::Index>(joints.size());
  low_ = high_ = lever_ = Vector::Zero(count);
  Vector limits(count);
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    const JointFacts & facts = joints[static_cast<std::size_t>(joint)];
    low_[joint] = facts.lower;
    high_[joint] = facts.upper;
    limits[joint] = facts.effort;
    turning_.push_back(!facts.sliding);
  }
  if ((limits.array() > 0.0).all() && limits.allFinite()) {
    effort_ = limits;
  }
  loaded_ = values_ + unit(0);
  find_poses();
  find_levers();
}

/// What one of a payload's numbers adds to the values: 0 the mass, 1 the inertia of a closed form.
Vector PayloadLimit::unit(Eigen::Index number) const
{
  Vector unit = Vector::Zero(model_.torque->payload_width());
  unit[number] = 1.0;
  try {
    return model_.torque->with_payload(unit) - values_;
  } catch (const std::invalid_argument &) {  // it carries none, and says so when it is asked to
    return Vector::Zero(values_.size());
  }
}

void PayloadLimit::gravity(const Vector & q, Vector & arm, Vector & per_mass)
{
  motion_.q = q;
  model_.torque->set_values(values_);
  model_.torque->robot(motion_, tau_);
  arm = tau_.cwiseAbs();
  per_mass = -tau_;
  model_.torque->set_values(loaded_);
  model_.torque->robot(motion_, tau_);
  per_mass = (per_mass + tau_).cwiseAbs().eval();
}

/// Poses in which each joint can carry least: one joint after the other is turned to the worst of
/// some positions.
void PayloadLimit::find_poses()
{
  const Eigen::Index count = low_.size();
  Vector arm(count), per_mass(count);
  for (Eigen::Index start = 0; start < count * kStarts; ++start) {
    const Eigen::Index goal = start / kStarts;
    Vector pose = start_pose(start + 1, low_, high_);
    for (Eigen::Index turn = 0; turn < kSweeps * count; ++turn) {
      const Eigen::Index joint = turn % count;
      double least = std::numeric_limits<double>::infinity(), best = pose[joint];
      for (Eigen::Index share = 0; share < kShares; ++share) {
        pose[joint] = low_[joint] + static_cast<double>(share) * (high_[joint] - low_[joint]) /
          static_cast<double>(kShares - 1);
        gravity(pose, arm, per_mass);
        const double room = (effort_[goal] - arm[goal]) / std::max(per_mass[goal], kFree);
        if (room < least) {
          least = room;
          best = pose[joint];
        }
      }
      pose[joint] = best;
    }
    gravity(pose, arm, per_mass);
    arm_.push_back(arm);
    per_mass_.push_back(per_mass);
  }
}

/// From the inertia of 1 kg about each axis.
void PayloadLimit::find_levers()
{
  const Eigen::Index count = low_.size();
  ModelTorque & torque = *model_.torque;
  Motion motion(count);
  Vector tau(count);
  const auto inertia = [&](const Vector & values, Eigen::Index joint) {
      torque.set_values(values);
      motion.qdd[joint] = 1.0;
      torque.robot(motion, tau);
      const double moved = tau[joint];
      motion.qdd[joint] = 0.0;
      torque.robot(motion, tau);
      return moved - tau[joint];
    };
  for (Eigen::Index number = 1; number <= kLeverPoses; ++number) {
    motion.q = start_pose(number, low_, high_);
    for (Eigen::Index joint = 0; joint < count; ++joint) {
      if (turning_[static_cast<std::size_t>(joint)]) {
        const double moved = inertia(loaded_, joint) - inertia(values_, joint);
        lever_[joint] = std::max(lever_[joint], std::sqrt(std::max(moved, 0.0)));
      }
    }
  }
  lever_ = (lever_.array() > kNear).select(lever_, 0.0);
  reach_ = lever_.maxCoeff() > 0.0 ? lever_.maxCoeff() : 1.0;
}

PayloadLimit::Size PayloadLimit::size_of(const Vector & payload, const std::string & frame) const
{
  if (payload.size() != 10) {
    const bool mass = !unit(0).isZero(0.0), inertia = !unit(1).isZero(0.0);  // that it feels
    return {mass ? std::abs(payload[0]) : 0.0, 0.0, inertia ? std::abs(payload[1]) : 0.0};
  }
  const Vector added = model_.torque->with_payload(payload, frame) - values_;
  Vector ten = Vector::Zero(10);
  for (Eigen::Index joint = 0; joint < low_.size(); ++joint) {
    ten += added.segment(model_.torque->first_of_robot() + 10 * joint, 10);
  }
  Eigen::Matrix3d tensor;
  tensor << ten[4], ten[5], ten[7], ten[5], ten[6], ten[8], ten[7], ten[8], ten[9];
  return {
    std::abs(ten[0]), ten.segment<3>(1).norm(), tensor.cwiseAbs().rowwise().sum().maxCoeff()};
}

void PayloadLimit::check(const Vector & payload, const std::string & frame)
{
  const Size size = size_of(payload, frame);
  if (size.mass == 0.0 && size.moment == 0.0 && size.inertia == 0.0) {
    return;
  }
  if (given_ > 0.0) {
    check_given(size);
  } else {
    check_effort(size);
  }
}

void PayloadLimit::check_body(double mass, const Vector & payload, const std::string & frame)
{
  const Size size = size_of(payload, frame);
  const double first = mass * std::max(reach_, kBody);
  const double most = first * first + 2.0 * size.moment * size.moment;
  if (size.mass > 0.0 && size.inertia * mass > most) {
    char reach[32];
    std::snprintf(reach, sizeof reach, "%.3g", reach_);
    refuse(
      "no body of " + text(mass) + " kg that a robot with a reach of " + reach +
      " m carries has an inertia of " + text(size.inertia) + " kg m^2: check the unit");
  }
}

void PayloadLimit::check_given(const Size & size) const
{
  const double moment = given_ * reach_;
  char at[64];
  std::snprintf(at, sizeof at, " (max_payload %.4g kg at %.3g m)", given_, reach_);
  const auto check = [](double value, double limit, const char * what, const char * name,
      const std::string & unit, const char * rule) {
      if (!(value <= limit * (1.0 + kRounding))) {
        refuse(
          what + text(value) + unit + " is above " + name + text(limit) + unit + rule +
          ": check the unit, or raise max_payload");
      }
    };
  check(size.mass, given_, "payload of ", "max_payload of ", " kg", "");
  check(size.moment, moment, "payload's first moment of ", "its limit of ", " kg m", at);
  check(
    size.inertia, moment * reach_, "payload's inertia of ", "its limit of ", " kg m^2", at);
}

void PayloadLimit::check_effort(const Size & payload) const
{
  // Per unit of the payload: products with 1e308 kg overflow, and the limit would be 0 kg.
  const double units = payload.mass > 0.0 ? payload.mass : payload.inertia > 0.0 ?
    payload.inertia : 1.0;
  const Size size{payload.mass / units, payload.moment / units, payload.inertia / units};
  const auto & joints = model_.torque->joints();
  double least = std::numeric_limits<double>::infinity();
  Eigen::Index weakest = 0;
  for (Eigen::Index joint = 0; joint < effort_.size(); ++joint) {
    const bool turning = turning_[static_cast<std::size_t>(joint)];
    const double lever = lever_[joint];
    const double turned =
      (size.mass * lever * lever + 2.0 * size.moment * lever + size.inertia) / reach_;
    double share =
      effort_[joint] / std::max(kGravity * (turning ? turned : size.mass), kFree);
    for (std::size_t pose = 0; pose < arm_.size(); ++pose) {
      const double room = effort_[joint] - arm_[pose][joint];
      if (!(room > 0.0)) {
        refuse(
          "max_payload is not known: joint " + joints[static_cast<std::size_t>(joint)] +
          " needs " + text(arm_[pose][joint]) + " for the arm alone, its effort limit is " +
          text(effort_[joint]) + ". Set the parameter max_payload (kg)");
      }
      const double held =
        per_mass_[pose][joint] * size.mass + (turning ? kGravity * size.moment : 0.0);
      share = held > kFree ? std::min(share, room / held) : share;
    }
    if (!(share >= least)) {
      least = share;
      weakest = joint;
    }
  }
  const double all = payload.mass + payload.moment + payload.inertia;
  if (least >= units * (1.0 - kRounding) && std::isfinite(all)) {
    return;
  }
  const std::string & joint = joints[static_cast<std::size_t>(weakest)];
  const bool formed = size.moment > 0.0 || size.inertia > 0.0;
  const std::string advice = ", at which joint " + joint +
    " reaches its effort limit: check the unit, or set max_payload";
  if (!(size.mass > 0.0)) {
    refuse(
      "the payload's inertia of " + text(payload.inertia) + " kg m^2 is above its limit of " +
      text(least * size.inertia) + " kg m^2" + advice);
  }
  refuse(
    "payload of " + text(payload.mass) + " kg" +
    (formed ? " with its centre of mass and inertia" : "") + " is above max_payload of " +
    text(least * size.mass) + " kg" + advice);
}

}  // namespace robodyn_ros
