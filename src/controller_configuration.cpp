// SPDX-License-Identifier: Apache-2.0
// What the controller does before it is activated, and what it offers to people meanwhile.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "robodyn_ros/feedforward_torque_controller.hpp"
#include "robodyn_ros/finite_parameters.hpp"
#include "robodyn_ros/msg/fault_code.hpp"
#include "robodyn_ros/payload.hpp"
#include "robodyn_ros/thresholds_file.hpp"

namespace robodyn_ros
{
namespace
{

constexpr const char * kStalled = "the control loop does not update this controller";

/// One value per joint of `joints`; a single one is for all of them.
template<typename Value>
std::vector<Value> expanded(
  const std::string & name, const std::vector<Value> & values, std::size_t count)
{
  if (values.size() == 1) {
    return std::vector<Value>(count, values.front());
  }
  if (values.size() != count) {
    throw std::invalid_argument(
      name + " needs one value or one for each of the " + std::to_string(count) +
      " joints, got " + std::to_string(values.size()));
  }
  return values;
}

}  // namespace

/// Refuse numbers that are none and limits that are not watched here, those that the controller
/// starts with and those that come later.
void FeedforwardTorqueController::check_numbers()
{
  const auto node = get_node();
  std::vector<rclcpp::Parameter> parameters;
  for (const auto & name : node->list_parameters({}, 0).names) {
    rclcpp::Parameter parameter;
    if (node->get_parameter(name, parameter)) {
      parameters.push_back(parameter);
    }
  }
  // Those that this controller does not declare are only here.
  const auto & given = node->get_node_parameters_interface()->get_parameter_overrides();
  for (const auto & [name, value] : given) {
    parameters.emplace_back(name, value);
  }
  const std::string problem = parameter_problem(parameters);
  if (!problem.empty()) {
    throw std::invalid_argument(problem);
  }
  number_check_ = node->add_on_set_parameters_callback(
    [](const std::vector<rclcpp::Parameter> & changed) {
      rcl_interfaces::msg::SetParametersResult result;
      result.reason = parameter_problem(changed);
      result.successful = result.reason.empty();
      return result;
    });
}

void FeedforwardTorqueController::prepare()
{
  model_ = read_result(parameters_.result_file);
  check_possible(parameters_.result_file);
  if (!parameters_.model_hash.empty() && parameters_.model_hash != model_.hash) {
    throw std::invalid_argument(
      "the model of " + parameters_.result_file + " has the hash " + model_.hash +
      ", model_hash asks for " + parameters_.model_hash);
  }
  if (parameters_.position_interface == parameters_.effort_interface) {
    throw std::invalid_argument(
      "position_interface and effort_interface must differ, both are " +
      parameters_.effort_interface);
  }
  match_joints();
  model_.no_torque = refused(model_.no_torque, "it gets no torque");
  if (model_.no_torque.size() == row_.size()) {
    throw std::invalid_argument(
      parameters_.result_file + " has no usable joint: identify again, or name joints in "
      "allowed_joints");
  }
  ModelTorque & torque = *model_.torque;
  const auto count = static_cast<Eigen::Index>(row_.size());
  const auto & effort = parameters_.effort;
  torque.set_velocity_window(ordered("velocity_window", parameters_.velocity_window));
  torque.set_gravity_excluded(
    effort.command_gravity.empty() ? excluded("effort.gravity", effort.gravity)
    : excluded("effort.command_gravity", effort.command_gravity));
  const LawSettings limits = settings();
  payload_limit_ = std::make_unique<PayloadLimit>(
    parameters_.result_file, limits.max_torque, parameters_.max_payload);
  if (model_.payload.size() > 0) {
    payload_limit_->check(model_.payload, model_.payload_frame);
    torque.set_values(torque.with_payload(model_.payload, model_.payload_frame));
  }
  payload_mass_ = model_.payload.size() > 0 ? model_.payload[0] : 0.0;
  payload_values_ = torque.values();
  payload_ready_ = false;
  guarded_ = std::make_unique<GuardedTorque>(
    torque, limits, WatchSettings{parameters_.reference_timeout, parameters_.state_timeout},
    gear_torque(limits));
  effort_ = EffortCommand(
    effort.unit, effort.side, ordered("effort.command_per_torque", effort.command_per_torque),
    limits.max_torque, torque.joints());
  prepare_detector();
  prepare_threshold();
  reference_ = std::make_unique<Motion>(count);
  measured_ = Vector::Zero(count);
  motor_ = Vector::Constant(count, std::numeric_limits<double>::quiet_NaN());
  scale_ = parameters_.feedforward_scale;
  fault_ = Fault::kNone;
  reset_ = false;
}

/// Joints that are not usable and not allowed by name.
std::vector<std::string> FeedforwardTorqueController::refused(
  std::vector<std::string> joints, const char * consequence) const
{
  const auto & allowed = parameters_.allowed_joints;
  const auto is_allowed = [&allowed](const std::string & joint) {
      return std::find(allowed.begin(), allowed.end(), joint) != allowed.end();
    };
  joints.erase(std::remove_if(joints.begin(), joints.end(), is_allowed), joints.end());
  for (const auto & joint : joints) {
    RCLCPP_WARN(
      get_node()->get_logger(), "joint %s is not usable, %s", joint.c_str(), consequence);
  }
  return joints;
}

/// Torque by measured deflections of the gears, if the result has it and it is applied.
std::unique_ptr<MeasuredGearTorque> FeedforwardTorqueController::gear_torque(
  const LawSettings & settings)
{
  const double scale = parameters_.residual_scale;
  if (!model_.gears || scale == 0.0) {
    return nullptr;
  }
  RCLCPP_INFO(
    get_node()->get_logger(), "gear torque of the state interfaces NAME_motor/position, scale %g",
    scale);
  return std::make_unique<MeasuredGearTorque>(
    std::move(*model_.gears), scale, settings.period, settings.ramp_down_time);
}

void FeedforwardTorqueController::prepare_detector()
{
  detector_.reset();
  level_ = Level::kUnknown;
  unknown_ = Fault::kStateMissing;
  latched_ = drop_torque_ = false;
  if (!monitors_collisions()) {
    if (parameters_.collision.reaction != "none") {
      throw std::invalid_argument(
        "collision.reaction " + parameters_.collision.reaction + " needs "
        "collision.max_torque_error or collision.thresholds");
    }
    return;
  }
  monitored_ = read_result(parameters_.result_file);
  if (monitored_.hash != model_.hash) {
    throw std::invalid_argument(parameters_.result_file + " was changed while it was read");
  }
  monitored_.unmonitored = refused(monitored_.unmonitored, "it is unmonitored");
  ModelTorque & torque = *monitored_.torque;
  torque.set_velocity_window(model_.torque->velocity_window());
  torque.set_values(model_.torque->values());
  torque.set_gravity_excluded(excluded("effort.gravity", parameters_.effort.gravity));
  detector_ = make_detector(torque);
  rest_ = std::make_unique<ReferenceRest>(static_cast<Eigen::Index>(row_.size()));
  drop_torque_ = parameters_.collision.reaction == "drop_torque";
  velocity_ = Vector::Zero(static_cast<Eigen::Index>(row_.size()));
  sensitivity_ = parameters_.collision.sensitivity;
}

/// Also the memory of the measured torque, which detector and threshold share.
void FeedforwardTorqueController::prepare_threshold()
{
  const auto & given = parameters_.torque_threshold;
  threshold_ = given.empty() ? Vector() : ordered("torque_threshold", given);
  if (!(threshold_.array() > 0.0).all()) {
    throw std::invalid_argument("torque_threshold must be above 0 for each joint");
  }
  exceeded_ = -1;
  const bool measured = detector_ || threshold_.size() > 0;
  torque_ = Vector::Zero(measured ? static_cast<Eigen::Index>(row_.size()) : 0);
  if (threshold_.size() == 0) {
    return;
  }
  const auto excluded_joints = excluded("effort.gravity", parameters_.effort.gravity);
  const auto found = std::find(excluded_joints.begin(), excluded_joints.end(), true);
  if (found != excluded_joints.end()) {
    throw std::invalid_argument(
      "torque_threshold needs the complete torque of the drives, but the effort of joint " +
      model_.torque->joints()[static_cast<std::size_t>(found - excluded_joints.begin())] +
      " is declared without gravity (effort.gravity)");
  }
}

std::unique_ptr<TorqueErrorDetector> FeedforwardTorqueController::make_detector(
  ModelTorque & torque) const
{
  const std::string & file = parameters_.collision.thresholds;
  if (file.empty()) {
    return std::make_unique<TorqueErrorDetector>(torque, collision_settings());
  }
  const LearnedThresholds learned = read_thresholds(
    file, {monitored_.loaded_hash, torque.joints(), 1.0 / get_update_rate()});
  const CollisionSettings given = collision_settings();
  for (std::size_t joint = 0; joint < row_.size(); ++joint) {
    const auto & cells = learned.map.rows[joint].collision;
    const double highest = *std::max_element(cells.begin(), cells.end());
    if (given.torque_error_enable[joint] && highest > rated_torque(monitored_, joint)) {
      throw std::invalid_argument(
        torque.joints()[joint] + " is not monitored: its threshold in " + file +
        " is above the torque of its drive. Learn it again, or set its torque_error_enable to false");
    }
  }
  return std::make_unique<TorqueErrorDetector>(
    torque, learned.settings(given),
    std::make_unique<MappedThresholds>(learned.map));
}

CollisionSettings FeedforwardTorqueController::collision_settings() const
{
  const auto & given = parameters_.collision;
  CollisionSettings result;
  if (given.thresholds.empty()) {  // else those of the file hold
    result.max_torque_error = ordered("collision.max_torque_error", given.max_torque_error);
    result.contact_threshold = ordered("collision.contact_threshold", given.contact_threshold);
  }
  if (result.contact_threshold.isZero(0.0)) {
    result.contact_threshold = 0.7 * result.max_torque_error;
  }
  const auto enabled = expanded(
    "collision.torque_error_enable", given.torque_error_enable, row_.size());
  const auto & unmonitored = monitored_.unmonitored;
  for (const std::size_t row : row_) {
    const auto & joint = parameters_.joints[row];
    const bool known = std::count(unmonitored.begin(), unmonitored.end(), joint) == 0;
    result.torque_error_enable.push_back(enabled[row] && known);
  }
  result.torque_error_filter = given.torque_error_filter;
  result.low_velocity = ordered("collision.low_velocity", given.low_velocity);
  result.low_velocity_torque = ordered("collision.low_velocity_torque", given.low_velocity_torque);
  result.low_velocity_hold = given.low_velocity_hold;
  result.period = 1.0 / get_update_rate();
  result.residual = given.residual;
  result.filter_cutoff = given.filter_cutoff;
  result.observer_bandwidth = given.observer_bandwidth;
  result.debounce = static_cast<int>(given.debounce);
  result.settle_time = given.settle_time;
  result.stale_timeout = given.stale_timeout;
  result.frozen_timeout = given.frozen_timeout;
  return result;
}

void FeedforwardTorqueController::match_joints()
{
  const auto & joints = parameters_.joints;
  const auto & known = model_.torque->joints();
  if (known.size() != joints.size()) {
    throw std::invalid_argument(
      "the model has " + std::to_string(known.size()) + " joints, the parameter joints " +
      std::to_string(joints.size()));
  }
  row_.clear();
  for (const auto & joint : known) {
    const auto found = std::find(joints.begin(), joints.end(), joint);
    if (found == joints.end()) {
      throw std::invalid_argument("joint " + joint + " of the model is not among the joints");
    }
    row_.push_back(static_cast<std::size_t>(found - joints.begin()));
  }
  for (const auto & name : parameters_.allowed_joints) {
    if (!name.empty() && std::count(known.begin(), known.end(), name) == 0) {
      throw std::invalid_argument("allowed_joints: " + name + " is no joint of the model");
    }
  }
}

/// One value per joint in the order of the model.
Vector FeedforwardTorqueController::ordered(
  const std::string & name, const std::vector<double> & given) const
{
  const auto values = expanded(name, given, row_.size());
  Vector result(static_cast<Eigen::Index>(row_.size()));
  for (std::size_t joint = 0; joint < row_.size(); ++joint) {
    result[static_cast<Eigen::Index>(joint)] = values[row_[joint]];
  }
  return result;
}

/// Joints without gravity, in the order of the model.
std::vector<bool> FeedforwardTorqueController::excluded(
  const std::string & name, const std::vector<std::string> & given) const
{
  const auto words = expanded(name, given, row_.size());
  std::vector<bool> result;
  for (const std::size_t row : row_) {
    result.push_back(words[row] == "excluded");
  }
  return result;
}

LawSettings FeedforwardTorqueController::settings() const
{
  LawSettings result;
  result.max_torque = ordered("max_torque", parameters_.max_torque);
  result.max_torque_rate = ordered("max_torque_rate", parameters_.max_torque_rate);
  result.refused = model_.no_torque;
  result.period = 1.0 / get_update_rate();
  result.additive_torque_delay = static_cast<int>(parameters_.additive_torque_delay);
  result.scale = parameters_.feedforward_scale;
  result.ramp_up_time = parameters_.ramp_up_time;
  result.ramp_down_time = parameters_.ramp_down_time;
  result.friction_fade_time = parameters_.friction_fade_time;
  return result;
}

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
        } else if (parameter.get_name() == "collision.sensitivity") {
          sensitivity_ = parameter.as_double();
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
    detector_ ? rclcpp::create_publisher<StateQueue::CollisionState>(
      *node, "~/collision_state", rclcpp::SystemDefaultsQoS()) : nullptr,
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
  answer.message = fault != Fault::kNone ? std::string("cleared: ") + fault_text(fault) :
    latched_ ? std::string("cleared: ") + fault_text(Fault::kCollision) : "there was no fault";
  reset_ = true;
  if (!active_) {  // the loop, which tells of it, does not run
    fault_ = Fault::kNone;
    latched_ = false;
    level_ = Level::kUnknown;
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
  const bool collided = drop_torque_ && latched_;
  answer.success = !enable || (fault == Fault::kNone && !collided) || reset_;
  answer.message = answer.success ? (enable ? "enabled" : "disabled") :
    std::string("additive torque is held at zero by a fault: ") +
    fault_text(fault == Fault::kNone ? Fault::kCollision : fault);
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
  status.message = fault != Fault::kNone ? fault_text(fault) : stalled ? kStalled :
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
  if (detector_) {
    message.status.push_back(collision_status(stalled));
  }
  diagnostics_->publish(message);
}

/// Joint and torque that were beyond torque_threshold last, or "".
std::string FeedforwardTorqueController::exceeded() const
{
  const int joint = exceeded_;
  return joint < 0 ? "" : model_.torque->joints()[static_cast<std::size_t>(joint)] + ", " +
         std::to_string(exceeded_torque_);
}

diagnostic_msgs::msg::DiagnosticStatus FeedforwardTorqueController::collision_status(
  bool stalled) const
{
  using Status = diagnostic_msgs::msg::DiagnosticStatus;
  Status status;
  status.name = std::string(get_node()->get_fully_qualified_name()).substr(1) +
    ": collision monitor";
  status.hardware_id = "robodyn feedforward plugin";
  const Level level = level_;
  const Fault unknown = unknown_;
  const bool known = !stalled && unknown == Fault::kNone;
  status.level = latched_ || level == Level::kCollision ? Status::ERROR :
    known && level == Level::kContact ? Status::WARN :
    known && level == Level::kOk ? Status::OK : Status::STALE;
  status.message = status.level == Status::ERROR ? fault_text(Fault::kCollision) :
    stalled ? kStalled : unknown != Fault::kNone ? unknown_text(unknown) :
    level == Level::kContact ? "contact" : level == Level::kOk ? "ok" : "unknown";
  const std::pair<const char *, std::string> facts[]{
    {"latched", latched_ ? "true" : "false"}, {"reaction", parameters_.collision.reaction},
    {"sensitivity", std::to_string(sensitivity_)},
    {"thresholds", parameters_.collision.thresholds}};
  for (const auto & [key, value] : facts) {
    status.values.emplace_back();
    status.values.back().key = key;
    status.values.back().value = value;
  }
  return status;
}

}  // namespace robodyn_ros
