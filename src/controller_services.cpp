// SPDX-License-Identifier: Apache-2.0
// What the controller offers: interfaces, services, topics and diagnostics.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <utility>

#include "robodyn_ros/feedforward_torque_controller.hpp"
#include "robodyn_ros/msg/fault_code.hpp"
#include "robodyn_ros/payload.hpp"

namespace robodyn_ros
{
namespace
{

using controller_interface::InterfaceConfiguration;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<const char *, 3> kReferences{"position", "velocity", "acceleration"};

}  // namespace

InterfaceConfiguration FeedforwardTorqueController::command_interface_configuration() const
{
  InterfaceConfiguration result{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const auto & kind : {parameters_.position_interface, parameters_.effort_interface}) {
    for (const auto & joint : parameters_.joints) {
      result.names.push_back(joint + "/" + kind);
    }
  }
  return result;
}

InterfaceConfiguration FeedforwardTorqueController::state_interface_configuration() const
{
  InterfaceConfiguration result{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  std::vector<const char *> kinds{"position"};
  if (!parameters_.torque_threshold.empty()) {
    kinds.push_back("effort");
  }
  for (const char * kind : kinds) {
    for (const auto & joint : parameters_.joints) {
      result.names.push_back(joint + "/" + kind);
    }
  }
  if (guarded_ && guarded_->law().gears()) {
    for (const auto & joint : parameters_.joints) {
      result.names.push_back(joint + "_motor/position");  // the last ones: measure_gears
    }
  }
  return result;
}

/// First the positions of all joints, then the velocities and the accelerations.
std::vector<std::string> FeedforwardTorqueController::reference_names() const
{
  std::vector<std::string> result;
  for (const char * kind : kReferences) {
    for (const auto & joint : parameters_.joints) {
      result.push_back(joint + "/" + kind);
    }
  }
  return result;
}

#if ROBODYN_REFERENCE_HANDLES
std::vector<hardware_interface::CommandInterface::SharedPtr>
FeedforwardTorqueController::on_export_reference_interfaces_list()
{
  std::vector<hardware_interface::CommandInterface::SharedPtr> result;
  for (const auto & name : reference_names()) {
    result.push_back(
      std::make_shared<hardware_interface::CommandInterface>(get_node()->get_name(), name));
  }
  return result;
}

double FeedforwardTorqueController::reference(std::size_t number) const
{
  return ordered_exported_reference_interfaces_[number]->get_optional().value_or(kNone);
}

void FeedforwardTorqueController::forget_references()
{
  for (const auto & handle : ordered_exported_reference_interfaces_) {
    (void)handle->set_value(kNone);
  }
}
#else
std::vector<hardware_interface::CommandInterface>
FeedforwardTorqueController::on_export_reference_interfaces()
{
  const auto names = reference_names();
  reference_interfaces_.assign(names.size(), kNone);
  std::vector<hardware_interface::CommandInterface> result;
  for (std::size_t number = 0; number < names.size(); ++number) {
    result.emplace_back(get_node()->get_name(), names[number], &reference_interfaces_[number]);
  }
  return result;
}

double FeedforwardTorqueController::reference(std::size_t number) const
{
  return reference_interfaces_[number];
}

void FeedforwardTorqueController::forget_references()
{
  std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), kNone);
}
#endif

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
