/// Masses of flexible bodies: at rest, by modes, and in as few lumps as can be.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/error.hpp"
#include "bunraku/model/flexible.hpp"
#include "bunraku/spatial/exponential.hpp"
#include "support/near.hpp"
#include "support/random.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

/// A motion of a flexible body.
struct BodyMotion {
  Eigen::VectorXd eta;
  Eigen::VectorXd rate;
  Motion<double> V;
};

/// What counts of a body: kinetic energy, and mass and first moment about the frame's origin.
struct Sums {
  double energy = 0;
  double mass = 0;
  Vec3<double> first_moment = Vec3<double>::zero();
};

/// Node by node, as they move.
Sums sums(const FlexibleBody& body, const BodyMotion& motion) {
  Sums out{0.5 * dot(motion.V, body.inertia * motion.V), body.inertia.mass, body.inertia.first_moment};
  for (const FlexibleNode& node : body.nodes) {
    const ModalShape& shape = node.shape;
    Vec3<double> turn = Vec3<double>::zero();
    Vec3<double> turn_rate = Vec3<double>::zero();
    Vec3<double> place = node.place;
    Vec3<double> rate = Vec3<double>::zero();
    for (int i = 0; i < body.modes(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      place += shape.translation[k] * motion.eta[i];
      rate += shape.translation[k] * motion.rate[i];
      if (!shape.rotation.empty()) {
        turn += shape.rotation[k] * motion.eta[i];
        turn_rate += shape.rotation[k] * motion.rate[i];
      }
    }
    if (!shape.shortening.empty()) {
      using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const Eigen::Map<const RowMatrix> S(shape.shortening.data(), body.modes(), body.modes());
      place -= shape.shortening_axis * (0.5 * motion.eta.dot(S * motion.eta));
      rate -= shape.shortening_axis * motion.eta.dot(S * motion.rate);
    }
    const RigidInertia<double> inertia = exp(turn) * node.inertia;
    const Motion<double> V{motion.V.angular + left_jacobian(turn) * turn_rate,
                           motion.V.linear + cross(motion.V.angular, place) + rate};
    out.energy += 0.5 * dot(V, inertia * V);
    out.mass += inertia.mass;
    out.first_moment += inertia.first_moment + place * inertia.mass;
  }
  return out;
}

void expect_same(const FlexibleBody& a, const FlexibleBody& b, Random& random) {
  for (int i = 0; i < 20; ++i) {
    const BodyMotion motion{random.vector(a.modes()), random.vector(a.modes()), random.motion()};
    const Sums before = sums(a, motion);
    const Sums after = sums(b, motion);
    EXPECT_NEAR(after.energy, before.energy, 1e-12 * before.energy);
    EXPECT_NEAR(after.mass, before.mass, 1e-13 * before.mass);
    EXPECT_TRUE(is_near(after.first_moment, before.first_moment, 1e-12));
  }
  EXPECT_TRUE(is_near(rigid_inertia(b).matrix(), rigid_inertia(a).matrix(), 1e-12));
  const std::vector<double> mass = modal_mass(a);
  const std::vector<double> reduced = modal_mass(b);
  ASSERT_EQ(mass.size(), reduced.size());
  for (std::size_t i = 0; i < mass.size(); ++i) {
    EXPECT_NEAR(mass[i], reduced[i], 1e-12 * mass.front());
  }
}

/// A body of point masses without names.
FlexibleBody cloud(int points, int modes, bool shortening, Random& random) {
  FlexibleBody out;
  out.stiffness.assign(static_cast<std::size_t>(modes), 1.0);
  out.inertia = random.inertia();
  for (int j = 0; j < points; ++j) {
    FlexibleNode node{.place = random.vec3()};
    node.inertia.mass = random.uniform(0.1, 2);
    for (int i = 0; i < modes; ++i) {
      node.shape.translation.push_back(random.vec3(0.3));
    }
    if (shortening) {
      const Eigen::MatrixXd root = random.vector(modes) * random.vector(modes).transpose();
      const Eigen::MatrixXd S = root + root.transpose();
      node.shape.shortening.assign(S.data(), S.data() + S.size());
      node.shape.shortening_axis = normalized(Vec3<double>{1, 2, 2});
    }
    out.nodes.push_back(std::move(node));
  }
  return out;
}

FlexibleNode rotor(const Vec3<double>& axis, double along, double across, int modes, Random& random) {
  FlexibleNode node{.place = random.vec3()};
  node.inertia.inertia =
      Sym3<double>::diagonal(across, across, across) + Sym3<double>::outer_square(axis) * (along - across);
  for (int i = 0; i < modes; ++i) {
    node.shape.translation.push_back(random.vec3());
    node.shape.rotation.push_back(axis * random.uniform());
  }
  return node;
}

TEST(FlexibleMass, AtRestIsThatOfTheLumps) {
  Random random(1);
  FlexibleBody body = cloud(5, 2, false, random);
  body.nodes[0].inertia = random.inertia();
  body.nodes[0].shape.rotation = {random.vec3(), random.vec3()};
  const BodyMotion motion{Eigen::VectorXd::Zero(2), random.vector(2), Motion<double>{}};
  const std::vector<double> M = modal_mass(body);
  const double a = motion.rate[0];
  const double b = motion.rate[1];
  EXPECT_EQ(M[1], M[2]);
  EXPECT_NEAR(sums(body, motion).energy, 0.5 * (M[0] * a * a + 2 * M[1] * a * b + M[3] * b * b), 1e-14);
  const BodyMotion rigid{Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2), random.motion()};
  EXPECT_NEAR(sums(body, rigid).energy, 0.5 * dot(rigid.V, rigid_inertia(body) * rigid.V), 1e-13);
}

/// Two masses on springs in a row, the frequencies of which are the golden ratio and its inverse, and one that has
/// none.
TEST(FlexibleMass, HeldFrequencies) {
  FlexibleBody body{.stiffness = {4, 4 * 1e-18}};
  const auto add = [&](double mass, double x, double y) {
    FlexibleNode node;
    node.inertia.mass = mass;
    node.shape.translation = {{x, 0, 0}, {y, 0, 0}};
    body.nodes.push_back(node);
  };
  add(1, 1, 0);
  add(2, 0, 1e-9);
  std::vector<double> hertz = held_frequencies(body);
  ASSERT_EQ(hertz.size(), 2U);
  EXPECT_NEAR(hertz[0] * 2 * std::numbers::pi, std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(hertz[1] * 2 * std::numbers::pi, 2, 1e-14);

  body.nodes.clear();
  body.stiffness = {1, 1};
  add(1, 1, 0);
  add(1, 1, 1);  // the second coordinate is that of the second mass against the first
  hertz = held_frequencies(body);
  const double golden = std::numbers::phi;
  EXPECT_NEAR(hertz[0] * 2 * std::numbers::pi, 1 / golden, 1e-15);
  EXPECT_NEAR(hertz[1] * 2 * std::numbers::pi, golden, 1e-15);

  body.stiffness = {1, 0};
  EXPECT_NEAR(held_frequencies(body)[0], 0, 1e-16);
  EXPECT_TRUE(held_frequencies(FlexibleBody{}).empty());
}

void expect_refused(const FlexibleBody& body, const char* why) {
  try {
    static_cast<void>(held_frequencies(body));
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr(why));
  }
}

TEST(FlexibleMass, ModesThatCannotVibrateAreRefused) {
  FlexibleBody body{.nodes = {{}}, .stiffness = {1, 1}};
  body.nodes[0].inertia.mass = 1;
  expect_refused(body, "0 translations and 0 rotations for 2 modes");
  body.nodes[0].shape.translation = {{1, 2, 3}, {0, 0, 0}};
  expect_refused(body, "moves no mass");
  body.nodes[0].shape.translation = {{1, 2, 3}, {2, 4, 6}};
  expect_refused(body, "depend on each other");
  body.nodes[0].shape.translation = {{1, 2, 3}, {1, 0, 0}};
  body.stiffness[1] = -1;
  expect_refused(body, "stiffness -1");
  body.nodes[0].shape.shortening = {1};
  EXPECT_THROW(static_cast<void>(with_fewest_lumps(body)), ArgumentError);
}

TEST(FewestLumps, StandForManyPointMasses) {
  Random random(2);
  for (const bool shortening : {false, true}) {
    for (const int modes : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << modes << " modes, shortening " << shortening);
      const FlexibleBody body = cloud(40, modes, shortening, random);
      const FlexibleBody fewer = with_fewest_lumps(body);
      EXPECT_EQ(std::ssize(fewer.nodes), 4 + 3 * modes + (shortening ? modes * (modes + 1) / 2 : 0));
      for (const FlexibleNode& node : fewer.nodes) {
        EXPECT_NEAR(node.inertia.mass, fewer.nodes[0].inertia.mass, 1e-14);
        EXPECT_EQ(node.inertia.inertia, Sym3<double>::zero());
      }
      expect_same(body, fewer, random);
      EXPECT_EQ(with_fewest_lumps(fewer).nodes.size(), fewer.nodes.size());
    }
  }
}

TEST(FewestLumps, AreTheGivenOnesWhereThereAreNoneToSpare) {
  Random random(3);
  const FlexibleBody body = cloud(9, 2, false, random);
  const FlexibleBody same = with_fewest_lumps(body);
  ASSERT_EQ(same.nodes.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(same.nodes[i].place, body.nodes[i].place);
  }
}

/// Of a straight beam: places on a line, two directions, and rounding where there is none.
TEST(FewestLumps, TakeNoRoundingForMotion) {
  Random random(4);
  FlexibleBody body = cloud(50, 2, true, random);
  for (FlexibleNode& node : body.nodes) {
    node.place.y *= 1e-16;
    node.place.z = 0;
    node.shape.translation = {{1e-17 * random.uniform(), node.place.x, 0}, {0, 0, node.place.x * node.place.x}};
    node.shape.shortening = {node.place.x, 1e-18 * random.uniform(), 0, std::pow(node.place.x, 3)};
  }
  const FlexibleBody fewer = with_fewest_lumps(body);
  EXPECT_EQ(fewer.nodes.size(), 4U) << "for 1, x, x², x³";
  expect_same(body, fewer, random);
}

/// What does not turn keeps its inertia, wherever its centre of mass is.
TEST(FewestLumps, KeepInertiaThatDoesNotTurn) {
  Random random(5);
  FlexibleBody body = cloud(30, 2, true, random);
  for (FlexibleNode& node : body.nodes) {
    node.inertia = random.inertia();
    node.shape.rotation.assign(2, Vec3<double>::zero());
  }
  const FlexibleBody fewer = with_fewest_lumps(body);
  EXPECT_EQ(fewer.nodes.size(), 13U);
  EXPECT_EQ(fewer.inertia, body.inertia);
  expect_same(body, fewer, random);
}

TEST(FewestLumps, TakeRotorsOfOneAxisIntoThem) {
  Random random(6);
  const int modes = 2;
  for (const Vec3<double>& axis : {Vec3<double>::unit_x(), normalized(Vec3<double>{1, -2, 3})}) {
    FlexibleBody body = cloud(15, modes, false, random);
    for (int j = 0; j < 20; ++j) {
      body.nodes.push_back(rotor(axis, random.uniform(0.5, 1), random.uniform(0.5, 1), modes, random));
    }
    FlexibleBody fewer = with_fewest_lumps(body);
    EXPECT_EQ(std::ssize(fewer.nodes), 4 + 3 * modes);
    const auto turning = [](const FlexibleNode& node) { return !node.shape.rotation.empty(); };
    EXPECT_EQ(std::count_if(fewer.nodes.begin(), fewer.nodes.end(), turning), 1 + modes);
    expect_same(body, fewer, random);
    fewer = with_fewest_lumps(fewer);
    EXPECT_EQ(std::ssize(fewer.nodes), 4 + 3 * modes);
    expect_same(body, fewer, random);

    // rotors without symmetry stay as they are, but that masses are shared among them
    for (FlexibleNode& node : body.nodes) {
      node.inertia.inertia += Sym3<double>::outer_square(random.vec3()) * (node.shape.rotation.empty() ? 0 : 1);
    }
    fewer = with_fewest_lumps(body);
    EXPECT_EQ(std::ssize(fewer.nodes), 20);
    EXPECT_NEAR(fewer.nodes.back().inertia.mass, fewer.nodes.front().inertia.mass, 1e-14);
    expect_same(body, fewer, random);
  }
}

/// Rotors alone, and with inertia that does not turn, for which there is then no lump.
TEST(FewestLumps, OfRotorsAlone) {
  Random random(7);
  FlexibleBody body{.stiffness = {1, 1}};
  for (int j = 0; j < 10; ++j) {
    body.nodes.push_back(rotor(Vec3<double>::unit_y(), 1, 2, 2, random));
  }
  FlexibleNode still{.shape = {.translation = std::vector<Vec3<double>>(2)}};
  still.inertia.inertia = Sym3<double>::diagonal(1, 2, 3);
  body.nodes.push_back(still);
  const FlexibleBody fewer = with_fewest_lumps(body);
  EXPECT_EQ(fewer.nodes.size(), 3U);
  EXPECT_EQ(fewer.inertia.inertia, still.inertia.inertia);
  expect_same(body, fewer, random);
}

TEST(FewestLumps, LeaveAloneWhatIsNamedOrTurnsAboutItsEdgeOrIsShortenedOtherwise) {
  Random random(8);
  FlexibleBody body = cloud(40, 2, true, random);
  body.nodes[3].name = "camera";
  body.nodes[5].inertia = random.inertia();
  body.nodes[5].shape.rotation = {random.vec3(), random.vec3()};
  body.nodes[7].shape.shortening_axis = Vec3<double>::unit_z();
  body.nodes[9].shape.shortening.clear();
  const FlexibleBody fewer = with_fewest_lumps(body);
  ASSERT_EQ(fewer.nodes.size(), 3U + 13U);
  EXPECT_EQ(fewer.nodes[0].name, "camera");
  EXPECT_EQ(fewer.nodes[0].place, body.nodes[3].place);
  EXPECT_EQ(fewer.nodes[1].inertia, body.nodes[5].inertia);
  EXPECT_EQ(fewer.nodes[2].shape.shortening_axis, Vec3<double>::unit_z());
  expect_same(body, fewer, random);
}

/// Without a node there would be no hinge that has the modes' coordinates.
TEST(FewestLumps, AreAtLeastOne) {
  const FlexibleBody body{.nodes = {{.shape = {.translation = {{1, 0, 0}}}}}, .stiffness = {1}};
  EXPECT_EQ(with_fewest_lumps(body).nodes.size(), 1U);
}

}  // namespace
}  // namespace bunraku::test
