// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/thresholds_file.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <yaml-cpp/yaml.h>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/yaml_number.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

using Names = std::vector<std::string>;

constexpr const char * kFormat = "robodyn collision thresholds 1";
constexpr const char * kChange = "change_at_rest";
/// Largest ratio of the period in the file to that of the controller: as of recordings in Python.
constexpr double kPeriodRatio = 1.1;
constexpr double kLongestDelay = 0.2;  // [s], as in Python

/// Refuse what is no mapping, or has a key twice: readers of YAML differ in which one they take.
YAML::Node checked_mapping(const YAML::Node & node, const std::string & name)
{
  if (!node.IsMap()) {
    throw error(name + " is no mapping");
  }
  std::set<std::string> keys;
  for (const auto & item : node) {
    if (!item.first.IsScalar() || !keys.insert(item.first.Scalar()).second) {
      throw error("a key of " + name + " is no text, or is there twice");
    }
  }
  return node;
}

YAML::Node part(const YAML::Node & map, const std::string & key)
{
  const YAML::Node node = map[key];
  if (!node) {
    throw error("it has no \"" + key + "\"");
  }
  return node;
}

std::string text_of(const YAML::Node & map, const std::string & key)
{
  const YAML::Node node = part(map, key);
  if (!node.IsScalar()) {
    throw error(key + " must be a text");
  }
  return node.Scalar();
}

double number_of(const YAML::Node & map, const std::string & key)
{
  return yaml_number(part(map, key), key);
}

std::vector<double> numbers_of(const YAML::Node & map, const std::string & key)
{
  const YAML::Node node = part(map, key);
  if (!node.IsSequence()) {
    throw error(key + " must be a list of numbers");
  }
  std::vector<double> result;
  for (const auto & item : node) {
    result.push_back(yaml_number(item, key));
  }
  return result;
}

/// A number of the detector, all of which are above 0.
double positive_of(const YAML::Node & map, const std::string & key)
{
  const double value = number_of(map, key);
  if (!(std::isfinite(value) && value > 0.0)) {
    throw error(key + " must be a finite number above 0, got " + std::to_string(value));
  }
  return value;
}

int debounce_of(const YAML::Node & map)
{
  const double value = positive_of(map, "debounce");
  if (map["debounce"].Scalar().find('.') != std::string::npos || value > kMostDebounce) {
    throw error(
      "debounce must be a whole number from 1 to " + std::to_string(kMostDebounce) + ", got " +
      quoted_text(map["debounce"].Scalar()));
  }
  return static_cast<int>(value);
}

void read_detector(const YAML::Node & map, LearnedThresholds & result)
{
  result.residual = text_of(map, "residual");
  if (result.residual != "filtered" && result.residual != "observer") {
    throw error("residual must be filtered or observer, got " + quoted_text(result.residual));
  }
  result.period = positive_of(map, "period");
  result.filter_cutoff = positive_of(map, "filter_cutoff");
  result.observer_bandwidth = positive_of(map, "observer_bandwidth");
  result.debounce = debounce_of(map);
  result.torque_error_filter = positive_of(map, "torque_error_filter");
  if (result.torque_error_filter > 1.0) {
    throw error(
      "torque_error_filter must be at most 1, got " + std::to_string(result.torque_error_filter));
  }
  // As in Python, also of the residual that is not chosen.
  const double counted = (result.debounce - 1) * result.period, turn = 2.0 * std::acos(-1.0);
  const double filtered = std::sqrt(2.0) / (turn * result.filter_cutoff) +
    result.period / result.torque_error_filter - result.period;
  if (!(counted + std::max(filtered, 1.0 / (turn * result.observer_bandwidth)) <= kLongestDelay)) {
    throw error("filters and debounce delay collisions by more than 0.2 s");
  }
}

ThresholdRow row_of(const YAML::Node & map)
{
  ThresholdRow row;
  row.still = number_of(map, "standstill");
  row.speed = numbers_of(map, "speed");
  row.acceleration = numbers_of(map, "acceleration");
  row.reversal = numbers_of(map, "reversal");
  row.fastest = number_of(map, "fastest");
  row.hardest = number_of(map, "hardest");
  row.collision = numbers_of(map, "collision");
  if (map[kChange]) {
    row.change = positive_of(map, kChange);
  }
  return row;
}

std::string listed(const Names & names)
{
  std::string result;
  for (const auto & name : names) {
    result += (result.empty() ? "" : ", ") + name;
  }
  return "[" + quoted_text(result) + "]";
}

void check_owner(
  const std::string & hash, const Names & joints, double period, const ThresholdsOwner & owner)
{
  if (joints != owner.joints) {
    throw error(
      "the thresholds are those of the joints " + listed(joints) + ", the model has " +
      listed(owner.joints));
  }
  if (hash != owner.model_hash) {
    throw error(
      "the thresholds were learned with another model or payload (hash " + quoted_text(hash, 12) +
      ", this result has " + quoted_text(owner.model_hash, 12) +
      "): learn them again with `robodyn thresholds`, from recordings with its payload");
  }
  if (!(period < kPeriodRatio * owner.period && owner.period < kPeriodRatio * period)) {
    throw error(
      "the thresholds were learned with a period of " + std::to_string(period) +
      " s, this controller is updated every " + std::to_string(owner.period) +
      " s: learn them from recordings of that rate");
  }
}

LearnedThresholds read(const YAML::Node & given, const ThresholdsOwner & owner)
{
  const YAML::Node content = checked_mapping(given, "it");
  if (text_of(content, "format") != kFormat) {
    throw error(
      std::string("it is no thresholds file: expected format '") + kFormat +
      "', as `robodyn thresholds` writes it");
  }
  LearnedThresholds result;
  Names names;
  for (const auto & joint : checked_mapping(part(content, "joints"), "joints")) {
    names.push_back(joint.first.Scalar());
    result.map.rows.push_back(row_of(checked_mapping(joint.second, "a joint")));
  }
  result.map.rest = number_of(content, "rest_after");
  result.map.contact = number_of(content, "contact_share");
  result.map.check();
  read_detector(checked_mapping(part(content, "detector"), "detector"), result);
  for (const char * fact : {"healthy_hours", "false_alarms_per_hour_at_most"}) {
    (void)number_of(content, fact);
  }
  check_owner(text_of(content, "model_hash"), names, result.period, owner);
  return result;
}

}  // namespace

CollisionSettings LearnedThresholds::settings(CollisionSettings given) const
{
  given.max_torque_error = Vector::Ones(static_cast<Eigen::Index>(map.rows.size()));
  given.contact_threshold = 0.7 * given.max_torque_error;
  given.residual = residual;
  given.period = period;
  given.filter_cutoff = filter_cutoff;
  given.torque_error_filter = torque_error_filter;
  given.observer_bandwidth = observer_bandwidth;
  given.debounce = debounce;
  return given;
}

LearnedThresholds read_thresholds(const std::string & path, const ThresholdsOwner & owner)
{
  try {
    return read(parse_yaml(read_text(path)), owner);
  } catch (const std::exception & reason) {  // also of memory or of an index
    throw error(
      "the thresholds file " + path + " cannot be used: " + quoted_text(reason.what(), 400));
  }
}

}  // namespace robodyn_ros
