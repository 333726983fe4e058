// SPDX-License-Identifier: Apache-2.0
// Check a payload against the robot of a result file, for the tests: prints why it is refused.
//
//   payload_check RESULT MAX_PAYLOAD EFFORT MASS [X Y Z [IXX IXY IXZ IYY IYZ IZZ]]
//
// EFFORT [Nm or N] is that of every joint where the URDF has none. Ends with 1 when it is refused.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "robodyn_ros/payload.hpp"
#include "robodyn_ros/payload_limit.hpp"

int main(int count, char ** arguments)
{
  if (count < 5) {
    std::fprintf(stderr, "expected 4 arguments or more, got %d\n", count - 1);
    return 2;
  }
  std::vector<double> numbers;
  for (int k = 2; k < count; ++k) {
    numbers.push_back(std::atof(arguments[k]));
  }
  try {
    const auto model = robodyn_ros::read_result(arguments[1]);
    const robodyn_ros::ModelTorque & torque = *model.torque;
    const auto joints = static_cast<Eigen::Index>(torque.joints().size());
    robodyn_ros::PayloadLimit limit(
      arguments[1], robodyn_ros::Vector::Constant(joints, numbers[1]), numbers[0]);
    const auto first = numbers.begin() + 3;
    const bool centre = numbers.size() >= 6 && torque.payload_width() == 10;
    const auto second = centre ? first + 3 : first;
    const auto payload = robodyn_ros::payload_numbers(
      torque, numbers[2], {first, second}, {second, numbers.end()});
    limit.check(payload, "");
    limit.check_body(numbers[2], payload, "");
  } catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
