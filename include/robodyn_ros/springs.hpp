// SPDX-License-Identifier: Apache-2.0
// Springs and balancers at the joints: robodyn_ros/models/springs.py.
#pragma once

#include <string>
#include <vector>

#include "robodyn_ros/part.hpp"

namespace robodyn_ros
{

/// Torque of every joint's own position. Parameters joint by joint, in the order of the terms.
class SpringPart : public Part
{
public:
  /// Throws std::invalid_argument: no term, an unknown one, or one named twice.
  SpringPart(std::size_t joints, const std::vector<std::string> & terms);
  Eigen::Index width() const override;
  bool is_robot() const override {return false;}
  void add(
    const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override;
  void add_payload(
    const Eigen::Ref<const Vector> & payload, const std::string & frame,
    Eigen::Ref<Vector> values) const override;

private:
  using Column = double (*)(double);
  std::size_t joints_;
  std::vector<Column> columns_;
};

}  // namespace robodyn_ros
