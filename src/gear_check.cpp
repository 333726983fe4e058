// SPDX-License-Identifier: Apache-2.0
// Run the controller's torque by gear deflection over steps from standard input, for the tests:
// doubles in and out.
//
//   gear_check RESULT PERIOD SCALE FADE TIMEOUT < steps > torques
//
// A step is a number for what to do, a time stamp [s], and three numbers of all joints, of which
// some are not used. 0: read positions of joints and motors; 1: advance by a cycle; 2: forget the
// measurements; 3: torque of the law at deflection, its rate and velocity. A row of output is the
// torque of all joints after the step. Standard error tells the time per step, and how often one
// allocated memory.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "robodyn_ros/result_file.hpp"

namespace
{

using robodyn_ros::Vector;

void run_step(
  robodyn_ros::MeasuredGearTorque & gears, const robodyn_ros::GearTorqueLaw & law, int kind,
  double stamp, const Eigen::MatrixXd & given, const Vector & position, const Vector & motor,
  Vector & result)
{
  switch (kind) {
    case 0: gears.read(position, motor, stamp); break;
    case 1: (void)gears.torque(); break;
    case 2: gears.clear(); break;
    default:
      for (Eigen::Index joint = 0; joint < result.size(); ++joint) {
        result[joint] = law.torque(joint, given(joint, 0), given(joint, 1), given(joint, 2));
      }
      return;
  }
  result = gears.applied();
}

robodyn_ros::GearTorqueLaw read_law(const char * path)
{
  const auto model = robodyn_ros::read_result(path);
  if (!model.gears) {
    throw std::invalid_argument(std::string(path) + " has no residual torque");
  }
  return std::move(*model.gears);
}

int run(char ** arguments)
{
  const robodyn_ros::GearTorqueLaw law = read_law(arguments[1]);
  robodyn_ros::MeasuredGearTorque gears(
    read_law(arguments[1]), std::atof(arguments[3]), std::atof(arguments[2]),
    std::atof(arguments[4]), std::atof(arguments[5]));
  const Eigen::Index count = law.limit.size();
  std::vector<double> row(static_cast<std::size_t>(3 * count + 2)), times;
  times.reserve(1 << 20);
  Vector result = Vector::Zero(count);
  while (std::fread(row.data(), sizeof(double), row.size(), stdin) == row.size()) {
    const Eigen::MatrixXd given = Eigen::Map<const Eigen::MatrixXd>(row.data() + 2, count, 3);
    const Vector position = given.col(0), motor = given.col(1);
    timed(times, [&]() {
        run_step(
          gears, law, static_cast<int>(row[0]), row[1], given, position, motor, result);
      });
    std::fwrite(result.data(), sizeof(double), static_cast<std::size_t>(count), stdout);
  }
  report(times);
  return 0;
}

}  // namespace

int main(int count, char ** arguments)
{
  if (count != 6) {
    std::fprintf(stderr, "expected 5 arguments, got %d\n", count - 1);
    return 2;
  }
  return exit_code(run, arguments);
}
