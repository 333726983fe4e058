#include "robodyn_ros/feedforward_torque_controller.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "pluginlib/class_list_macros.hpp"

namespace robodyn_ros
{
namespace
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;

constexpr double kInt16 = 32767.0;  // drivers cast per mille to int16 without looking
constexpr std::array<const char *, 3> kReferences{"position", "velocity", "acceleration"};

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

/// Inertia about the frame's origin, and first moments, of a mass with its inertia: the ten
/// parameters of a link in Pinocchio's order.
Vector ten_of(double mass, const std::vector<double> & centre, const std::vector<double> & inertia)
{
  Eigen::Vector3d c = Eigen::Vector3d::Zero();
  if (!centre.empty()) {
    c = Eigen::Vector3d(centre[0], centre[1], centre[2]);
  }
  Eigen::Matrix3d about = mass * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  if (!inertia.empty()) {  // xx, xy, xz, yy, yz, zz
    Eigen::Matrix3d own;
    own << inertia[0], inertia[1], inertia[2], inertia[1], inertia[3], inertia[4], inertia[2],
      inertia[4], inertia[5];
    about += own;
  }
  Vector ten(10);
  ten << mass, mass * c, about(0, 0), about(0, 1), about(1, 1), about(0, 2), about(1, 2),
    about(2, 2);
  return ten;
}

void check_finite(const std::string & name, const std::vector<double> & values)
{
  for (const double value : values) {
    if (!std::isfinite(value)) {
      throw std::invalid_argument("the payload's " + name + " must be finite");
    }
  }
}

void check_count(const std::string & name, const std::vector<double> & values, std::size_t count)
{
  if (!values.empty() && values.size() != count) {
    throw std::invalid_argument(
      "the payload's " + name + " needs " + std::to_string(count) + " numbers, got " +
      std::to_string(values.size()));
  }
}

}  // namespace

CallbackReturn FeedforwardTorqueController::on_init()
{
  try {
    listener_ = std::make_shared<feedforward_torque_controller::ParamListener>(get_node());
    parameters_ = listener_->get_params();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

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
  for (const auto & joint : parameters_.joints) {
    result.names.push_back(joint + "/position");
  }
  return result;
}

std::vector<hardware_interface::CommandInterface>
FeedforwardTorqueController::on_export_reference_interfaces()
{
  const std::size_t count = parameters_.joints.size();
  reference_interfaces_.assign(3 * count, std::numeric_limits<double>::quiet_NaN());
  std::vector<hardware_interface::CommandInterface> result;
  for (std::size_t kind = 0; kind < kReferences.size(); ++kind) {
    for (std::size_t joint = 0; joint < count; ++joint) {
      result.emplace_back(
        get_node()->get_name(), parameters_.joints[joint] + "/" + kReferences[kind],
        &reference_interfaces_[kind * count + joint]);
    }
  }
  return result;
}

CallbackReturn FeedforwardTorqueController::on_configure(const rclcpp_lifecycle::State &)
{
  try {
    parameters_ = listener_->get_params();
    prepare();
    offer_services();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  RCLCPP_INFO(
    get_node()->get_logger(), "model of %s, hash %.12s", parameters_.result_file.c_str(),
    model_.hash.c_str());
  return CallbackReturn::SUCCESS;
}

void FeedforwardTorqueController::prepare()
{
  model_ = read_result(parameters_.result_file);
  if (!parameters_.model_hash.empty() && parameters_.model_hash != model_.hash) {
    throw std::invalid_argument(
      "the model of " + parameters_.result_file + " has the hash " + model_.hash +
      ", model_hash asks for " + parameters_.model_hash);
  }
  ModelTorque & torque = *model_.torque;
  const auto & joints = parameters_.joints;
  const std::size_t count = joints.size();
  if (torque.joints().size() != count) {
    throw std::invalid_argument(
      "the model has " + std::to_string(torque.joints().size()) + " joints, the parameter joints " +
      std::to_string(count));
  }
  row_.clear();
  for (const auto & joint : torque.joints()) {
    const auto found = std::find(joints.begin(), joints.end(), joint);
    if (found == joints.end()) {
      throw std::invalid_argument("joint " + joint + " of the model is not among the joints");
    }
    row_.push_back(static_cast<std::size_t>(found - joints.begin()));
  }
  const auto ordered = [&](const std::string & name, const std::vector<double> & given) {
      const auto values = expanded(name, given, count);
      Vector result(static_cast<Eigen::Index>(count));
      for (std::size_t joint = 0; joint < count; ++joint) {
        result[static_cast<Eigen::Index>(joint)] = values[row_[joint]];
      }
      return result;
    };
  LawSettings settings;
  settings.max_torque = ordered("max_torque", parameters_.max_torque);
  settings.max_torque_rate = ordered("max_torque_rate", parameters_.max_torque_rate);
  settings.period = 1.0 / get_update_rate();
  settings.additive_torque_delay = static_cast<int>(parameters_.additive_torque_delay);
  settings.scale = parameters_.feedforward_scale;
  settings.ramp_up_time = parameters_.ramp_up_time;
  settings.ramp_down_time = parameters_.ramp_down_time;
  torque.set_velocity_window(ordered("velocity_window", parameters_.velocity_window));
  factor_ = ordered("effort.command_per_torque", parameters_.effort.command_per_torque);
  prepare_effort(settings.max_torque);
  if (model_.payload.size() > 0) {
    torque.set_values(torque.with_payload(model_.payload));
  }
  law_ = std::make_unique<AdditiveTorque>(torque, settings);
  reference_ = std::make_unique<Motion>(static_cast<Eigen::Index>(count));
  position_.assign(count, 0.0);
  payload_values_ = torque.values();
  scale_ = parameters_.feedforward_scale;
}

// What the effort interface takes must be declared: a wrong unit is a wrong torque.
void FeedforwardTorqueController::prepare_effort(const Vector & max_torque)
{
  const auto & effort = parameters_.effort;
  const bool permille = effort.unit == "permille";
  const bool plain = (factor_.array() == 1.0).all();
  if (!factor_.allFinite() || (factor_.array() == 0.0).any()) {
    throw std::invalid_argument("effort.command_per_torque must be finite and not 0");
  }
  if (plain && (permille || effort.side == "motor")) {
    throw std::invalid_argument(
      "effort.unit " + effort.unit + " on the " + effort.side + " side needs "
      "effort.command_per_torque: the effort command per Nm or N at the joint");
  }
  most_ = permille ? kInt16 : 0.0;
  for (Eigen::Index joint = 0; permille && joint < factor_.size(); ++joint) {
    const double largest = std::abs(max_torque[joint] * factor_[joint]);
    if (largest > most_) {
      throw std::invalid_argument(
        "max_torque of joint " + model_.torque->joints()[static_cast<std::size_t>(joint)] +
        " is " + std::to_string(largest) + " permille, a drive takes at most 32767: check "
        "effort.command_per_torque");
    }
  }
  const auto words = expanded("effort.gravity", effort.gravity, parameters_.joints.size());
  std::vector<bool> excluded;
  for (const std::size_t row : row_) {
    excluded.push_back(words[row] == "excluded");
  }
  model_.torque->set_gravity_excluded(excluded);
}

void FeedforwardTorqueController::offer_services()
{
  auto node = get_node();
  reset_service_ = node->create_service<Trigger>(
    "~/reset", [this](const Trigger::Request::SharedPtr, Trigger::Response::SharedPtr answer) {
      const Fault fault = fault_;
      answer->success = true;
      answer->message = fault == Fault::kNone ? "there was no fault" :
      std::string("cleared: ") + fault_text(fault);
      reset_ = true;
    });
  enable_service_ = node->create_service<SetBool>(
    "~/enable",
    [this](const SetBool::Request::SharedPtr request, SetBool::Response::SharedPtr answer) {
      const Fault fault = fault_;
      answer->success = !request->data || fault == Fault::kNone || reset_;
      answer->message = answer->success ? (request->data ? "enabled" : "disabled") :
      std::string("additive torque is held at zero by a fault: ") + fault_text(fault);
      if (answer->success) {
        wish_ = request->data ? Wish::kEnable : Wish::kDisable;
      }
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
  const auto & names = model_.torque->joints();
  const std::vector<double> none(names.size(), std::numeric_limits<double>::quiet_NaN());
  state_.name = names;
  state_.feedback = state_.error = none;
  state_.requested = state_.additive_command = std::vector<double>(names.size(), 0.0);
  state_.fault.reserve(200);  // so that no fault needs memory in the loop
  cycles_per_message_ = std::max(
    1, static_cast<int>(std::lround(get_update_rate() / parameters_.torque_state_rate)));
  publisher_ = std::make_unique<realtime_tools::RealtimePublisher<TorqueState>>(
    node->create_publisher<TorqueState>("~/torque_state", rclcpp::SystemDefaultsQoS()));
  publisher_->msg_ = state_;
  publisher_->msg_.fault.reserve(200);
}

void FeedforwardTorqueController::on_payload(
  const SetPayload::Request & request, SetPayload::Response & response)
{
  try {
    const std::vector<double> centre = request.center_of_mass, inertia = request.inertia;
    check_finite("mass", {request.mass});
    check_finite("centre of mass", centre);
    check_finite("inertia", inertia);
    if (request.mass < 0.0) {
      throw std::invalid_argument("the payload's mass must not be negative");
    }
    const ModelTorque & torque = *model_.torque;
    const std::string frame = torque.payload_frame();
    if (!request.frame.empty() && request.frame != frame) {
      throw std::invalid_argument(
        "this controller takes a payload in the frame '" + frame + "' only, got '" +
        request.frame + "'");
    }
    check_count("centre of mass", centre, frame.empty() ? 0 : 3);
    check_count("inertia", inertia, frame.empty() ? 1 : 6);
    Vector payload(2);
    payload << request.mass, inertia.empty() ? 0.0 : inertia[0];
    if (!frame.empty()) {
      payload = ten_of(request.mass, centre, inertia);
    }
    if (payload_ready_) {
      throw std::invalid_argument("the payload before is still to be taken: is it active?");
    }
    payload_values_ = torque.with_payload(payload);
    payload_ready_ = true;
    response.success = true;
    response.message = "payload of " + std::to_string(request.mass) + " kg";
  } catch (const std::invalid_argument & error) {
    response.success = false;
    response.message = error.what();
  }
}

CallbackReturn FeedforwardTorqueController::on_activate(const rclcpp_lifecycle::State &)
{
  if (!is_in_chained_mode()) {
    RCLCPP_ERROR(
      get_node()->get_logger(), "activate me together with the controller that commands my "
      "reference interfaces, a joint_trajectory_controller for example");
    return CallbackReturn::FAILURE;
  }
  for (std::size_t joint = 0; joint < position_.size(); ++joint) {
    const auto measured = state_interfaces_[joint].get_optional();
    if (!measured || !std::isfinite(*measured)) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "the position of joint %s is not known",
        parameters_.joints[joint].c_str());
      return CallbackReturn::FAILURE;
    }
    position_[joint] = *measured;
  }
  std::fill(
    reference_interfaces_.begin(), reference_interfaces_.end(),
    std::numeric_limits<double>::quiet_NaN());
  law_->clear();
  law_->reset();
  seen_ = false;
  reset_ = false;
  fault_ = Fault::kNone;
  wish_ = parameters_.enabled ? Wish::kEnable : Wish::kDisable;
  write_zero();
  return CallbackReturn::SUCCESS;
}

// A controller that is deactivated commands nothing any more, so that it cannot ramp: it leaves
// zero. Call ~/enable with false first where the step matters (docs/controller.md).
CallbackReturn FeedforwardTorqueController::on_deactivate(const rclcpp_lifecycle::State &)
{
  law_->clear();
  write_zero();
  return CallbackReturn::SUCCESS;
}

return_type FeedforwardTorqueController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration &)
{
  return return_type::OK;  // there are none: the references come from a controller only
}

return_type FeedforwardTorqueController::update_and_write_commands(
  const rclcpp::Time & time, const rclcpp::Duration &)
{
  take_wishes();
  if (!is_in_chained_mode()) {
    law_->trip(Fault::kReferenceMissing);
    law_->idle();
  } else if (read_references()) {
    seen_ = true;
    law_->update(*reference_);
  } else if (seen_) {
    law_->trip(Fault::kReferenceNotFinite);
    law_->idle();
  }
  fault_ = law_->fault();
  write_commands();
  publish(time);
  return return_type::OK;
}

void FeedforwardTorqueController::take_wishes()
{
  if (reset_.exchange(false)) {
    law_->reset();
  }
  switch (wish_.exchange(Wish::kNone)) {
    case Wish::kEnable: law_->start(); break;
    case Wish::kDisable: law_->stop(); break;
    default: break;
  }
  law_->set_scale(scale_);
  if (payload_ready_) {
    model_.torque->set_values(payload_values_);
    payload_ready_ = false;
  }
}

/// References into the order of the model; false where one is missing. Positions that are there
/// are passed on, whatever the others are.
bool FeedforwardTorqueController::read_references()
{
  const std::size_t count = row_.size();
  bool usable = true;
  for (std::size_t joint = 0; joint < count; ++joint) {
    const double q = reference_interfaces_[row_[joint]];
    const double qd = reference_interfaces_[count + row_[joint]];
    double qdd = reference_interfaces_[2 * count + row_[joint]];
    // A JTC that holds after a cancel goes on commanding the last acceleration of the motion.
    if (qd == 0.0 && q == position_[row_[joint]]) {
      qdd = 0.0;
    }
    usable = usable && std::isfinite(q) && std::isfinite(qd) && std::isfinite(qdd);
    const auto place = static_cast<Eigen::Index>(joint);
    reference_->q[place] = q;
    reference_->qd[place] = qd;
    reference_->qdd[place] = qdd;
    if (std::isfinite(q)) {
      position_[row_[joint]] = q;
    }
  }
  return usable;
}

void FeedforwardTorqueController::write_commands()
{
  const std::size_t count = row_.size();
  for (std::size_t joint = 0; joint < count; ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    double effort = law_->applied()[place] * factor_[place];
    if (most_ > 0.0) {
      effort = std::clamp(effort, -most_, most_);
    }
    (void)command_interfaces_[row_[joint]].set_value(position_[row_[joint]]);
    (void)command_interfaces_[count + row_[joint]].set_value(effort);
  }
}

void FeedforwardTorqueController::write_zero()
{
  const std::size_t count = row_.size();
  for (std::size_t joint = 0; joint < count; ++joint) {
    (void)command_interfaces_[count + joint].set_value(0.0);
  }
}

void FeedforwardTorqueController::publish(const rclcpp::Time & time)
{
  if (++cycle_ < cycles_per_message_) {
    return;
  }
  cycle_ = 0;
  state_.header.stamp = time;
  for (std::size_t joint = 0; joint < row_.size(); ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    state_.requested[joint] = law_->requested()[place];
    state_.additive_command[joint] = law_->applied()[place];
  }
  state_.enabled = law_->enabled();
  state_.fault = fault_text(law_->fault());
  publisher_->try_publish(state_);
}

}  // namespace robodyn_ros

PLUGINLIB_EXPORT_CLASS(
  robodyn_ros::FeedforwardTorqueController, controller_interface::ChainableControllerInterface)
