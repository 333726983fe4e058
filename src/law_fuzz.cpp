// SPDX-License-Identifier: Apache-2.0
// Throw nonsense at the controller's law, for the tests: whatever comes in, what leaves is finite,
// within the limit, and at most the rate times the period away from what left before.
//
//   law_fuzz RESULT CYCLES SEED
//
// Prints what happened on the way; ends with 1 at the first torque that breaks the promise.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "robodyn_ros/guarded_torque.hpp"
#include "robodyn_ros/result_file.hpp"

namespace
{

using robodyn_ros::Fault;
using robodyn_ros::Motion;
using robodyn_ros::Vector;

/// Values that a reference or a measurement may have by mistake.
class Nonsense
{
public:
  explicit Nonsense(unsigned seed)
  : random_(seed) {}

  bool chance(double probability) {return uniform_(random_) < probability;}

  double number(double size) {return size * (2.0 * uniform_(random_) - 1.0);}

  /// Any double there is: also infinite, denormal or not a number.
  double anything()
  {
    static const double odd[]{
      std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::max(),
      std::numeric_limits<double>::denorm_min(), -0.0, 1e154, -1e200};
    const auto pick = static_cast<std::size_t>(uniform_(random_) * 12.0);
    return pick < 8 ? odd[pick] : std::ldexp(number(1.0), static_cast<int>(number(1000.0)));
  }

private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0.0, 1.0};
};

struct Course
{
  Motion reference;
  Vector measured;
  long long time = 0;
  double elapsed = 0.002;
  int frozen = 0;  // cycles for which nothing new comes
  int stuck = 0;   // for which no new measurement does
};

/// The next cycle: a walk that is interrupted by everything that may go wrong.
void advance(Course & now, Nonsense & any)
{
  now.elapsed = any.chance(1e-3) ? std::abs(any.number(any.chance(0.5) ? 0.1 : 3.0)) : 0.002;
  now.time += any.chance(1e-4) ? -2000000 : any.chance(1e-4) ? 500000000 :
    static_cast<long long>(1e9 * now.elapsed);
  if (now.frozen > 0) {
    --now.frozen;
    return;
  }
  const bool wild = any.chance(0.1);
  for (Eigen::Index joint = 0; joint < now.measured.size(); ++joint) {
    auto & [q, qd, qdd] = now.reference;
    if (!(std::abs(q[joint]) < 10.0)) {
      q[joint] = 0.0;
    }
    qdd[joint] = any.number(wild ? 1e6 : 20.0);
    qd[joint] = any.chance(0.2) ? 0.0 : any.number(wild ? 1e4 : 3.0);
    q[joint] += any.number(wild ? 3.0 : 0.01);
    now.measured[joint] = now.stuck > 0 ? now.measured[joint] : q[joint] + any.number(0.01);
  }
  now.stuck = any.chance(1e-3) ? 80 : now.stuck - (now.stuck > 0);
  const auto joint = static_cast<Eigen::Index>(std::abs(any.number(
    static_cast<double>(now.measured.size()) - 1e-9)));
  for (Vector * values : {&now.reference.q, &now.reference.qd, &now.reference.qdd, &now.measured}) {
    if (any.chance(3e-4)) {
      (*values)[joint] = any.anything();
    }
  }
  if (any.chance(3e-3)) {
    now.frozen = static_cast<int>(std::abs(any.number(80.0)));
    if (any.chance(0.1)) {
      now.measured[0] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  if (any.chance(5e-3)) {
    for (Vector * values : {&now.reference.q, &now.reference.qd, &now.reference.qdd}) {
      values->setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  }
}

/// What people and other programs do meanwhile.
void interfere(
  robodyn_ros::GuardedTorque & guarded, robodyn_ros::ModelTorque & torque, Nonsense & any)
{
  if (any.chance(2e-3)) {
    any.chance(0.5) ? guarded.law().stop() : void(guarded.start());
  }
  if (guarded.law().fault() != Fault::kNone && any.chance(0.02)) {
    guarded.law().reset();
    guarded.start();
  }
  if (any.chance(1e-3)) {
    guarded.law().set_scale(any.chance(0.5) ? any.anything() : std::abs(any.number(1.0)));
  }
  if (any.chance(1e-3)) {
    const Vector values = torque.values() * any.number(2.0);
    const bool usable = values.cwiseAbs().maxCoeff() < 1e6;
    guarded.law().set_values(usable ? values : Vector::Ones(values.size()));
  }
}

/// Measured positions of motors at gears of `ratio` that deflect, wrong ones among them. Returns
/// whether the last cycle had torque by deflection; without a law for it nothing is measured.
bool deflect(
  robodyn_ros::GuardedTorque & guarded, const Vector & ratio, const Course & now, Nonsense & any,
  Vector & motor)
{
  robodyn_ros::MeasuredGearTorque * gears = guarded.law().gears();
  if (gears == nullptr || any.chance(0.01)) {
    return false;
  }
  for (Eigen::Index joint = 0; joint < motor.size(); ++joint) {
    motor[joint] = any.chance(1e-4) ? any.anything() :
      ratio[joint] * (now.measured[joint] + any.number(0.02));
  }
  gears->read(now.measured, motor, 1e-9 * static_cast<double>(now.time));
  return !gears->applied().isZero(0.0);
}

int run(const char * file, long cycles, unsigned seed)
{
  auto model = robodyn_ros::read_result(file);
  auto & torque = *model.torque;
  const auto count = static_cast<Eigen::Index>(torque.joints().size());
  robodyn_ros::LawSettings settings;
  settings.max_torque = Vector::LinSpaced(count, 5.0, 50.0);
  settings.max_torque_rate = 15.0 * settings.max_torque;
  torque.set_velocity_window(Vector::Constant(count, 0.01));
  Vector ratio, motor = Vector::Zero(count);
  std::unique_ptr<robodyn_ros::MeasuredGearTorque> gears;
  if (model.gears) {
    ratio = model.gears->gear_ratio;
    gears = std::make_unique<robodyn_ros::MeasuredGearTorque>(
      std::move(*model.gears), 1.0, settings.period, settings.ramp_down_time);
  }
  robodyn_ros::GuardedTorque guarded(torque, settings, {}, std::move(gears));
  guarded.start();
  Nonsense any(seed);
  Course now{Motion(count), Vector::Zero(count)};
  Vector before = Vector::Zero(count);
  const Vector step = settings.max_torque_rate * settings.period * (1.0 + 1e-9);
  long faults[10]{}, at_limit = 0, starts = 0, deflected = 0;
  for (long cycle = 0; cycle < cycles; ++cycle) {
    const auto fault = guarded.law().fault();
    const bool enabled = guarded.law().enabled();
    interfere(guarded, torque, any);
    starts += guarded.law().enabled() && !enabled;
    advance(now, any);
    deflected += deflect(guarded, ratio, now, any, motor);
    const Vector & applied = guarded.update(now.reference, now.measured, now.time, now.elapsed);
    const auto size = applied.cwiseAbs().eval();
    const bool paused = now.elapsed > 0.02;  // then the rate counts for all of that time
    const double longer = paused ? 1.0 + now.elapsed / settings.period : 1.0;
    const bool kept = applied.allFinite() && guarded.position().allFinite() &&
      (size.array() <= settings.max_torque.array()).all() &&
      ((applied - before).cwiseAbs().array() <= longer * step.array()).all();
    if (!kept) {
      std::printf("seed %u: promise broken in cycle %ld\n", seed, cycle);
      return 1;
    }
    at_limit += (size.array() == settings.max_torque.array()).any();
    faults[static_cast<int>(guarded.law().fault())] += guarded.law().fault() != fault;
    before = applied;
  }
  std::printf(
    "seed %u cycles %ld refused %llu missed %llu paused %llu starts %ld at_limit %ld "
    "deflected %ld", seed, cycles,
    static_cast<unsigned long long>(guarded.refused()),
    static_cast<unsigned long long>(guarded.missed()),
    static_cast<unsigned long long>(guarded.paused()), starts, at_limit, deflected);
  for (int fault = 1; fault < 10; ++fault) {
    std::printf(" fault%d %ld", fault, faults[fault]);
  }
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int count, char ** arguments)
{
  if (count != 4) {
    std::fprintf(stderr, "expected 3 arguments, got %d\n", count - 1);
    return 2;
  }
  try {
    return run(
      arguments[1], std::atol(arguments[2]), static_cast<unsigned>(std::atol(arguments[3])));
  } catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
