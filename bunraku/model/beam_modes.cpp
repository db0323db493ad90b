#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/QR>
#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/model/detail/beam_elements.hpp"

namespace bunraku::detail {

namespace {

/// The shapes of one motion that there are to choose from, all coordinates of each.
struct BeamBasis {
  BeamMotion motion;
  BeamElements elements;      ///< Without a load.
  Eigen::MatrixXd statics;    ///< Taken in any case.
  BeamVibrations vibrations;  ///< Of which the lowest are taken.
};

/// The ends of the elements. Stations that carry bodies are among them: each part between them has its share of the
/// elements, and one at least.
std::vector<double> mesh_of(const Beam& beam, const BeamOptions& options) {
  std::vector<double> ends{beam.length};
  for (const BeamStation& station : options.stations) {
    if (station.carries && options.modes.set == ModeSet::craig_bampton) {
      ends.push_back(station.place);
    }
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::vector<double> out{0};
  for (const double end : ends) {
    const double begin = out.back();
    // a part that rounding makes a little longer than a whole number of elements has no more than that
    const double share = beam.elements * (end - begin) / beam.length * (1 - 1e-12);
    const int parts = std::max(1, static_cast<int>(std::ceil(share)));
    for (int i = 1; i < parts; ++i) {
      out.push_back(begin + (end - begin) * i / parts);
    }
    out.push_back(end);
  }
  return out;
}

/// Which coordinates are held at the places where bodies hang: displacements and slopes of the tip and of stations.
std::vector<Eigen::Index> interface_of(const BeamElements& elements, const BeamOptions& options) {
  std::vector<Eigen::Index> out;
  for (Eigen::Index i = 1; i < std::ssize(elements.mesh); ++i) {
    const double x = elements.mesh[static_cast<std::size_t>(i)];
    const bool carries = i + 1 == std::ssize(elements.mesh) ||
                         std::any_of(options.stations.begin(), options.stations.end(),
                                     [&](const BeamStation& s) { return s.carries && s.place == x; });
    for (Eigen::Index j = 0; carries && j < elements.per_point(); ++j) {
      out.push_back(i * elements.per_point() + j);
    }
  }
  return out;
}

/// Shapes of some coordinates as ones of all.
Eigen::MatrixXd spread(const Eigen::MatrixXd& shapes, const std::vector<Eigen::Index>& coordinates, Eigen::Index size) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, shapes.cols());
  for (Eigen::Index i = 0; i < shapes.rows(); ++i) {
    out.row(coordinates[static_cast<std::size_t>(i)]) = shapes.row(i);
  }
  return out;
}

BeamBasis craig_bampton(BeamMotion motion, BeamElements elements, const BeamOptions& options) {
  const std::vector<Eigen::Index> held = interface_of(elements, options);
  std::vector<Eigen::Index> inner;
  for (Eigen::Index i = elements.per_point(); i < elements.size(); ++i) {
    if (!std::binary_search(held.begin(), held.end(), i)) {
      inner.push_back(i);
    }
  }
  const auto unit = Eigen::MatrixXd::Identity(std::ssize(held), std::ssize(held));
  BeamBasis out{motion, std::move(elements), {}, {}};
  const BeamElements& e = out.elements;
  out.statics = spread(unit, held, e.size());
  out.vibrations.shapes.resize(e.size(), 0);
  if (!inner.empty()) {
    // what is not held goes where |B x|², the energy, is least
    const Eigen::MatrixXd B = columns_of(e.B, inner);
    const Eigen::MatrixXd least = Eigen::HouseholderQR<Eigen::MatrixXd>(B).solve(-columns_of(e.B, held));
    out.statics += spread(least, inner, e.size());
    out.vibrations = beam_vibrations(B, columns_of(e.C, inner));
    out.vibrations.shapes = spread(out.vibrations.shapes, inner, e.size());
  }
  return out;
}

BeamBasis basis_of(const Beam& beam, BeamMotion motion, const BeamOptions& options) {
  const std::vector<double> mesh = mesh_of(beam, options);
  BeamElements elements = beam_elements(beam, motion, mesh, {});
  if (options.modes.set == ModeSet::craig_bampton) {
    return craig_bampton(motion, std::move(elements), options);
  }
  const TipLoad load = options.modes.set == ModeSet::loaded ? options.modes.load : TipLoad{};
  const BeamElements loaded = beam_elements(beam, motion, mesh, load);
  const Eigen::Index free = elements.size() - elements.per_point();
  BeamVibrations modes = beam_vibrations(loaded.B.rightCols(free), loaded.C.rightCols(free));
  Eigen::MatrixXd shapes = Eigen::MatrixXd::Zero(elements.size(), free);
  shapes.bottomRows(free) = modes.shapes;
  modes.shapes = std::move(shapes);
  return {motion, std::move(elements), Eigen::MatrixXd(loaded.size(), 0), std::move(modes)};
}

/// How many vibrations to take of each motion where the user says nothing.
std::vector<Eigen::Index> usual_numbers(const std::vector<BeamBasis>& bases) {
  std::vector<Eigen::Index> out;
  for (const BeamBasis& basis : bases) {
    const Eigen::Index wanted = (basis.elements.bends ? 4 : 2) / (basis.statics.cols() == 0 ? 1 : 2);
    out.push_back(std::min<Eigen::Index>(wanted, std::ssize(basis.vibrations.frequencies)));
  }
  return out;
}

/// How many vibrations to take of each motion: the lowest of all.
std::vector<Eigen::Index> chosen_numbers(const std::vector<BeamBasis>& bases, const ModeChoice& choice) {
  std::vector<std::pair<double, std::size_t>> ranked;  // frequency and motion
  Eigen::Index statics = 0;
  Eigen::Index all = 0;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    statics += bases[i].statics.cols();
    all += bases[i].statics.cols() + std::ssize(bases[i].vibrations.frequencies);
    for (const double omega : bases[i].vibrations.frequencies) {
      if (omega < 2 * std::numbers::pi * choice.below) {
        ranked.emplace_back(omega, i);
      }
    }
  }
  if (choice.count > all) {
    throw ArgumentError(fmt::format(
        "{} modes of a beam whose elements have {}: give more elements, or ask for fewer modes", choice.count, all));
  }
  if (choice.count != 0 && choice.count < statics) {
    throw ArgumentError(
        fmt::format("{} modes of a beam that has {} static shapes for what hangs on it: ask for as many "
                    "at least, or for clamped-free or loaded modes",
                    choice.count, statics));
  }
  std::sort(ranked.begin(), ranked.end());
  if (choice.count != 0) {
    ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(choice.count - statics)));
  }
  std::vector<Eigen::Index> out(bases.size());
  for (const auto& [omega, motion] : ranked) {
    ++out[motion];
  }
  return out;
}

void check_number(Eigen::Index modes, const ModeChoice& choice) {
  if (modes == 0) {
    throw ArgumentError(fmt::format("the beam has no modes below {} Hz: give a higher limit, or none", choice.below));
  }
  if (modes > max_modes) {
    throw ArgumentError(fmt::format(
        "the beam has {} modes, more than {}: ask for fewer, or give a lower limit of frequency", modes, max_modes));
  }
}

void check_choice(const ModeChoice& choice) {
  if (choice.count < 0) {
    throw ArgumentError(
        fmt::format("{} modes of a beam: give 0 for the usual ones, or a positive number", choice.count));
  }
  if (!(choice.below > 0)) {
    throw ArgumentError(fmt::format("modes of a beam below {} Hz: give a positive limit, or none", choice.below));
  }
}

/// Modes of the beam alone in the space of the shapes, each leaving the clamped end to the positive side.
BeamModes modes_of(BeamBasis basis, Eigen::Index number) {
  Eigen::MatrixXd shapes(basis.elements.size(), basis.statics.cols() + number);
  shapes.leftCols(basis.statics.cols()) = basis.statics;
  shapes.rightCols(number) = basis.vibrations.shapes.leftCols(number);
  if (shapes.cols() == 0) {
    return {basis.motion, std::move(basis.elements), {{}, std::move(shapes)}};
  }
  BeamVibrations ritz = beam_vibrations(basis.elements.B * shapes, basis.elements.C * shapes);
  shapes *= ritz.shapes;
  const Eigen::RowVectorXd strain = basis.elements.strain(0) * shapes;
  for (Eigen::Index i = 0; i < shapes.cols(); ++i) {
    shapes.col(i) *= strain[i] < 0 ? -1 : 1;
  }
  return {basis.motion, std::move(basis.elements), {std::move(ritz.frequencies), std::move(shapes)}};
}

}  // namespace

std::vector<BeamModes> beam_modes(const Beam& beam, const BeamOptions& options) {
  const ModeChoice& choice = options.modes;
  check_choice(choice);
  std::vector<BeamBasis> bases;
  for (const auto& [wanted, motion] :
       {std::pair(beam.bend_y, BeamMotion::bend_y), std::pair(beam.bend_z, BeamMotion::bend_z),
        std::pair(beam.torsion, BeamMotion::torsion), std::pair(beam.stretch, BeamMotion::stretch)}) {
    if (wanted) {
      check_beam(beam, motion, choice.load);
      bases.push_back(basis_of(beam, motion, options));
    }
  }
  if (bases.empty()) {
    throw ArgumentError(
        "the beam neither bends nor twists nor stretches: let it do one of these, or make it a rigid body");
  }
  const bool usual = choice.count == 0 && std::isinf(choice.below);
  const std::vector<Eigen::Index> numbers = usual ? usual_numbers(bases) : chosen_numbers(bases, choice);
  Eigen::Index all = 0;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    all += bases[i].statics.cols() + numbers[i];
  }
  check_number(all, choice);
  std::vector<BeamModes> out;
  out.reserve(bases.size());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    out.push_back(modes_of(std::move(bases[i]), numbers[i]));
  }
  return out;
}

}  // namespace bunraku::detail
