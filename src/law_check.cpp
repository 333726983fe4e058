// SPDX-License-Identifier: Apache-2.0
// Run the controller's law for the tests: doubles from standard input to standard output.
//
//   law_check law RESULT DELAY SCALE PERIOD UP DOWN FADE WINDOW MAX_TORQUE RATE THRESHOLD RESIDUAL
//       EXCLUDED < cycles > torques
//
// A cycle is q, qd, qdd of the reference, measured positions and torques and positions of the motors
// of all joints, then the time [s], the time since the cycle before [s], the scale, the mass [kg] of
// a payload (NaN: as it is) and a wish: 0 none, 1 start, 2 stop, 3 reset and start. A row of output
// is the requested torque, the applied one and the position passed on of all joints, and the number
// of the fault. THRESHOLD is torque_threshold, 0: none. RESIDUAL is the share of the torque by gear
// deflection. EXCLUDED has a 1 for each joint whose drive adds gravity, else 0; empty: no drive does.
//
// Standard error tells the time per cycle, and how often one allocated memory.
//
//   law_check gears RESULT < inputs > torques
//
// A row of input is deflection of the gear, its rate and velocity of the motor of all joints. A row
// of output is the torque by gear deflection of all joints.
//
//   law_check results RESULT...
//   law_check possible RESULT...
//
// Print a line for each file: "used" and the number of joints, or why the controller refuses it. `possible` only checks whether
// a robot can have its parameters.
//
//   law_check payload RESULT MAX_PAYLOAD EFFORT MASS [X Y Z [IXX IXY IXZ IYY IYZ IZZ]]
//
// Ends with 1 and prints why the payload is refused. EFFORT [Nm or N] is that of every joint where
// the URDF has none.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "robodyn_ros/guarded_torque.hpp"
#include "robodyn_ros/payload.hpp"
#include "robodyn_ros/result_file.hpp"

namespace
{
bool counting = false;
std::size_t allocations = 0;
}  // namespace

#ifndef __SANITIZE_ADDRESS__  // which has a malloc of its own
extern "C" void * __libc_malloc(std::size_t size);
extern "C" void * malloc(std::size_t size)
{
  allocations += counting ? 1 : 0;
  return __libc_malloc(size);
}
#endif

namespace
{

using robodyn_ros::Vector;
using Words = std::vector<std::string>;

/// Times of cycles [s], of which none may allocate.
class Timer
{
public:
  Timer() {times_.reserve(1 << 20);}

  template<typename Cycle>
  void run(const Cycle & cycle)
  {
    counting = true;
    const auto begin = std::chrono::steady_clock::now();
    cycle();
    const auto end = std::chrono::steady_clock::now();
    counting = false;
    times_.push_back(std::chrono::duration<double>(end - begin).count());
  }

  void report()
  {
    std::sort(times_.begin(), times_.end());
    const auto last = static_cast<double>(times_.size()) - 1.0;
    const auto at = [&](double share) {
        return 1e6 * times_[static_cast<std::size_t>(share * last)];
      };
    if (!times_.empty()) {
      std::fprintf(
        stderr, "update p50 %.2f p99 %.2f max %.2f us, allocations %zu\n", at(0.5), at(0.99),
        at(1.0), allocations);
    }
  }

private:
  std::vector<double> times_;
};

bool read(std::vector<double> & row)
{
  return std::fread(row.data(), sizeof(double), row.size(), stdin) == row.size();
}

void write(const Vector & values)
{
  std::fwrite(values.data(), sizeof(double), static_cast<std::size_t>(values.size()), stdout);
}

double number(const std::string & word)
{
  return std::atof(word.c_str());
}

/// A model with the payload of its result.
robodyn_ros::IdentifiedModel read_model(const std::string & file)
{
  auto model = robodyn_ros::read_result(file);
  if (model.payload.size() > 0) {
    model.torque->set_values(model.torque->with_payload(model.payload, model.payload_frame));
  }
  return model;
}

void interfere(robodyn_ros::GuardedTorque & guarded, int wish)
{
  if (wish == 2) {
    guarded.law().stop();
  } else if (wish != 0) {
    if (wish == 3) {
      guarded.law().reset();
    }
    guarded.start();
  }
}

void run_cycles(robodyn_ros::ModelTorque & torque, robodyn_ros::GuardedTorque & guarded)
{
  const auto count = static_cast<Eigen::Index>(torque.joints().size());
  std::vector<double> row(static_cast<std::size_t>(6 * count + 5));
  robodyn_ros::Motion motion(count);
  Timer timer;
  guarded.start();
  while (read(row)) {
    const Eigen::Map<const Eigen::MatrixXd> given(row.data(), count, 6);
    motion.q = given.col(0);
    motion.qd = given.col(1);
    motion.qdd = given.col(2);
    const Vector measured = given.col(3), feedback = given.col(4), motor = given.col(5);
    const double * rest = row.data() + 6 * count;
    const bool loaded = !std::isnan(rest[3]);
    const Vector values = !loaded ? torque.values() :
      torque.with_payload(robodyn_ros::payload_numbers(torque, rest[3], {}, {}));
    timer.run([&]() {
        interfere(guarded, static_cast<int>(rest[4]));
        guarded.law().set_scale(rest[2]);
        if (loaded) {
          guarded.law().set_values(values);
        }
        if (guarded.law().gears() != nullptr) {
          guarded.law().gears()->read(measured, motor, rest[0]);
        }
        guarded.update(motion, measured, feedback, std::llround(1e9 * rest[0]), rest[1]);
      });
    write(guarded.law().requested());
    write(guarded.law().applied());
    write(guarded.position());
    write(Vector::Constant(1, static_cast<double>(guarded.law().fault())));
  }
  timer.report();
}

void check_law(const Words & words)
{
  auto model = read_model(words.at(0));
  const auto count = static_cast<Eigen::Index>(model.torque->joints().size());
  const auto each = [&](const std::string & word) {return Vector::Constant(count, number(word));};
  robodyn_ros::LawSettings settings;
  settings.additive_torque_delay = std::stoi(words.at(1));
  settings.scale = number(words.at(2));
  settings.period = number(words.at(3));
  settings.ramp_up_time = number(words.at(4));
  settings.ramp_down_time = number(words.at(5));
  settings.friction_fade_time = number(words.at(6));
  model.torque->set_velocity_window(each(words.at(7)));
  settings.max_torque = each(words.at(8));
  settings.max_torque_rate = each(words.at(9));
  robodyn_ros::WatchSettings watch;
  if (number(words.at(10)) != 0.0) {
    watch.torque_threshold = each(words.at(10));
  }
  if (const std::string & excluded = words.at(12); !excluded.empty()) {
    std::vector<bool> joints;
    for (const char one : excluded) {
      joints.push_back(one == '1');
    }
    model.torque->set_gravity_excluded(joints);
  }
  std::unique_ptr<robodyn_ros::MeasuredGearTorque> gears;
  if (const double share = number(words.at(11)); model.gears && share != 0.0) {
    gears = std::make_unique<robodyn_ros::MeasuredGearTorque>(
      std::move(*model.gears), share, settings.period, settings.ramp_down_time);
  }
  robodyn_ros::GuardedTorque guarded(*model.torque, settings, watch, std::move(gears));
  run_cycles(*model.torque, guarded);
}

void check_gears(const Words & words)
{
  const auto model = robodyn_ros::read_result(words.at(0));
  if (!model.gears) {
    throw std::invalid_argument(words.at(0) + " has no residual torque");
  }
  const Eigen::Index count = model.gears->limit.size();
  std::vector<double> row(static_cast<std::size_t>(3 * count));
  Vector result(count);
  while (read(row)) {
    const Eigen::Map<const Eigen::MatrixXd> given(row.data(), count, 3);
    for (Eigen::Index joint = 0; joint < count; ++joint) {
      result[joint] =
        model.gears->torque(joint, given(joint, 0), given(joint, 1), given(joint, 2));
    }
    write(result);
  }
}

/// As FeedforwardTorqueController::prepare; returns the number of joints.
long use_result(const std::string & file, bool possible)
{
  const auto model = read_model(file);
  const auto count = static_cast<Eigen::Index>(model.torque->joints().size());
  if (possible) {
    robodyn_ros::check_possible(file);
    return count;
  }
  robodyn_ros::PayloadLimit limit(file, Vector::Constant(count, 20.0), 0.0);
  if (model.payload.size() > 0) {
    limit.check(model.payload, model.payload_frame);
  }
  return count;
}

void check_results(const Words & files, bool possible)
{
  for (const auto & file : files) {
    try {
      std::printf("used %ld\n", use_result(file, possible));
    } catch (const std::invalid_argument & error) {
      std::printf("%s\n", error.what());
    }
    std::fflush(stdout);  // what comes next may be the end
  }
}

void check_payload(const Words & words)
{
  const auto model = robodyn_ros::read_result(words.at(0));
  const robodyn_ros::ModelTorque & torque = *model.torque;
  const auto joints = static_cast<Eigen::Index>(torque.joints().size());
  robodyn_ros::PayloadLimit limit(
    words[0], Vector::Constant(joints, number(words.at(2))), number(words.at(1)));
  std::vector<double> centre, inertia;
  for (std::size_t place = 4; place < words.size(); ++place) {
    const bool first = place < 7 && torque.payload_width() == 10;
    (first ? centre : inertia).push_back(number(words[place]));
  }
  const double mass = number(words.at(3));
  const Vector payload = robodyn_ros::payload_numbers(torque, mass, centre, inertia);
  limit.check(payload, "");
  limit.check_body(mass, payload, "");
}

}  // namespace

int main(int count, char ** arguments)
{
  const std::string mode = count > 1 ? arguments[1] : "";
  const Words words(arguments + std::min(count, 2), arguments + count);
  try {
    if (mode == "law") {
      check_law(words);
    } else if (mode == "gears") {
      check_gears(words);
    } else if (mode == "payload") {
      check_payload(words);
    } else {
      check_results(words, mode == "possible");
    }
  } catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
