// SPDX-License-Identifier: Apache-2.0
// What the controller does before it is activated.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "robodyn_ros/feedforward_torque_controller.hpp"

namespace robodyn_ros
{
namespace
{

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

/// A sentence about the first parameter that must not be given, or "": the bounds of
/// generate_parameter_library let NaN pass, and those with one side infinity; a limit of the Python
/// nodes would be ignored here.
std::string parameter_problem(const std::vector<rclcpp::Parameter> & parameters)
{
  for (const auto & parameter : parameters) {
    const std::string & name = parameter.get_name();
    if (name == "torque_max") {
      return "parameter torque_max is not for this controller, which does not know the motion "
             "ahead: give it to the node that plans or sends the motion";
    }
    if (name.rfind("collision.", 0) == 0) {
      return "parameter " + name + ": this controller does not monitor collisions, the node "
             "collision_monitor does: remove it here";
    }
    std::vector<double> values;
    if (parameter.get_type() == rclcpp::ParameterType::PARAMETER_DOUBLE) {
      values.push_back(parameter.as_double());
    } else if (parameter.get_type() == rclcpp::ParameterType::PARAMETER_DOUBLE_ARRAY) {
      values = parameter.as_double_array();
    }
    for (const double value : values) {
      if (!std::isfinite(value)) {
        return "parameter " + name + " must be finite, got " + std::to_string(value);
      }
    }
  }
  return "";
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
  for (const auto & [name, value] :
    node->get_node_parameters_interface()->get_parameter_overrides())
  {
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
  refuse_joints();
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
    torque, limits,
    WatchSettings{parameters_.reference_timeout, parameters_.state_timeout, torque_threshold()},
    gear_torque(limits));
  effort_ = EffortCommand(
    effort.unit, effort.side, ordered("effort.command_per_torque", effort.command_per_torque),
    limits.max_torque, torque.joints());
  torque_ = Vector::Zero(parameters_.torque_threshold.empty() ? 0 : count);
  exceeded_ = -1;
  reference_ = std::make_unique<Motion>(count);
  measured_ = Vector::Zero(count);
  motor_ = Vector::Constant(count, std::numeric_limits<double>::quiet_NaN());
  scale_ = parameters_.feedforward_scale;
  fault_ = Fault::kNone;
  reset_ = false;
}

/// Keep the joints without torque that are not allowed by name.
void FeedforwardTorqueController::refuse_joints()
{
  auto & joints = model_.no_torque;
  const auto & allowed = parameters_.allowed_joints;
  const auto is_allowed = [&allowed](const std::string & joint) {
      return std::find(allowed.begin(), allowed.end(), joint) != allowed.end();
    };
  joints.erase(std::remove_if(joints.begin(), joints.end(), is_allowed), joints.end());
  for (const auto & joint : joints) {
    RCLCPP_WARN(
      get_node()->get_logger(), "joint %s is not usable, it gets no torque", joint.c_str());
  }
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

/// Thresholds in the order of the model; empty: not watched.
Vector FeedforwardTorqueController::torque_threshold() const
{
  const auto & given = parameters_.torque_threshold;
  if (given.empty()) {
    return {};
  }
  const auto without = excluded("effort.gravity", parameters_.effort.gravity);
  const auto first = std::find(without.begin(), without.end(), true);
  if (first != without.end()) {
    throw std::invalid_argument(
      "torque_threshold needs the complete torque of the drives, but the effort of joint " +
      model_.torque->joints()[static_cast<std::size_t>(first - without.begin())] +
      " is declared without gravity (effort.gravity)");
  }
  return ordered("torque_threshold", given);
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

}  // namespace robodyn_ros
