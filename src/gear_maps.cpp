// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/gear_maps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/LU>

namespace robodyn_ros
{
namespace
{

using Sizes = std::vector<Eigen::Index>;

/// The only array of a name.
const GearArray & array_of(const std::vector<GearArray> & arrays, const std::string & name)
{
  const auto place = std::find_if(
    arrays.begin(), arrays.end(), [&](const GearArray & one) {return one.name == name;});
  if (place == arrays.end()) {
    throw std::invalid_argument("it has no array " + name);
  }
  return *place;
}

/// The same, of these sizes.
const GearArray & array_of(
  const std::vector<GearArray> & arrays, const std::string & name, const Sizes & sizes)
{
  const GearArray & result = array_of(arrays, name);
  if (result.sizes != sizes) {
    throw std::invalid_argument("its array " + name + " does not fit the inputs and other arrays");
  }
  return result;
}

void check_count(const std::vector<GearArray> & arrays, std::size_t count)
{
  if (arrays.size() != count) {
    throw std::invalid_argument(
      "it has " + std::to_string(arrays.size()) + " arrays, expected " + std::to_string(count));
  }
}

/// Number of values of each joint.
std::size_t stride(const GearArray & array, std::size_t joints)
{
  return array.numbers.size() / joints;
}

Vector part(const GearArray & array, std::size_t joints, std::size_t joint)
{
  const std::size_t width = stride(array, joints);
  return Eigen::Map<const Vector>(
    array.numbers.data() + joint * width, static_cast<Eigen::Index>(width));
}

/// Gaussians about the centres, divided by their sum (Eq. 26, 28).
void normalise(double value, const Vector & centres, double width, Vector & basis)
{
  double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (Eigen::Index k = 0; k < centres.size(); ++k) {
    const double distance = (value - centres[k]) / width;
    basis[k] = -0.5 * distance * distance;
    largest = std::max(largest, basis[k]);
  }
  for (Eigen::Index k = 0; k < centres.size(); ++k) {
    basis[k] = std::exp(basis[k] - largest);
    sum += basis[k];
  }
  for (Eigen::Index k = 0; k < centres.size(); ++k) {
    basis[k] /= sum;
  }
}

class RbfMap : public GearMap
{
public:
  RbfMap(const std::vector<GearArray> & arrays, std::size_t joints, std::size_t inputs)
  {
    check_count(arrays, inputs + 2);
    std::vector<const GearArray *> centres;
    Sizes grid;
    for (std::size_t axis = 0; axis < inputs; ++axis) {
      centres.push_back(&array_of(arrays, "centres_" + std::to_string(axis)));
      if (centres.back()->sizes.size() != 1) {
        throw std::invalid_argument("its array " + centres.back()->name + " is no list");
      }
      grid.push_back(centres.back()->sizes.front());
    }
    const GearArray & widths =
      array_of(arrays, "widths", {static_cast<Eigen::Index>(inputs)});
    const GearArray & weights = array_of(arrays, "weights", grid);
    for (std::size_t joint = 0; joint < joints; ++joint) {
      Grid one;
      one.weights = part(weights, joints, joint);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        // The basis of a missing input is 1.
        const bool given = axis < inputs;
        one.centres[axis] = given ? part(*centres[axis], joints, joint) : Vector::Zero(1);
        one.widths[axis] = given ? widths.numbers[joint * inputs + axis] : 1.0;
        bases_[axis] = one.centres[axis];
      }
      grids_.push_back(one);
    }
  }

  double torque(std::size_t joint, const Features & features) override
  {
    const Grid & grid = grids_[joint];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      normalise(
        features[static_cast<Eigen::Index>(axis)], grid.centres[axis], grid.widths[axis],
        bases_[axis]);
    }
    double result = 0.0;
    const double * weight = grid.weights.data();
    for (const double first : bases_[0]) {
      double plane = 0.0;
      for (const double second : bases_[1]) {
        double row = 0.0;
        for (const double third : bases_[2]) {
          row += third * *weight++;
        }
        plane += second * row;
      }
      result += first * plane;
    }
    return result;
  }

private:
  struct Grid
  {
    std::array<Vector, 3> centres;
    std::array<double, 3> widths;
    Vector weights;  // of the last input first
  };
  std::vector<Grid> grids_;
  std::array<Vector, 3> bases_;  // of the features of now
};

class GmrMap : public GearMap
{
public:
  GmrMap(const std::vector<GearArray> & arrays, std::size_t joints, std::size_t inputs)
  {
    check_count(arrays, 3);
    const GearArray & weights = array_of(arrays, "weights");
    if (weights.sizes.size() != 1) {
      throw std::invalid_argument("its array weights is no list");
    }
    const auto count = static_cast<std::size_t>(weights.sizes.front());
    const auto size = static_cast<Eigen::Index>(inputs), width = size + 1;
    const GearArray & means = array_of(arrays, "means", {weights.sizes.front(), width});
    const GearArray & covariances =
      array_of(arrays, "covariances", {weights.sizes.front(), width, width});
    mixtures_.resize(joints);
    for (std::size_t place = 0; place < joints * count; ++place) {
      mixtures_[place / count].push_back(
        component(
          weights.numbers[place], means.numbers.data() + place * (inputs + 1),
          covariances.numbers.data() + place * (inputs + 1) * (inputs + 1), size));
    }
    exponents_ = Vector::Zero(weights.sizes.front());
  }

  double torque(std::size_t joint, const Features & features) override
  {
    const auto & mixture = mixtures_[joint];
    double largest = -std::numeric_limits<double>::infinity();
    Eigen::Index place = 0;
    for (const Component & one : mixture) {
      const Features off = features - one.mean;
      exponents_[place] = one.constant - 0.5 * off.dot(one.precision * off);
      largest = std::max(largest, exponents_[place++]);
    }
    double sum = 0.0, result = 0.0;
    place = 0;
    for (const Component & one : mixture) {
      const double share = std::exp(exponents_[place++] - largest);
      sum += share;
      result += share * (one.torque + one.slope.dot(features - one.mean));
    }
    return result / sum;
  }

private:
  struct Component  // zeros where there is no third input
  {
    Features mean = Features::Zero(), slope = Features::Zero();
    Eigen::Matrix3d precision = Eigen::Matrix3d::Zero();
    double constant = 0.0, torque = 0.0;
  };

  /// Prepare what does not depend on the features: precision, slope and constant (Eq. 34, 37, 38).
  static Component component(
    double weight, const double * mean, const double * covariance, Eigen::Index inputs)
  {
    using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Square> complete(covariance, inputs + 1, inputs + 1);
    const Eigen::MatrixXd inner = complete.topLeftCorner(inputs, inputs);
    const Eigen::PartialPivLU<Eigen::MatrixXd> factors(inner);
    const Vector pivots = factors.matrixLU().diagonal().cwiseAbs();
    if (!(pivots.minCoeff() > 0.0)) {
      throw std::invalid_argument("a covariance cannot be inverted");
    }
    const Eigen::MatrixXd precision = factors.inverse();
    Component result;
    result.mean.head(inputs) = Eigen::Map<const Vector>(mean, inputs);
    result.slope.head(inputs) = precision.transpose() * complete.row(inputs).head(inputs).transpose();
    result.precision.topLeftCorner(inputs, inputs) = precision;
    result.constant = std::log(weight) - 0.5 * pivots.array().log().sum();
    result.torque = mean[inputs];
    return result;
  }

  std::vector<std::vector<Component>> mixtures_;  // of each joint
  Vector exponents_;                              // of the features of now
};

}  // namespace

std::unique_ptr<GearMap> gear_map(
  const std::string & kind, const std::vector<GearArray> & arrays, std::size_t joints,
  std::size_t inputs)
{
  if (kind == "rbf") {
    return std::make_unique<RbfMap>(arrays, joints, inputs);
  }
  return std::make_unique<GmrMap>(arrays, joints, inputs);
}

}  // namespace robodyn_ros
