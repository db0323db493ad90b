/// Beams as flexible bodies: their modes against statics, closed forms, and beams of another mesh.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/error.hpp"
#include "bunraku/model/beam.hpp"
#include "support/beams.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using std::numbers::pi;
using testing::HasSubstr;

const FlexibleNode& node_of(const FlexibleBody& body, const std::string& name) {
  for (const FlexibleNode& node : body.nodes) {
    if (node.name == name) {
      return node;
    }
  }
  throw std::runtime_error("no node " + name);
}

Eigen::MatrixXd mass_matrix(const FlexibleBody& body) {
  const std::vector<double> M = modal_mass(body);
  return Eigen::Map<const Eigen::MatrixXd>(M.data(), body.modes(), body.modes());
}

Eigen::MatrixXd stiffness_matrix(const FlexibleBody& body) {
  return Eigen::Map<const Eigen::VectorXd>(body.stiffness.data(), body.modes()).asDiagonal();
}

Eigen::MatrixXd shortening_of(const FlexibleNode& node) {
  const Eigen::Index n = node.shape.modes();
  return Eigen::Map<const Eigen::MatrixXd>(node.shape.shortening.data(), n, n);
}

/// Π of a node, rotation over translation.
Eigen::MatrixXd shape_of(const FlexibleNode& node) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6, node.shape.modes());
  for (Eigen::Index i = 0; i < out.cols(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    out.col(i).tail<3>() = to_eigen(node.shape.translation[k]);
    if (!node.shape.rotation.empty()) {
      out.col(i).head<3>() = to_eigen(node.shape.rotation[k]);
    }
  }
  return out;
}

/// The frequencies of K x = ω² M x, rad/s.
Eigen::VectorXd frequencies(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> inverse(M, K);
  return inverse.eigenvalues().cwiseInverse().cwiseSqrt().reverse();
}

/// All that a beam can do.
Beam tube() {
  Beam out = bar(6);
  out.section = BeamSection::tube(0.06, 0.05);
  out.bend_z = out.torsion = out.stretch = true;
  return out;
}

TEST(FlexibleBeam, HasTheInertiaOfTheSolid) {
  Beam prism = bar();
  prism.section = BeamSection::rectangle(0.2, 0.5);
  const double m = mass_of(prism);
  const auto solid = RigidInertia<double>::about_center(
      m, {0.75, 0, 0}, Sym3<double>::diagonal(0.04 + 0.25, 1.5 * 1.5 + 0.25, 1.5 * 1.5 + 0.04) * (m / 12));
  for (const bool torsion : {false, true}) {
    prism.torsion = torsion;
    const FlexibleBody body = flexible_beam(prism);
    EXPECT_TRUE(is_near(rigid_inertia(body).matrix(), solid.matrix(), 1e-14));
    EXPECT_TRUE(is_near(rigid_inertia(with_fewest_lumps(body)).matrix(), solid.matrix(), 1e-13));
  }
}

TEST(FlexibleBeam, HasOrthonormalModesOfEverySet) {
  for (const ModeSet set : {ModeSet::craig_bampton, ModeSet::clamped_free, ModeSet::loaded}) {
    for (const int count : {0, 9, 20}) {
      const BeamOptions options{.modes = {.set = set, .count = count, .load = {.mass = 3, .moments = {0.1, 0.2, 0.3}}},
                                .damping = {.ratio = 0.01, .alpha = 0.5, .beta = 1e-4}};
      const FlexibleBody body = flexible_beam(tube(), options);
      EXPECT_EQ(body.modes(), count == 0 ? 12 : count);
      EXPECT_TRUE(is_near(mass_matrix(body), Eigen::MatrixXd::Identity(body.modes(), body.modes()), 1e-12));
      EXPECT_TRUE(std::is_sorted(body.stiffness.begin(), body.stiffness.end()));
      const std::vector<double> hertz = held_frequencies(body);
      for (std::size_t i = 0; i < hertz.size(); ++i) {
        const double omega = std::sqrt(body.stiffness[i]);
        EXPECT_NEAR(2 * pi * hertz[i] / omega, 1, 1e-12);
        EXPECT_NEAR(body.damping[i], 0.02 * omega + 0.5 + 1e-4 * omega * omega, 1e-12 * body.damping[i]);
      }
    }
  }
}

/// Clamped–free modes with all that the elements have are those of the elements, each motion by itself.
TEST(FlexibleBeam, HasTheFrequenciesOfItsElements) {
  Beam beam = tube();
  beam.elements = 5;
  std::vector<double> expected;
  for (const BeamMotion motion : {BeamMotion::bend_y, BeamMotion::bend_z, BeamMotion::torsion, BeamMotion::stretch}) {
    const std::vector<double> part = beam_frequencies(beam, motion, BeamEnds::clamped_free);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  std::sort(expected.begin(), expected.end());
  for (const ModeSet set : {ModeSet::craig_bampton, ModeSet::clamped_free}) {
    const std::vector<double> hertz = held_frequencies(flexible_beam(beam, {.modes = {.set = set, .count = 30}}));
    ASSERT_EQ(hertz.size(), expected.size());
    for (std::size_t i = 0; i < hertz.size(); ++i) {
      EXPECT_NEAR(hertz[i] / expected[i], 1, 1e-11);
    }
  }
}

/// A force and a moment on the tip, or on a station that carries, deflect it as in a textbook, however few the modes.
TEST(FlexibleBeam, BendsAtItsTipAsInStatics) {
  const Beam beam = tube();
  const double a = 0.4;
  const FlexibleBody body =
      flexible_beam(beam, {.modes = {.count = 12}, .stations = {{.name = "elbow", .place = a, .carries = true}}});
  const double EI = beam.young * beam.section.second_moment_y;
  for (const auto& [name, x] : {std::pair("tip", beam.length), std::pair("elbow", a)}) {
    const Eigen::MatrixXd shape = shape_of(node_of(body, name));
    const Eigen::MatrixXd C = shape * stiffness_matrix(body).inverse() * shape.transpose();
    Eigen::MatrixXd exact = Eigen::MatrixXd::Zero(6, 6);
    exact.diagonal() << x / (beam.shear * beam.section.torsion_constant), x / EI, x / EI,
        x / (beam.young * beam.section.area), x * x * x / (3 * EI), x * x * x / (3 * EI);
    exact(2, 4) = exact(4, 2) = x * x / (2 * EI);
    exact(1, 5) = exact(5, 1) = -exact(2, 4);
    EXPECT_TRUE(is_near(C / C.norm(), exact / C.norm(), 1e-12)) << C << "\n\n" << exact;
  }
}

TEST(FlexibleBeam, HasTheModesThatAreAskedFor) {
  Beam beam = tube();
  EXPECT_EQ(flexible_beam(beam).modes(), 12) << "static shapes 2, 2, 1, 1, and as many vibrations";
  const auto below = [&](ModeSet set, double hertz, int count = 0) {
    return flexible_beam(beam, {.modes = {.set = set, .count = count, .below = hertz}}).modes();
  };
  const std::vector<double> bending = beam_frequencies(beam, BeamMotion::bend_y, BeamEnds::clamped_free);
  EXPECT_EQ(below(ModeSet::clamped_free, 1.01 * bending[1]), 4);
  EXPECT_EQ(below(ModeSet::clamped_free, 1.01 * bending[1], 3), 3);
  EXPECT_EQ(below(ModeSet::clamped_free, 1.01 * bending[1], 9), 4);
  const std::vector<double> held = beam_frequencies(beam, BeamMotion::bend_y, BeamEnds::clamped_clamped);
  EXPECT_EQ(below(ModeSet::craig_bampton, 0.99 * held[0]), 6);
  EXPECT_EQ(below(ModeSet::craig_bampton, 1.01 * held[0]), 8);
  beam.bend_z = beam.torsion = beam.stretch = false;
  EXPECT_EQ(flexible_beam(beam).modes(), 4);
  beam.elements = 1;
  EXPECT_EQ(flexible_beam(beam).modes(), 2) << "as many as the elements have";
  EXPECT_EQ(flexible_beam(beam, {.modes = {.set = ModeSet::clamped_free}}).modes(), 2);
}

/// Modes of a beam that carries a mass, put under one, have the frequencies of the loaded beam.
TEST(FlexibleBeam, LoadedModesAreThoseUnderTheLoad) {
  Beam beam = bar();
  const TipLoad load{.mass = 5, .moments = {0, 0, 0.2}};
  const FlexibleBody body = flexible_beam(beam, {.modes = {.set = ModeSet::loaded, .count = 3, .load = load}});
  const Eigen::MatrixXd tip = shape_of(node_of(body, "tip"));
  const Eigen::MatrixXd M =
      mass_matrix(body) + tip.row(4).transpose() * 5 * tip.row(4) + tip.row(2).transpose() * 0.2 * tip.row(2);
  const Eigen::VectorXd omega = frequencies(stiffness_matrix(body), M);
  const std::vector<double> exact = beam_frequencies(beam, BeamMotion::bend_y, BeamEnds::clamped_free, load);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(omega[i] / (2 * pi * exact[static_cast<std::size_t>(i)]), 1, 1e-10);
  }
}

TEST(FlexibleBeam, NodesMoveByTheClosedForm) {
  const Beam beam = bar(32);
  const FlexibleBody body = flexible_beam(beam, {.modes = {.set = ModeSet::clamped_free, .count = 3},
                                                 .stations = {{"mid", 0.75}, {"near", 0.745}, {"far", 0.755}}});
  for (std::size_t i = 0; i < 3; ++i) {
    const auto exact = [&](double x) {
      return clamped_free_shape(static_cast<int>(i) + 1, x / beam.length) / std::sqrt(mass_of(beam));
    };
    const ModalShape& mid = node_of(body, "mid").shape;
    EXPECT_NEAR(mid.translation[i].y, exact(0.75), 1e-5);
    EXPECT_NEAR(node_of(body, "tip").shape.translation[i].y, exact(1.5), 1e-5);
    const double slope =
        (node_of(body, "far").shape.translation[i].y - node_of(body, "near").shape.translation[i].y) / 0.01;
    EXPECT_NEAR(mid.rotation[i].z, slope, 1e-3);
    EXPECT_NEAR(mid.rotation[i].z, (exact(0.7501) - exact(0.7499)) / 0.0002, 1e-4);
  }
}

/// What turns by λ moves what lies further along x by λ × x: both directions of bending have the right sign.
TEST(FlexibleBeam, TurnsAsItsAxisDoes) {
  const FlexibleBody body = flexible_beam(tube(), {.stations = {{"a", 0.9}, {"b", 0.9 + 1e-6}, {"root", 1e-3}}});
  for (std::size_t i = 0; i < 12; ++i) {
    const ModalShape& a = node_of(body, "a").shape;
    const Vec3<double> rate = (node_of(body, "b").shape.translation[i] - a.translation[i]) / 1e-6;
    const Vec3<double> turned = cross(a.rotation[i], Vec3<double>::unit_x());
    EXPECT_NEAR(rate.y, turned.y, 1e-5);
    EXPECT_NEAR(rate.z, turned.z, 1e-5);
    const ModalShape& root = node_of(body, "root").shape;
    EXPECT_GT(dot(root.translation[i], {1, 1, 1}) + root.rotation[i].x, 0) << "to the positive side first";
  }
}

/// K_g of a spinning beam, by the axial load of its reference state, and as what the shortening does to the masses.
TEST(Shortening, IsTheStiffeningOfASpinningBeam) {
  Beam beam = tube();
  BeamOptions options{.modes = {.count = 10}, .shortening = true};
  const FlexibleBody body = flexible_beam(beam, options);
  Eigen::MatrixXd by_shortening = Eigen::MatrixXd::Zero(10, 10);
  for (const FlexibleNode& node : body.nodes) {
    if (node.inertia.mass > 0) {
      by_shortening += node.inertia.mass * node.place.x * shortening_of(node);
      options.stations.push_back({std::to_string(options.stations.size()), node.place.x});
    }
  }
  // ∫ N w′w′* with N = ½μ(L² − x²) is of the sixth degree in each element, so that the lumps' points make it exact
  const FlexibleBody dense = flexible_beam(beam, options);
  Eigen::MatrixXd by_load = Eigen::MatrixXd::Zero(10, 10);
  std::size_t station = 0;
  for (const FlexibleNode& node : body.nodes) {
    if (node.inertia.mass > 0) {
      const Eigen::MatrixXd turn = shape_of(node_of(dense, std::to_string(station++))).middleRows<2>(1);
      const double x = node.place.x;
      by_load += 0.5 * node.inertia.mass * (beam.length * beam.length - x * x) * turn.transpose() * turn;
    }
  }
  EXPECT_TRUE(is_near(by_shortening / by_load.norm(), by_load / by_load.norm(), 1e-13));
  EXPECT_TRUE(is_near(shortening_of(node_of(dense, "tip")), shortening_of(node_of(body, "tip")), 1e-14));
}

/// Frequencies of flapping against the speed of spin, both in units of √(EI/μL⁴).
TEST(Shortening, GivesTheFrequenciesOfASpinningBeam) {
  const Beam beam = bar(32);
  const FlexibleBody body =
      flexible_beam(beam, {.modes = {.set = ModeSet::clamped_free, .count = 8}, .shortening = true});
  Eigen::MatrixXd K_g = Eigen::MatrixXd::Zero(8, 8);
  for (const FlexibleNode& node : body.nodes) {
    K_g += node.inertia.mass * node.place.x * shortening_of(node);
  }
  const double unit = 2 * pi * hertz_of(beam);
  const double table[][2] = {{0, 3.51602}, {1, 3.68165}, {2, 4.13732}, {3, 4.79728},
                             {4, 5.58501}, {5, 6.44957}, {6, 7.36042}, {12, 13.171}};
  for (const auto& [spin, flap] : table) {
    const Eigen::MatrixXd K = stiffness_matrix(body) + std::pow(spin * unit, 2) * K_g;
    EXPECT_NEAR(frequencies(K, mass_matrix(body))[0] / unit, flap, spin < 12 ? 1e-5 : 1e-3) << "spin " << spin;
  }
}

/// Two beams end to end, the second on the tip of the first, and a mass on the second's tip. Of small motion.
double two_links(const Beam& beam, const ModeChoice& choice, double payload, int mode) {
  const FlexibleBody link = flexible_beam(beam, {.modes = choice});
  const Eigen::Index n = link.modes();
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  M.topLeftCorner(n, n) = mass_matrix(link);
  const Eigen::MatrixXd tip = shape_of(node_of(link, "tip"));
  const auto add = [&](double mass, double x, const Eigen::MatrixXd& shape) {
    Eigen::MatrixXd row(1, 2 * n);
    row << tip.row(4) + x * tip.row(2), shape.row(4);
    M += mass * row.transpose() * row;
  };
  for (const FlexibleNode& node : link.nodes) {
    add(node.inertia.mass, node.place.x, shape_of(node));
  }
  add(payload, beam.length, tip);
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  K.topLeftCorner(n, n) = K.bottomRightCorner(n, n) = stiffness_matrix(link);
  return frequencies(K, M)[mode];
}

/// What static shapes are for: a link carries another.
TEST(FlexibleBeam, CraigBamptonModesCarryOtherLinks) {
  const Beam link = bar(12);
  Beam whole = bar(64);
  whole.length *= 2;
  const double payload = 0.5 * mass_of(link);
  const std::vector<double> exact =
      beam_frequencies(whole, BeamMotion::bend_y, BeamEnds::clamped_free, {.mass = payload});
  const auto error = [&](ModeSet set, int count, int mode) {
    return two_links(link, {.set = set, .count = count}, payload, mode) /
               (2 * pi * exact[static_cast<std::size_t>(mode)]) -
           1;
  };
  EXPECT_LT(error(ModeSet::craig_bampton, 2, 0), 2e-4);
  EXPECT_LT(error(ModeSet::craig_bampton, 4, 0), 2e-6);
  EXPECT_LT(error(ModeSet::craig_bampton, 4, 2), 1e-3);
  EXPECT_LT(error(ModeSet::craig_bampton, 8, 2), 1e-5);
  EXPECT_GT(error(ModeSet::clamped_free, 4, 0), 1e-3) << "which those of a free tip do badly";
  EXPECT_GT(error(ModeSet::clamped_free, 8, 2), 100 * error(ModeSet::craig_bampton, 8, 2));
}

TEST(FewestLumps, OfABeamAreAFewMoreThanItsModes) {
  Beam beam = bar();
  const auto lumps = [](const FlexibleBody& body) { return std::ssize(with_fewest_lumps(body).nodes) - 1; };
  EXPECT_EQ(lumps(flexible_beam(beam)), 2 + 4) << "1, x and four shapes";
  beam.bend_z = true;
  EXPECT_EQ(lumps(flexible_beam(beam)), 2 + 4) << "the same shapes in both directions";
  EXPECT_EQ(lumps(flexible_beam(tube())), 2 + 4 + 1) << "one more of stretch; torsion goes along with the masses";
  beam.torsion = true;
  EXPECT_EQ(lumps(flexible_beam(beam)), 16) << "sections that are not symmetric stay";
  const FlexibleBody fewer = with_fewest_lumps(flexible_beam(beam));
  EXPECT_TRUE(is_near(mass_matrix(fewer), Eigen::MatrixXd::Identity(10, 10), 1e-12));
}

void expect_refused(const Beam& beam, const BeamOptions& options, const std::string& why) {
  try {
    static_cast<void>(flexible_beam(beam, options));
    FAIL() << why;
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr(why));
  }
}

TEST(FlexibleBeam, NumbersThatNoBeamHasAreRefused) {
  const auto with = [](auto change) {
    Beam beam = bar();
    change(beam);
    return beam;
  };
  expect_refused(with([](Beam& b) { b.length = -1; }), {}, "length is -1 m: give a positive");
  expect_refused(with([](Beam& b) { b.young = 0; }), {}, "Young's modulus is 0 Pa");
  expect_refused(with([](Beam& b) { b.density = std::nan(""); }), {}, "density is nan");
  expect_refused(with([](Beam& b) { b.section = {}; }), {}, "area is 0");
  expect_refused(with([](Beam& b) { b.elements = 0; }), {}, "0 elements: give 1 to 128");
  expect_refused(with([](Beam& b) { b.torsion = true, b.shear = 0; }), {}, "shear modulus is 0");
  expect_refused(with([](Beam& b) { b.bend_y = false; }), {}, "neither bends nor twists");
  expect_refused(bar(), {.modes = {.count = 17}}, "whose elements have 16: give more elements");
  expect_refused(bar(), {.modes = {.count = 1}}, "2 static shapes");
  expect_refused(bar(), {.modes = {.count = -1}}, "-1 modes");
  expect_refused(bar(), {.modes = {.set = ModeSet::clamped_free, .below = 1}}, "no modes below 1 Hz");
  expect_refused(bar(), {.modes = {.below = 0}}, "below 0 Hz");
  expect_refused(bar(40), {.modes = {.count = 65}}, "65 modes, more than 64");
  expect_refused(bar(), {.modes = {.load = {.mass = -1}}}, "load on the beam's tip is -1");
  expect_refused(bar(), {.damping = {.ratio = -0.1}}, "damping of the beam is -0.1");
  expect_refused(bar(), {.stations = {{"tip", 1}}}, "named 'tip'");
  expect_refused(bar(), {.stations = {{"a", 1.5}}}, "at 1.5 m: give a place between 0 and its length, 1.5 m");
}

}  // namespace
}  // namespace bunraku::test
