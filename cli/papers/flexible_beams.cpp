/// @file
/// Beams: frequencies of the operators' mass matrix, extrapolated to fine elements, against closed forms.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "bunraku/model/beam.hpp"
#include "bunraku/model/configuration.hpp"
#include "papers/flexible.hpp"

namespace bunraku::cli::papers {

namespace {

/// A beam that bends in one plane, with as many modes as its elements have, and how it is held and loaded.
struct HeldBeam {
  std::optional<Hinge> hinge = {};  ///< Clamped to the world where there is none.
  BeamEnds ends = BeamEnds::clamped_free;
  double load = 0;  ///< The mass on its tip over its own.
};

/// So thin that sections that turn with the hinge do not count.
Beam thin_beam(Random& random) {
  const double thickness = random.uniform(1e-6, 2e-6);
  Beam out{.length = random.uniform(0.7, 1.5), .section = BeamSection::rectangle(thickness, thickness)};
  out.young = 1e11;
  out.shear = 4e10;
  out.density = random.uniform(1000, 8000);
  out.bend_z = false;
  return out;
}

/// The frequencies but those of rigid motion, over √(EI/(ρA))/L², rising.
Eigen::VectorXd frequencies(Beam beam, int elements, const HeldBeam& held) {
  beam.elements = elements;
  BeamOptions options;
  options.modes.set = held.load > 0 ? ModeSet::craig_bampton : ModeSet::clamped_free;
  options.modes.count = 2 * elements;
  ModelBuilder builder("beam");
  add_flexible_body(builder, {.name = "beam", .hinge = held.hinge.value_or(Hinge{})}, flexible_beam(beam, options));
  if (held.load > 0) {
    const double mass = held.load * beam.density * beam.section.area * beam.length;
    builder.add({.name = "load", .parent = "beam.tip", .inertia = RigidInertia<double>::about_center(mass, {}, {})});
  }
  const Model model = builder.build();
  const Eigen::VectorXd q = neutral(model);
  const System system(model, q, Eigen::VectorXd::Zero(model.nv()));
  const Eigen::MatrixXd mass = system.literal(parse(expand("MASS"), {})).dense();
  const FlexiblePart& part = model.flexible().front();
  const Hinge& hinge = model.bodies()[static_cast<std::size_t>(part.nodes.front())].hinge;
  Eigen::VectorXd root(part.modes);
  for (int i = 0; i < part.modes; ++i) {
    root(i) = std::sqrt(hinge.dofs[static_cast<std::size_t>(i)].stiffness);
  }
  // rigid motion meets no stiffness: K^(−½)[𝓜_ηη − 𝓜_ηr 𝓜_rr⁻¹ 𝓜_rη]K^(−½) has the eigenvalues ω⁻²
  Eigen::MatrixXd felt = mass.bottomRightCorner(part.modes, part.modes);
  if (const int rigid = part.v_index; rigid > 0) {
    const Eigen::MatrixXd coupling = mass.topRightCorner(rigid, part.modes);
    felt -= coupling.transpose() * mass.topLeftCorner(rigid, rigid).llt().solve(coupling);
  }
  const Eigen::MatrixXd scaled = root.cwiseInverse().asDiagonal() * felt * root.cwiseInverse().asDiagonal();
  const Eigen::VectorXd found = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues();
  const double unit = std::sqrt(beam.young * beam.section.second_moment_z / (beam.density * beam.section.area)) /
                      (beam.length * beam.length);
  return found.reverse().cwiseSqrt().cwiseInverse() / unit;
}

/// The largest error of the first three, extrapolated from 8, 16 and 32 elements: their errors go with the fourth and
/// sixth power of the length.
double beam_residual(Sample& sample, const HeldBeam& held) {
  Random random(static_cast<std::uint64_t>(1e6 * std::abs(sample.x()(0))));
  const Beam beam = thin_beam(random);
  const std::array<Eigen::VectorXd, 3> found{frequencies(beam, 8, held), frequencies(beam, 16, held),
                                             frequencies(beam, 32, held)};
  const auto better = [](const Eigen::VectorXd& coarse, const Eigen::VectorXd& fine, double power) -> Eigen::VectorXd {
    return fine + (fine - coarse) / (power - 1);
  };
  const Eigen::VectorXd first = better(found[0].head(3), found[1].head(3), 16);
  const Eigen::VectorXd second = better(found[1].head(3), found[2].head(3), 16);
  const Eigen::VectorXd extrapolated = better(first, second, 64);
  double worst = 0;
  for (int i = 0; i < 3; ++i) {
    const double root = beam_root(held.ends, i + 1, held.load);
    worst = std::max(worst, std::abs(extrapolated(i) / (root * root) - 1));
  }
  return worst;
}

}  // namespace

double clamped_beam(Sample& sample) {
  return beam_residual(sample, {});
}

double loaded_beam(Sample& sample) {
  return beam_residual(sample, {.load = 0.1 + std::abs(sample.x()(0))});
}

double pinned_beam(Sample& sample) {
  return beam_residual(sample, {.hinge = Hinge{.type = HingeType::revolute}, .ends = BeamEnds::pinned_free});
}

double free_beam(Sample& sample) {
  return beam_residual(sample, {.hinge = Hinge{.type = HingeType::planar}, .ends = BeamEnds::free_free});
}

}  // namespace bunraku::cli::papers
