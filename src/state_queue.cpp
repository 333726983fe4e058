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
  const std::vector<std::string> & joints, int delay, std::chrono::nanoseconds pause)
: torque_publisher_(std::move(torques)),
  torques_({0, 0, false, Fault::kNone, Vector::Zero(static_cast<Eigen::Index>(joints.size())),
      Vector::Zero(static_cast<Eigen::Index>(joints.size()))}),
  pause_(pause)
{
  const std::vector<double> none(joints.size(), std::numeric_limits<double>::quiet_NaN());
  TorqueState & message = torque_message_;
  message.name = joints;
  message.delivery = TorqueState::DELIVERED;  // who writes is active, or ramps out as if it were
  message.additive_torque_delay = static_cast<std::uint16_t>(delay);
  message.feedback = message.error = message.requested = message.additive_command = none;
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

}  // namespace robodyn_ros
