#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/model/flexible.hpp"

namespace bunraku {

namespace {

using MassMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// M_ηη as the caller gets it, for Eigen.
Eigen::Map<const MassMatrix> mass_map(const std::vector<double>& numbers, int n) {
  return {numbers.data(), n, n};
}

}  // namespace

RigidInertia<double> rigid_inertia(const FlexibleBody& body) {
  RigidInertia<double> out = body.inertia;
  for (const FlexibleNode& node : body.nodes) {
    out += shifted(node.inertia, node.place);
  }
  return out;
}

std::vector<double> modal_mass(const FlexibleBody& body) {
  const auto n = static_cast<std::size_t>(body.modes());
  std::vector<double> out(n * n);
  for (const FlexibleNode& node : body.nodes) {
    const ModalShape& shape = node.shape;
    if (shape.translation.size() != n || (!shape.rotation.empty() && shape.rotation.size() != n)) {
      throw ArgumentError(
          fmt::format("node '{}' has {} translations and {} rotations for {} modes: give one of each mode", node.name,
                      shape.translation.size(), shape.rotation.size(), n));
    }
    const auto motion = [&](std::size_t i) {
      return Motion<double>{shape.rotation.empty() ? Vec3<double>::zero() : shape.rotation[i], shape.translation[i]};
    };
    for (std::size_t i = 0; i < n; ++i) {
      const Force<double> momentum = node.inertia * motion(i);
      for (std::size_t l = i; l < n; ++l) {
        out[l * n + i] = out[i * n + l] += dot(momentum, motion(l));
      }
    }
  }
  return out;
}

std::vector<double> held_frequencies(const FlexibleBody& body) {
  const int n = body.modes();
  if (n == 0) {
    return {};
  }
  const std::vector<double> mass = modal_mass(body);
  const Eigen::VectorXd scale = mass_map(mass, n).diagonal().cwiseSqrt();
  if (!(scale.minCoeff() > 0)) {
    throw ArgumentError("a mode of the flexible body moves no mass: give its nodes mass, or leave the mode out");
  }
  const Eigen::VectorXd stiffness = Eigen::Map<const Eigen::VectorXd>(body.stiffness.data(), n);
  if (!(stiffness.minCoeff() >= 0)) {
    throw ArgumentError(
        fmt::format("a mode of the flexible body has stiffness {}: give none below zero", stiffness.minCoeff()));
  }
  // with unit diagonal the factor's pivots say how far the modes are from depending on each other
  const Eigen::MatrixXd M = scale.cwiseInverse().asDiagonal() * mass_map(mass, n) * scale.cwiseInverse().asDiagonal();
  const Eigen::LLT<Eigen::MatrixXd> factor(M);
  constexpr double least = 4 * std::numeric_limits<double>::epsilon();
  if (factor.info() != Eigen::Success ||
      !(factor.matrixLLT().diagonal().cwiseAbs2().minCoeff() > static_cast<double>(n) * least)) {
    throw ArgumentError(
        "the modal mass of the flexible body is singular: its modes depend on each other; leave out those that do");
  }
  // the singular values of L⁻¹√K are the frequencies: without their squares the low ones keep their digits
  const Eigen::MatrixXd root = stiffness.cwiseSqrt().cwiseQuotient(scale).asDiagonal();
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(factor.matrixL().solve(root)).singularValues();
  std::vector<double> out(values.data(), values.data() + values.size());
  std::reverse(out.begin(), out.end());
  for (double& frequency : out) {
    frequency /= 2 * std::numbers::pi;
  }
  return out;
}

}  // namespace bunraku
