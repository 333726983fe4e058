// SPDX-License-Identifier: Apache-2.0
// The equations are explained in robodyn_ros/models/closed_forms/delta*.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include <Eigen/Geometry>

#include "robodyn_ros/result_blocks.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

using Vector3 = Eigen::Vector3d;
using Three = std::array<Vector3, 3>;

constexpr double kTurn = 6.283185307179586;
constexpr double kTiny = 1e-12;  // [m] or [N], against a division by zero

/// Lengths [m]: base, platform, arm, rod, and height of the shaft's upper joint; gravity [m/s^2].
struct DeltaGeometry
{
  double r_b, r_p, l_ab, l_bc, h_o, gravity;
};

/// Radius [m] beyond which a force acts on the platform, and the largest force [N].
struct PlatformForce
{
  double r_ext, fr_max;
};

/// Vectors of each arm that depend on its angle, see `_arms`.
struct Arms
{
  Three b, slope, centre;

  Arms(const DeltaGeometry & geometry, const double * theta)
  {
    for (int arm = 0; arm < 3; ++arm) {
      const double ex = std::cos(arm * kTurn / 3.0), ey = std::sin(arm * kTurn / 3.0);
      const double level = geometry.l_ab * std::cos(theta[arm]);
      const double drop = geometry.l_ab * std::sin(theta[arm]);
      const double outer = geometry.r_b - geometry.r_p + level;
      b[arm] = {-drop * ex, -drop * ey, -level};
      slope[arm] = {-level * ex, -level * ey, drop};
      centre[arm] = {outer * ex, outer * ey, -drop};
    }
  }
};

/// Points at distance L_BC from three centres, foot +- sqrt(square) normal: see `_meet`.
struct Meeting
{
  Vector3 foot, normal;
  double square;  // negative: there is no such point

  Meeting(double l_bc, const Three & centre)
  {
    const Vector3 first = centre[1] - centre[0], second = centre[2] - centre[0];
    normal = first.cross(second);
    const double share = 1.0 / normal.squaredNorm();
    const Vector3 lever = first.squaredNorm() * second - second.squaredNorm() * first;
    const Vector3 circle = 0.5 * share * lever.cross(normal);
    foot = centre[0] + circle;
    square = (l_bc * l_bc - circle.squaredNorm()) * share;
  }

  Vector3 below() const {return foot - std::sqrt(square) * normal;}
};

/// Motion of platform and elbows, see `delta_motion`; NaN where the platform is out of reach.
struct Moving
{
  Vector3 x, xd, xdd;
  Three slopes, b, elbow;

  Moving(const DeltaGeometry & geometry, const Motion & motion)
  {
    const Arms arms(geometry, motion.q.data());
    b = arms.b;
    x = Meeting(geometry.l_bc, arms.centre).below();
    const Three rods{x - arms.centre[0], x - arms.centre[1], x - arms.centre[2]};
    const Three sides{
      rods[1].cross(rods[2]), rods[2].cross(rods[0]), rods[0].cross(rods[1])};
    const double share = 1.0 / rods[0].dot(sides[0]);
    std::array<double, 3> leverage{};
    xd.setZero();
    for (int arm = 0; arm < 3; ++arm) {
      leverage[arm] = share * rods[arm].dot(b[arm]);
      slopes[arm] = leverage[arm] * sides[arm];
      xd += motion.qd[arm] * slopes[arm];
    }
    xdd.setZero();
    for (int arm = 0; arm < 3; ++arm) {
      const double qd = motion.qd[arm], qdd = motion.qdd[arm];
      const Vector3 centripetal = qd * qd * arms.slope[arm], swing = xd - qd * b[arm];
      const double pulled = share * (rods[arm].dot(centripetal) - swing.squaredNorm());
      xdd += (pulled + leverage[arm] * qdd) * sides[arm];
      elbow[arm] = qdd * b[arm] + centripetal;
    }
  }
};

/// What the telescopic shaft does per unit of its last four parameters, see `shaft_forces`.
struct Shaft
{
  std::array<Vector3, 4> force;  // on the platform
  double motor;                  // torque of the fourth axis per Theta_Tphi

  Shaft(const DeltaGeometry & geometry, const Moving & moving, const Motion & motion)
  {
    const Vector3 offset = moving.x - geometry.h_o * Vector3::UnitZ();
    const Vector3 weight = geometry.gravity * Vector3::UnitZ();
    const double shorter = 1.0 / offset.norm();
    const Vector3 u = shorter * offset;
    const double stretching = u.dot(moving.xd);
    const Vector3 ud = shorter * (moving.xd - stretching * u);
    const double second = ud.dot(moving.xd) + u.dot(moving.xdd);
    const Vector3 udd =
      shorter * (moving.xdd - second * u) - 2.0 * shorter * stretching * ud;
    const auto across = [&](const Vector3 & given) -> Vector3 {
        return shorter * (given - u.dot(given) * u);
      };
    force[0] = across(weight);
    force[1] = across(-moving.xdd - weight) - udd;
    force[2] = across(udd);
    force[3] = across(spin(u, ud, udd, motion));
  }

private:
  /// The force against a change of u, see `_spin`; sets `motor`.
  Vector3 spin(const Vector3 & u, const Vector3 & ud, const Vector3 & udd, const Motion & motion)
  {
    const double cosine = std::cos(motion.q[3]), sine = std::sin(motion.q[3]);
    const double rate = motion.qd[3];
    const double tilt = cosine * u.x() + sine * u.y(), aside = cosine * u.y() - sine * u.x();
    const double swing = cosine * ud.x() + sine * ud.y(), tilt_rate = swing + aside * rate;
    const double less = 1.0 / (1.0 - tilt * tilt);
    const double alpha = u.z() * less, factor = tilt * less;
    const double alpha_rate = (ud.z() + 2.0 * alpha * tilt * tilt_rate) * less;
    const double factor_rate = tilt_rate * (1.0 + tilt * tilt) * less * less;
    const Vector3 side(sine * u.z(), -cosine * u.z(), aside);
    const double leaning = side.dot(ud), turning = u.z() * swing - tilt * ud.z();
    const double speed = alpha * rate + factor * leaning;
    const double change = alpha * motion.qdd[3] + alpha_rate * rate +
      factor * (side.dot(udd) + rate * turning) + factor_rate * leaning;
    motor = change * alpha;
    return change * factor * side + speed * ud.cross(u);
  }
};

/// Distance from singularities, 0 at singular or unreachable angles: see `_dexterity`.
double dexterity(const DeltaGeometry & geometry, const std::array<double, 3> & theta)
{
  const Arms arms(geometry, theta.data());
  const Meeting meeting(geometry.l_bc, arms.centre);
  if (!(meeting.square > 0.0)) {
    return 0.0;
  }
  Three rods;
  double leverage = std::numeric_limits<double>::infinity();
  for (int arm = 0; arm < 3; ++arm) {
    rods[arm] = (meeting.below() - arms.centre[arm]) / geometry.l_bc;
    leverage = std::min(leverage, std::abs(rods[arm].dot(arms.b[arm])));
  }
  return std::abs(rods[0].dot(rods[1].cross(rods[2]))) * leverage / geometry.l_ab;
}

/// Least dexterity of the corners, edges and middle of a cube of arm angles.
double least_dexterity(const DeltaGeometry & geometry, double centre, double half)
{
  double least = std::numeric_limits<double>::infinity();
  for (int corner = 0; corner < 27; ++corner) {
    const std::array<double, 3> theta{
      centre + half * (corner / 9 - 1), centre + half * (corner / 3 % 3 - 1),
      centre + half * (corner % 3 - 1)};
    least = std::min(least, dexterity(geometry, theta));
  }
  return least;
}

/// Working range of the arms, [rad].
std::pair<double, double> arm_range(const DeltaGeometry & geometry)
{
  double best = 0.0, centre = 0.0;
  for (int place = 0; place < 53; ++place) {
    const double angle = -1.2 + 0.05 * place, value = dexterity(geometry, {angle, angle, angle});
    if (value > best) {
      best = value;
      centre = angle;
    }
  }
  for (const double half : {0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05}) {
    if (best > 0.0 && least_dexterity(geometry, centre, half) > 0.2 * best) {
      return {centre - half, centre + half};
    }
  }
  throw std::invalid_argument("a delta of this geometry cannot move");
}

/// Where the platform is out of reach, the torque is NaN.
class DeltaPart : public ClosedForm
{
public:
  DeltaPart(Eigen::Index joints, const DeltaGeometry & geometry, const PlatformForce * force)
  : ClosedForm(joints, 5 + (joints > 3 ? 6 : 0) + (force ? 2 : 0)),
    shaft_(joints > 3), forced_(force != nullptr), geometry_(geometry),
    limit_(forced_ ? *force : PlatformForce{})
  {
    const auto [lower, upper] = arm_range(geometry);
    for (std::size_t arm = 0; arm < 3; ++arm) {
      facts_.at(arm).lower = lower;
      facts_.at(arm).upper = upper;
    }
    effect_(4, 0) = 1.0;
    if (shaft_) {
      effect_(10, 1) = 1.0;
    }
  }

  void add(const Motion & motion, const Eigen::Ref<const Vector> & p, Vector & tau) override
  {
    const Moving moving(geometry_, motion);
    const Vector3 weight = geometry_.gravity * Vector3::UnitZ();
    const double share = 1.0 / (geometry_.l_bc * geometry_.l_bc);
    Vector3 force = p[4] * (moving.xdd + weight);
    for (int arm = 0; arm < 3; ++arm) {
      const Vector3 centre = 0.25 * (moving.xdd + moving.elbow[arm]) + 0.5 * weight;
      const Vector3 swing = share * (moving.xdd - moving.elbow[arm]);
      force += p[2] * centre + p[3] * swing;
      tau[arm] += p[0] * motion.qdd[arm] - p[1] * std::cos(motion.q[arm]) +
        moving.b[arm].dot(p[2] * centre - p[3] * swing);
    }
    if (shaft_) {
      const Shaft shaft(geometry_, moving, motion);
      force += p[5] * (moving.xdd + weight);
      for (int term = 0; term < 4; ++term) {
        force += p[6 + term] * shaft.force[term];
      }
      tau[3] += p[9] * shaft.motor + p[10] * motion.qdd[3];
    }
    if (forced_) {
      force += p[width() - 2] * moving.xd + pull(moving.x, p[width() - 1]);
    }
    for (int arm = 0; arm < 3; ++arm) {
      tau[arm] += moving.slopes[arm].dot(force);
    }
  }

private:
  /// Force of C_r towards the axis, at most Fr_max.
  Vector3 pull(const Vector3 & x, double stiffness) const
  {
    const double distance = std::hypot(x.x(), x.y());
    const double beyond = std::max(distance - limit_.r_ext, 0.0) / std::max(distance, kTiny);
    const Vector3 force = stiffness * beyond * Vector3(x.x(), x.y(), 0.0);
    return std::min(1.0, limit_.fr_max / std::max(force.norm(), kTiny)) * force;
  }

  bool shaft_, forced_;
  DeltaGeometry geometry_;
  PlatformForce limit_;
};

}  // namespace

std::unique_ptr<Part> delta_part(const YAML::Node & map, std::size_t joints)
{
  const YAML::Node geometry = map["geometry"], force = map["platform_force"];
  PlatformForce numbers{};
  if (force) {
    numbers = {get<double>(force, "R_ext"), get<double>(force, "Fr_max")};
    if (!std::isfinite(numbers.r_ext) || !std::isfinite(numbers.fr_max) || numbers.fr_max < 0.0) {
      throw error("platform_force needs a finite R_ext, and a finite Fr_max of 0 or more");
    }
  }
  return std::make_unique<DeltaPart>(
    static_cast<Eigen::Index>(joints),
    DeltaGeometry{
      get<double>(geometry, "R_b"), get<double>(geometry, "r_p"), get<double>(geometry, "L_AB"),
      get<double>(geometry, "L_BC"), joints > 3 ? get<double>(geometry, "h_O") : 0.0,
      get_or(map, "gravity", 9.81)},
    force ? &numbers : nullptr);
}

}  // namespace robodyn_ros
