// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/low_pass.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace robodyn_ros
{

MatchedLowPass::MatchedLowPass(
  Eigen::Index rows, Eigen::Index signals, double cutoff, double period)
: before_(Eigen::MatrixXd::Zero(rows, signals)),
  last_(before_),
  newest_(before_),
  value_(before_),
  derivative_(before_)
{
  if (!(cutoff > 0.0 && cutoff <= kHighestShare / period)) {
    throw std::invalid_argument(
      "filter_cutoff must be above 0 and at most " + std::to_string(kHighestShare / period) +
      " Hz at this period, got " + std::to_string(cutoff));
  }
  const double warped = std::tan(std::acos(-1.0) * cutoff * period);
  const double norm = 1.0 + std::sqrt(2.0) * warped + warped * warped;
  gain_ = warped * warped / norm;
  first_ = 2.0 * (warped * warped - 1.0) / norm;
  second_ = (1.0 - std::sqrt(2.0) * warped + warped * warped) / norm;
  slope_ = gain_ * 2.0 / period;
}

void MatchedLowPass::restart(const Eigen::MatrixXd & signals)
{
  before_ = signals / (1.0 + first_ + second_);
  last_ = before_;
  value_ = signals;
  derivative_.setZero();
}

void MatchedLowPass::update(const Eigen::MatrixXd & signals)
{
  newest_ = signals - first_ * before_ - second_ * last_;
  derivative_ = slope_ * (newest_ - last_);
  value_ = gain_ * (newest_ + last_ + 2.0 * before_);
  last_.swap(before_);
  before_.swap(newest_);
}

}  // namespace robodyn_ros
