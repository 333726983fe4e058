// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/springs.hpp"

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
