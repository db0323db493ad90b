#include "bunraku/model/detail/beam_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku {

namespace detail {

namespace {

/// Of a motion: force over strain, and mass, or for torsion inertia, over length.
struct BeamDensities {
  double stiffness;
  double mass;
};

BeamDensities densities(const Beam& beam, BeamMotion motion) {
  const BeamSection& section = beam.section;
  switch (motion) {
    case BeamMotion::bend_y:
      return {beam.young * section.second_moment_z, beam.density * section.area};
    case BeamMotion::bend_z:
      return {beam.young * section.second_moment_y, beam.density * section.area};
    case BeamMotion::torsion:
      return {beam.shear * section.torsion_constant,
              beam.density * (section.second_moment_y + section.second_moment_z)};
    case BeamMotion::stretch:
      break;
  }
  return {beam.young * section.area, beam.density * section.area};
}

/// An element and a place s in it, from 0 to 1.
struct ElementPlace {
  Eigen::Index element;
  double s;
  double length;
};

ElementPlace locate(std::span<const double> mesh, double x) {
  const auto above = std::upper_bound(mesh.begin() + 1, mesh.end() - 1, x);
  const double low = *(above - 1);
  const double length = *above - low;
  return {above - 1 - mesh.begin(), (x - low) / length, length};
}

/// A row that is zero but for the coordinates of an element's two ends.
template <std::size_t n>
Eigen::RowVectorXd element_row(const BeamElements& elements, Eigen::Index element,
                               const std::array<double, n>& numbers) {
  Eigen::RowVectorXd out = Eigen::RowVectorXd::Zero(elements.size());
  for (std::size_t i = 0; i < n; ++i) {
    out[element * elements.per_point() + static_cast<Eigen::Index>(i)] = numbers[i];
  }
  return out;
}

void refuse_beam(const char* what, double value, const char* unit) {
  throw ArgumentError(fmt::format("the beam's {} is {} {}: give a positive, finite number", what, value, unit));
}

/// Gauss points on (−1, 1), with their weights.
std::vector<BeamPoint> unit_points(int n) {
  switch (n) {
    case 1:
      return {{0, 2}};
    case 2:
      return {{-1 / std::sqrt(3.0), 1}, {1 / std::sqrt(3.0), 1}};
    case 3:
      return {{-std::sqrt(0.6), 5.0 / 9}, {0, 8.0 / 9}, {std::sqrt(0.6), 5.0 / 9}};
    default: {
      const double inner = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2));
      const double outer = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2));
      const double heavy = (18 + std::sqrt(30.0)) / 36;
      const double light = (18 - std::sqrt(30.0)) / 36;
      return {{-outer, light}, {-inner, heavy}, {inner, heavy}, {outer, light}};
    }
  }
}

}  // namespace

std::vector<BeamPoint> gauss_points(std::span<const double> mesh, int per_element) {
  const std::vector<BeamPoint> unit = unit_points(per_element);
  std::vector<BeamPoint> out;
  for (std::size_t i = 1; i < mesh.size(); ++i) {
    const double half = 0.5 * (mesh[i] - mesh[i - 1]);
    for (const BeamPoint& point : unit) {
      out.push_back({mesh[i - 1] + half * (1 + point.x), half * point.weight});
    }
  }
  return out;
}

Eigen::RowVectorXd BeamElements::displacement(double x) const {
  const auto [element, s, l] = locate(mesh, x);
  if (!bends) {
    return element_row<2>(*this, element, {1 - s, s});
  }
  return element_row<4>(*this, element,
                        {1 + s * s * (2 * s - 3), l * s * (1 - s) * (1 - s), s * s * (3 - 2 * s), l * s * s * (s - 1)});
}

Eigen::RowVectorXd BeamElements::slope(double x) const {
  const auto [element, s, l] = locate(mesh, x);
  if (!bends) {
    return element_row<2>(*this, element, {-1 / l, 1 / l});
  }
  const double bump = 6 * s * (1 - s) / l;
  return element_row<4>(*this, element, {-bump, (1 - s) * (1 - 3 * s), bump, s * (3 * s - 2)});
}

Eigen::RowVectorXd BeamElements::strain(double x) const {
  const auto [element, s, l] = locate(mesh, x);
  if (!bends) {
    return slope(x);
  }
  const double linear = (12 * s - 6) / (l * l);
  return element_row<4>(*this, element, {linear, (6 * s - 4) / l, -linear, (6 * s - 2) / l});
}

BeamElements beam_elements(const Beam& beam, BeamMotion motion, std::vector<double> mesh, const TipLoad& load) {
  BeamElements out;
  out.bends = motion == BeamMotion::bend_y || motion == BeamMotion::bend_z;
  out.mesh = std::move(mesh);
  const BeamDensities density = densities(beam, motion);
  const std::vector<BeamPoint> strained = gauss_points(out.mesh, out.bends ? 2 : 1);  // as many as make K exact
  out.B.resize(std::ssize(strained), out.size());
  for (Eigen::Index i = 0; i < out.B.rows(); ++i) {
    const BeamPoint& point = strained[static_cast<std::size_t>(i)];
    out.B.row(i) = std::sqrt(density.stiffness * point.weight) * out.strain(point.x);
  }
  const std::vector<BeamPoint> moved = gauss_points(out.mesh, 4);  // and M
  out.C.setZero(std::ssize(moved) + out.per_point(), out.size());
  for (Eigen::Index i = 0; i < std::ssize(moved); ++i) {
    const BeamPoint& point = moved[static_cast<std::size_t>(i)];
    out.C.row(i) = std::sqrt(density.mass * point.weight) * out.displacement(point.x);
  }
  const double tip = motion == BeamMotion::torsion ? load.moments.x : load.mass;
  out.C(std::ssize(moved), out.size() - out.per_point()) = std::sqrt(tip);
  if (out.bends) {
    out.C(std::ssize(moved) + 1, out.size() - 1) =
        std::sqrt(motion == BeamMotion::bend_y ? load.moments.z : load.moments.y);
  }
  return out;
}

Eigen::MatrixXd columns_of(const Eigen::MatrixXd& matrix, const std::vector<Eigen::Index>& columns) {
  Eigen::MatrixXd out(matrix.rows(), std::ssize(columns));
  for (Eigen::Index i = 0; i < out.cols(); ++i) {
    out.col(i) = matrix.col(columns[static_cast<std::size_t>(i)]);
  }
  return out;
}

/// M x = ω⁻² K x by its roots: with B = QR the singular values of C R⁻¹ are 1/ω, so that it is the lowest frequencies
/// that keep all digits, and the others lose no more than their ratio to the lowest.
BeamVibrations beam_vibrations(const Eigen::MatrixXd& B, const Eigen::MatrixXd& C) {
  const Eigen::Index n = B.cols();
  const Eigen::MatrixXd R = Eigen::HouseholderQR<Eigen::MatrixXd>(B).matrixQR().topRows(n);
  const auto upper = R.triangularView<Eigen::Upper>();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(upper.solve<Eigen::OnTheRight>(C), Eigen::ComputeThinV);
  const Eigen::VectorXd omega = svd.singularValues().cwiseInverse();
  return {{omega.data(), omega.data() + n}, upper.solve(svd.matrixV()) * omega.asDiagonal()};
}

void check_beam(const Beam& beam, BeamMotion motion, const TipLoad& load) {
  const auto check = [](double value, const char* what, const char* unit) {
    if (!(value > 0) || !std::isfinite(value)) {
      refuse_beam(what, value, unit);
    }
  };
  check(beam.length, "length", "m");
  check(beam.density, "density", "kg/m³");
  check(beam.section.area, "section's area", "m²");
  check(beam.section.second_moment_y, "section's second moment about y", "m⁴");
  check(beam.section.second_moment_z, "section's second moment about z", "m⁴");
  if (motion == BeamMotion::torsion) {
    check(beam.shear, "shear modulus", "Pa");
    check(beam.section.torsion_constant, "section's torsion constant", "m⁴");
  } else {
    check(beam.young, "Young's modulus", "Pa");
  }
  if (beam.elements < 1 || beam.elements > max_beam_elements) {
    throw ArgumentError(fmt::format("the beam has {} elements: give 1 to {}", beam.elements, max_beam_elements));
  }
  const Vec3<double>& J = load.moments;
  for (const double value : {load.mass, J.x, J.y, J.z}) {
    if (!(value >= 0) || !std::isfinite(value)) {
      throw ArgumentError(
          fmt::format("a mass or moment of inertia of the load on the beam's tip is {}: give zero or more", value));
    }
  }
}

}  // namespace detail

std::vector<double> beam_frequencies(const Beam& beam, BeamMotion motion, BeamEnds ends, const TipLoad& load) {
  detail::check_beam(beam, motion, load);
  std::vector<double> mesh;
  for (int i = 0; i <= beam.elements; ++i) {
    mesh.push_back(beam.length * i / beam.elements);
  }
  const detail::BeamElements elements = detail::beam_elements(beam, motion, std::move(mesh), load);
  const bool clamped =
      ends == BeamEnds::clamped_free || ends == BeamEnds::clamped_pinned || ends == BeamEnds::clamped_clamped;
  const bool tip_held = ends != BeamEnds::clamped_free && ends != BeamEnds::pinned_free && ends != BeamEnds::free_free;
  std::vector<Eigen::Index> free;
  for (Eigen::Index i = 0; i < elements.size(); ++i) {
    const Eigen::Index from_tip = i - (elements.size() - elements.per_point());
    const bool held = (i == 0 && ends != BeamEnds::free_free) || (from_tip == 0 && tip_held) ||
                      (elements.bends && i == 1 && clamped) || (from_tip == 1 && ends == BeamEnds::clamped_clamped);
    if (!held) {
      free.push_back(i);
    }
  }
  if (free.empty()) {
    return {};
  }
  const Eigen::MatrixXd B = detail::columns_of(elements.B, free);
  const Eigen::MatrixXd C = detail::columns_of(elements.C, free);
  std::vector<double> out;
  if (B.rows() >= B.cols()) {
    out = detail::beam_vibrations(B, C).frequencies;
  } else {  // B has no rows for rigid motions: the other way round it has as many singular values as it has rows
    const Eigen::MatrixXd R = Eigen::HouseholderQR<Eigen::MatrixXd>(C).matrixQR().topRows(C.cols());
    const Eigen::MatrixXd root = R.triangularView<Eigen::Upper>().solve<Eigen::OnTheRight>(B);
    const Eigen::VectorXd omega = Eigen::JacobiSVD<Eigen::MatrixXd>(root).singularValues().reverse();
    out.assign(omega.data(), omega.data() + omega.size());
  }
  for (double& frequency : out) {
    frequency /= 2 * std::numbers::pi;
  }
  return out;
}

}  // namespace bunraku
