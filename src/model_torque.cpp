// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/model_torque.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "robodyn_ros/bounded_text.hpp"

namespace robodyn_ros
{

ModelTorque::ModelTorque(
  std::vector<std::string> joints, std::vector<PlacedPart> bodies,
  std::vector<PlacedFriction> frictions, Vector values)
: joints_(std::move(joints)),
  bodies_(std::move(bodies)),
  frictions_(std::move(frictions)),
  identified_(values),
  values_(std::move(values)),
  gravity_excluded_(joints_.size(), false),
  resting_(static_cast<Eigen::Index>(joints_.size()))
{
  const auto count = static_cast<Eigen::Index>(joints_.size());
  if (bodies_.empty() || !bodies_.front().part->is_robot()) {
    throw std::invalid_argument("a model needs a robot, before its springs and friction");
  }
  for (Vector * numbers :
    {&lower_, &upper_, &backward_, &range_, &backward_load_, &range_load_, &friction_, &per_load_,
      &load_, &weight_})
  {
    *numbers = Vector::Zero(count);
  }
  for (const auto & placed : frictions_) {
    if (placed.load.size() == 0) {
      continue;
    }
    if (loaded_ != nullptr || placed.load.size() != bodies_.front().part->width()) {
      throw std::invalid_argument("the load of friction must be that of the model's one robot");
    }
    loaded_ = &placed;
  }
  set_velocity_window(Vector::Zero(count));
}

void ModelTorque::set_velocity_window(const Vector & window)
{
  if (window.size() != lower_.size() || !(window.array() >= 0.0).all() ||
    !window.allFinite())
  {
    throw std::invalid_argument(
      "velocity_window must be finite and not below 0, one number per joint");
  }
  window_ = window;
  // Without a window the jump itself: the sign of the smallest velocity there is.
  upper_ = window_.cwiseMax(std::numeric_limits<double>::min());
  lower_ = -upper_;
  set_values(values_);
}

void ModelTorque::set_values(const Vector & values)
{
  values_ = values;
  friction_at(false, lower_, backward_);
  friction_at(false, upper_, range_);
  range_ -= backward_;
  friction_at(true, lower_, backward_load_);
  friction_at(true, upper_, range_load_);
  range_load_ -= backward_load_;
}

void ModelTorque::forget()
{
  for (auto & placed : bodies_) {
    placed.part->forget();
  }
}

Vector ModelTorque::with_payload(const Vector & payload, const std::string & frame) const
{
  if (!frame.empty() && payload_frame().empty()) {
    throw std::invalid_argument(
      "this robot carries its payload at the last axis and has no frame '" + quoted_text(frame) + "'");
  }
  if (payload.size() != payload_width()) {
    throw std::invalid_argument(
      "a payload of this robot has " + std::to_string(payload_width()) + " numbers, got " +
      std::to_string(payload.size()));
  }
  Vector values = identified_;
  const PlacedPart & arm = bodies_.front();
  arm.part->add_payload(payload, frame, values.segment(arm.first, arm.part->width()));
  return values;
}

void ModelTorque::set_gravity_excluded(const std::vector<bool> & excluded)
{
  if (excluded.size() != joints_.size()) {
    throw std::invalid_argument("gravity needs one word per joint");
  }
  gravity_excluded_ = excluded;
  gravity_left_out_ = std::find(excluded.begin(), excluded.end(), true) != excluded.end();
}

void ModelTorque::body(const Motion & motion, Vector & tau)
{
  if (gravity_left_out_) {
    resting_.q = motion.q;
    bodies(resting_, weight_, false);
  }
  bodies(motion, tau, true);
  for (Eigen::Index joint = 0; gravity_left_out_ && joint < tau.size(); ++joint) {
    if (gravity_excluded_[static_cast<std::size_t>(joint)]) {
      tau[joint] -= weight_[joint];
    }
  }
}

void ModelTorque::bodies(const Motion & motion, Vector & tau, bool springs)
{
  tau.setZero();
  for (auto & placed : bodies_) {
    if (!springs && !placed.part->is_robot()) {
      continue;
    }
    placed.part->add(motion, values_.segment(placed.first, placed.part->width()), tau);
  }
}

void ModelTorque::friction_at(bool per_load, const Vector & qd, Vector & tau) const
{
  tau.setZero();
  for (const auto & placed : frictions_) {
    const auto values = values_.segment(placed.first, placed.friction.width());
    placed.friction.add(per_load, qd, values, tau);
  }
}

void ModelTorque::add_friction(const Motion & motion, const Vector & qd, Vector & tau)
{
  load_.setZero();
  if (loaded_ != nullptr) {
    // Gravity loads a gear whoever carries it, so that the load has it in any case.
    bodies_.front().part->add_again(motion, loaded_->load, load_);
  }
  friction_at(false, qd, friction_);
  if (loaded_ != nullptr) {
    friction_at(true, qd, per_load_);
  }
  for (Eigen::Index joint = 0; joint < qd.size(); ++joint) {
    const bool slow = std::abs(qd[joint]) < upper_[joint];
    const double share = slow ? qd[joint] * (0.5 / upper_[joint]) + 0.5 : 0.0;
    tau[joint] += slow ? backward_[joint] + share * range_[joint] : friction_[joint];
    if (loaded_ != nullptr) {
      tau[joint] += std::abs(load_[joint]) *
        (slow ? backward_load_[joint] + share * range_load_[joint] : per_load_[joint]);
    }
  }
}

}  // namespace robodyn_ros
