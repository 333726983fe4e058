// SPDX-License-Identifier: Apache-2.0
// TorqueState of each cycle, from the real-time loop to a thread that publishes.
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

/// Queue of states from the control loop to the thread that publishes them.
///
/// The loop writes into preallocated memory and wakes no thread. A
/// realtime_tools::RealtimePublisher costs the loop 6 us to wake its thread, and drops a state if
/// it is still publishing the one before. Here the thread polls.
class StateQueue
{
public:
  using TorqueState = robodyn_ros::msg::TorqueState;

  /// `delay`: additive_torque_delay of the law. `pause`: how often it looks.
  StateQueue(
    rclcpp::Publisher<TorqueState>::SharedPtr publisher, const std::vector<std::string> & joints,
    int delay, std::chrono::nanoseconds pause);

  /// Publishes what is left.
  ~StateQueue();

  /// Take the state of a cycle, from one thread at a time; lost while the queue is full, which the
  /// numbers of the cycles show. `time`: of the cycle, [ns].
  void push(std::int64_t time, std::uint64_t cycle, const AdditiveTorque & law);

private:
  struct State
  {
    std::int64_t time;
    std::uint64_t cycle;
    bool enabled;
    Fault fault;
    Vector requested, applied;
  };

  void run();
  void publish_all();
  void publish(const State & state);

  rclcpp::Publisher<TorqueState>::SharedPtr publisher_;
  TorqueState message_;
  std::vector<State> items_;  // all there from the beginning: neither thread waits
  std::atomic<std::uint64_t> written_{0}, read_{0};
  std::atomic<bool> over_{false};
  std::chrono::nanoseconds pause_;
  std::thread thread_;
};

}  // namespace robodyn_ros
