/// Loops as clusters of the tree, against dense solutions with equations of the closures from elsewhere.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/bunraku.hpp"
#include "bunraku/kernels/tree.hpp"
#include "support/allocations.hpp"
#include "support/looped_models.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

/// What is free by dense factors, with the accelerations that follow.
struct Dense {
  explicit Dense(const LoopedState& at) : Dense(at, at.all()) {}
  Dense(const LoopedState& at, const std::vector<int>& closures)
      : Y(at.jacobian(closures)), U(at.rate(closures)), free(Y, U) {
    State state(at.model);
    state.set(at.q, at.v);
    mass = mass_matrix(state);
    const VectorXd left = at.torque - inverse_dynamics(state, free.b);
    reduced = free.X.transpose() * mass * free.X;
    M_C = free.X * reduced.ldlt().solve(free.X.transpose());
    acceleration = M_C * left + free.b;
    residual = at.torque - inverse_dynamics(state, acceleration);
  }
  /// Whether rank is beyond doubt, and what is weak not so weak as to lose digits.
  bool clear() const { return free.last_kept > 5e-3 && free.first_lost < 1e-12; }

  MatrixXd Y;
  VectorXd U;
  FreeMotion free;
  MatrixXd mass;
  MatrixXd reduced;
  MatrixXd M_C;
  VectorXd acceleration;
  VectorXd residual;  ///< Y*f̃.
};

double difference(const MatrixXd& a, const MatrixXd& b) {
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

/// All calls at a state against the dense solution.
template <class T>
void expect_dense(const LoopedState& at, const Dense& dense, double tolerance) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  BasicEmbeddedState<T> state(at.model);
  state.set(at.q.cast<T>(), at.v.cast<T>());
  ASSERT_EQ(degrees_of_freedom(state), dense.free.X.cols());
  const Vector torque = at.torque.cast<T>();
  const Vector acceleration = embedded_forward_dynamics(state, torque);
  EXPECT_LT(difference(acceleration.template cast<double>(), dense.acceleration), tolerance);
  const MatrixXd X = embedded_basis(state).template cast<double>();
  EXPECT_TRUE(is_near(X.transpose() * X, MatrixXd::Identity(X.cols(), X.cols()), tolerance));
  EXPECT_LT(difference(dense.Y * X, MatrixXd::Zero(dense.Y.rows(), X.cols())), tolerance);
  const VectorXd b = embedded_bias(state).template cast<double>();
  EXPECT_LT(difference(dense.Y * b, dense.U), tolerance);
  const MatrixXd reduced = X.transpose() * dense.mass * X;
  EXPECT_LT(difference(embedded_mass_matrix(state).template cast<double>(), reduced), tolerance);
  const Matrix unit = Matrix::Identity(at.model.nv(), at.model.nv());
  EXPECT_LT(difference(embedded_solve(state, unit).template cast<double>(), dense.M_C), tolerance);
  const double log_det = X.cols() == 0 ? 0 : reduced.ldlt().vectorD().array().log().sum();
  EXPECT_NEAR(embedded_log_det_mass(state), log_det, tolerance * (1 + std::abs(log_det)));
}

TEST(Embedded, EqualsDenseSolutions) {
  int clear = 0;
  for (int sample = 0; sample < 170; ++sample) {
    SCOPED_TRACE(sample);
    const LoopedState at = random_looped(sample);
    const Dense dense(at);
    if (dense.clear()) {
      ++clear;
      expect_dense<double>(at, dense, 1e-10);
    }
  }
  EXPECT_GT(clear, 100);
}

TEST(Embedded, EqualsDenseSolutionsInFloat) {
  int clear = 0;
  for (int sample = 0; sample < 60; ++sample) {
    SCOPED_TRACE(sample);
    const LoopedState at = random_looped(sample);
    const Dense dense(at);
    const double largest = dense.M_C.size() == 0 ? 0 : dense.M_C.cwiseAbs().maxCoeff();
    if (dense.clear() && dense.free.last_kept > 0.1 && largest < 20) {  // single precision loses all there is to lose
      ++clear;
      expect_dense<float>(at, dense, 3e-4);
    }
  }
  EXPECT_GT(clear, 10);
}

TEST(Embedded, EveryTypeOfHingeCloses) {
  for (const HingeType type : all_hinge_types) {
    if (type == HingeType::free) {
      continue;
    }
    SCOPED_TRACE(to_string(type));
    Random random(static_cast<unsigned>(type) + 31);
    ModelBuilder tree("arms");
    for (int k = 0; k < 9; ++k) {
      BodySpec body{.name = "b" + std::to_string(k)};
      body.parent = k == 0 ? std::string(world_name) : k == 5 ? "b0" : "b" + std::to_string(k - 1);
      body.hinge = random_hinge(k == 0   ? HingeType::free
                                : k == 3 ? HingeType::prismatic
                                : k == 6 ? HingeType::spherical
                                         : HingeType::revolute,
                                random);
      for (HingeDof& dof : body.hinge.dofs) {
        dof.armature = k == 0 ? 0 : random.uniform(0, 0.3);
      }
      body.X_PF = random.transform();
      body.X_MB = random.transform();
      body.inertia = random.inertia();
      tree.add(std::move(body));
    }
    const LoopedState at = LoopMaker(tree, random).join(4, 8, random_hinge(type, random)).make();
    const Dense dense(at);
    ASSERT_GT(dense.free.last_kept, 1e-4);
    EXPECT_EQ(dense.free.X.cols(),
              at.model.nv() - 6 + velocity_size(type == HingeType::custom ? HingeType::universal : type));
    expect_dense<double>(at, dense, 1e-10);

    // f̃: of the wrench that the closure takes from what the hinge does not let move; b exerts it on a, in a's axes at b
    EmbeddedState state(at.model);
    state.set(at.q, at.v);
    const VectorXd acceleration = embedded_forward_dynamics(state, at.torque);
    const VectorXd f = embedded_closure_forces(state, at.torque, acceleration);
    const VectorXd wrench = dense.Y.transpose().completeOrthogonalDecomposition().solve(dense.residual);
    ASSERT_EQ(wrench.size(), 6);
    if (type == HingeType::fixed) {
      EXPECT_TRUE(is_near(f, wrench, 1e-9));
    } else if (type == HingeType::spherical) {
      EXPECT_TRUE(is_near(f, wrench.tail(3), 1e-9));
    } else if (type == HingeType::translational) {
      EXPECT_TRUE(is_near(f, wrench.head(3), 1e-9));
    } else if (type != HingeType::helical) {  // whose rows have not all unit length
      EXPECT_NEAR(f.norm(), wrench.norm(), 1e-9 * (1 + wrench.norm()));
    }
    // as forces from outside on both nodes they move the open tree as the closed one
    const Closure& closure = at.model.closures()[0];
    const Transform<double> X_AB = pose(state.open(), closure.a).inverse() * pose(state.open(), closure.b);
    const Force<double> on_b{{-wrench(0), -wrench(1), -wrench(2)}, {-wrench(3), -wrench(4), -wrench(5)}};
    const Force<double> turned{X_AB.rotation.inverse_times(on_b.moment), X_AB.rotation.inverse_times(on_b.force)};
    const std::array<AppliedForce<double>, 2> both = {
        AppliedForce<double>(closure.a, Phi<double>(X_AB.translation) * (on_b * -1.0), Frame::node),
        AppliedForce<double>(closure.b, turned, Frame::node)};
    EXPECT_TRUE(is_near(forward_dynamics(state.open(), at.torque, both), acceleration, 1e-9));
  }
}

/// Two cranks of length l on the world a distance d apart, and a coupler: a parallelogram in the plane of x and y,
/// closed by a revolute hinge. With `away` the cranks are on a body that is fixed to the world, with its origin so far
/// away.
Model parallelogram(double crank, double coupler, double l, double d, double away = 0) {
  ModelBuilder builder("parallelogram");
  builder.set_gravity({0, -9.81, 0});
  const std::string base = away == 0 ? "world" : "base";
  if (away != 0) {
    BodySpec body{.name = base};
    body.hinge.type = HingeType::fixed;
    body.X_PF.translation = {away, 0, 0};
    builder.add(std::move(body));
  }
  const auto rod = [](double mass, double length) {
    return RigidInertia<double>::about_center(mass, {length / 2, 0, 0},
                                              {0, mass * length * length / 12, mass * length * length / 12, 0, 0, 0});
  };
  const auto add = [&](const std::string& name, const std::string& parent, double x,
                       const RigidInertia<double>& inertia) {
    BodySpec body{.name = name, .parent = parent, .inertia = inertia};
    body.hinge.type = HingeType::revolute;
    body.X_PF.translation = {x, 0, 0};
    builder.add(std::move(body));
  };
  add("left", base, -away, rod(crank, l));
  add("coupler", "left", l, rod(coupler, d));
  add("right", base, d - away, rod(crank, l));
  builder.add(NodeSpec{.name = "end", .body = "coupler", .X_BN = Transform<double>::translate({d, 0, 0})});
  builder.add(NodeSpec{.name = "tip", .body = "right", .X_BN = Transform<double>::translate({l, 0, 0})});
  builder.add(ClosureSpec{.name = "pin", .hinge = {.type = HingeType::revolute}, .a = "end", .b = "tip"});
  return builder.build();
}

TEST(Embedded, AParallelogramMovesAsOneBody) {
  const double l = 0.4;
  const Model model = parallelogram(1.5, 2.0, l, 0.7);
  EmbeddedState state(model);
  const double angle = 0.6;
  const double rate = 1.3;
  state.set(Eigen::Vector3d(angle, -angle, angle), Eigen::Vector3d(rate, -rate, rate));
  EXPECT_EQ(degrees_of_freedom(state), 1);  // 5 equations, of which 2 are independent
  EXPECT_EQ(state.rows().back(), 5);
  const double inertia = 2 * 1.5 * l * l / 3 + 2.0 * l * l;
  const double torque = 0.9;
  const double expected = (torque - (1.5 + 2.0) * l * 9.81 * std::cos(angle)) / inertia;
  const VectorXd acceleration = embedded_forward_dynamics(state, Eigen::Vector3d(torque, 0, 0));
  EXPECT_TRUE(is_near(acceleration, Eigen::Vector3d(1, -1, 1) * expected, 1e-13));
  EXPECT_NEAR(embedded_mass_matrix(state)(0, 0), inertia / 3, 1e-14);  // X = (1, −1, 1)/√3
  EXPECT_NEAR(std::exp(embedded_log_det_mass(state)), inertia / 3, 1e-14);
  // out of the plane nothing pushes, and the smallest force says so
  const VectorXd f = embedded_closure_forces(state, Eigen::Vector3d(torque, 0, 0), acceleration);
  EXPECT_NEAR(f(0), 0, 1e-12);
  EXPECT_NEAR(f(1), 0, 1e-12);
  EXPECT_NEAR(f(4), 0, 1e-12);
}

TEST(Embedded, ASingularPoseHasMoreFreedomAndTellsWhatContradicts) {
  const double l = 0.4;
  const double d = 0.7;
  const Model model = parallelogram(1.5, 2.0, l, d);
  EmbeddedState state(model);
  state.set(Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, -1, 1));
  EXPECT_EQ(degrees_of_freedom(state), 2);
  const double other = -0.3;  // of the second crank: neither branch
  EXPECT_THAT([&] { state.set(Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, (other - 1) * l / d - 1, other)); },
              testing::ThrowsMessage<ArgumentError>(HasSubstr("no acceleration keeps closure 'pin' closed")));
}

/// Near a singular pose, where the loop's size decides how many equations there are, wherever its base has its origin.
TEST(Embedded, AllQuantitiesAgreeOnTheDegreesOfFreedom) {
  for (const double away : {0.0, 10.0}) {
    const Model model = parallelogram(1.5, 2.0, 0.4, 0.7, away);
    EmbeddedState state(model);
    for (double angle = 1e-11; angle < 1e-5; angle *= 1.3) {
      state.set(Eigen::Vector3d(angle, -angle, angle), Eigen::Vector3d::Zero());
      const int degrees = degrees_of_freedom(state);
      const VectorXd torque = Eigen::Vector3d(0.9, 0.1, -0.2);
      const VectorXd acceleration = embedded_forward_dynamics(state, torque);
      ASSERT_EQ(embedded_basis(state).cols(), degrees) << "at " << angle;
      ASSERT_EQ(degrees_of_freedom(state), degrees) << "at " << angle;
      ASSERT_TRUE(is_near(embedded_forward_dynamics(state, torque), acceleration, 1e-6)) << "at " << angle;
    }
  }
}

TEST(Embedded, WhatDoesNotFitIsRefusedByName) {
  const Model model = parallelogram(1.5, 2.0, 0.4, 0.7);
  EmbeddedState state(model);
  const Eigen::Vector3d q(0.6, -0.6, 0.6);
  const Eigen::Vector3d v(1, -1, 1);
  state.set(q, v);
  EXPECT_THAT([&] { state.set(Eigen::Vector3d(0.6, -0.6, 0.60001), v); },
              testing::ThrowsMessage<ArgumentError>(HasSubstr("q leaves closure 'pin' open by")));
  EXPECT_THAT([&] { state.set(q, Eigen::Vector3d(1, -1, 1.001)); },
              testing::ThrowsMessage<ArgumentError>(HasSubstr("v opens closure 'pin' at")));
  EXPECT_EQ(VectorXd(state.open().q()), q);
  EXPECT_EQ(VectorXd(state.open().v()), v);
  EXPECT_EQ(degrees_of_freedom(state), 1);
  state.open().set(Eigen::Vector3d(0.5, 0, 0));
  EXPECT_THROW(static_cast<void>(embedded_forward_dynamics(state, v)), ArgumentError);
  EXPECT_THROW(static_cast<void>(degrees_of_freedom(state)), ArgumentError);
  state.open().set(q, v);
  EXPECT_EQ(degrees_of_freedom(state), 1);
  EmbeddedState loose(model, {.tolerance = 1e-3});
  loose.set(Eigen::Vector3d(0.6, -0.6, 0.60001), v);
  EXPECT_EQ(degrees_of_freedom(loose), 1);
  EXPECT_THAT([&] { EmbeddedState(model, {.closures = std::vector<std::string>{"pim"}}); },
              testing::ThrowsMessage<ArgumentError>(HasSubstr("'pim'")));
  EXPECT_THAT([&] { EmbeddedState(model, {.closures = std::vector<std::string>{"pin", "pin"}}); },
              testing::ThrowsMessage<ArgumentError>(HasSubstr("named twice")));
}

TEST(Embedded, MasslessLoopsAreRefusedByName) {
  const Model model = parallelogram(0, 0, 0.4, 0.7);
  EmbeddedState state(model);
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
  state.set(Eigen::Vector3d(0.6, -0.6, 0.6));
  const auto refused = testing::ThrowsMessage<Error>(HasSubstr("is coupled to others and moves nothing that has mass"));
  EXPECT_THAT([&] { static_cast<void>(embedded_forward_dynamics(state, zero)); }, refused);
  EXPECT_THAT([&] { static_cast<void>(embedded_solve(state, zero)); }, refused);
  EXPECT_THAT([&] { static_cast<void>(embedded_log_det_mass(state)); }, refused);
}

/// Loops of a tree: 0–1–2–3, 1–4–5, 0–6–7–8, 6–9.
ModelBuilder branches(Random& random) {
  ModelBuilder tree("branches");
  const std::array<int, 10> parents = {-1, 0, 1, 2, 1, 4, 0, 6, 7, 6};
  for (std::size_t k = 0; k < parents.size(); ++k) {
    BodySpec body{.name = "b" + std::to_string(k)};
    body.parent = parents[k] < 0 ? std::string(world_name) : "b" + std::to_string(parents[k]);
    body.hinge = random_hinge(k == 0 ? HingeType::free : HingeType::revolute, random);
    body.X_PF = random.transform();
    body.inertia = random.inertia();
    tree.add(std::move(body));
  }
  return tree;
}

/// The bodies of each cluster with loops, and the body that it hangs on.
std::vector<std::pair<int, std::vector<int>>> clusters(const Model& model, const std::vector<int>& closures) {
  kernels::TreeOptions options;
  options.embedded = closures;
  const kernels::Tree tree(model, options);
  std::vector<std::pair<int, std::vector<int>>> out;
  for (const kernels::CoupledLinks& c : tree.clusters) {
    if (c.closures.empty()) {
      continue;
    }
    out.push_back({c.parent < 0 ? world : tree.links[static_cast<std::size_t>(c.parent)].body, {}});
    for (int k = c.begin; k < c.end; ++k) {
      out.back().second.push_back(tree.links[static_cast<std::size_t>(k)].body);
    }
    std::sort(out.back().second.begin(), out.back().second.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Embedded, ClustersAreTheLoopsAndMerge) {
  using Clusters = std::vector<std::pair<int, std::vector<int>>>;
  Random random(77);
  LoopMaker maker(branches(random), random);
  maker.join(3, 5, ClosureKind::distance);      // 0: 2 3 4 5 on 1
  maker.join(8, 9, ClosureKind::plane);         // 1: 7 8 9 on 6
  maker.join(1, 3, ClosureKind::plane);         // 2: 2 3 on 1
  maker.tie(7, 4);                              // 3: 1 4 6 7 on 0
  maker.hold(9);                                // 4: 9 on 6
  maker.join(world, 1, ClosureKind::distance);  // 5: 0 1 on the world
  maker.join(8, 9, ClosureKind::rows);          // 6: 0 6 7 8 9 on the world
  const LoopedState at = maker.make();
  EXPECT_EQ(clusters(at.model, {0, 1}), (Clusters{{1, {2, 3, 4, 5}}, {6, {7, 8, 9}}}));
  EXPECT_EQ(clusters(at.model, {2}), (Clusters{{1, {2, 3}}}));
  EXPECT_EQ(clusters(at.model, {3}), (Clusters{{0, {1, 4, 6, 7}}}));
  EXPECT_EQ(clusters(at.model, {4, 2}), (Clusters{{1, {2, 3}}, {6, {9}}}));
  EXPECT_EQ(clusters(at.model, {0, 1, 3}), (Clusters{{0, {1, 2, 3, 4, 5, 6, 7, 8, 9}}}));
  EXPECT_EQ(clusters(at.model, {5, 1}), (Clusters{{world, {0, 1}}, {6, {7, 8, 9}}}));
  EXPECT_EQ(clusters(at.model, {6, 2}), (Clusters{{world, {0, 6, 7, 8, 9}}, {1, {2, 3}}}));
  for (const std::vector<int>& some : std::vector<std::vector<int>>{{0, 1}, {2}, {3}, {4, 2}, {0, 1, 3}, {5, 1}}) {
    const Dense dense(at, some);
    std::vector<std::string> names;
    for (const int i : some) {
      names.push_back(at.model.closures()[static_cast<std::size_t>(i)].name);
    }
    EmbeddedState state(at.model, {.closures = names});
    state.set(at.q, at.v);
    ASSERT_EQ(degrees_of_freedom(state), dense.free.X.cols());
    EXPECT_TRUE(is_near(embedded_forward_dynamics(state, at.torque), dense.acceleration, 1e-10));
    EmbeddedState copy(state);
    EXPECT_EQ(embedded_forward_dynamics(copy, at.torque), embedded_forward_dynamics(state, at.torque));
  }
}

TEST(Embedded, ForcesFromOutsideAndRedundantLoopsCount) {
  Random random(5);
  LoopMaker maker(branches(random), random);
  maker.tie(7, 4).tie(9, 7);
  const LoopedState at = maker.make();
  EmbeddedState state(at.model);
  state.set(at.q, at.v);
  const std::vector<AppliedForce<double>> push = {
      AppliedForce<double>(at.model.node("b8"), random.force(), Frame::aligned),
      AppliedForce<double>(at.model.node("b2"), random.force(), Frame::world)};
  const Dense dense(at);
  State open(at.model);
  open.set(at.q, at.v);
  const VectorXd expected = dense.M_C * (at.torque - inverse_dynamics(open, dense.free.b, push)) + dense.free.b;
  const VectorXd acceleration = embedded_forward_dynamics(state, at.torque, push);
  EXPECT_TRUE(is_near(acceleration, expected, 1e-10));
  const VectorXd f = embedded_closure_forces(state, at.torque, acceleration, push);
  EXPECT_TRUE(is_near(dense.Y.transpose() * f, at.torque - inverse_dynamics(open, acceleration, push), 1e-10));

  ModelBuilder twice = edit(at.model);  // the same tie twice takes the force between them
  ClosureSpec again = twice.closures()[0];
  again.name = "again";
  twice.add(again);
  const Model doubled = twice.build();
  EmbeddedState redundant(doubled);
  redundant.set(at.q, at.v);
  EXPECT_EQ(degrees_of_freedom(redundant), degrees_of_freedom(state));
  EXPECT_TRUE(is_near(embedded_forward_dynamics(redundant, at.torque, push), acceleration, 1e-10));
  const VectorXd shared = embedded_closure_forces(redundant, at.torque, acceleration, push);
  EXPECT_NEAR(shared(0) + shared(2), f(0), 1e-10 * (1 + std::abs(f(0))));
  EXPECT_NEAR(shared(0), shared(2), 1e-10 * (1 + std::abs(f(0))));
}

TEST(Embedded, WithoutLoopsItIsTheTree) {
  Random random(8);
  const Model model = random_dynamics_model(6, random);
  EmbeddedState state(model);
  const VectorXd q = random_configuration(model, 3);
  const VectorXd v = random.vector(model.nv());
  state.set(q, v);
  EXPECT_EQ(degrees_of_freedom(state), model.nv());
  EXPECT_TRUE(is_near(embedded_forward_dynamics(state, v), forward_dynamics(state.open(), v), 1e-13));
  EXPECT_TRUE(is_near(embedded_mass_matrix(state), mass_matrix(state.open()), 1e-13));
}

TEST(Embedded, NothingIsAllocated) {
  for (const int sample : {0, 7, 10, 15, 31, 32}) {
    SCOPED_TRACE(sample);
    const LoopedState at = random_looped(sample);
    EmbeddedState state(at.model);
    state.set(at.q, at.v);
    const int r = degrees_of_freedom(state);
    VectorXd out(at.model.nv());
    VectorXd f(state.rows().back());
    MatrixXd X(at.model.nv(), r);
    MatrixXd square(r, r);
    double sum = 0;
    const auto call_all = [&] {
      state.set(at.q, at.v);
      embedded_forward_dynamics(state, at.torque, out);
      embedded_closure_forces(state, at.torque, out, f);
      embedded_solve(state, at.torque, out);
      embedded_basis(state, X);
      embedded_bias(state, out);
      embedded_mass_matrix(state, square);
      sum += embedded_log_det_mass(state);
    };
    call_all();  // which makes room for the mass matrix
    state.set(at.q);
    const std::size_t before = allocations();
    call_all();
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(std::isfinite(sum));
  }
}

}  // namespace
}  // namespace bunraku::test
