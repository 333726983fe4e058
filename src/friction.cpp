// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/friction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/result_blocks.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

double sign(double value) {return static_cast<double>((value > 0.0) - (value < 0.0));}

/// Velocity to a power with its own sign; beyond the reach along the tangent.
double powered(double speed, int power, double reach)
{
  const double inside = std::clamp(speed, -reach, reach);
  return std::pow(std::abs(inside), power - 1) * (inside + power * (speed - inside));
}

double viscous(double speed, const Figures &) {return speed;}
double coulomb(double speed, const Figures &) {return sign(speed);}
double offset(double, const Figures &) {return 1.0;}
double asymmetry(double speed, const Figures &) {return std::abs(speed);}
double quadratic(double speed, const Figures & f) {return powered(speed, 2, f.reach);}
double root(double speed, const Figures & f)
{
  return sign(speed) * std::pow(std::abs(speed), f.exponent);
}
double smooth_coulomb(double speed, const Figures & f)
{
  return f.smoothing > 0.0 ? std::tanh(speed / f.smoothing) : sign(speed);
}
double breakaway(double speed, const Figures & f)
{
  const double ratio = speed / f.breakaway_speed;
  return sign(speed) * std::exp(-ratio * ratio);
}

/// Term of the bidirectional law, signs turned so that a positive parameter brakes.
template<int side, int power>
double one_sided(double speed, const Figures & f)
{
  if (side > 0 ? speed < 0.0 : speed >= 0.0) {
    return 0.0;
  }
  double share = 1.0;
  if (power < 2) {
    const double turned = std::tanh(speed / f.smoothing);
    share = 0.5 * (1.0 + side * turned);
    if (power == 0) {
      return turned * share;
    }
  }
  return std::abs(speed) >= f.threshold ? share * powered(speed, power, f.reach) : 0.0;
}

struct Term
{
  double (* column)(double, const Figures &);
  bool smoothing = false;  // what it cannot do without
  bool breakaway = false;
  bool load = false;
};

const std::map<std::string, Term> kTerms{
  {"viscous", {viscous}},
  {"coulomb", {coulomb}},
  {"offset", {offset}},
  {"quadratic", {quadratic}},
  {"root", {root}},
  {"asymmetry", {asymmetry}},
  {"smooth_coulomb", {smooth_coulomb, true}},
  {"breakaway", {breakaway, false, true}},
  {"load", {smooth_coulomb, false, false, true}},
  {"coulomb_forward", {one_sided<1, 0>, true}},
  {"coulomb_backward", {one_sided<-1, 0>, true}},
  {"viscous_forward", {one_sided<1, 1>, true}},
  {"viscous_backward", {one_sided<-1, 1>, true}},
  {"quadratic_forward", {one_sided<1, 2>}},
  {"quadratic_backward", {one_sided<-1, 2>}},
  {"cubic_forward", {one_sided<1, 3>}},
  {"cubic_backward", {one_sided<-1, 3>}},
};

Vector figure(const YAML::Node & map, const char * name, std::size_t joints)
{
  const auto given = map[name].as<std::vector<double>>();
  const auto usable = [](double value) {return std::isfinite(value) && value >= 0.0;};
  if (given.size() != joints || !std::all_of(given.begin(), given.end(), usable)) {
    throw error(std::string("friction's ") + name + " needs one number per joint, 0 or more");
  }
  return vector_of(given);
}

}  // namespace

Friction::Friction(const std::vector<std::string> & terms, std::vector<Figures> figures)
: figures_(std::move(figures))
{
  for (const auto & name : terms) {
    const auto known = kTerms.find(name);
    if (known == kTerms.end()) {
      throw std::invalid_argument(
        "there is no friction term \"" + quoted_text(name) + "\" in this controller");
    }
    const Term & term = known->second;
    for (const Figures & figures : figures_) {
      if ((term.smoothing && figures.smoothing <= 0.0) ||
        (term.breakaway && figures.breakaway_speed <= 0.0))
      {
        throw std::invalid_argument("friction term \"" + name + "\" lacks its shape figure");
      }
    }
    if (std::count(terms.begin(), terms.end(), name) > 1) {  // each takes time in every cycle
      throw std::invalid_argument("friction term \"" + name + "\" is named twice");
    }
    columns_.push_back(term.column);
    of_load_.push_back(term.load);
  }
}

Eigen::Index Friction::width() const
{
  return static_cast<Eigen::Index>(figures_.size() * columns_.size());
}

void Friction::add(
  bool per_load, const Vector & qd, const Eigen::Ref<const Vector> & values, Vector & tau) const
{
  Eigen::Index next = 0;
  for (Eigen::Index joint = 0; joint < tau.size(); ++joint) {
    const Figures & figures = figures_[static_cast<std::size_t>(joint)];
    for (std::size_t term = 0; term < columns_.size(); ++term, ++next) {
      if (of_load_[term] == per_load) {
        tau[joint] += values[next] * columns_[term](qd[joint], figures);
      }
    }
  }
}

Friction friction_of(const YAML::Node & map)
{
  static const std::set<std::string> understood{
    "kind", "joints", "terms", "load", "smoothing", "breakaway_speed", "threshold", "reach",
    "exponent"};
  for (const auto & item : map) {
    if (const auto key = item.first.as<std::string>(); understood.count(key) == 0) {
      throw error("friction's \"" + quoted_text(key) + "\" is not known to this controller");
    }
  }
  const std::size_t joints = map["joints"].size();
  std::vector<Figures> figures(joints);
  const std::pair<const char *, double Figures::*> known[]{
    {"smoothing", &Figures::smoothing}, {"breakaway_speed", &Figures::breakaway_speed},
    {"threshold", &Figures::threshold}, {"reach", &Figures::reach},
    {"exponent", &Figures::exponent}};
  for (const auto & [name, member] : known) {
    if (map[name]) {
      const Vector numbers = figure(map, name, joints);
      for (std::size_t joint = 0; joint < joints; ++joint) {
        figures[joint].*member = numbers[static_cast<Eigen::Index>(joint)];
      }
    }
  }
  return Friction(get<std::vector<std::string>>(map, "terms"), figures);
}

}  // namespace robodyn_ros
