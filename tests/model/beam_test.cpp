/// Beams: closed forms, sections, and the frequencies of elements against them.
#include "bunraku/model/beam.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "bunraku/error.hpp"
#include "support/beams.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using std::numbers::pi;

TEST(BeamRoots, AreThoseOfTextbooks) {
  const double clamped_free[] = {1.8751040687, 4.6940911330, 7.8547574382};
  const double free_free[] = {4.7300407449, 7.8532046241, 10.9956078380};
  const double clamped_pinned[] = {3.9266023120, 7.0685827456, 10.2101761228};
  for (int i = 1; i <= 3; ++i) {
    EXPECT_NEAR(beam_root(BeamEnds::clamped_free, i), clamped_free[i - 1], 6e-11);
    EXPECT_NEAR(beam_root(BeamEnds::free_free, i), free_free[i - 1], 6e-11);
    EXPECT_NEAR(beam_root(BeamEnds::clamped_pinned, i), clamped_pinned[i - 1], 6e-11);
    EXPECT_EQ(beam_root(BeamEnds::clamped_clamped, i), beam_root(BeamEnds::free_free, i));
    EXPECT_EQ(beam_root(BeamEnds::pinned_free, i), beam_root(BeamEnds::clamped_pinned, i));
    EXPECT_EQ(beam_root(BeamEnds::pinned_pinned, i), i * pi);
  }
  EXPECT_NEAR(beam_root(BeamEnds::clamped_free, 1, 0.1), 1.7227415206, 6e-11);
  EXPECT_NEAR(beam_root(BeamEnds::clamped_free, 1, 1), 1.2479174096, 6e-11);
  EXPECT_NEAR(beam_root(BeamEnds::clamped_free, 1, 10), 0.7357819194, 6e-11);
  for (const int i : {20, 1000, 1000000}) {  // where cosh is beyond all numbers
    EXPECT_NEAR(beam_root(BeamEnds::clamped_free, i) / ((i - 0.5) * pi), 1, 1e-15);
    EXPECT_NEAR(beam_root(BeamEnds::clamped_clamped, i) / ((i + 0.5) * pi), 1, 1e-15);
    EXPECT_NEAR(beam_root(BeamEnds::clamped_pinned, i) / ((i + 0.25) * pi), 1, 1e-15);
    EXPECT_NEAR(beam_root(BeamEnds::clamped_free, i, 1e9) / ((i - 0.75) * pi), 1, 1e-9) << "as good as pinned";
  }
  EXPECT_THROW(static_cast<void>(beam_root(BeamEnds::free_free, 0)), ArgumentError);
  EXPECT_THROW(static_cast<void>(beam_root(BeamEnds::free_free, 1, 1)), ArgumentError);
  EXPECT_THROW(static_cast<void>(beam_root(BeamEnds::clamped_free, 1, -1)), ArgumentError);
}

/// ∫ x x* dξ from 0 to 1 by Gauss' rule of three points in each of many parts.
template <class F>
Eigen::MatrixXd gram(F x, int parts) {
  Eigen::MatrixXd out = 0 * x(0.0) * x(0.0).transpose();
  for (int i = 0; i < parts; ++i) {
    for (const auto& [place, weight] :
         {std::pair(-std::sqrt(0.6), 5.0), std::pair(0.0, 8.0), std::pair(std::sqrt(0.6), 5.0)}) {
      const Eigen::VectorXd each = x((i + 0.5 + 0.5 * place) / parts);
      out += weight / (18 * parts) * each * each.transpose();
    }
  }
  return out;
}

TEST(ClampedFreeShape, IsOrthonormalHoweverHighTheMode) {
  const int n = 30;
  const auto all = [&](double xi) {
    Eigen::VectorXd out(n + 2);
    for (int i = 0; i < n; ++i) {
      out[i] = clamped_free_shape(i + 1, xi);
    }
    out.tail<2>() << 1, xi;
    return out;
  };
  const Eigen::MatrixXd G = gram(all, 1600);
  EXPECT_TRUE(is_near(G.topLeftCorner(n, n), Eigen::MatrixXd::Identity(n, n), 1e-12));
  for (int i = 1; i <= n; ++i) {
    const double root = beam_root(BeamEnds::clamped_free, i);
    EXPECT_NEAR(clamped_free_shape(i, 1), i % 2 == 1 ? 2 : -2, 1e-12);
    EXPECT_NEAR(clamped_free_shape(i, 0), 0, 1e-14);
    EXPECT_GT(clamped_free_shape(i, 0.1 / root), 0);
    EXPECT_NEAR(G(i - 1, n + 1), 2 / (root * root), 1e-12);
    const double sigma = (std::tanh(root) - std::sin(root) / std::cosh(root)) / (1 + std::cos(root) / std::cosh(root));
    EXPECT_NEAR(G(i - 1, n), 2 * sigma / root, 1e-12);
  }
  EXPECT_NEAR(clamped_free_shape(5000, 1), -2, 1e-9);
}

TEST(BeamSection, IsThatOfTextbooks) {
  const BeamSection square = BeamSection::rectangle(2, 2);
  EXPECT_NEAR(square.torsion_constant / 16, 0.14057701495515372, 1e-15);
  const BeamSection flat = BeamSection::rectangle(3, 0.5);
  EXPECT_DOUBLE_EQ(flat.second_moment_y, 3 * 0.125 / 12);
  EXPECT_DOUBLE_EQ(flat.second_moment_z, 0.5 * 27 / 12);
  double sum = 0;  // the textbook's series
  for (int n = 20001; n > 0; n -= 2) {
    sum += std::tanh(n * pi * 3) / std::pow(n, 5);
  }
  EXPECT_NEAR(flat.torsion_constant, 3 * 0.125 / 3 * (1 - 192 / std::pow(pi, 5) / 6 * sum), 1e-16);
  EXPECT_EQ(BeamSection::rectangle(0.5, 3).torsion_constant, flat.torsion_constant);
  const BeamSection tube = BeamSection::tube(2, 1);
  EXPECT_NEAR(tube.area, 0.75 * pi, 1e-15);
  EXPECT_NEAR(tube.second_moment_y, 15 * pi / 64, 1e-15);
  EXPECT_NEAR(tube.torsion_constant, 15 * pi / 32, 1e-15);
  EXPECT_NEAR(BeamSection::circle(2).second_moment_z, pi / 4, 1e-15);
  EXPECT_THROW(BeamSection::rectangle(0, 1), ArgumentError);
  EXPECT_THROW(BeamSection::circle(-1), ArgumentError);
  EXPECT_THROW(BeamSection::tube(1, 1), ArgumentError);
  EXPECT_THROW(BeamSection::tube(1, -0.1), ArgumentError);
}

/// The orders in which the errors of a frequency fall from 8 to 16 and from 16 to 32 elements.
std::vector<double> error_orders(Beam beam, BeamMotion motion, BeamEnds ends, const TipLoad& load, std::size_t mode,
                                 double exact) {
  std::vector<double> errors;
  for (const int elements : {8, 16, 32}) {
    beam.elements = elements;
    errors.push_back(beam_frequencies(beam, motion, ends, load)[mode] / exact - 1);
    EXPECT_GT(errors.back(), 0) << "consistent mass errs to the stiff side";
  }
  return {std::log2(errors[0] / errors[1]), std::log2(errors[1] / errors[2])};
}

TEST(BeamFrequencies, OfBendingConvergeWithTheFourthPower) {
  const Beam beam = bar();
  for (const BeamEnds ends : {BeamEnds::clamped_free, BeamEnds::clamped_pinned, BeamEnds::clamped_clamped,
                              BeamEnds::pinned_pinned, BeamEnds::pinned_free, BeamEnds::free_free}) {
    SCOPED_TRACE(static_cast<int>(ends));
    const double root = beam_root(ends, 1);
    for (const double order : error_orders(beam, BeamMotion::bend_y, ends, {}, 0, root * root * hertz_of(beam))) {
      EXPECT_NEAR(order, 4, 0.1);
    }
    const std::vector<double> found = beam_frequencies(bar(32), BeamMotion::bend_y, ends);
    for (int i = 1; i <= 5; ++i) {
      const double exact = std::pow(beam_root(ends, i), 2) * hertz_of(beam);
      const double error = std::pow(beam_root(ends, i) / 32, 4) / 1440;  // its first term
      EXPECT_NEAR(found[static_cast<std::size_t>(i - 1)] / exact - 1, error, 0.1 * error);
    }
  }
  const double first = std::pow(beam_root(BeamEnds::clamped_free, 1), 2) * hertz_of(beam);
  EXPECT_NEAR(beam_frequencies(bar(4), BeamMotion::bend_y, BeamEnds::clamped_free)[0] / first - 1, 3.3e-5, 1e-6);
  EXPECT_NEAR(beam_frequencies(bar(16), BeamMotion::bend_y, BeamEnds::clamped_free)[0] / first - 1, 1.3e-7, 1e-8);
}

TEST(BeamFrequencies, OfBendingWithATipMass) {
  const Beam beam = bar();
  for (const double ratio : {0.1, 1.0, 10.0}) {
    const double exact = std::pow(beam_root(BeamEnds::clamped_free, 1, ratio), 2) * hertz_of(beam);
    const TipLoad load{.mass = ratio * mass_of(beam)};
    const std::vector<double> orders = error_orders(beam, BeamMotion::bend_y, BeamEnds::clamped_free, load, 0, exact);
    EXPECT_NEAR(orders[0], 4, 0.1);
    const double second = std::pow(beam_root(BeamEnds::clamped_free, 2, ratio), 2) * hertz_of(beam);
    EXPECT_NEAR(beam_frequencies(bar(64), BeamMotion::bend_y, BeamEnds::clamped_free, load)[1] / second, 1, 1e-7);
  }
  // a rotor so heavy that the tip can but move sideways: as half of a clamped–clamped beam of twice the length
  const double guided = std::pow(0.5 * beam_root(BeamEnds::clamped_clamped, 1), 2) * hertz_of(beam);
  const TipLoad heavy{.moments = {0, 0, 1e6}};
  EXPECT_NEAR(beam_frequencies(bar(64), BeamMotion::bend_y, BeamEnds::clamped_free, heavy)[1] / guided, 1, 1e-6);
}

TEST(BeamFrequencies, OfTorsionAndStretchConvergeWithTheSquare) {
  const Beam beam = bar();
  const double polar = beam.section.second_moment_y + beam.section.second_moment_z;
  const double twist = std::sqrt(beam.shear * beam.section.torsion_constant / (beam.density * polar)) / beam.length;
  const double sound = std::sqrt(beam.young / beam.density) / beam.length;
  for (const auto& [motion, speed] : {std::pair(BeamMotion::torsion, twist), std::pair(BeamMotion::stretch, sound)}) {
    for (const auto& [ends, waves] :
         {std::pair(BeamEnds::clamped_free, 0.25), std::pair(BeamEnds::clamped_clamped, 0.5),
          std::pair(BeamEnds::free_free, 0.5), std::pair(BeamEnds::pinned_pinned, 0.5),
          std::pair(BeamEnds::pinned_free, 0.25)}) {
      for (const double order : error_orders(beam, motion, ends, {}, 0, waves * speed)) {
        EXPECT_NEAR(order, 2, 0.1);
      }
    }
  }
  // x tan x = beam's inertia over the load's
  const TipLoad disk{.moments = {beam.density * polar * beam.length, 0, 0}};
  const double loaded = 0.8603335890193798 * twist / (2 * pi);
  EXPECT_NEAR(beam_frequencies(bar(64), BeamMotion::torsion, BeamEnds::clamped_free, disk)[0] / loaded, 1, 1e-5);
}

TEST(BeamFrequencies, OfOneElementHeldAtBothEndsAreNone) {
  EXPECT_TRUE(beam_frequencies(bar(1), BeamMotion::bend_y, BeamEnds::clamped_clamped).empty());
  EXPECT_TRUE(beam_frequencies(bar(1), BeamMotion::stretch, BeamEnds::clamped_clamped).empty());
}

/// The lowest frequency keeps its digits on fine meshes.
TEST(BeamFrequencies, LoseNothingToFineMeshes) {
  const double exact = std::pow(beam_root(BeamEnds::clamped_free, 1), 2) * hertz_of(bar());
  EXPECT_NEAR(beam_frequencies(bar(128), BeamMotion::bend_y, BeamEnds::clamped_free)[0] / exact, 1, 1e-10);
}

}  // namespace
}  // namespace bunraku::test
