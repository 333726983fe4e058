// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/torque_state_queue.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "rclcpp/time.hpp"

namespace robodyn_ros
{
namespace
{

constexpr std::size_t kItems = 256;

}  // namespace

TorqueStateQueue::TorqueStateQueue(
  rclcpp::Publisher<TorqueState>::SharedPtr publisher, const std::vector<std::string> & joints,
  std::chrono::nanoseconds pause)
: publisher_(std::move(publisher)),
  items_(kItems),
  requested_(static_cast<Eigen::Index>(joints.size()), kItems),
  applied_(requested_),
  pause_(pause)
{
  const std::vector<double> none(joints.size(), std::numeric_limits<double>::quiet_NaN());
  message_.name = joints;
  message_.delivery = TorqueState::DELIVERED;  // who writes is active, or ramps out as if it were
  message_.feedback = message_.error = message_.requested = message_.additive_command = none;
  requested_.setZero();  // all of it is there when the loop comes
  applied_.setZero();
  thread_ = std::thread([this]() {run();});
}

TorqueStateQueue::~TorqueStateQueue()
{
  over_ = true;
  thread_.join();
}

void TorqueStateQueue::push(std::int64_t time, std::uint64_t cycle, const AdditiveTorque & law)
{
  const std::uint64_t number = written_.load(std::memory_order_relaxed);
  if (number - read_.load(std::memory_order_acquire) == kItems) {
    return;
  }
  const std::size_t place = number % kItems;
  items_[place] = {time, cycle, law.enabled(), law.fault()};
  requested_.col(static_cast<Eigen::Index>(place)) = law.requested();
  applied_.col(static_cast<Eigen::Index>(place)) = law.applied();
  written_.store(number + 1, std::memory_order_release);
}

void TorqueStateQueue::run()
{
  while (!over_) {
    std::this_thread::sleep_for(pause_);
    publish_all();
  }
  publish_all();
}

void TorqueStateQueue::publish_all()
{
  std::uint64_t number = read_.load(std::memory_order_relaxed);
  while (number != written_.load(std::memory_order_acquire)) {
    publish(number % kItems);
    read_.store(++number, std::memory_order_release);
  }
}

void TorqueStateQueue::publish(std::size_t place)
{
  const Item & item = items_[place];
  const auto column = static_cast<Eigen::Index>(place);
  message_.header.stamp = rclcpp::Time(item.time);
  message_.cycle = item.cycle;
  message_.enabled = item.enabled;
  message_.fault = fault_text(item.fault);
  message_.fault_code = static_cast<std::uint16_t>(item.fault);
  for (std::size_t joint = 0; joint < message_.name.size(); ++joint) {
    const auto row = static_cast<Eigen::Index>(joint);
    message_.requested[joint] = requested_(row, column);
    message_.additive_command[joint] = applied_(row, column);
  }
  try {
    publisher_->publish(message_);
  } catch (const std::exception &) {
    // One message less. It must not end the thread, and with it the controller manager.
  }
}

}  // namespace robodyn_ros
