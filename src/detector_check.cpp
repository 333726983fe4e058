// SPDX-License-Identifier: Apache-2.0
// Run the controller's collision detector over samples from standard input, for the tests: doubles
// in and out.
//
//   detector_check RESULT WINDOW PERIOD FILTER CUTOFF HOLD DEBOUNCE SETTLE STALE FROZEN
//       RESIDUAL BANDWIDTH [THRESHOLDS] < settings and samples > states
//
// THRESHOLDS: a file of learned thresholds, which replaces settings as in the controller.
// Settings of all joints come first: max_torque_error, contact_threshold, low_velocity,
// low_velocity_torque, torque_error_enable and whether the drive adds gravity. A sample is q, qd,
// torque and commanded position of all joints, the stamp [s], a sensitivity, 1 for a reset, and the mass [kg] of a payload,
// NaN: as it is. A row of output is level, torque error and threshold of all joints, whether a
// collision is latched, the worst level and the number of the fault. Standard error tells the time
// per sample, and how often one allocated memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "robodyn_ros/payload.hpp"
#include "robodyn_ros/result_file.hpp"
#include "robodyn_ros/thresholds_file.hpp"
#include "robodyn_ros/torque_error_detector.hpp"

namespace
{

using robodyn_ros::Vector;

bool read(std::vector<double> & row)
{
  return std::fread(row.data(), sizeof(double), row.size(), stdin) == row.size();
}

robodyn_ros::CollisionSettings read_settings(
  char ** arguments, Eigen::Index count, robodyn_ros::ModelTorque & torque)
{
  std::vector<double> row(static_cast<std::size_t>(6 * count));
  if (!read(row)) {
    throw std::invalid_argument("the settings of the joints are not complete");
  }
  const Eigen::Map<const Eigen::MatrixXd> all(row.data(), count, 6);
  robodyn_ros::CollisionSettings settings;
  settings.max_torque_error = all.col(0);
  settings.contact_threshold = all.col(1);
  settings.low_velocity = all.col(2);
  settings.low_velocity_torque = all.col(3);
  std::vector<bool> excluded;
  for (Eigen::Index joint = 0; joint < count; ++joint) {
    settings.torque_error_enable.push_back(all(joint, 4) != 0.0);
    excluded.push_back(all(joint, 5) != 0.0);
  }
  torque.set_velocity_window(Vector::Constant(count, std::atof(arguments[2])));
  torque.set_gravity_excluded(excluded);
  settings.period = std::atof(arguments[3]);
  settings.torque_error_filter = std::atof(arguments[4]);
  settings.filter_cutoff = std::atof(arguments[5]);
  settings.low_velocity_hold = std::atof(arguments[6]);
  settings.debounce = std::atoi(arguments[7]);
  settings.settle_time = std::atof(arguments[8]);
  settings.stale_timeout = std::atof(arguments[9]);
  settings.frozen_timeout = std::atof(arguments[10]);
  settings.residual = arguments[11];
  settings.observer_bandwidth = std::atof(arguments[12]);
  return settings;
}

void write(const robodyn_ros::TorqueErrorDetector & detector)
{
  std::vector<double> row;
  for (const auto level : detector.level()) {
    row.push_back(static_cast<double>(level));
  }
  for (const Vector * values : {&detector.torque_error(), &detector.threshold()}) {
    row.insert(row.end(), values->data(), values->data() + values->size());
  }
  row.push_back(detector.latched() ? 1.0 : 0.0);
  row.push_back(static_cast<double>(detector.worst()));
  row.push_back(static_cast<double>(detector.fault()));
  std::fwrite(row.data(), sizeof(double), row.size(), stdout);
}

int run(char ** arguments)
{
  auto model = robodyn_ros::read_result(arguments[1]);
  robodyn_ros::ModelTorque & torque = *model.torque;
  const auto count = static_cast<Eigen::Index>(torque.joints().size());
  auto settings = read_settings(arguments, count, torque);
  std::unique_ptr<robodyn_ros::Thresholds> thresholds;
  if (arguments[13] != nullptr) {
    const auto learned = robodyn_ros::read_thresholds(
      arguments[13], {model.loaded_hash, torque.joints(), settings.period});
    settings = learned.settings(settings);
    thresholds = std::make_unique<robodyn_ros::MappedThresholds>(learned.map);
  }
  robodyn_ros::TorqueErrorDetector detector(torque, settings, std::move(thresholds));
  robodyn_ros::ReferenceRest reference(count);
  std::vector<double> row(static_cast<std::size_t>(4 * count + 4)), times;
  times.reserve(1 << 20);
  while (read(row)) {
    const Eigen::Map<const Vector> all(row.data(), 4 * count);
    const Vector q = all.head(count), qd = all.segment(count, count);
    const Vector feedback = all.segment(2 * count, count), commanded = all.tail(count);
    const double * rest = row.data() + 4 * count;
    Vector values = torque.values();
    if (!std::isnan(rest[3])) {
      values = torque.with_payload(robodyn_ros::payload_numbers(torque, rest[3], {}, {}));
    }
    timed(times, [&]() {
        detector.set_sensitivity(rest[1]);
        if (rest[2] != 0.0) {
          detector.reset();
        }
        if (!std::isnan(rest[3])) {
          detector.set_values(values);
        }
        reference.update(rest[0], commanded);
        detector.rest(reference.rests(rest[0]));
        detector.update(rest[0], q, qd, feedback);
      });
    write(detector);
  }
  report(times);
  return 0;
}

}  // namespace

int main(int count, char ** arguments)
{
  if (count != 13 && count != 14) {
    std::fprintf(stderr, "expected 12 or 13 arguments, got %d\n", count - 1);
    return 2;
  }
  return exit_code(run, arguments);
}
