// SPDX-License-Identifier: Apache-2.0
// Friction of every joint, linear in its parameters: robodyn_ros/models/friction.py and
// friction_terms.py, which say what terms and shape figures mean.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace robodyn_ros
{

using Vector = Eigen::VectorXd;

/// Shape figures of one joint.
struct Figures
{
  double smoothing = 0.0;  // 0: none
  double breakaway_speed = 0.0;
  double threshold = 0.0;
  double reach = std::numeric_limits<double>::infinity();
  double exponent = 1.0 / 3.0;
};

/// Parameters joint by joint, in the order of the terms.
class Friction
{
public:
  /// Throws std::invalid_argument: an unknown term, or one whose figure is missing.
  Friction(const std::vector<std::string> & terms, std::vector<Figures> figures);

  Eigen::Index width() const;

  /// Add the friction that does not depend on the load, [Nm] or [N]; or that per Nm (or N) of load.
  void add(
    bool per_load, const Vector & qd, const Eigen::Ref<const Vector> & values, Vector & tau) const;

private:
  using Column = double (*)(double, const Figures &);

  std::vector<Figures> figures_;
  std::vector<Column> columns_;
  std::vector<bool> of_load_;
};

}  // namespace robodyn_ros
