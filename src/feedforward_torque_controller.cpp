// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/feedforward_torque_controller.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "pluginlib/class_list_macros.hpp"

namespace robodyn_ros
{
namespace
{

using controller_interface::CallbackReturn;
using controller_interface::return_type;

constexpr std::chrono::milliseconds kToLeave{50};  // for the last message of a ramp to be sent
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Time of a cycle, [s].
double seconds_of(const rclcpp::Time & time)
{
  constexpr std::int64_t kSecond = 1000000000;
  const std::int64_t stamp = time.nanoseconds();
  return static_cast<double>(stamp / kSecond) + 1e-9 * static_cast<double>(stamp % kSecond);
}

}  // namespace

CallbackReturn FeedforwardTorqueController::on_init()
{
  try {
    listener_ = std::make_shared<feedforward_torque_controller::ParamListener>(get_node());
    parameters_ = listener_->get_params();
    check_numbers();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

CallbackReturn FeedforwardTorqueController::on_configure(const rclcpp_lifecycle::State &)
{
  const std::lock_guard<std::mutex> alone(configuring_);
  try {
    parameters_ = listener_->get_params();
    prepare();
    offer_services();
    offer_topics();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  RCLCPP_INFO(
    get_node()->get_logger(), "model of %s, hash %.12s", parameters_.result_file.c_str(),
    model_.hash.c_str());
  return CallbackReturn::SUCCESS;
}

CallbackReturn FeedforwardTorqueController::on_activate(const rclcpp_lifecycle::State &)
{
  if (!is_in_chained_mode()) {
    RCLCPP_ERROR(
      get_node()->get_logger(), "activate me together with the controller that commands my "
      "reference interfaces, a joint_trajectory_controller for example");
    return CallbackReturn::FAILURE;
  }
  if (!measure()) {
    RCLCPP_ERROR(get_node()->get_logger(), "the position of a joint is not known");
    return CallbackReturn::FAILURE;
  }
  forget_references();
  guarded_->clear(measured_);
  leaving_ = false;
  AdditiveTorque & law = guarded_->law();
  if (reset_.exchange(false)) {
    law.reset();
  }
  fault_ = law.fault();
  if (law.fault() != Fault::kNone) {  // the robot may move, as it did with the fault before
    RCLCPP_WARN(
      get_node()->get_logger(), "additive torque is held at zero by a fault of before: %s; call "
      "~/reset, then ~/enable", fault_text(law.fault()));
  }
  loop_ = std::thread::id();
  wish_ = parameters_.enabled ? Wish::kEnable : Wish::kDisable;
  write_commands();
  active_ = true;
  return CallbackReturn::SUCCESS;
}

CallbackReturn FeedforwardTorqueController::on_deactivate(const rclcpp_lifecycle::State &)
{
  AdditiveTorque & law = guarded_->law();
  if (std::this_thread::get_id() != loop_.load()) {
    ramp_out();
  } else if (!law.applied().isZero(0.0)) {
    law.stop();
    leaving_ = true;
    return CallbackReturn::FAILURE;
  }
  law.clear();
  write_commands();
  leaving_ = false;
  active_ = enabled_ = deflected_ = false;
  return CallbackReturn::SUCCESS;
}

/// Not while the torque still ramps out: its interfaces are needed for that.
void FeedforwardTorqueController::release_interfaces()
{
  if (!leaving_) {
    ChainableControllerInterface::release_interfaces();
  }
}

/// Ramp the torque out while the real-time loop goes on writing to the hardware, but calls this
/// controller no more. A step every other period: never two in one cycle of the loop, and the first
/// one after an update that was still under way.
void FeedforwardTorqueController::ramp_out()
{
  const std::chrono::duration<double> pause(2.0 / get_update_rate());
  std::this_thread::sleep_for(pause);
  if (guarded_->law().applied().isZero(0.0)) {
    return;
  }
  while (!guarded_->law().applied().isZero(0.0)) {
    guarded_->law().stop();
    guarded_->law().idle();
    write_commands();
    publish(get_node()->now());
    std::this_thread::sleep_for(pause);
  }
  std::this_thread::sleep_for(kToLeave);
}

return_type FeedforwardTorqueController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration &)
{
  return return_type::OK;  // there are none: the references come from a controller only
}

return_type FeedforwardTorqueController::update_and_write_commands(
  const rclcpp::Time & time, const rclcpp::Duration & period)
{
  loop_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  updates_.fetch_add(1, std::memory_order_relaxed);
  take_wishes();
  (void)measure();
  measure_gears(time);
  read_references();
  AdditiveTorque & law = guarded_->law();
  const bool over = leaving_ && law.applied().isZero(0.0);
  if (leaving_) {
    law.idle();
  } else {
    guarded_->update(*reference_, measured_, torque_, time.nanoseconds(), period.seconds());
  }
  fault_ = law.fault();
  enabled_ = law.enabled();
  refused_ = guarded_->refused();
  missed_ = guarded_->missed();
  paused_ = guarded_->paused();
  exceeded_torque_ = guarded_->exceeded_torque();
  exceeded_ = guarded_->exceeded();
  write_commands();
  publish(time);
  // An error is how a controller ends itself: the controller manager deactivates it now.
  return over ? return_type::ERROR : return_type::OK;
}

void FeedforwardTorqueController::take_wishes()
{
  AdditiveTorque & law = guarded_->law();
  if (reset_.exchange(false)) {
    law.reset();
  }
  switch (wish_.exchange(Wish::kNone)) {
    case Wish::kEnable:
      if (!leaving_) {
        guarded_->start();
      }
      break;
    case Wish::kDisable: law.stop(); break;
    default: break;
  }
  law.set_scale(scale_);
  if (payload_ready_) {
    const std::unique_lock<std::mutex> free(payload_, std::try_to_lock);  // else in the next cycle
    if (free) {
      law.set_values(payload_values_);
      payload_ready_ = false;
    }
  }
}

/// Measured values in the order of the model; false where a position is missing.
bool FeedforwardTorqueController::measure()
{
  const std::size_t count = row_.size();
  const auto state = [this](std::size_t number) {
      return state_interfaces_[number].get_optional().value_or(kNone);
    };
  for (std::size_t joint = 0; joint < count; ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    measured_[place] = state(row_[joint]);
    if (torque_.size() > 0) {
      torque_[place] = effort_.torque(place, state(count + row_[joint]));
    }
  }
  return measured_.allFinite();
}

/// Positions of the motors for the torque by deflection of the gears; without them it fades out.
void FeedforwardTorqueController::measure_gears(const rclcpp::Time & time)
{
  MeasuredGearTorque * gears = guarded_->law().gears();
  if (gears == nullptr) {
    return;
  }
  const std::size_t count = row_.size(), first = state_interfaces_.size() - count;
  for (std::size_t joint = 0; joint < count; ++joint) {
    motor_[static_cast<Eigen::Index>(joint)] =
      state_interfaces_[first + row_[joint]].get_optional().value_or(kNone);
  }
  deflected_ = gears->read(measured_, motor_, seconds_of(time));
}

/// References into the order of the model. They are not there any more then, so that the next
/// cycle sees whether new ones came.
void FeedforwardTorqueController::read_references()
{
  const std::size_t count = row_.size();
  for (std::size_t joint = 0; joint < count; ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    reference_->q[place] = reference(row_[joint]);
    reference_->qd[place] = reference(count + row_[joint]);
    reference_->qdd[place] = reference(2 * count + row_[joint]);
  }
  forget_references();
}

void FeedforwardTorqueController::write_commands()
{
  const std::size_t count = row_.size();
  for (std::size_t joint = 0; joint < count; ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    const double effort = effort_(place, guarded_->law().applied()[place]);
    (void)command_interfaces_[row_[joint]].set_value(guarded_->position()[place]);
    (void)command_interfaces_[count + row_[joint]].set_value(effort);
  }
}

void FeedforwardTorqueController::publish(const rclcpp::Time & time)
{
  if (++cycle_ % cycles_per_message_ == 0) {
    states_->push(time.nanoseconds(), cycle_, guarded_->law());
  }
}

}  // namespace robodyn_ros

PLUGINLIB_EXPORT_CLASS(
  robodyn_ros::FeedforwardTorqueController, controller_interface::ChainableControllerInterface)
