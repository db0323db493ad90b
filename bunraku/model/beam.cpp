#include "bunraku/model/beam.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/model/detail/beam_elements.hpp"

namespace bunraku {

namespace {

using detail::BeamPoint;

/// How a node at x moves: its turn over its displacement.
Motion<double> beam_displacement(BeamMotion motion, double value, double slope) {
  switch (motion) {
    case BeamMotion::bend_y:
      return {{0, 0, slope}, {0, value, 0}};
    case BeamMotion::bend_z:
      return {{0, -slope, 0}, {0, 0, value}};
    case BeamMotion::torsion:
      return {{value, 0, 0}, Vec3<double>::zero()};
    case BeamMotion::stretch:
      break;
  }
  return {Vec3<double>::zero(), {value, 0, 0}};
}

/// ∫ w′w′* of all modes of a motion from one place to another in the same element, where three points make it exact.
Eigen::MatrixXd slope_integral(const detail::BeamModes& modes, double from, double to) {
  const Eigen::Index n = modes.vibrations.shapes.cols();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(n, n);
  for (const BeamPoint& point : detail::gauss_points(std::array{from, to}, 3)) {
    const Eigen::RowVectorXd slope = modes.elements.slope(point.x) * modes.vibrations.shapes;
    out += point.weight * slope.transpose() * slope;
  }
  return out;
}

/// The shapes of all modes along a beam, by rising frequency.
class BeamShapes {
 public:
  BeamShapes(std::vector<detail::BeamModes> modes, bool shortening) : modes_(std::move(modes)) {
    for (std::size_t m = 0; m < modes_.size(); ++m) {
      const std::vector<double>& frequencies = modes_[m].vibrations.frequencies;
      for (std::size_t i = 0; i < frequencies.size(); ++i) {
        order_.push_back({m, static_cast<Eigen::Index>(i), frequencies[i]});
      }
      if (shortening) {
        add_shortening(modes_[m]);
      }
    }
    std::stable_sort(order_.begin(), order_.end(), [](const Mode& a, const Mode& b) { return a.omega < b.omega; });
  }

  /// ω of each mode, rad/s.
  std::vector<double> frequencies() const {
    std::vector<double> out(order_.size());
    std::transform(order_.begin(), order_.end(), out.begin(), [](const Mode& mode) { return mode.omega; });
    return out;
  }

  /// The ends of the elements.
  const std::vector<double>& mesh() const { return modes_.front().elements.mesh; }

  /// Of a node at x, which turns by all motions, or not at all.
  ModalShape at(double x, bool turns) const {
    ModalShape out;
    std::vector<Eigen::RowVectorXd> values;
    std::vector<Eigen::RowVectorXd> slopes;
    for (const detail::BeamModes& modes : modes_) {
      values.emplace_back(modes.elements.displacement(x) * modes.vibrations.shapes);
      slopes.emplace_back(modes.elements.slope(x) * modes.vibrations.shapes);
    }
    for (const Mode& mode : order_) {
      const Motion<double> motion = beam_displacement(modes_[mode.motion].motion, values[mode.motion][mode.column],
                                                      slopes[mode.motion][mode.column]);
      out.translation.push_back(motion.linear);
      if (turns) {
        out.rotation.push_back(motion.angular);
      }
    }
    if (!shortenings_.empty()) {
      out.shortening = shortening(x);
    }
    return out;
  }

  /// Of a section at x that turns by torsion, and does nothing else that counts.
  ModalShape twist(double x) const {
    ModalShape out = at(x, true);
    for (Vec3<double>& lambda : out.rotation) {
      lambda = {lambda.x, 0, 0};
    }
    out.shortening.clear();
    return out;
  }

 private:
  struct Mode {
    std::size_t motion;   ///< Index in modes_.
    Eigen::Index column;  ///< Among the modes of that motion.
    double omega;
  };

  /// S at the beginning of each element; none of motions that are not bending.
  void add_shortening(const detail::BeamModes& modes) {
    std::vector<Eigen::MatrixXd>& out = shortenings_.emplace_back();
    if (!modes.elements.bends) {
      return;
    }
    const Eigen::Index n = modes.vibrations.shapes.cols();
    out.emplace_back(Eigen::MatrixXd::Zero(n, n));
    const std::vector<double>& mesh = modes.elements.mesh;
    for (std::size_t e = 0; e + 2 < mesh.size(); ++e) {
      out.emplace_back(out.back() + slope_integral(modes, mesh[e], mesh[e + 1]));
    }
  }

  std::vector<double> shortening(double x) const {
    const std::size_t n = order_.size();
    const auto element =
        static_cast<std::size_t>(std::upper_bound(mesh().begin() + 1, mesh().end() - 1, x) - 1 - mesh().begin());
    std::vector<Eigen::MatrixXd> parts(modes_.size());
    for (std::size_t m = 0; m < modes_.size(); ++m) {
      if (modes_[m].elements.bends) {
        parts[m] = shortenings_[m][element] + slope_integral(modes_[m], mesh()[element], x);
      }
    }
    std::vector<double> out(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t l = 0; l < n; ++l) {
        const std::size_t m = order_[i].motion;
        if (order_[l].motion == m && modes_[m].elements.bends) {
          out[i * n + l] = parts[m](order_[i].column, order_[l].column);
        }
      }
    }
    return out;
  }

  std::vector<detail::BeamModes> modes_;
  std::vector<Mode> order_;
  std::vector<std::vector<Eigen::MatrixXd>> shortenings_;  ///< Of each motion; empty: without shortening.
};

void check_options(const Beam& beam, const BeamOptions& options) {
  for (const double value : {options.damping.ratio, options.damping.alpha, options.damping.beta}) {
    if (!(value >= 0) || !std::isfinite(value)) {
      throw ArgumentError(fmt::format("a damping of the beam is {}: give zero or more", value));
    }
  }
  std::set<std::string> names{"tip"};
  for (const BeamStation& station : options.stations) {
    if (station.name.empty() || !names.insert(station.name).second) {
      throw ArgumentError(fmt::format(
          "a station of the beam is named '{}': give each a name of its own, other than 'tip'", station.name));
    }
    if (!(station.place > 0) || !(station.place < beam.length)) {
      throw ArgumentError(
          fmt::format("station '{}' of the beam is at {} m: give a place between 0 and its length, {} m", station.name,
                      station.place, beam.length));
    }
  }
}

/// A lamina of the section's shape, by length.
Sym3<double> section_inertia(const Beam& beam) {
  const BeamSection& section = beam.section;
  return Sym3<double>::diagonal(section.second_moment_y + section.second_moment_z, section.second_moment_y,
                                section.second_moment_z) *
         beam.density;
}

/// The beam's mass. Sections turn with torsion; where there is none, what they have about their centres stays with the
/// mass, which does not turn.
void add_lumps(const Beam& beam, const BeamShapes& shapes, std::vector<FlexibleNode>& nodes) {
  const Sym3<double> section = section_inertia(beam);
  for (const BeamPoint& point : detail::gauss_points(shapes.mesh(), 4)) {
    FlexibleNode node{.place = {point.x, 0, 0}, .shape = shapes.at(point.x, false)};
    node.inertia.mass = beam.density * beam.section.area * point.weight;
    node.inertia.inertia = section * (beam.torsion ? 0 : point.weight);
    nodes.push_back(std::move(node));
  }
  if (!beam.torsion) {
    return;
  }
  for (const BeamPoint& point : detail::gauss_points(shapes.mesh(), 2)) {
    FlexibleNode node{.place = {point.x, 0, 0}, .shape = shapes.twist(point.x)};
    node.inertia.inertia = section * point.weight;
    nodes.push_back(std::move(node));
  }
}

}  // namespace

FlexibleBody flexible_beam(const Beam& beam, const BeamOptions& options) {
  check_options(beam, options);
  const BeamShapes shapes(detail::beam_modes(beam, options), options.shortening);
  FlexibleBody out;
  for (const double omega : shapes.frequencies()) {
    const ModeDamping& damping = options.damping;
    out.stiffness.push_back(omega * omega);
    out.damping.push_back(2 * damping.ratio * omega + damping.alpha + damping.beta * omega * omega);
  }
  const auto add_named = [&](const std::string& name, double x) {
    out.nodes.push_back({.name = name, .place = {x, 0, 0}, .shape = shapes.at(x, true)});
  };
  for (const BeamStation& station : options.stations) {
    add_named(station.name, station.place);
  }
  add_named("tip", beam.length);
  add_lumps(beam, shapes, out.nodes);
  return out;
}

}  // namespace bunraku
