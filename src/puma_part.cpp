// SPDX-License-Identifier: Apache-2.0
// Armstrong, Khatib and Burdick, "The explicit dynamic model and inertial parameters of the PUMA
// 560 arm" (1986), Appendix: the mass matrix is written down once, over numbers that carry their
// derivatives by q2..q5, so that Coriolis and centrifugal torque follow from it.
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "robodyn_ros/result_blocks.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

constexpr int kInertias = 23, kJoints = 6, kGravities = 5;
constexpr int kAll = kInertias + kJoints + kGravities;
constexpr int kRelated = 8;  // parameters that follow from others, with a geometry

struct PumaGeometry
{
  double a2, a3, d2, d3, d4, gravity;
};

/// A number with its derivatives by q2, q3, q4, q5.
struct Dual
{
  double value = 0.0;
  Eigen::Vector4d slope = Eigen::Vector4d::Zero();

  Dual() = default;
  Dual(double number) : value(number) {}  // NOLINT: a plain number is constant
  Dual(double number, const Eigen::Vector4d & by) : value(number), slope(by) {}
};

Dual operator+(const Dual & a, const Dual & b) {return {a.value + b.value, a.slope + b.slope};}
Dual operator-(const Dual & a, const Dual & b) {return {a.value - b.value, a.slope - b.slope};}
Dual operator*(const Dual & a, const Dual & b)
{
  return {a.value * b.value, a.value * b.slope + b.value * a.slope};
}

struct Waves
{
  Dual c, s;

  Waves(double angle, const Eigen::Vector4d & by)
  : c(std::cos(angle), -std::sin(angle) * by), s(std::sin(angle), std::cos(angle) * by)
  {
  }
};

using Matrix = std::array<std::array<Dual, kJoints>, kJoints>;

/// Upper triangle of the mass matrix without rotors; `p` are I1..I23, p[1] the first.
void mass_matrix(const Vector & q, const double * p, Matrix & a)
{
  const Waves w2(q[1], {1, 0, 0, 0}), w3(q[2], {0, 1, 0, 0}), w4(q[3], {0, 0, 1, 0}),
    w5(q[4], {0, 0, 0, 1}), w23(q[1] + q[2], {1, 1, 0, 0});
  const Dual &c2 = w2.c, &s2 = w2.s, &c3 = w3.c, &s3 = w3.s, &c4 = w4.c, &s4 = w4.s;
  const Dual &c5 = w5.c, &s5 = w5.s, &c23 = w23.c, &s23 = w23.s;
  const Dual ss5 = s5 * s5, sc5 = s5 * c5;
  const Dual ss23 = s23 * s23, sc23 = s23 * c23, cc23 = c23 * c23;
  const Dual wrist = s23 * c5 + c23 * c4 * s5;
  a[0][0] = p[1] + p[3] * (c2 * c2) + p[7] * ss23 + p[10] * sc23 + p[11] * (s2 * c2) +
    p[20] * (ss5 * (ss23 * (1.0 + c4 * c4) - 1.0) - 2.0 * (sc23 * c4 * sc5)) +
    p[21] * (ss23 * c4 * c4) + 2.0 * p[5] * (c2 * s23) + 2.0 * p[12] * (c2 * c23) +
    2.0 * p[15] * (ss23 * c5 + sc23 * c4 * s5) + 2.0 * p[16] * (c2 * wrist) +
    2.0 * p[18] * (s4 * s5) + 2.0 * p[22] * (sc23 * c5 + cc23 * c4 * s5);
  a[0][2] = p[8] * c23 + p[13] * s23 - p[15] * (c23 * s4 * s5) +
    p[18] * (s23 * c4 * s5 - c23 * c5) + p[19] * (s23 * s4 * c4) +
    p[20] * (s4 * (s23 * c4 * c5 * c5 + c23 * sc5)) + p[22] * (s23 * s4 * s5);
  a[0][1] = a[0][2] + p[4] * s2 + p[9] * c2 + p[16] * (s2 * s4 * s5);
  a[0][3] = p[14] * c23 + p[15] * (s23 * c4 * s5) + p[16] * (c2 * c4 * s5) +
    p[18] * (c23 * s4 * s5) - p[20] * (s23 * c4 * sc5 + c23 * ss5) + p[22] * (c23 * c4 * s5);
  a[0][4] = p[15] * (s23 * s4 * c5) + p[16] * (c2 * s4 * c5) + p[17] * (s23 * s4) +
    p[18] * (s23 * s5 - c23 * c4 * c5) + p[22] * (c23 * s4 * c5);
  a[0][5] = p[23] * (c23 * c5 - s23 * c4 * s5);
  const Dual shared = p[5] * s3 + p[12] * c3 + p[16] * (s3 * c5 + c3 * c4 * s5);
  a[2][2] = p[6] + p[20] * (s4 * s4 * ss5) + p[21] * (s4 * s4) + 2.0 * p[15] * c5 +
    2.0 * p[22] * (c4 * s5);
  a[1][1] = a[2][2] + p[2] + 2.0 * shared;
  a[1][2] = a[2][2] + shared;
  a[2][3] = p[20] * (s4 * sc5) - p[15] * (s4 * s5);
  a[1][3] = a[2][3] - p[16] * (s3 * s4 * s5);
  a[2][4] = p[15] * (c4 * c5) + p[17] * c4 + p[22] * s5;
  a[1][4] = a[2][4] + p[16] * (c3 * s5 + s3 * c4 * c5);
  a[1][5] = a[2][5] = p[23] * (s4 * s5);
  a[3][3] = p[14] - p[20] * ss5;
  a[3][4] = 0.0;
  a[3][5] = p[23] * c5;
  a[4][4] = p[17];
  a[4][5] = 0.0;
  a[5][5] = p[23];
}

Eigen::MatrixXd relations(const PumaGeometry * geometry)
{
  Eigen::MatrixXd full = Eigen::MatrixXd::Identity(kAll, kAll);
  if (geometry == nullptr) {
    return full;
  }
  const auto & g = *geometry;
  if (g.a2 == 0.0) {
    throw std::invalid_argument("\"a2\" in the geometry of a puma must not be 0");
  }
  struct Rule
  {
    int row, column;
    double factor;
  };
  // Columns count from 0: I_k is k - 1, g_k is 28 + k. models/closed_forms/puma.py, _relations.
  const double offset = g.d2 + g.d3;
  const std::array<Rule, 9> rules{{
    {12, 11, offset / g.a2}, {14, 15, g.d4 / g.a2}, {17, 15, offset / g.a2}, {20, 18, -1.0},
    {20, 19, -1.0}, {21, 15, g.a3 / g.a2}, {30, 4, -g.gravity / g.a2},
    {32, 11, -g.gravity / g.a2}, {33, 15, -g.gravity / g.a2}}};
  std::array<bool, kAll> follows{};
  for (const auto & rule : rules) {
    full(rule.row, rule.row) = 0.0;
    full(rule.row, rule.column) = rule.factor;
    follows[static_cast<std::size_t>(rule.row)] = true;
  }
  Eigen::MatrixXd result(kAll, kAll - kRelated);
  Eigen::Index next = 0;
  for (Eigen::Index column = 0; column < kAll; ++column) {
    if (!follows[static_cast<std::size_t>(column)]) {
      result.col(next++) = full.col(column);
    }
  }
  return result;
}

void add_gravity(const Vector & q, const double * g, Vector & tau)
{
  const double c2 = std::cos(q[1]), s2 = std::sin(q[1]), c4 = std::cos(q[3]), s4 = std::sin(q[3]);
  const double c5 = std::cos(q[4]), s5 = std::sin(q[4]);
  const double c23 = std::cos(q[1] + q[2]), s23 = std::sin(q[1] + q[2]);
  const double shared = g[1] * s23 + g[3] * c23 + g[4] * (s23 * c5 + c23 * c4 * s5);
  tau[1] += shared + g[0] * c2 + g[2] * s2;
  tau[2] += shared;
  tau[3] -= g[4] * s23 * s4 * s5;
  tau[4] += g[4] * (c23 * s5 + s23 * c4 * c5);
}

/// Dynamic model 1: 34 parameters, or 26 with a geometry.
class PumaPart : public ClosedForm
{
public:
  explicit PumaPart(const PumaGeometry * geometry)
  : ClosedForm(kJoints, kAll - (geometry ? kRelated : 0)), relations_(relations(geometry)),
    all_(Vector::Zero(kAll))
  {
    refusal_ = "dynamic model 1 of a puma cannot carry a payload: each of its parameters mixes "
      "masses and lengths of several links; use dynamic model 2";
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override
  {
    all_.noalias() = relations_ * values;
    Matrix mass;
    mass_matrix(motion.q, all_.data() - 1, mass);
    const Vector & qd = motion.qd;
    const Eigen::Vector4d speed = qd.segment<4>(1);
    Eigen::Vector4d energy = Eigen::Vector4d::Zero();  // slope of the kinetic energy by q2..q5
    for (int row = 0; row < kJoints; ++row) {
      for (int column = row; column < kJoints; ++column) {
        const Dual & entry = mass[row][column];
        const double change = entry.slope.dot(speed);
        tau[row] += entry.value * motion.qdd[column] + change * qd[column];
        if (column != row) {
          tau[column] += entry.value * motion.qdd[row] + change * qd[row];
        }
        energy += (column == row ? 0.5 : 1.0) * qd[row] * qd[column] * entry.slope;
      }
      tau[row] += all_[kInertias + row] * motion.qdd[row];
    }
    tau.segment<4>(1) -= energy;
    add_gravity(motion.q, all_.data() + kInertias + kJoints, tau);
  }

private:
  Eigen::MatrixXd relations_;  // all 34 from the parameters
  Vector all_;
};

/// Dynamic model 2: gravity of a slow motion.
class PumaGravityPart : public ClosedForm
{
public:
  PumaGravityPart(bool fifth_term, const PumaGeometry * geometry)
  : ClosedForm(6, fifth_term ? 5 : 4)
  {
    if (geometry == nullptr) {
      refusal_ = "dynamic model 2 of a puma needs a geometry to carry a payload";
      return;
    }
    effect_(0, 0) = geometry->gravity * geometry->a2;
    effect_(1, 0) = geometry->gravity * geometry->a3;
    effect_(2, 0) = geometry->gravity * geometry->d4;
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau) override
  {
    const double q2 = motion.q[1], forearm = q2 + motion.q[2];
    const double c23 = std::cos(forearm), s23 = std::sin(forearm);
    const double c4 = std::cos(motion.q[3]), s4 = std::sin(motion.q[3]);
    const double c5 = std::cos(motion.q[4]), s5 = std::sin(motion.q[4]);
    const double shared = -p[1] * c23 - p[2] * s23 - p[3] * (s23 * c5 + c23 * c4 * s5);
    tau[1] += shared - p[0] * std::cos(q2) + (p.size() > 4 ? p[4] * std::sin(q2) : 0.0);
    tau[2] += shared;
    tau[3] += p[3] * s23 * s4 * s5;
    tau[4] -= p[3] * (c23 * s5 + s23 * c4 * c5);
  }
};

}  // namespace

std::unique_ptr<Part> puma_part(const YAML::Node & map)
{
  PumaGeometry lengths{};
  const YAML::Node geometry = map["geometry"];
  if (geometry) {
    lengths = {
      get<double>(geometry, "a2"), get<double>(geometry, "a3"), get<double>(geometry, "d2"),
      get<double>(geometry, "d3"), get<double>(geometry, "d4"), get_or(map, "gravity", 9.81)};
  }
  const PumaGeometry * known = geometry ? &lengths : nullptr;
  if (get<int>(map, "dynamic_model") == 2) {
    const bool fifth = map["fifth_term"] && map["fifth_term"].as<bool>();
    return std::make_unique<PumaGravityPart>(fifth, known);
  }
  return std::make_unique<PumaPart>(known);
}

}  // namespace robodyn_ros
