// SPDX-License-Identifier: Apache-2.0
// Run the controller's law over references from standard input, for the tests: doubles in and out.
//
//   law_check RESULT DELAY SCALE PERIOD UP DOWN FADE WINDOW MAX_TORQUE RATE [EXCLUDED [RESIDUAL]]
//       < cycles > torques
//
// A cycle is q, qd, qdd of the reference and the measured positions of all joints, the time [s], the
// time since the cycle before [s], the scale, and the mass [kg] of a payload, NaN: as it is. A row of
// output is the requested torque, the applied one and the position passed on of all joints, and the
// number of the fault. Standard error tells the time per cycle, and how often one allocated memory.
// EXCLUDED has a 1 for each joint whose drive adds gravity, else 0; empty: no drive does. With
// RESIDUAL, the share of the torque by gear deflection, positions of the motors end each cycle.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "robodyn_ros/guarded_torque.hpp"
#include "robodyn_ros/payload.hpp"
#include "robodyn_ros/result_file.hpp"

namespace
{

using robodyn_ros::Vector;

int run(char ** arguments)
{
  auto model = robodyn_ros::read_result(arguments[1]);
  const auto count = static_cast<Eigen::Index>(model.torque->joints().size());
  robodyn_ros::LawSettings settings;
  settings.additive_torque_delay = std::atoi(arguments[2]);
  settings.scale = std::atof(arguments[3]);
  settings.period = std::atof(arguments[4]);
  settings.ramp_up_time = std::atof(arguments[5]);
  settings.ramp_down_time = std::atof(arguments[6]);
  settings.friction_fade_time = std::atof(arguments[7]);
  model.torque->set_velocity_window(Vector::Constant(count, std::atof(arguments[8])));
  settings.max_torque = Vector::Constant(count, std::atof(arguments[9]));
  settings.max_torque_rate = Vector::Constant(count, std::atof(arguments[10]));
  if (arguments[11] != nullptr && *arguments[11] != '\0') {
    const std::string excluded = arguments[11];
    std::vector<bool> joints(excluded.size());
    std::transform(
      excluded.begin(), excluded.end(), joints.begin(), [](char one) {return one == '1';});
    model.torque->set_gravity_excluded(joints);
  }
  if (model.payload.size() > 0) {
    model.torque->set_values(model.torque->with_payload(model.payload, model.payload_frame));
  }
  const bool deflected = arguments[11] != nullptr && arguments[12] != nullptr;
  std::unique_ptr<robodyn_ros::MeasuredGearTorque> gears;
  if (deflected && model.gears) {
    gears = std::make_unique<robodyn_ros::MeasuredGearTorque>(
      std::move(*model.gears), std::atof(arguments[12]), settings.period,
      settings.ramp_down_time);
  }
  robodyn_ros::GuardedTorque guarded(*model.torque, settings, {}, std::move(gears));
  guarded.start();
  robodyn_ros::Motion motion(count);
  std::vector<double> row(static_cast<std::size_t>((deflected ? 5 : 4) * count + 4)), times;
  times.reserve(1 << 20);
  while (std::fread(row.data(), sizeof(double), row.size(), stdin) == row.size()) {
    const Eigen::Map<const Vector> all(row.data(), 4 * count);
    motion.q = all.head(count);
    motion.qd = all.segment(count, count);
    motion.qdd = all.segment(2 * count, count);
    const Vector measured = all.tail(count);
    const double * rest = row.data() + 4 * count;
    const Vector motor = Eigen::Map<const Vector>(rest + 4, deflected ? count : 0);
    Vector values = model.torque->values();
    if (!std::isnan(rest[3])) {
      values = model.torque->with_payload(
        robodyn_ros::payload_numbers(*model.torque, rest[3], {}, {}));
    }
    const Vector * applied = nullptr;
    timed(times, [&]() {
        guarded.law().set_scale(rest[2]);
        if (!std::isnan(rest[3])) {
          guarded.law().set_values(values);
        }
        if (guarded.law().gears() != nullptr) {
          guarded.law().gears()->read(measured, motor, rest[0]);
        }
        applied = &guarded.update(motion, measured, std::llround(1e9 * rest[0]), rest[1]);
      });
    for (const Vector * values : {&guarded.law().requested(), applied, &guarded.position()}) {
      std::fwrite(values->data(), sizeof(double), static_cast<std::size_t>(count), stdout);
    }
    const auto fault = static_cast<double>(guarded.law().fault());
    std::fwrite(&fault, sizeof fault, 1, stdout);
  }
  report(times);
  return 0;
}

}  // namespace

int main(int count, char ** arguments)
{
  if (count < 11 || count > 13) {
    std::fprintf(stderr, "expected 10 to 12 arguments, got %d\n", count - 1);
    return 2;
  }
  return exit_code(run, arguments);
}
