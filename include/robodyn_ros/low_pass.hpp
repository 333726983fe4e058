// SPDX-License-Identifier: Apache-2.0
// Causal low pass and derivative: robodyn_ros/control/torque/low_pass.py.
#pragma once

#include <Eigen/Core>

namespace robodyn_ros
{

/// Highest cut-off as a share of the sampling rate; see the Python file.
constexpr double kHighestShare = 0.4;

/// Second-order Butterworth low pass of several signals with their derivatives, a column each.
class MatchedLowPass
{
public:
  /// `cutoff` [Hz]; `period` of the samples [s]. Throws std::invalid_argument: a cutoff above 80 %
  /// of the Nyquist frequency, or not above 0.
  MatchedLowPass(Eigen::Index rows, Eigen::Index signals, double cutoff, double period);

  /// Settle on constant signals.
  void restart(const Eigen::MatrixXd & signals);

  /// Take the next sample of every signal. Never allocates or throws.
  void update(const Eigen::MatrixXd & signals);

  const Eigen::MatrixXd & value() const {return value_;}
  const Eigen::MatrixXd & derivative() const {return derivative_;}

private:
  double gain_, first_, second_, slope_;
  Eigen::MatrixXd before_, last_, newest_, value_, derivative_;
};

}  // namespace robodyn_ros
