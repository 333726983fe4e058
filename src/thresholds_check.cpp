// SPDX-License-Identifier: Apache-2.0
// Read thresholds files as the controller does, for the tests: damaged and hostile ones end in a
// sentence.
//
//   thresholds_check RESULT PERIOD FILE...
//
// RESULT: the result file whose thresholds they have to be. Prints a line for each: "used", or why
// not. Ends with 1 at the first threshold of a motion that is not above 0.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "allocations.hpp"
#include "robodyn_ros/result_file.hpp"
#include "robodyn_ros/thresholds_file.hpp"

namespace
{

using robodyn_ros::Vector;

constexpr int kCycles = 200;

/// Use thresholds over a motion with reversals and rest; false where one is not above 0.
bool holds(const robodyn_ros::LearnedThresholds & learned)
{
  robodyn_ros::MappedThresholds thresholds(learned.map);
  const auto count = static_cast<Eigen::Index>(learned.map.rows.size());
  thresholds.restart(0.0);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const double angle = 0.1 * cycle, size = cycle < kCycles / 2 ? 10.0 : 0.0;
    thresholds.update(
      learned.period * cycle, Vector::Constant(count, size * std::sin(angle)),
      Vector::Constant(count, 10.0 * size * std::cos(angle)));
    if (!(thresholds.collision().minCoeff() > 0.0)) {
      return false;
    }
  }
  return true;
}

int run(char ** arguments)
{
  const auto model = robodyn_ros::read_result(arguments[1]);
  const robodyn_ros::ThresholdsOwner owner{
    model.loaded_hash, model.torque->joints(), std::atof(arguments[2])};
  for (char ** file = arguments + 3; *file != nullptr; ++file) {
    try {
      if (!holds(robodyn_ros::read_thresholds(*file, owner))) {
        std::printf("a threshold is not above 0\n");
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

}  // namespace

int main(int count, char ** arguments)
{
  if (count < 3) {
    std::fprintf(stderr, "expected RESULT PERIOD FILE...\n");
    return 2;
  }
  return exit_code(run, arguments);
}
