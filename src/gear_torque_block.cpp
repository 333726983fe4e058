// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/result_blocks.hpp"

#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

/// As GEAR_NUMBERS in robodyn_ros/bounds.py, where the reason is.
constexpr std::size_t kMostNumbers = 2000;
const Names kInputs{"deflection", "deflection_rate", "motor_velocity"};

/// Finite numbers of a key.
Numbers numbers_of(const YAML::Node & block, const std::string & key, std::size_t count)
{
  const auto wrong = error(key + " must be " + std::to_string(count) + " finite numbers");
  Numbers result;
  try {
    result = get<Numbers>(block, key);
  } catch (const YAML::Exception &) {
    throw wrong;
  }
  if (result.size() != count || !vector_of(result).allFinite()) {
    throw wrong;
  }
  return result;
}

double cutoff_of(const YAML::Node & block)
{
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const double result = get<YAML::Node>(block, "cutoff").as<double>(kNone);
  if (!std::isfinite(result)) {
    throw error("cutoff must be a finite number");
  }
  return result;
}

/// All numbers of the arrays; their count is checked before they are read.
Numbers array_numbers(const YAML::Node & block, std::size_t joints)
{
  const std::size_t count = get<YAML::Node>(block, "numbers").size();
  if (count > kMostNumbers * joints) {
    throw error(
      std::to_string(count) + " numbers, at most " + std::to_string(kMostNumbers) +
      " per joint are possible");
  }
  return numbers_of(block, "numbers", count);
}

/// Sizes as Python's json.dumps writes them: "[7, 5, 9]".
std::vector<Eigen::Index> sizes_of(const std::string & text, const std::string & name)
{
  std::vector<Eigen::Index> result;
  std::istringstream stream(text);
  std::string again;
  char mark = 0;
  stream >> mark;
  for (Eigen::Index size = 0; stream >> size >> mark; ) {
    result.push_back(size);
    again += (again.empty() ? "" : ", ") + std::to_string(size);
  }
  bool usable = result.size() >= 1 && result.size() <= 4 && "[" + again + "]" == text;
  for (const Eigen::Index size : result) {
    usable = usable && size >= 1;
  }
  if (!usable) {
    throw error("shape " + quoted_text(text) + " of " + quoted_text(name));
  }
  return result;
}

/// Cut the numbers into arrays of these names and shapes.
std::vector<GearArray> arrays_of(
  const Names & names, const Names & shapes, const Numbers & numbers, std::size_t joints)
{
  if (names.size() != shapes.size()) {
    throw error("array_names and array_shapes must have the same length");
  }
  std::vector<GearArray> result;
  std::size_t first = 0;
  for (std::size_t place = 0; place < names.size(); ++place) {
    GearArray one{names[place], sizes_of(shapes[place], names[place]), {}};
    std::size_t count = joints;
    for (const Eigen::Index size : one.sizes) {
      const auto times = static_cast<std::size_t>(size);
      if (times > (numbers.size() - first) / count) {
        throw error(std::to_string(numbers.size()) + " numbers where the shapes need more");
      }
      count *= times;
    }
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
    one.numbers.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    first += count;
    result.push_back(std::move(one));
  }
  if (first != numbers.size()) {
    throw error(
      std::to_string(numbers.size()) + " numbers where the shapes need " + std::to_string(first));
  }
  return result;
}

/// Numbers of joint after joint, a column for each.
Eigen::MatrixXd columns(const Numbers & numbers, std::size_t joints)
{
  const auto count = static_cast<Eigen::Index>(joints);
  return Eigen::Map<const Eigen::MatrixXd>(
    numbers.data(), static_cast<Eigen::Index>(numbers.size()) / count, count);
}

/// Names and kind, which determine what the numbers mean; returns the number of inputs.
std::size_t check_words(const YAML::Node & block, const std::string & kind, const Names & joints)
{
  const auto inputs = get<Names>(block, "inputs");
  if (kind != "rbf" && kind != "gmr") {
    throw error("kind \"" + quoted_text(kind) + "\" is not one of rbf, gmr");
  }
  if (inputs != kInputs && inputs != Names(kInputs.begin(), kInputs.end() - 1)) {
    throw error("its inputs are not the first two or three of deflection, deflection_rate and "
            "motor_velocity");
  }
  if (get<Names>(block, "joints") != joints) {
    throw error("its joints are not those of the model");
  }
  return inputs.size();
}

void check_numbers(const GearTorqueLaw & law)
{
  if (!(law.high.array() > law.low.array()).all() || (law.limit.array() < 0.0).any()) {
    throw error("low must be below high, and a limit must not be negative");
  }
  if ((law.gear_ratio.array() == 0.0).any()) {
    throw error("a gear_ratio must not be 0");
  }
  if (law.cutoff < 0.0) {
    throw error("cutoff must not be negative");
  }
}

void check_torque(const GearTorqueLaw & law)
{
  for (Eigen::Index joint = 0; joint < law.limit.size(); ++joint) {
    if (!std::isfinite(law.map->torque(static_cast<std::size_t>(joint), Features::Zero()))) {
      throw error("it gives no finite torque");
    }
  }
}

}  // namespace

GearTorqueLaw read_gear_torque(
  const YAML::Node & block, const Names & joints, const std::string & model_hash)
{
  if (!block.IsMap()) {
    throw error("expected a mapping");
  }
  const auto kind = get<std::string>(block, "kind");
  const std::size_t count = joints.size(), inputs = check_words(block, kind, joints);
  const Numbers limit = numbers_of(block, "limit", count);
  const Numbers ratio = numbers_of(block, "gear_ratio", count);
  const Numbers low = numbers_of(block, "low", count * inputs);
  const Numbers high = numbers_of(block, "high", count * inputs);
  GearTorqueLaw law;
  law.low = columns(low, count);
  law.high = columns(high, count);
  law.limit = vector_of(limit);
  law.gear_ratio = vector_of(ratio);
  law.cutoff = cutoff_of(block);
  check_numbers(law);
  const Numbers numbers = array_numbers(block, count);
  const auto names = get<Names>(block, "array_names"), shapes = get<Names>(block, "array_shapes");
  law.map = gear_map(kind, arrays_of(names, shapes, numbers, count), count, inputs);
  check_torque(law);
  const std::string hash = gear_hash(
    kind, law.cutoff, {joints, get<Names>(block, "inputs"), names},
    {limit, ratio, low, high, numbers}, shapes, model_hash);
  if (get<std::string>(block, "hash") != hash) {
    throw error("its hash does not fit: it was changed, or belongs to another model");
  }
  return law;
}

}  // namespace robodyn_ros
