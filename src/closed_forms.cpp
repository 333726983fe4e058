// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/result_blocks.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

/// Number of parameters of each model of an axis, without that of a known payload.
Eigen::Index axis_width(bool rotary, int dynamic_model)
{
  static constexpr std::array<Eigen::Index, 4> rotary_widths{0, 1, 2, 4};
  static constexpr std::array<Eigen::Index, 3> linear_widths{0, 1, 3};
  if (dynamic_model < 1 || dynamic_model > (rotary ? 3 : 2)) {
    throw std::invalid_argument("an axis has no dynamic model " + std::to_string(dynamic_model));
  }
  return rotary ? rotary_widths[dynamic_model] : linear_widths[dynamic_model];
}

/// The mass of a payload acts with `square`, L^2, and `weight`, g L or g cos(alpha), known beforehand
/// because identified ones are of no effect without a payload. NaN: not known.
class AxisPart : public ClosedForm
{
public:
  AxisPart(
    bool rotary, int dynamic_model, double payload_mass, bool known_payload, double square,
    double weight)
  : ClosedForm(1, axis_width(rotary, dynamic_model) + (known_payload ? 1 : 0)),
    rotary_(rotary), known_payload_(known_payload), form_(dynamic_model), mass_(payload_mass)
  {
    facts_.front().sliding = !rotary;
    const bool turned = rotary && form_ >= 2, weighed = form_ == (rotary ? 3 : 2);
    std::string missing = turned && !std::isfinite(square) ? "L^2" : "";
    if (weighed && !std::isfinite(weight)) {
      missing += std::string(missing.empty() ? "" : ", ") + (rotary ? "g*L" : "g*cos(alpha)");
    }
    if (!missing.empty()) {
      refusal_ = missing + " of an axis must be known to carry a payload by its mass: give them in "
        "\"prior\" of the model description";
      return;
    }
    effect_(0, 0) = !rotary ? 1.0 : turned ? square : 0.0;
    effect_(0, 1) = rotary ? 1.0 : 0.0;
    if (weighed) {
      effect_(rotary ? 2 : 1, 0) = weight;
    }
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau) override
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
      torque += p[p.size() - 1] * qdd;
    }
    tau[0] += torque;
  }

private:
  bool rotary_, known_payload_;
  int form_;
  double mass_;
};

struct ScaraGeometry
{
  double l1, l2, s4, z_sense, gravity;
};

class ScaraPart : public ClosedForm
{
public:
  ScaraPart(Eigen::Index joints, const ScaraGeometry & geometry)
  : ClosedForm(joints, 8), joints_(joints), geometry_(geometry)
  {
    facts_.at(2).sliding = true;
    effect_(4, 0) = effect_(6, 1) = 1.0;
    effect_(5, 0) = geometry.gravity;
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau) override
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

private:
  Eigen::Index joints_;
  ScaraGeometry geometry_;
};

struct Spring
{
  double (* column)(double);
  double yields_at = 0.0;  // [rad] or [m]; 0: it never slips
};

double position(double q) {return q;}
double sine(double q) {return std::sin(q);}
double cosine(double q) {return std::cos(q);}

const std::map<std::string, Spring> kTerms{
  {"spring", {position}}, {"balancer_sine", {sine}}, {"balancer_cosine", {cosine}},
  {"slip_fine", {position, 0.0001}}, {"slip_medium", {position, 0.001}},
  {"slip_coarse", {position, 0.01}}};

/// Parameters joint by joint, in the order of the terms.
class SpringPart : public Part
{
public:
  SpringPart(std::size_t joints, const std::vector<std::string> & terms)
  : joints_(joints)
  {
    if (terms.empty()) {
      throw std::invalid_argument("a model of springs needs at least one term");
    }
    for (const auto & name : terms) {
      const auto term = kTerms.find(name);
      if (term == kTerms.end()) {
        throw std::invalid_argument(
          "there is no spring term \"" + quoted_text(name) + "\" in this controller");
      }
      if (std::count(terms.begin(), terms.end(), name) > 1) {  // each takes time in every cycle
        throw std::invalid_argument("spring term \"" + name + "\" is named twice");
      }
      springs_.push_back(term->second);
    }
    ends_.assign(joints * springs_.size(), NAN);
  }

  bool is_robot() const override {return false;}

  Eigen::Index width() const override
  {
    return static_cast<Eigen::Index>(joints_ * springs_.size());
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & values, Vector & tau) override
  {
    Eigen::Index next = 0;
    for (Eigen::Index joint = 0; joint < tau.size(); ++joint) {
      for (const Spring & spring : springs_) {
        const double q = motion.q[joint];
        tau[joint] += values[next] * (spring.yields_at > 0.0 ?
          deflection(q, motion.qd[joint], spring.yields_at, ends_[static_cast<std::size_t>(next)]) :
          spring.column(q));
        ++next;
      }
    }
  }

  void forget() override {std::fill(ends_.begin(), ends_.end(), NAN);}

private:
  /// Of a spring whose end slips, -1 to 1; at first as if the joint had moved on at its velocity.
  static double deflection(double q, double qd, double yields_at, double & end)
  {
    if (!std::isfinite(end)) {
      end = q - yields_at * static_cast<double>((qd > 0.0) - (qd < 0.0));
    }
    end = std::clamp(end, q - yields_at, q + yields_at);
    return (q - end) / yields_at;
  }

  std::size_t joints_;
  std::vector<Spring> springs_;
  std::vector<double> ends_;  // of the slips
};

}  // namespace

std::unique_ptr<Part> axis_part(const YAML::Node & map)
{
  const bool rotary = get<std::string>(map, "type") == "rotary";
  const YAML::Node prior = map["prior"];
  const double payload = get_or(map, rotary ? "payload_inertia" : "payload_mass", 0.0);
  return std::make_unique<AxisPart>(
    rotary, get<int>(map, "dynamic_model"), get_or(map, "payload_mass", 0.0), payload != 0.0,
    get_or(prior, "L^2", NAN), get_or(prior, rotary ? "g*L" : "g*cos(alpha)", NAN));
}

std::unique_ptr<Part> scara_part(const YAML::Node & map, std::size_t joints)
{
  const YAML::Node geometry = map["geometry"];
  return std::make_unique<ScaraPart>(
    static_cast<Eigen::Index>(joints),
    ScaraGeometry{
      get<double>(geometry, "L1"), get<double>(geometry, "L2"), get_or(geometry, "s4", 1.0),
      get_or(geometry, "z_sense", 1.0), get_or(map, "gravity", 9.81)});
}

std::unique_ptr<Part> spring_part(const YAML::Node & map, std::size_t joints)
{
  return std::make_unique<SpringPart>(joints, get<std::vector<std::string>>(map, "terms"));
}

}  // namespace robodyn_ros
