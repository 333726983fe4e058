// SPDX-License-Identifier: Apache-2.0
// Services, topics and diagnostics of the controller.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <numeric>
#include <utility>

#include "robodyn_ros/feedforward_torque_controller.hpp"
#include "robodyn_ros/msg/fault_code.hpp"
#include "robodyn_ros/payload.hpp"

namespace robodyn_ros
{

void FeedforwardTorqueController::offer_services()
{
  auto node = get_node();
  reset_service_ = node->create_service<Trigger>(
    "~/reset", [this](const Trigger::Request::SharedPtr, Trigger::Response::SharedPtr answer) {
      on_reset(*answer);
    });
  enable_service_ = node->create_service<SetBool>(
    "~/enable",
    [this](const SetBool::Request::SharedPtr request, SetBool::Response::SharedPtr answer) {
      on_enable(request->data, *answer);
    });
  payload_service_ = node->create_service<SetPayload>(
    "~/set_payload",
    [this](const SetPayload::Request::SharedPtr request, SetPayload::Response::SharedPtr answer) {
      on_payload(*request, *answer);
    });
  scale_callback_ = node->add_post_set_parameters_callback(
    [this](const std::vector<rclcpp::Parameter> & parameters) {
      for (const auto & parameter : parameters) {
        if (parameter.get_name() == "feedforward_scale") {
          scale_ = parameter.as_double();
        }
      }
    });
}

void FeedforwardTorqueController::offer_topics()
{
  auto node = get_node();
  cycles_per_message_ = static_cast<std::uint64_t>(std::max(
    1L, std::lround(get_update_rate() / parameters_.torque_state_rate)));
  const std::chrono::duration<double> pause(
    std::min(0.01, static_cast<double>(cycles_per_message_) / get_update_rate()));
  // Plain publishers, not those of the lifecycle: faults are published while inactive, too.
  states_ = std::make_unique<StateQueue>(
    rclcpp::create_publisher<StateQueue::TorqueState>(
      *node, "~/torque_state", rclcpp::SystemDefaultsQoS()),
    model_.torque->joints(), settings().additive_torque_delay,
    std::chrono::duration_cast<std::chrono::nanoseconds>(pause));
  diagnostics_ = rclcpp::create_publisher<DiagnosticArray>(
    *node, "/diagnostics", rclcpp::SystemDefaultsQoS());
  timer_ = node->create_wall_timer(std::chrono::seconds(1), [this]() {diagnose();});
}

void FeedforwardTorqueController::on_reset(Trigger::Response & answer)
{
  const Fault fault = fault_;
  answer.success = true;
  answer.message = fault == Fault::kNone ? "there was no fault" :
    std::string("cleared: ") + fault_text(fault);
  reset_ = true;
  if (!active_) {  // the loop, which tells of it, does not run
    fault_ = Fault::kNone;
  }
}

void FeedforwardTorqueController::on_enable(bool enable, SetBool::Response & answer)
{
  const Fault fault = fault_;
  if (!active_) {
    answer.success = false;
    answer.message = "the controller is not active";
    return;
  }
  answer.success = !enable || fault == Fault::kNone || reset_;
  answer.message = answer.success ? (enable ? "enabled" : "disabled") :
    std::string("additive torque is held at zero by a fault: ") + fault_text(fault);
  if (answer.success) {
    wish_ = enable ? Wish::kEnable : Wish::kDisable;
  }
}

void FeedforwardTorqueController::on_payload(
  const SetPayload::Request & request, SetPayload::Response & response)
{
  const std::lock_guard<std::mutex> alone(configuring_);
  try {
    const ModelTorque & torque = *model_.torque;
    const Vector payload = payload_numbers(
      torque, request.mass, request.center_of_mass, request.inertia);
    payload_limit_->check(payload, request.frame);
    payload_limit_->check_body(request.mass, payload, request.frame);
    const Vector values = torque.with_payload(payload, request.frame);
    {
      const std::lock_guard<std::mutex> later(payload_);
      payload_values_ = values;  // in place of one that still waits for an active controller
      payload_ready_ = true;
    }
    payload_mass_ = request.mass;
    response.success = true;
    response.message = "payload of " + std::to_string(request.mass) + " kg";
  } catch (const std::exception & error) {  // whatever it is: the others' controllers go on
    response.success = false;
    response.message = error.what();
    response.fault_code = msg::FaultCode::FAULT_REFUSED;
  }
}

void FeedforwardTorqueController::diagnose()
{
  using Status = diagnostic_msgs::msg::DiagnosticStatus;
  const std::lock_guard<std::mutex> alone(configuring_);
  Status status;
  const Fault fault = fault_;
  const std::uint64_t refused = refused_;
  const std::uint64_t updates = updates_;
  const bool stalled = active_ && updates == updates_before_;
  updates_before_ = updates;
  // With its namespace: there may be two robots. As the Python nodes, without the slash before.
  status.name = std::string(get_node()->get_fully_qualified_name()).substr(1) + ": additive torque";
  status.hardware_id = "robodyn feedforward plugin";
  status.level = fault != Fault::kNone ? Status::ERROR : stalled ? Status::STALE :
    refused != refused_before_ || !enabled_ ? Status::WARN : Status::OK;
  status.message = fault != Fault::kNone ? fault_text(fault) : stalled ?
    "the control loop does not update this controller" :
    refused != refused_before_ ? "references were refused" : enabled_ ? "applied" : "not applied";
  refused_before_ = refused;
  if (fault != logged_ && fault != Fault::kNone) {  // the loop itself must not log
    const std::string which = fault == Fault::kTorqueThreshold ? ": " + exceeded() : "";
    RCLCPP_ERROR(
      get_node()->get_logger(), "additive torque ramped to zero: %s%s", fault_text(fault),
      which.c_str());
  }
  logged_ = fault;
  const std::pair<const char *, std::string> facts[]{
    {"references refused", std::to_string(refused)},
    {"cycles without reference", std::to_string(missed_)},
    {"pauses of the loop", std::to_string(paused_)},
    {"feedforward_scale", std::to_string(scale_)},
    {"payload_mass", std::to_string(payload_mass_)}, {"beyond torque_threshold", exceeded()},
    {"residual_torque", !guarded_ || !guarded_->law().gears() ? "none" :
      !deflected_ ? "the motor positions are not known" : enabled_ ? "applied" : "not applied"},
    {"joints without torque", std::accumulate(
        model_.no_torque.begin(), model_.no_torque.end(), std::string(),
        [](const std::string & all, const std::string & joint) {
          return all + (all.empty() ? "" : ", ") + joint;
        })},
    {"model", parameters_.result_file},
    {"model_hash", model_.hash}};
  for (const auto & [key, value] : facts) {
    status.values.emplace_back();
    status.values.back().key = key;
    status.values.back().value = value;
  }
  DiagnosticArray message;
  message.header.stamp = get_node()->now();
  message.status.push_back(status);
  diagnostics_->publish(message);
}

/// Joint and torque that were beyond torque_threshold last, or "".
std::string FeedforwardTorqueController::exceeded() const
{
  const int joint = exceeded_;
  return joint < 0 ? "" : model_.torque->joints()[static_cast<std::size_t>(joint)] + ", " +
         std::to_string(exceeded_torque_);
}

}  // namespace robodyn_ros
