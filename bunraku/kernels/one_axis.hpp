/// @file
/// Hinges with one axis between two bodies in the user's frames.
#pragma once

#include <array>
#include <cmath>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku::kernels {

/// X_PB = part 0 + c · part 1 + s · part 2, with c and s those of q for a turn, 0 and q for a slide: three sums in
/// place of three products of transforms.
struct OneAxis {
  bool turns = false;                              ///< Or slides.
  std::array<Mat3<double>, 3> rotation = {};       ///< Parts of the rotation.
  std::array<Vec3<double>, 3> translation = {};    ///< Parts of the translation.
  Motion<double> column = Motion<double>::zero();  ///< H*, the same at every q.

  /// Whether hinges of a type have one.
  static constexpr bool has(HingeType type) {
    return type == HingeType::revolute || type == HingeType::continuous || type == HingeType::prismatic;
  }

  /// Of a body's hinge: of R(q) = a a* + cos q (I − a a*) + sin q ã each part between X_PF and X_MB.
  static OneAxis of(const Body& body) {
    OneAxis out;
    out.turns = body.hinge.type != HingeType::prismatic;
    const Vec3<double>& axis = body.hinge.axis;
    hinge_joint_map(body.hinge, nullptr, &out.column);
    out.column = inverse_times(body.X_MB, out.column);
    const Mat3<double> along = out.turns ? outer(axis, axis) : Mat3<double>::identity();
    const std::array<Mat3<double>, 3> parts = {along, Mat3<double>::identity() - along,
                                               out.turns ? skew(axis) : Mat3<double>::zero()};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Mat3<double> turned = body.X_PF.rotation.matrix() * parts[i];
      out.rotation[i] = turned * body.X_MB.rotation.matrix();
      out.translation[i] = turned * body.X_MB.translation;
    }
    out.translation[0] += body.X_PF.translation;
    if (!out.turns) {
      out.translation[2] = body.X_PF.rotation * axis;
    }
    return out;
  }

  /// X_PB at q.
  template <class S>
  Transform<S> pose(const S& q) const {
    using std::cos;
    using std::sin;
    const auto turn = [&](std::size_t i) { return cast<S>(rotation[i]); };
    const auto arm = [&](std::size_t i) { return cast<S>(translation[i]); };
    if (!turns) {
      return {Rotation<S>(turn(0)), arm(0) + arm(2) * q};
    }
    const S c = cos(q);
    const S s = sin(q);
    return {Rotation<S>(turn(0) + turn(1) * c + turn(2) * s), arm(0) + arm(1) * c + arm(2) * s};
  }
};

}  // namespace bunraku::kernels
