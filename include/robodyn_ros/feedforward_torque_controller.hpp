// SPDX-License-Identifier: Apache-2.0
// Additive torque inside ros2_control's loop, between a joint_trajectory_controller and the drives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "controller_interface/version.h"
#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "rclcpp/rclcpp.hpp"
#include "robodyn_ros/effort_command.hpp"
#include "robodyn_ros/feedforward_torque_controller_parameters.hpp"
#include "robodyn_ros/guarded_torque.hpp"
#include "robodyn_ros/payload.hpp"
#include "robodyn_ros/result_file.hpp"
#include "robodyn_ros/srv/set_payload.hpp"
#include "robodyn_ros/state_queue.hpp"
#include "std_srvs/srv/set_bool.hpp"
#include "std_srvs/srv/trigger.hpp"

// References as handles instead of numbers, which are deprecated: since 4.44 of Jazzy, 5.13 of Kilted
// and 6.5 of Lyrical. These are the first versions that export them twice in a row without an error.
#if CONTROLLER_INTERFACE_VERSION_GTE(6, 7, 1) || \
  (CONTROLLER_INTERFACE_VERSION_MAJOR == 5 && CONTROLLER_INTERFACE_VERSION_GTE(5, 14, 2)) || \
  (CONTROLLER_INTERFACE_VERSION_MAJOR == 4 && CONTROLLER_INTERFACE_VERSION_GTE(4, 45, 2))
#define ROBODYN_REFERENCE_HANDLES 1
#else
#define ROBODYN_REFERENCE_HANDLES 0
#endif

namespace robodyn_ros
{

/// Takes `<joint>/position`, `/velocity` and `/acceleration` references each cycle, passes the
/// position on unchanged and commands the additive torque of GuardedTorque as effort.
///
/// Deactivation never steps. Outside the real-time loop (the usual switch, Ctrl-C) it waits until
/// the torque is ramped out while the loop runs on. Inside the loop it cannot wait: there it is
/// refused, the torque ramps out, and the controller then ends itself.
class FeedforwardTorqueController : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override;
  void release_interfaces() override;
  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override;
  controller_interface::return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration &) override;

protected:
#if ROBODYN_REFERENCE_HANDLES
  std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list()
    override;
#else
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override;
#endif

private:
  using Trigger = std_srvs::srv::Trigger;
  using SetBool = std_srvs::srv::SetBool;
  using SetPayload = robodyn_ros::srv::SetPayload;
  using DiagnosticArray = diagnostic_msgs::msg::DiagnosticArray;

  enum class Wish { kNone, kEnable, kDisable };

  void check_numbers();
  void prepare();
  void match_joints();
  void refuse_joints();
  std::unique_ptr<MeasuredGearTorque> gear_torque(const LawSettings & settings);
  Vector torque_threshold() const;
  Vector ordered(const std::string & name, const std::vector<double> & given) const;
  std::vector<bool> excluded(const std::string & name, const std::vector<std::string> & given) const;
  LawSettings settings() const;
  void offer_services();
  void offer_topics();
  void on_enable(bool enable, SetBool::Response & answer);
  void on_reset(Trigger::Response & answer);
  void on_payload(const SetPayload::Request & request, SetPayload::Response & response);
  void diagnose();
  void take_wishes();
  bool measure();
  void measure_gears(const rclcpp::Time & time);
  std::vector<std::string> reference_names() const;
  double reference(std::size_t number) const;
  void forget_references();
  void read_references();
  std::string exceeded() const;
  void write_commands();
  void ramp_out();
  void publish(const rclcpp::Time & time);

  std::shared_ptr<feedforward_torque_controller::ParamListener> listener_;
  feedforward_torque_controller::Params parameters_;
  std::mutex configuring_;  // services wait while the model is replaced; the loop does not run then
  IdentifiedModel model_;
  double payload_mass_ = 0.0;
  std::unique_ptr<PayloadLimit> payload_limit_;
  std::unique_ptr<GuardedTorque> guarded_;
  std::unique_ptr<Motion> reference_;  // in the order of the model
  Vector measured_;                    // in the order of the model
  Vector motor_;                       // positions of the motors; NaN: not known
  std::vector<std::size_t> row_;       // of each joint of the model among `joints`
  EffortCommand effort_;
  Vector torque_;                      // measured, in the order of the model; empty: not watched
  bool leaving_ = false;               // asked to deactivate in the loop: ends when torque is zero
  std::uint64_t cycle_ = 0;
  std::uint64_t cycles_per_message_ = 1;

  // From services to the loop: written by one side, taken by the other, never waited for.
  std::atomic<Wish> wish_{Wish::kNone};
  std::atomic<bool> reset_{false};
  std::atomic<double> scale_{1.0};
  std::atomic<bool> payload_ready_{false};
  std::mutex payload_;  // of the next one; the loop only tries it
  Vector payload_values_;
  // From the loop to services.
  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<int> exceeded_{-1};         // joint beyond torque_threshold last
  std::atomic<double> exceeded_torque_{0.0};
  std::atomic<bool> active_{false}, enabled_{false};
  std::atomic<bool> deflected_{false};  // the positions of the motors are known
  std::atomic<std::uint64_t> refused_{0}, missed_{0}, paused_{0}, updates_{0};
  std::atomic<std::thread::id> loop_{};

  std::unique_ptr<StateQueue> states_;
  rclcpp::Service<Trigger>::SharedPtr reset_service_;
  rclcpp::Service<SetBool>::SharedPtr enable_service_;
  rclcpp::Service<SetPayload>::SharedPtr payload_service_;
  rclcpp::Publisher<DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::TimerBase::SharedPtr timer_;
  std::uint64_t refused_before_ = 0, updates_before_ = 0;
  Fault logged_ = Fault::kNone;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr number_check_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr scale_callback_;
};

}  // namespace robodyn_ros
