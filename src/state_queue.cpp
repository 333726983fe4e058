// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/state_queue.hpp"

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

}  // namespace

StateQueue::StateQueue(
  rclcpp::Publisher<TorqueState>::SharedPtr publisher, const std::vector<std::string> & joints,
  int delay, std::chrono::nanoseconds pause)
: publisher_(std::move(publisher)),
  items_(256, {0, 0, false, Fault::kNone, Vector::Zero(static_cast<Eigen::Index>(joints.size())),
      Vector::Zero(static_cast<Eigen::Index>(joints.size()))}),
  pause_(pause)
{
  const std::vector<double> none(joints.size(), std::numeric_limits<double>::quiet_NaN());
  message_.name = joints;
  message_.additive_torque_delay = static_cast<std::uint16_t>(delay);
  message_.feedback = message_.error = message_.requested = message_.additive_command = none;
  thread_ = std::thread([this]() {run();});
}

StateQueue::~StateQueue()
{
  over_ = true;
  thread_.join();
}

void StateQueue::push(std::int64_t time, std::uint64_t cycle, const AdditiveTorque & law)
{
  const std::uint64_t number = written_.load(std::memory_order_relaxed);
  if (number - read_.load(std::memory_order_acquire) == items_.size()) {
    return;
  }
  State & state = items_[number % items_.size()];
  state.time = time;
  state.cycle = cycle;
  state.enabled = law.enabled();
  state.fault = law.fault();
  state.requested = law.requested();
  state.applied = law.applied();
  written_.store(number + 1, std::memory_order_release);
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
  std::uint64_t number = read_.load(std::memory_order_relaxed);
  while (number != written_.load(std::memory_order_acquire)) {
    publish(items_[number % items_.size()]);
    read_.store(++number, std::memory_order_release);
  }
}

void StateQueue::publish(const State & state)
{
  message_.header.stamp = rclcpp::Time(state.time);
  message_.cycle = state.cycle;
  message_.enabled = state.enabled;
  message_.fault = fault_text(state.fault);
  message_.fault_code = static_cast<std::uint16_t>(state.fault);
  copy(state.requested, message_.requested);
  copy(state.applied, message_.additive_command);
  try {
    publisher_->publish(message_);
  } catch (const std::exception &) {
    // One message less. It must not end the thread, and with it the controller manager.
  }
}

}  // namespace robodyn_ros
