#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_bodies.hpp"

namespace bunraku::io {

void MjcfInertia::read_inertial(const XmlElement& element, const Transform<double>& X_BF, const MjcfShared& shared) {
  const Attributes attributes(element, shared.defaults);
  mass_ = element.required_number("mass");
  if (mass_ < 0) {
    element.error(fmt::format("the mass {} is negative", mass_), "give a mass of zero or more");
    mass_ = 0;
  }
  if (element.required("pos").empty()) {
    return;
  }
  const Transform<double> pose = X_BF * read_pose(attributes, shared.settings);
  center_ = pose.translation;
  axes_ = pose.rotation;
  if (const auto full = element.numbers("fullinertia", 6, 6)) {
    const std::vector<double>& i = *full;
    central_ = {i[0], i[1], i[2], i[3], i[4], i[5]};
    for (const char* other : {"diaginertia", "quat", "axisangle", "xyaxes", "zaxis", "euler"}) {
      if (element.has(other)) {
        element.error(fmt::format("<inertial> has both fullinertia and {}", other), "keep one of them");
      }
    }
  }
  const Vec3<double> diagonal = element.vector("diaginertia", Vec3<double>::zero());
  if (!element.has("fullinertia")) {
    central_ = Sym3<double>::diagonal(diagonal.x, diagonal.y, diagonal.z);
  }
}

void MjcfInertia::set_geoms(const std::vector<MjcfGeom>& geoms) {
  double mass = 0;
  int count = 0;
  Vec3<double> moment = Vec3<double>::zero();
  for (const MjcfGeom& geom : geoms) {
    if (geom.mass > 0) {
      ++count;
      mass += geom.mass;
      moment += geom.pose.translation * geom.mass;
      axes_ = count == 1 ? geom.pose.rotation : Rotation<double>();
    }
  }
  if (count == 0) {
    return;
  }
  mass_ = mass;
  center_ = moment / mass;
  central_ = Sym3<double>::zero();
  for (const MjcfGeom& geom : geoms) {
    if (geom.mass > 0) {
      if (count == 1) {  // a diagonal one stays so, to the last bit
        center_ = geom.pose.translation;
        central_ = geom.central;
      } else {
        central_ += congruence(geom.pose.rotation.matrix(), geom.central) +
                    point_inertia(geom.pose.translation - center_) * geom.mass;
      }
    }
  }
}

RigidInertia<double> MjcfInertia::corrected(const MjcfSettings& settings) const {
  const double mass = std::max(mass_, settings.least_mass);
  Sym3<double> central = central_;
  Rotation<double> axes = axes_;
  const Sym3<double>& c = central_;
  const bool finite = std::isfinite(c.xx + c.yy + c.zz + c.xy + c.xz + c.yz);
  if (finite && (settings.least_inertia > 0 || settings.balance_inertia)) {
    // both corrections are about principal moments
    if (c.xy != 0 || c.xz != 0 || c.yz != 0) {
      Eigen::Matrix3d matrix;
      matrix << c.xx, c.xy, c.xz, c.xy, c.yy, c.yz, c.xz, c.yz, c.zz;
      const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(matrix);
      const Eigen::Matrix3d& v = solver.eigenvectors();
      const auto column = [&](int j) { return Vec3<double>{v(0, j), v(1, j), v(2, j)}; };
      // the third by the right-hand rule: the solver does not promise it
      axes = axes_ * Rotation<double>(Mat3<double>::from_columns(column(0), column(1), cross(column(0), column(1))));
      central = Sym3<double>::diagonal(solver.eigenvalues()[0], solver.eigenvalues()[1], solver.eigenvalues()[2]);
    }
    double& a = central.xx;
    double& b = central.yy;
    double& d = central.zz;
    a = std::max(a, settings.least_inertia);
    b = std::max(b, settings.least_inertia);
    d = std::max(d, settings.least_inertia);
    if (settings.balance_inertia && (a + b < d || a + d < b || b + d < a)) {
      const double mean = (a + b + d) / 3;
      central = Sym3<double>::diagonal(mean, mean, mean);
    }
  }
  // A body that has neither <inertial> nor geoms but is given a mass by boundmass has it, in MuJoCo, at the body's
  // own pos as seen from the body; center_ starts there.
  return mass == 0 && central == Sym3<double>::zero()
             ? RigidInertia<double>::zero()
             : RigidInertia<double>::about_center(mass, center_, congruence(axes.matrix(), central));
}

}  // namespace bunraku::io
