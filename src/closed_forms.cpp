// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "robodyn_ros/bounded_text.hpp"

namespace robodyn_ros
{
namespace
{

double position(double q) {return q;}
double sine(double q) {return std::sin(q);}
double cosine(double q) {return std::cos(q);}

const std::map<std::string, double (*)(double)> kTerms{
  {"spring", position}, {"balancer_sine", sine}, {"balancer_cosine", cosine}};

}  // namespace

AxisPart::AxisPart(
  bool rotary, int dynamic_model, double payload_mass, double payload_inertia,
  const Levers & levers)
: rotary_(rotary), form_(dynamic_model), mass_(payload_mass), levers_(levers)
{
  static constexpr std::array<Eigen::Index, 4> rotary_widths{0, 1, 2, 4};
  static constexpr std::array<Eigen::Index, 3> linear_widths{0, 1, 3};
  if (dynamic_model < 1 || dynamic_model > (rotary ? 3 : 2)) {
    throw std::invalid_argument("an axis has no dynamic model " + std::to_string(dynamic_model));
  }
  named_ = rotary ? rotary_widths[dynamic_model] : linear_widths[dynamic_model];
  known_payload_ = rotary ? payload_inertia != 0.0 : payload_mass != 0.0;
}

Eigen::Index AxisPart::width() const
{
  return named_ + (known_payload_ ? 1 : 0);
}

void AxisPart::add(
  const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau)
{
  const double qdd = motion.qdd[0];
  double torque = p[0] * qdd;
  if (rotary_ && form_ >= 2) {
    torque += p[1] * mass_ * qdd;
  }
  if (rotary_ && form_ == 3) {
    torque -= (p[2] + p[3] * mass_) * std::sin(motion.q[0]);
  }
  if (!rotary_ && form_ == 2) {
    torque += p[1] + p[2] * mass_;
  }
  if (known_payload_) {
    torque += p[named_] * qdd;
  }
  tau[0] += torque;
}

void AxisPart::add_payload(
  const Eigen::Ref<const Vector> & payload, const std::string &,
  Eigen::Ref<Vector> values) const
{
  const bool turned = rotary_ && form_ >= 2, weighed = form_ == (rotary_ ? 3 : 2);
  const double square = turned ? levers_.square : 0.0, weight = weighed ? levers_.weight : 0.0;
  if (payload.isZero(0.0)) {
    return;
  }
  std::string missing = std::isfinite(square) ? "" : "L^2";
  if (!std::isfinite(weight)) {
    missing += std::string(missing.empty() ? "" : ", ") + (rotary_ ? "g*L" : "g*cos(alpha)");
  }
  if (!missing.empty()) {
    throw std::invalid_argument(
      missing + " of an axis must be known to carry a payload by its mass: give them in \"prior\" "
      "of the model description");
  }
  values[0] += rotary_ ? payload[0] * square + payload[1] : payload[0];
  if (weighed) {
    values[rotary_ ? 2 : 1] += payload[0] * weight;
  }
}

ScaraPart::ScaraPart(Eigen::Index joints, const Geometry & geometry)
: joints_(joints), geometry_(geometry)
{
}

void ScaraPart::add(
  const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau)
{
  const auto & g = geometry_;
  const double cosine = std::cos(motion.q[1]), sine = std::sin(motion.q[1]);
  const double qd1 = motion.qd[0], qd2 = motion.qd[1];
  const double qdd1 = motion.qdd[0], qdd2 = motion.qdd[1];
  const double both = qdd1 + qdd2;
  // The inertia that two arms share turns with cos q2; its change drives both joints.
  const double shared1 = cosine * (qdd1 + both) - sine * (qd2 * (2.0 * qd1 + qd2));
  const double shared2 = cosine * qdd1 + sine * (qd1 * qd1);
  const double lengths = g.l1 * g.l2, outer = g.l2 * g.l2 * both;
  const double last = joints_ > 3 ? motion.qdd[3] : 0.0;
  const double turning = both + (joints_ > 3 ? g.s4 * last : 0.0);
  tau[0] += p[0] * qdd1 + p[1] * both + p[3] * shared1 +
    p[4] * (g.l1 * g.l1 * qdd1 + outer + lengths * shared1) + p[6] * turning;
  tau[1] += p[1] * both + p[2] * qdd2 + p[3] * shared2 + p[4] * (outer + lengths * shared2) +
    p[6] * turning;
  tau[2] += p[4] * motion.qdd[2] + p[5] * g.z_sense;
  if (joints_ > 3) {
    tau[3] += p[6] * g.s4 * turning + p[7] * last;
  }
}

void ScaraPart::add_payload(
  const Eigen::Ref<const Vector> & payload, const std::string &,
  Eigen::Ref<Vector> values) const
{
  values[4] += payload[0];
  values[5] += payload[0] * geometry_.gravity;
  values[6] += payload[1];
}

PumaGravityPart::PumaGravityPart(bool fifth_term, const PumaPart::Geometry * geometry)
: fifth_term_(fifth_term), known_(geometry != nullptr)
{
  if (known_) {
    const double gravity = geometry->gravity;
    levers_ = {gravity * geometry->a2, gravity * geometry->a3, gravity * geometry->d4};
  }
}

void PumaGravityPart::add(
  const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau)
{
  const double q2 = motion.q[1], forearm = q2 + motion.q[2];
  const double c23 = std::cos(forearm), s23 = std::sin(forearm);
  const double c4 = std::cos(motion.q[3]), s4 = std::sin(motion.q[3]);
  const double c5 = std::cos(motion.q[4]), s5 = std::sin(motion.q[4]);
  const double shared = -p[1] * c23 - p[2] * s23 - p[3] * (s23 * c5 + c23 * c4 * s5);
  tau[1] += shared - p[0] * std::cos(q2) + (fifth_term_ ? p[4] * std::sin(q2) : 0.0);
  tau[2] += shared;
  tau[3] += p[3] * s23 * s4 * s5;
  tau[4] -= p[3] * (c23 * s5 + s23 * c4 * c5);
}

void PumaGravityPart::add_payload(
  const Eigen::Ref<const Vector> & payload, const std::string &,
  Eigen::Ref<Vector> values) const
{
  if (!known_) {
    throw std::invalid_argument("dynamic model 2 of a puma needs a geometry to carry a payload");
  }
  for (Eigen::Index term = 0; term < 3; ++term) {
    values[term] += payload[0] * levers_[static_cast<std::size_t>(term)];
  }
}

SpringPart::SpringPart(std::size_t joints, const std::vector<std::string> & terms)
: joints_(joints)
{
  if (terms.empty()) {
    throw std::invalid_argument("a model of springs needs at least one term");
  }
  for (const auto & name : terms) {
    const auto found = kTerms.find(name);
    if (found == kTerms.end()) {
      throw std::invalid_argument(
        "there is no spring term \"" + quoted_text(name) + "\" in this controller");
    }
    if (std::count(terms.begin(), terms.end(), name) > 1) {  // each takes time in every cycle
      throw std::invalid_argument("spring term \"" + name + "\" is named twice");
    }
    columns_.push_back(found->second);
  }
}

Eigen::Index SpringPart::width() const
{
  return static_cast<Eigen::Index>(joints_ * columns_.size());
}

void SpringPart::add(
  const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau)
{
  Eigen::Index next = 0;
  for (Eigen::Index joint = 0; joint < tau.size(); ++joint) {
    for (const Column column : columns_) {
      tau[joint] += values[next++] * column(motion.q[joint]);
    }
  }
}

void SpringPart::add_payload(
  const Eigen::Ref<const Vector> &, const std::string &, Eigen::Ref<Vector>) const
{
  throw std::invalid_argument("springs carry no payload");
}

}  // namespace robodyn_ros
