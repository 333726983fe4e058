// SPDX-License-Identifier: Apache-2.0
// TorqueState of each cycle, on its way from the real-time loop to a thread that publishes it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "rclcpp/publisher.hpp"
#include "robodyn_ros/additive_torque.hpp"
#include "robodyn_ros/msg/torque_state.hpp"

namespace robodyn_ros
{

/// Queue of torque states from the control loop to the thread that publishes them.
///
/// The loop writes into preallocated memory and wakes no thread. A
/// realtime_tools::RealtimePublisher costs the loop 6 us to wake its thread, and drops a state if
/// it is still publishing the one before. Here the thread polls.
class TorqueStateQueue
{
public:
  using TorqueState = robodyn_ros::msg::TorqueState;

  /// `pause`: how often it looks.
  TorqueStateQueue(
    rclcpp::Publisher<TorqueState>::SharedPtr publisher, const std::vector<std::string> & joints,
    std::chrono::nanoseconds pause);

  /// Publishes what is left.
  ~TorqueStateQueue();

  /// Take what a cycle says, from one thread at a time; lost while the queue is full, which the
  /// numbers of the cycles show. `time`: of the cycle, [ns].
  void push(std::int64_t time, std::uint64_t cycle, const AdditiveTorque & law);

private:
  struct Item
  {
    std::int64_t time;
    std::uint64_t cycle;
    bool enabled;
    Fault fault;
  };

  void run();
  void publish_all();
  void publish(std::size_t place);

  rclcpp::Publisher<TorqueState>::SharedPtr publisher_;
  TorqueState message_;
  std::vector<Item> items_;
  Eigen::MatrixXd requested_, applied_;  // a column per item
  std::atomic<std::uint64_t> written_{0}, read_{0};
  std::atomic<bool> over_{false};
  std::chrono::nanoseconds pause_;
  std::thread thread_;
};

}  // namespace robodyn_ros
