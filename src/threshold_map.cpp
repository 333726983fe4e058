// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/threshold_map.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace robodyn_ros
{
namespace
{

/// Largest factor of a threshold beyond the learned motion.
constexpr double kMost = 10.0;

using Edges = std::vector<double>;

bool positive(double value) {return std::isfinite(value) && value > 0.0;}

/// Number of the band that a value is in.
std::size_t band(const Edges & edges, double value)
{
  return static_cast<std::size_t>(
    std::upper_bound(edges.begin(), edges.end(), value) - edges.begin());
}

void check_edges(const char * name, const Edges & edges)
{
  const bool finite = std::all_of(
    edges.begin(), edges.end(), [](double edge) {return std::isfinite(edge);});
  if (!finite || !std::is_sorted(edges.begin(), edges.end())) {
    throw std::invalid_argument(
      std::string("the edges of ") + name + " must be finite and in ascending order");
  }
}

Vector passing(const ThresholdMap & map)
{
  Vector result(static_cast<Eigen::Index>(map.rows.size()));
  for (std::size_t joint = 0; joint < map.rows.size(); ++joint) {
    const Edges & collision = map.rows[joint].collision;
    result[static_cast<Eigen::Index>(joint)] = collision[collision.size() - 2];
  }
  return result;
}

}  // namespace

std::size_t ThresholdRow::cells() const
{
  return (speed.size() + 1) * (acceleration.size() + 1) * (reversal.size() + 1) + 2;
}

void ThresholdRow::check() const
{
  if (collision.size() != cells()) {
    throw std::invalid_argument(
      "expected " + std::to_string(cells()) + " thresholds for each joint, got " +
      std::to_string(collision.size()));
  }
  if (!std::all_of(collision.begin(), collision.end(), positive)) {
    throw std::invalid_argument("thresholds must be finite and above 0");
  }
  const std::pair<const char *, double> numbers[]{
    {"fastest", fastest}, {"hardest", hardest}, {"standstill", still}};
  for (const auto & [name, value] : numbers) {
    if (!positive(value)) {
      throw std::invalid_argument(
        std::string(name) + " must be finite and above 0, got " + std::to_string(value));
    }
  }
  check_edges("speed", speed);
  check_edges("acceleration", acceleration);
  check_edges("reversal", reversal);
}

void ThresholdMap::check() const
{
  if (rows.empty()) {
    throw std::invalid_argument("it has no joints");
  }
  const ThresholdRow & first = rows.front();
  for (const ThresholdRow & row : rows) {
    row.check();
    if (row.speed.size() != first.speed.size() ||
      row.acceleration.size() != first.acceleration.size() ||
      row.reversal.size() != first.reversal.size())
    {
      throw std::invalid_argument("all joints need the same numbers of edges");
    }
    if (!(row.change > 0.0) || std::isfinite(row.change) != std::isfinite(first.change)) {
      throw std::invalid_argument("all joints need a change_at_rest above 0, or none");
    }
  }
  if (!(std::isfinite(rest) && rest >= 0.0)) {
    throw std::invalid_argument(
      "rest_after must be finite and not below 0, got " + std::to_string(rest));
  }
  if (!(contact > 0.0 && contact <= 1.0)) {
    throw std::invalid_argument(
      "contact_share must be above 0 and at most 1, got " + std::to_string(contact));
  }
}

MappedThresholds::MappedThresholds(const ThresholdMap & given)
: Thresholds(passing(given), given.contact * passing(given)),
  map_(given),
  since_(given.rows.size()),
  moved_(given.rows.size()),
  forward_(given.rows.size())
{
  for (std::size_t joint = 0; joint < given.rows.size(); ++joint) {
    change_[static_cast<Eigen::Index>(joint)] = given.rows[joint].change;
  }
}

void MappedThresholds::restart(double stamp)
{
  std::fill(since_.begin(), since_.end(), stamp);
  std::fill(moved_.begin(), moved_.end(), stamp);
}

void MappedThresholds::update(
  double stamp, const Vector & velocity, const Vector & acceleration)
{
  for (std::size_t joint = 0; joint < map_.rows.size(); ++joint) {
    const auto place = static_cast<Eigen::Index>(joint);
    collision_[place] = threshold(joint, stamp, velocity[place], std::abs(acceleration[place]));
  }
  contact_ = map_.contact * collision_;
}

/// Threshold of a joint; notes its reversal or motion.
double MappedThresholds::threshold(
  std::size_t joint, double stamp, double velocity, double hard)
{
  const ThresholdRow & row = map_.rows[joint];
  const double speed = std::abs(velocity);
  const bool forward = velocity > 0.0, still = speed < row.still;
  if (still || forward != forward_[joint]) {
    since_[joint] = stamp;
    forward_[joint] = forward;
  }
  if (still) {
    const bool resting = stamp - moved_[joint] >= map_.rest;
    return row.collision[row.collision.size() - (resting ? 1 : 2)];
  }
  moved_[joint] = stamp;
  std::size_t cell = band(row.speed, speed) * (row.acceleration.size() + 1);
  cell = (cell + band(row.acceleration, hard)) * (row.reversal.size() + 1);
  cell += band(row.reversal, stamp - since_[joint]);
  const double beyond = std::max({1.0, speed / row.fastest, hard / row.hardest});
  return row.collision[cell] * std::min(beyond, kMost);
}

}  // namespace robodyn_ros
