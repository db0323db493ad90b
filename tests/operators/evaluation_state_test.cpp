/// Evaluations that follow the state of their system, values and arguments that are missing or wrong, sizes.
#include <limits>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "operators/dense_system.hpp"
#include "operators/messages.hpp"
#include "operators/small_model.hpp"
#include "support/allocations.hpp"
#include "support/coupled_models.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using detail::as_span;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AllOf;
using testing::HasSubstr;

TEST(Evaluation, FollowsTheState) {
  SystemAndDense first(small_model(), 5);
  SystemAndDense second(small_model(), 6);
  const Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  for (const char* const text : {"phi", "H*phi*M*~phi*~H", "inv(H*phi*M*~phi*~H)", "psi*P", "Upsilon", "R", "V", "T",
                                 "inv(D)*H*psi", "~B*Omega*B", "dense_inv(phi)", "sqrt(D)", "cross(V)", "x + V"}) {
    SCOPED_TRACE(text);
    first.system.bind_random(x, 1);
    second.system.bind_random(x, 2);
    Evaluation evaluation = first.system(parse(text, {x}));
    const MatrixXd before = evaluation.dense();
    first.system.set_state(as_span(second.q), as_span(second.v));
    first.system.set_accelerations(as_span(second.a));
    first.system.set_nodes(second.nodes);
    first.system.bind_random(x, 2);
    const MatrixXd after = evaluation.dense();
    EXPECT_TRUE(is_near(after, second.system(parse(text, {x})).dense(), 1e-14));
    EXPECT_GT((after - before).norm(), 1e-3);
    first.system.set_state(as_span(first.q), as_span(first.v));
    first.system.set_accelerations(as_span(first.a));
    first.system.set_nodes(first.nodes);
    first.system.bind_random(x, 1);
    EXPECT_EQ(evaluation.dense(), before);
  }
}

TEST(Evaluation, OtherNodesThanWhenItWasMade) {
  SystemAndDense both(small_model(), 5);
  Evaluation evaluation = both.system(parse("~B*Omega*B"));
  Evaluation gathers = both.system(parse("B"));
  EXPECT_EQ(evaluation.rows(), 18);
  both.nodes.push_back({"n3", 1, both.random.transform()});
  both.system.set_nodes(both.nodes);
  for (Evaluation* each : {&evaluation, &gathers}) {
    EXPECT_THAT(message_of([&] { static_cast<void>(each->dense()); }), HasSubstr("the number of nodes has changed"));
  }
  const DenseSystem dense = both.dense();
  for (const char* const text : {"~B*Omega*B", "B"}) {
    EXPECT_TRUE(is_near(both.system(parse(text)).dense(), dense(parse(text)), 1e-10)) << text;
  }
}

/// Of rank 6 less one, with whatever rounding stands for zero: refused with rank and size. Scaled from 1e-150 to 1e150,
/// but of full rank: inverted.
TEST(Evaluation, DenseInversesKnowTheirRank) {
  SystemAndDense both(small_model(), 5);
  System& system = both.system;
  const Operator X = Operator::variable("X", SpaceKind::hinge, SpaceKind::hinge);
  const int nv = both.model.nv();
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    // blocks 1, 1, 3, 1 of the hinges: the ball joint's is singular, times rotations that leave rounding
    const MatrixXd u = to_eigen(random.rotation().matrix());
    const MatrixXd w = to_eigen(random.rotation().matrix());
    const MatrixXd block = u * VectorXd(Eigen::Vector3d(1, random.uniform(0.1, 1), 0)).asDiagonal() * w;
    std::vector<double> values = {1, 1};
    for (int i = 0; i < 9; ++i) {
      values.push_back(block(i / 3, i % 3));
    }
    values.push_back(1);
    system.bind(X, values);
    const std::string said = message_of([&] { static_cast<void>(system.literal(dense_inv(X)).dense()); });
    EXPECT_THAT(said, HasSubstr("rank 5 and size 6"));
    std::vector<double> scaled = {1e-150, 1e150};
    const MatrixXd regular = u * Eigen::Vector3d(1e-120, 1, 1e120).asDiagonal();
    for (int i = 0; i < 9; ++i) {
      scaled.push_back(regular(i / 3, i % 3));
    }
    scaled.push_back(1e-30);
    system.bind(X, scaled);
    const MatrixXd inverse = system.literal(dense_inv(X)).dense();
    const MatrixXd value = system.literal(X).dense();
    EXPECT_TRUE(is_near(value * inverse, MatrixXd::Identity(nv, nv), 1e-12));
  }
}

TEST(Evaluation, RefusesNodesAndEnumeratorsThatDoNotExist) {
  SystemAndDense both(small_model(), 5);
  Node node = both.nodes.front();
  node.X_BN.translation.y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(both.system.set_nodes({node}), ArgumentError);
  node.X_BN = Transform<double>::identity();
  node.body = 4;
  EXPECT_THROW(both.system.set_nodes({node}), ArgumentError);
  EXPECT_THROW(static_cast<void>(Operator(static_cast<Symbol>(1000))), ArgumentError);
  EXPECT_THROW(static_cast<void>(both.system(Symbol::phi).dense(static_cast<Order>(7))), ArgumentError);
  EXPECT_THROW(static_cast<void>(Operator::variable("X", static_cast<SpaceKind>(9), SpaceKind::body)), OperatorError);
  EXPECT_EQ(both.system(Symbol::B).cols(), 18) << "the nodes stay";
}

TEST(Evaluation, TakesEigensVectors) {
  SystemAndDense both(small_model(), 5);
  System system(both.model, both.q, 2 * both.v);
  EXPECT_EQ(system(Symbol::thetad).dense(), 2 * both.v);
  system.set_state(both.q, both.v);
  system.set_accelerations(both.a.head(both.model.nv()));
  EXPECT_EQ(system(Symbol::thetadd).dense(), both.a);
  const Operator x = Operator::variable("x", SpaceKind::hinge, SpaceKind::number);
  system.bind(x, both.a);
  EXPECT_EQ(system(x).dense(), both.a);
}

TEST(Evaluation, CopiesOfASystemAreSystemsOfTheirOwn) {
  SystemAndDense both(small_model(), 5);
  const Eigen::MatrixXd before = both.system(parse("thetad")).dense();
  System copy = both.system;
  Evaluation of_copy = copy(parse("thetad"));
  EXPECT_EQ(of_copy.dense(), before);
  const VectorXd v = VectorXd::Zero(both.model.nv());
  copy.set_state(as_span(both.q), as_span(v));
  EXPECT_EQ(of_copy.dense().norm(), 0);
  EXPECT_EQ(both.system(parse("thetad")).dense(), before);
}

TEST(Evaluation, ValuesThatAreMissing) {
  const Model model = small_model();
  System system(model);
  EXPECT_THAT(message_of([&] { system(parse("B*~B")).dense(); }), AllOf(HasSubstr("B"), HasSubstr("set_nodes")));
  for (const char* const text : {"thetadd", "alpha", "f", "T"}) {
    EXPECT_THAT(message_of([&] { system(parse(text)).dense(); }), HasSubstr("set_accelerations")) << text;
  }
  EXPECT_NO_THROW(system(parse("V")).dense());
  EXPECT_NO_THROW(system(parse("a")).dense());
  const Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  EXPECT_THAT(message_of([&] { system(parse("phi*x", {x})).dense(); }),
              AllOf(HasSubstr("'x' has no values"), HasSubstr("bind")));
  EXPECT_THAT(message_of([&] { system(parse("unit(6)")).dense(); }), HasSubstr("the model has 6 velocities"));
  EXPECT_THAT(message_of([&] { system(parse("phi[b7, 1]")).dense(); }), HasSubstr("there is no body 'b7'"));
  EXPECT_THAT(message_of([&] { system(parse("phi[1, 4]")).dense(); }), HasSubstr("a number from 0 to 3"));
  EXPECT_THAT(message_of([&] { system(parse("V[world]")).dense(); }), HasSubstr("there is no body 'world'"));
  EXPECT_THAT(message_of([&] { system(Operator::identity()).dense(); }), HasSubstr("space"));
  EXPECT_THAT(message_of([&] { system.literal(Operator::identity()).dense(); }), HasSubstr("space"));
  EXPECT_THAT(message_of([&] { system(parse("inv(S - S + M - M)")).dense(); }), HasSubstr("inverse"));
  EXPECT_THAT(message_of([&] { system.literal(parse("dense_inv(E_phi)")).dense(); }),
              AllOf(HasSubstr("rank 12 and size 24"), HasSubstr("singular")));
  EXPECT_THAT(message_of([&] { system.literal(parse("inv(~H*H)")).dense(); }),
              AllOf(HasSubstr("~H*H"), HasSubstr("'b0'"), HasSubstr("singular")));
  EXPECT_THAT(message_of([&] { system.literal(parse("sqrt(M - 2*R)")).dense(); }), HasSubstr("negative eigenvalue"));
  EXPECT_THAT(message_of([&] { system.literal(parse("sqrt(Delta_phi)")).dense(); }), HasSubstr("not symmetric"));
}

TEST(Evaluation, WhatHasLostItsMeaningStaysSo) {  // until it has one again
  const Model model = small_model();
  System system(model);
  system.set_nodes(std::vector<Node>{model.node(model.bodies()[1].name)});
  const Operator W = Operator::variable("W", SpaceKind::node, SpaceKind::node);
  system.bind_random(W, 1);
  const Operator x = Operator(Symbol::B) * W * ~Operator(Symbol::B);
  Evaluation evaluation = system(x);
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(evaluation.cols(), 1);
  static_cast<void>(evaluation * ones);
  system.set_nodes(std::vector<Node>{model.node(model.bodies()[2].name)});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(message_of([&] { static_cast<void>(evaluation * ones); }), HasSubstr("the variable 'W' has no values"));
  }
  system.bind_random(W, 2);
  EXPECT_TRUE(is_near(evaluation * ones, system(x) * ones, 0));
  Eigen::VectorXd in_place = Eigen::VectorXd::Ones(evaluation.cols());
  evaluation.apply(in_place, in_place);  // y may be x
  EXPECT_TRUE(is_near(Eigen::MatrixXd(in_place), evaluation * ones, 0));
}

TEST(Evaluation, WrongArguments) {
  const Model model = small_model();
  System system(model);
  std::vector<double> x(24);
  std::vector<double> y(24);
  Evaluation phi = system(parse("phi"));
  EXPECT_NO_THROW(phi.apply(x, y));
  EXPECT_THROW(phi.apply(std::span(x).first(23), y), ArgumentError);
  EXPECT_THROW(phi.apply(x, std::span(y).first(23)), ArgumentError);
  const Eigen::MatrixXd several = Eigen::MatrixXd::Random(24, 3);
  Eigen::MatrixXd room = Eigen::MatrixXd::Zero(30, 5);
  phi.apply(several, room.block(2, 1, 24, 3));  // into a part of a matrix
  EXPECT_TRUE(is_near(Eigen::MatrixXd(room.block(2, 1, 24, 3)), phi.dense() * several, 1e-14));
  EXPECT_TRUE(room.topRows(2).isZero(0) && room.bottomRows(4).isZero(0));
  EXPECT_THROW(phi.apply(several, room.block(2, 1, 24, 2)), ArgumentError);
  x[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(phi.apply(x, y), ArgumentError);
  EXPECT_THROW(phi.dense(std::span(y)), ArgumentError);
  const std::vector<double> six(6);
  const std::vector<double> five(5);
  std::vector<double> q(static_cast<std::size_t>(model.nq()));
  EXPECT_THROW(system.set_state(five, six), ArgumentError);
  EXPECT_THROW(system.set_state(q, six), ArgumentError) << "not a quaternion";
  EXPECT_THROW(system.set_accelerations(five), ArgumentError);
  EXPECT_THROW(system.set_torques(five), ArgumentError);
  EXPECT_THROW(system.set_nodes(std::vector<Node>{{"n", 4, {}}}), ArgumentError);
  EXPECT_THROW(system.set_nodes(std::vector<std::string>{"b0", "nobody"}), ArgumentError);
  EXPECT_THROW(system.bind(parse("phi"), six), ArgumentError);
  EXPECT_THROW(system.bind_random(parse("phi"), 1), ArgumentError);
  const Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
  EXPECT_THROW(system.bind(u, five), ArgumentError);
  const std::vector<double> bad(6, std::numeric_limits<double>::infinity());
  EXPECT_THROW(system.bind(u, bad), ArgumentError);
  // the state stays as it was
  const VectorXd before = system(parse("phi")).dense().reshaped();
  EXPECT_THROW(system.set_state(q, six), ArgumentError);
  EXPECT_EQ(VectorXd(phi.dense().reshaped()), before);
}

TEST(Evaluation, NodesByName) {
  ModelBuilder builder = edit(small_model());
  builder.add(NodeSpec{.name = "tool", .body = "b3", .X_BN = Transform<double>::translate({1, 2, 3})});
  const Model model = builder.build();
  System system(model);
  system.set_nodes(std::vector<std::string>{"tool", "b1"});
  const MatrixXd B = system(parse("B")).dense();
  MatrixXd expected = MatrixXd::Zero(24, 12);
  expected.block<6, 6>(18, 0) = DenseBlocks::force_matrix(to_eigen(Transform<double>::translate({1, 2, 3})));
  expected.block<6, 6>(6, 6).setIdentity();
  EXPECT_TRUE(is_near(B, expected, 1e-15));
  EXPECT_TRUE(is_near(system(parse("B[b3, tool]")).dense(), expected.block(18, 0, 6, 6), 1e-15));
}

TEST(Evaluation, AllocatesNothing) {
  for (const bool coupled : {false, true}) {
    SystemAndDense both(coupled ? coupled_models(true)[9].model : small_model(), 4);
    const Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
    both.system.bind_random(u, 1);
    for (const char* const text : {"H*phi*M*~phi*~H + armature", "inv(H*phi*M*~phi*~H + armature)",
                                   "H*phi*(M*~phi*(~H*thetadd + a) + b)", "~B*Omega*B", "sqrt(D)*u", "cross(V)*phi",
                                   "dense_inv(phi)", "phi[0, 1]*(phi[1, 1] + M[1, 1])", "V*~V*phi*V*~u"}) {
      Evaluation evaluation = both.system(parse(text, {u}));
      const VectorXd x = both.random.vector(evaluation.cols());
      VectorXd y(evaluation.rows());
      const std::span<double> out(y.data(), static_cast<std::size_t>(y.size()));
      evaluation.apply(as_span(x), out);
      const VectorXd once = y;
      const std::size_t before = allocations();
      evaluation.apply(as_span(x), out);
      EXPECT_EQ(allocations(), before) << text;
      EXPECT_EQ(y, once) << text;
    }
  }
}

TEST(Evaluation, LongChains) {
  using namespace soa;
  Random random(8);
  constexpr int n = 100'000;
  const Model model = random_chain(n, random);
  System system(model);
  const VectorXd q = random_configuration(model, 1);
  const VectorXd v = 1e-3 * random.vector(n);
  system.set_state(as_span(q), as_span(v));
  State dynamics(model, PassiveForces::left_out);
  dynamics.set(q, v);
  const VectorXd x = random.vector(n);
  const Operator mass = H * phi * M * ~phi * ~H;
  const VectorXd y = system(inv(mass)) * x;
  EXPECT_TRUE(is_near(y, inverse_mass_times(dynamics, x), 1e-9));
  const VectorXd torque = random.vector(n);
  system.set_torques(as_span(torque));
  const VectorXd moved = system(mass) * x;
  State still(edit(model).set_gravity({}).build(), PassiveForces::left_out);
  still.set(q, VectorXd::Zero(n));
  EXPECT_TRUE(is_near(moved, inverse_dynamics(still, x), 1e-9));
  EXPECT_TRUE(is_near(VectorXd(system(mass * thetad).dense()), inverse_dynamics(still, v), 1e-9));
}

TEST(Evaluation, WithoutHinges) {
  ModelBuilder builder("fixed");
  Random random(2);
  BodySpec body{.name = "b0", .inertia = random.inertia()};
  body.hinge.type = HingeType::fixed;
  builder.add(body);
  System system(builder.build());
  EXPECT_EQ(system(parse("H*phi*M*~phi*~H")).dense().size(), 0);
  EXPECT_EQ(system(parse("inv(H*phi*M*~phi*~H)")).dense().size(), 0);
  EXPECT_EQ(system(parse("phi")).dense(), MatrixXd::Identity(6, 6));
  EXPECT_EQ(system(parse("~thetad*thetad + 2")).dense()(0, 0), 2);
  EXPECT_EQ(system(parse("3")).dense()(0, 0), 3);
}

}  // namespace
}  // namespace bunraku::test
