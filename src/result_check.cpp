// SPDX-License-Identifier: Apache-2.0
// Use result files as the controller does, for the tests: damaged and hostile ones end in a
// sentence, the others in torques that keep the promise.
//
//   result_check [--possible] RESULT...
//
// With --possible, only whether a robot can have the parameters.
// Prints a line for each: "used", or why not. Ends with 1 at the first torque that is not finite, or
// beyond limit or rate.
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "robodyn_ros/guarded_torque.hpp"
#include "robodyn_ros/payload_limit.hpp"
#include "robodyn_ros/result_file.hpp"

namespace
{

using robodyn_ros::Vector;

constexpr double kLimit = 20.0, kRate = 400.0, kPeriod = 0.002;
constexpr int kCycles = 100;

robodyn_ros::LawSettings settings_of(Eigen::Index joints)
{
  robodyn_ros::LawSettings settings;
  settings.max_torque = Vector::Constant(joints, kLimit);
  settings.max_torque_rate = Vector::Constant(joints, kRate);
  settings.period = kPeriod;
  settings.ramp_down_time = kLimit / kRate;
  return settings;
}

/// Let the law run over a smooth motion; false where a torque breaks the promise. The motors of a
/// result with torque by deflection move as their joints without gears do.
bool keeps_promise(
  robodyn_ros::ModelTorque & torque, std::unique_ptr<robodyn_ros::GearTorqueLaw> law)
{
  const auto count = static_cast<Eigen::Index>(torque.joints().size());
  std::unique_ptr<robodyn_ros::MeasuredGearTorque> gears;
  if (law) {
    gears = std::make_unique<robodyn_ros::MeasuredGearTorque>(
      std::move(*law), 1.0, kPeriod, kLimit / kRate);
  }
  robodyn_ros::GuardedTorque guarded(torque, settings_of(count), {}, std::move(gears));
  guarded.start();
  robodyn_ros::Motion motion(count);
  Vector before = Vector::Zero(count);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const double angle = 0.02 * cycle;
    motion.q.setConstant(std::sin(angle));
    motion.qd.setConstant(10.0 * std::cos(angle));
    motion.qdd.setConstant(-100.0 * std::sin(angle));
    if (guarded.law().gears() != nullptr) {
      guarded.law().gears()->read(0.9 * motion.q, motion.q, kPeriod * (cycle + 1));
    }
    const Vector & applied = guarded.update(
      motion, motion.q, std::llround(1e9 * kPeriod * cycle), kPeriod);
    if (!applied.allFinite() || applied.cwiseAbs().maxCoeff() > kLimit ||
      (applied - before).cwiseAbs().maxCoeff() > kRate * kPeriod * (1.0 + 1e-9))
    {
      return false;
    }
    before = applied;
  }
  return true;
}

/// As FeedforwardTorqueController::prepare.
bool use(const char * file)
{
  auto model = robodyn_ros::read_result(file);
  auto & torque = *model.torque;
  const auto count = static_cast<Eigen::Index>(torque.joints().size());
  torque.set_velocity_window(Vector::Constant(count, 0.01));
  robodyn_ros::PayloadLimit limit(file, Vector::Constant(count, kLimit), 0.0);
  if (model.payload.size() > 0) {
    limit.check(model.payload, model.payload_frame);
    torque.set_values(torque.with_payload(model.payload, model.payload_frame));
  }
  return keeps_promise(torque, std::move(model.gears));
}

}  // namespace

int main(int count, char ** arguments)
{
  const bool possible = count > 1 && std::string(arguments[1]) == "--possible";
  for (int place = possible ? 2 : 1; place < count; ++place) {
    try {
      if (possible) {
        robodyn_ros::check_possible(arguments[place]);
      } else if (!use(arguments[place])) {
        std::printf("promise broken\n");
        return 1;
      }
      std::printf("used\n");
    } catch (const std::invalid_argument & error) {
      std::printf("%s\n", error.what());
    }
    std::fflush(stdout);  // what comes next may be the end
  }
  return 0;
}
