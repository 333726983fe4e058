// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/state_queue.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "rclcpp/time.hpp"

namespace robodyn_ros
{
namespace
{

/// What a CollisionState says to the operator.
std::string sentence(
  const std::vector<std::string> & joints, const std::vector<Level> & level, Fault fault)
{
  const Level worst = *std::max_element(level.begin(), level.end());
  if (fault != Fault::kNone || worst < Level::kContact) {
    return fault == Fault::kNone ? "ok" : unknown_text(fault);
  }
  std::string result = worst == Level::kCollision ? "collision at" : "contact at";
  const char * between = " ";
  for (std::size_t joint = 0; joint < joints.size(); ++joint) {
    if (level[joint] == worst) {
      result += between + joints[joint];
      between = ", ";
    }
  }
  return result;
}

void copy(const Vector & values, std::vector<double> & result)
{
  result.assign(values.data(), values.data() + values.size());
}

template<typename Publisher, typename Message>
void send(Publisher & publisher, const Message & message)
{
  try {
    publisher.publish(message);
  } catch (const std::exception &) {
    // One message less. It must not end the thread, and with it the controller manager.
  }
}

}  // namespace

StateQueue::StateQueue(
  rclcpp::Publisher<TorqueState>::SharedPtr torques,
  rclcpp::Publisher<CollisionState>::SharedPtr collisions,
  const std::vector<std::string> & joints, int delay, std::chrono::nanoseconds pause)
: torque_publisher_(std::move(torques)),
  collision_publisher_(std::move(collisions)),
  torques_({0, 0, false, Fault::kNone, Vector::Zero(static_cast<Eigen::Index>(joints.size())),
      Vector::Zero(static_cast<Eigen::Index>(joints.size()))}),
  collisions_({0, false, Fault::kNone, std::vector<Level>(joints.size()),
      Vector::Zero(static_cast<Eigen::Index>(joints.size())),
      Vector::Zero(static_cast<Eigen::Index>(joints.size())),
      Vector::Zero(static_cast<Eigen::Index>(joints.size()))}),
  pause_(pause)
{
  const std::vector<double> none(joints.size(), std::numeric_limits<double>::quiet_NaN());
  TorqueState & message = torque_message_;
  message.name = collision_message_.name = joints;
  message.additive_torque_delay = static_cast<std::uint16_t>(delay);
  message.feedback = message.error = message.requested = message.additive_command = none;
  collision_message_.allowed_direction.assign(joints.size(), 0);
  thread_ = std::thread([this]() {run();});
}

StateQueue::~StateQueue()
{
  over_ = true;
  thread_.join();
}

void StateQueue::push(std::int64_t time, std::uint64_t cycle, const AdditiveTorque & law)
{
  (void)torques_.push(
    [&](Torques & item) {
      item.time = time;
      item.cycle = cycle;
      item.enabled = law.enabled();
      item.fault = law.fault();
      item.requested = law.requested();
      item.applied = law.applied();
    });
}

void StateQueue::push(
  std::int64_t time, const TorqueErrorDetector & detector, const Vector & position)
{
  (void)collisions_.push(
    [&](Collisions & item) {
      item.time = time;
      item.latched = detector.latched();
      item.fault = detector.fault();
      item.level = detector.level();
      item.torque_error = detector.torque_error();
      item.threshold = detector.threshold();
      item.position = position;
    });
}

void StateQueue::run()
{
  while (!over_) {
    std::this_thread::sleep_for(pause_);
    publish_all();
  }
  publish_all();
}

void StateQueue::publish_all()
{
  collisions_.take_all([this](const Collisions & item) {publish(item);});
  torques_.take_all([this](const Torques & item) {publish(item);});
}

void StateQueue::publish(const Torques & item)
{
  TorqueState & message = torque_message_;
  message.header.stamp = rclcpp::Time(item.time);
  message.cycle = item.cycle;
  message.enabled = item.enabled;
  message.fault = fault_text(item.fault);
  message.fault_code = static_cast<std::uint16_t>(item.fault);
  copy(item.requested, message.requested);
  copy(item.applied, message.additive_command);
  send(*torque_publisher_, message);
}

void StateQueue::publish(const Collisions & item)
{
  CollisionState & message = collision_message_;
  message.header.stamp = rclcpp::Time(item.time);
  message.latched = item.latched;
  message.message = sentence(message.name, item.level, item.fault);
  message.fault_code = static_cast<std::uint16_t>(item.fault);
  message.level.resize(item.level.size());
  std::transform(
    item.level.begin(), item.level.end(), message.level.begin(),
    [](Level level) {return static_cast<std::uint8_t>(level);});
  copy(item.torque_error, message.torque_error);
  copy(item.threshold, message.threshold);
  copy(item.position, message.position);
  send(*collision_publisher_, message);
}

}  // namespace robodyn_ros
