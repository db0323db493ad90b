/// Derivatives of inverse and forward dynamics against dual numbers through the same kernels as the dynamics, and
/// against differences along the manifold of all that is differentiated.
#include "bunraku/dynamics/derivatives.hpp"

#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"
#include "bunraku/kernels/inverse_dynamics.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/system.hpp"
#include "support/allocations.hpp"
#include "support/dual.hpp"
#include "support/finite_difference.hpp"
#include "support/near.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr double dual_accuracy = 1e-10;
constexpr double difference_accuracy = 1e-9;  // sixth order, steps of 0.01: what is left of a digit is the joint maps'

/// Passes when the largest difference is at most so much of the largest element of b.
testing::AssertionResult agrees(const MatrixXd& a, const MatrixXd& b, double tolerance) {
  const double largest = b.size() == 0 ? 0 : b.cwiseAbs().maxCoeff();
  const double apart = b.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (apart <= tolerance * largest) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "differ by " << apart / largest << " of " << largest << ":\n"
                                     << a << "\nagainst\n"
                                     << b;
}

/// The matrix whose columns are f(unit vectors).
template <class F>
MatrixXd by_columns(int n, F&& f) {
  MatrixXd out(n, n);
  for (int j = 0; j < n; ++j) {
    out.col(j) = f(VectorXd(VectorXd::Unit(n, j)));
  }
  return out;
}

/// The kernels on dual numbers, over the user's coordinates of a model without custom hinges.
class OnDuals {
 public:
  explicit OnDuals(const Model& model)
      : tree_(model), constants_(tree_), layouts_(tree_, 1), ws_(tree_, constants_, layouts_) {}

  /// The derivative of T along (u, y, z) in (q, v, a).
  VectorXd inverse(const VectorXd& q, const VectorXd& v, const VectorXd& a, const VectorXd& u, const VectorXd& y,
                   const VectorXd& z) {
    set(q, v, u, y);
    const std::vector<Dual> acceleration = spread(a, z);
    std::vector<Dual> torque(v_.size());
    kernels::inverse_dynamics(ws_, v_.data(), acceleration.data(), torque.data());
    VectorXd out = VectorXd::Zero(v.size());
    for (std::size_t i = 0; i < torque.size(); ++i) {
      const kernels::Follower<double>& follower = tree_.coordinates.velocities[i];
      out[follower.own] += follower.ratio * torque[i].dx;
    }
    return out;
  }
  /// The derivative of θ̈ along (u, y) in (q, v).
  VectorXd forward(const VectorXd& q, const VectorXd& v, const VectorXd& tau, const VectorXd& u, const VectorXd& y) {
    set(q, v, u, y);
    std::vector<Dual> torque(v_.size());
    for (std::size_t i = 0; i < tree_.coordinates.leaders.size(); ++i) {
      torque[static_cast<std::size_t>(tree_.coordinates.leaders[i])] = tau[static_cast<Eigen::Index>(i)];
    }
    std::vector<Dual> acceleration(v_.size());
    kernels::forward_dynamics(ws_, torque.data(), acceleration.data());
    VectorXd out(v.size());
    for (std::size_t i = 0; i < tree_.coordinates.leaders.size(); ++i) {
      out[static_cast<Eigen::Index>(i)] = acceleration[static_cast<std::size_t>(tree_.coordinates.leaders[i])].dx;
    }
    return out;
  }

 private:
  std::vector<Dual> spread(const VectorXd& x, const VectorXd& rate) const {
    std::vector<Dual> out;
    for (const kernels::Follower<double>& each : tree_.coordinates.velocities) {
      out.emplace_back(each.ratio * x[each.own], each.ratio * rate[each.own]);
    }
    return out;
  }
  void set(const VectorXd& q, const VectorXd& v, const VectorXd& u, const VectorXd& y) {
    const kernels::Coordinates<double>& coordinates = tree_.coordinates;
    std::vector<double> position(static_cast<std::size_t>(coordinates.nq));
    coordinates.spread_positions(std::span(q.data(), static_cast<std::size_t>(q.size())), position);
    const std::vector<Dual> way = spread(u, u);
    q_.assign(position.begin(), position.end());
    v_ = spread(v, y);
    for (std::size_t k = 0; k < coordinates.slots.size(); ++k) {
      const kernels::HingeSlot& slot = coordinates.slots[k];
      move(tree_.model.bodies()[k].hinge.type, q_.data() + slot.q, way.data() + slot.v, slot.nv);
    }
    ws_.set_state(q_.data(), v_.data());
  }
  /// The rate of a hinge's positions at velocity u, as docs/conventions.md has them.
  static void move(HingeType type, Dual* q, const Dual* u, int n) {
    const auto w = [&](int i) { return u[i].x; };
    switch (type) {
      case HingeType::planar: {  // along the child's axes
        const double c = std::cos(q[2].x);
        const double s = std::sin(q[2].x);
        q[0].dx = c * w(0) - s * w(1);
        q[1].dx = s * w(0) + c * w(1);
        q[2].dx = w(2);
        return;
      }
      case HingeType::spherical:
      case HingeType::free: {  // half the quaternion times ω
        const double x[4] = {q[0].x, q[1].x, q[2].x, q[3].x};
        q[0].dx = 0.5 * (-x[1] * w(0) - x[2] * w(1) - x[3] * w(2));
        q[1].dx = 0.5 * (x[0] * w(0) + x[2] * w(2) - x[3] * w(1));
        q[2].dx = 0.5 * (x[0] * w(1) + x[3] * w(0) - x[1] * w(2));
        q[3].dx = 0.5 * (x[0] * w(2) + x[1] * w(1) - x[2] * w(0));
        if (type == HingeType::free) {
          const Vec3<double> moved =
              Rotation<double>(Quaternion<double>{x[0], x[1], x[2], x[3]}) * Vec3<double>{w(3), w(4), w(5)};
          q[4].dx = moved.x;
          q[5].dx = moved.y;
          q[6].dx = moved.z;
        }
        return;
      }
      default:
        for (int i = 0; i < n; ++i) {
          q[i].dx = w(i);
        }
    }
  }

  kernels::Tree tree_;
  kernels::Constants<Dual> constants_;
  kernels::Layouts layouts_;
  kernels::Workspace<Dual> ws_;
  std::vector<Dual> q_;
  std::vector<Dual> v_;
};

/// The model with universal hinges in place of custom ones, which compute in plain numbers.
Model without_custom(RandomState& drawn) {
  ModelBuilder builder("without custom hinges");
  const ModelBuilder all = edit(drawn.model);
  for (BodySpec body : all.bodies()) {
    if (body.hinge.type == HingeType::custom) {
      body.hinge = random_hinge(HingeType::universal, drawn.random);
    }
    builder.add(std::move(body));
  }
  return builder.build();
}

class AgainstDuals : public testing::TestWithParam<int> {
 protected:
  RandomState drawn{GetParam()};
  Model model = without_custom(drawn);
  int n = model.nv();
  VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  VectorXd v = drawn.random.vector(n);
  VectorXd x = drawn.random.vector(n);
};

void compare_inverse_dynamics(const Model& model, const VectorXd& q, const VectorXd& v, const VectorXd& x) {
  State state(model, PassiveForces::left_out);
  state.set(q, v);
  const InverseDynamicsDerivatives<double> ours = inverse_dynamics_derivatives(state, x);
  OnDuals duals(model);
  const int n = model.nv();
  const VectorXd none = VectorXd::Zero(n);
  const auto inverse = [&](const VectorXd& u, const VectorXd& y, const VectorXd& z) {
    return duals.inverse(q, v, x, u, y, z);
  };
  EXPECT_TRUE(agrees(ours.dq, by_columns(n, [&](const VectorXd& e) { return inverse(e, none, none); }), dual_accuracy));
  EXPECT_TRUE(agrees(ours.dv, by_columns(n, [&](const VectorXd& e) { return inverse(none, e, none); }), dual_accuracy));
  EXPECT_TRUE(agrees(ours.da, by_columns(n, [&](const VectorXd& e) { return inverse(none, none, e); }), dual_accuracy));
  EXPECT_TRUE(agrees(ours.da, mass_matrix(state), dual_accuracy));
}

void compare_forward_dynamics(const Model& model, const VectorXd& q, const VectorXd& v, const VectorXd& x) {
  State state(model, PassiveForces::left_out);
  state.set(q, v);
  const ForwardDynamicsDerivatives<double> ours = forward_dynamics_derivatives(state, x);
  OnDuals duals(model);
  const int n = model.nv();
  const VectorXd none = VectorXd::Zero(n);
  const auto forward = [&](const VectorXd& u, const VectorXd& y) { return duals.forward(q, v, x, u, y); };
  EXPECT_TRUE(agrees(ours.dq, by_columns(n, [&](const VectorXd& e) { return forward(e, none); }), dual_accuracy));
  EXPECT_TRUE(agrees(ours.dv, by_columns(n, [&](const VectorXd& e) { return forward(none, e); }), dual_accuracy));
  EXPECT_TRUE(agrees(ours.dtau, inverse_mass_matrix(state), dual_accuracy));
}

TEST_P(AgainstDuals, InverseDynamics) {
  compare_inverse_dynamics(model, q, v, x);
}

TEST_P(AgainstDuals, ForwardDynamics) {
  compare_forward_dynamics(model, q, v, x);
}

/// The algebra differentiates the whole expression of θ̈, and the tuned sweeps know nothing of it.
TEST_P(AgainstDuals, ExpressionsOfTheDynamics) {
  using namespace soa;
  State state(model, PassiveForces::left_out);
  state.set(q, v);
  System system(model, q, v, PassiveForces::left_out);
  const Operator torque = Operator::variable("x", SpaceKind::hinge, SpaceKind::number);
  const Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
  const VectorXd way = drawn.random.vector(n);
  system.bind(torque, x);
  system.bind(u, way);
  const Operator bias = H * phi * (M * ~phi * a + b);
  const VectorXd none = VectorXd::Zero(n);
  VectorXd rate(n);
  forward_dynamics_jvp(state, x, way, none, none, rate);
  const Operator mass = H * phi * M * ~phi * ~H + 𝒜;
  EXPECT_TRUE(agrees(system(diff(inv(mass) * (torque - bias), u)).dense(), rate, dual_accuracy));
  inverse_dynamics_jvp(state, x, way, none, none, rate);
  EXPECT_TRUE(agrees(system(diff(mass * torque + bias, u)).dense(), rate, dual_accuracy));
}

INSTANTIATE_TEST_SUITE_P(Trees, AgainstDuals, testing::Range(0, 24));

/// Seventeen bodies on revolute and prismatic hinges, every second sample on a free base, from a chain to a bush.
Model one_axis_tree(int sample, Random& random) {
  ModelBuilder builder("one axis each");
  for (int i = 0; i < 17; ++i) {
    const bool branches = random.uniform(0, 8) < sample;
    const int parent = branches ? random.integer(-1, i - 1) : i - 1;
    const HingeType type = i == 0 && sample % 2 == 0    ? HingeType::free
                           : random.uniform(0, 1) < 0.3 ? HingeType::prismatic
                                                        : HingeType::revolute;
    BodySpec body{.name = "b" + std::to_string(i),
                  .parent = parent < 0 ? std::string(world_name) : "b" + std::to_string(parent),
                  .hinge = random_hinge(type, random),
                  .X_PF = random.transform(),
                  .X_MB = random.transform(),
                  .inertia = random.inertia()};
    if (type != HingeType::free && random.integer(0, 1) == 1) {
      body.hinge.dofs.front().armature = random.uniform(0.1, 1);
    }
    builder.add(std::move(body));
  }
  return builder.build();
}

/// Their sweeps are others.
class OfOneAxisHinges : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam())};
  Model model = one_axis_tree(GetParam(), random);
};

TEST_P(OfOneAxisHinges, AgreeWithDuals) {
  for (unsigned sample = 0; sample < 4; ++sample) {
    const VectorXd q = random_configuration(model, sample);
    const VectorXd v = random.vector(model.nv());
    const VectorXd x = random.vector(model.nv());
    compare_inverse_dynamics(model, q, v, x);
    compare_forward_dynamics(model, q, v, x);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, OfOneAxisHinges, testing::Range(0, 9));

/// A random state with friction, springs, and forces from outside in all three frames.
class AgainstDifferences : public testing::TestWithParam<int>, protected RandomState {
 protected:
  AgainstDifferences() : RandomState(GetParam()), n(model.nv()), state(model) {
    for (unsigned seed = 1000; spring_jumps(); ++seed) {
      q = random_configuration(model, seed);
    }
    for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
      for (int i = 0; i < 3; ++i) {
        const Place place{random.integer(-1, 11),
                          {Rotation<double>::from_rpy(random.uniform(-1, 1), random.uniform(-1, 1), 0.3),
                           {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}}};
        const VectorXd f = random.vector(6);
        forces.emplace_back(place, Force<double>{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}, frame);
      }
    }
  }
  /// Whether a step of the differences leads past half a turn of a spring, where it begins to pull the other way and
  /// there is no derivative.
  bool spring_jumps() {
    const auto torques = [&](const VectorXd& there) {
      state.set(there);
      return passive_torques(state);
    };
    const VectorXd here = torques(q);
    for (int i = 0; i < n; ++i) {
      for (const double step : {-0.03, 0.03}) {
        if ((torques(integrate(model, q, VectorXd(VectorXd::Unit(n, i)), step)) - here).norm() > 0.5) {
          return true;
        }
      }
    }
    return false;
  }
  /// f at q ⊕ su, v + sy, differentiated.
  template <class F>
  VectorXd along(const VectorXd& u, const VectorXd& y, F&& f) {
    const VectorXd out = central_difference([&](double s) -> VectorXd {
      state.set(integrate(model, q, u, s), v + s * y);
      return f(s);
    });
    state.set(q, v);
    return out;
  }
  int n;
  State state;
  std::vector<AppliedForce<double>> forces;
};

TEST_P(AgainstDifferences, InverseDynamics) {
  state.set(q, v);
  const InverseDynamicsDerivatives<double> ours = inverse_dynamics_derivatives(state, a, forces);
  const VectorXd none = VectorXd::Zero(n);
  const auto torque = [&](double) { return inverse_dynamics(state, a, forces); };
  EXPECT_TRUE(
      agrees(ours.dq, by_columns(n, [&](const VectorXd& e) { return along(e, none, torque); }), difference_accuracy));
  v = v.cwiseSign().cwiseProduct(v.cwiseAbs().cwiseMax(0.1)).eval();  // friction's sign must stay within the steps
  state.set(q, v);
  const InverseDynamicsDerivatives<double> there = inverse_dynamics_derivatives(state, a, forces);
  EXPECT_TRUE(
      agrees(there.dv, by_columns(n, [&](const VectorXd& e) { return along(none, e, torque); }), difference_accuracy));
}

TEST_P(AgainstDifferences, ForwardDynamics) {
  v = v.cwiseSign().cwiseProduct(v.cwiseAbs().cwiseMax(0.1)).eval();
  state.set(q, v);
  const ForwardDynamicsDerivatives<double> ours = forward_dynamics_derivatives(state, a, forces);
  const VectorXd none = VectorXd::Zero(n);
  const auto acceleration = [&](double) { return forward_dynamics(state, a, forces); };
  const auto by_q = [&](const VectorXd& e) {  // some accelerations vary within 0.01 already
    const VectorXd out = central_difference(
        [&](double s) -> VectorXd {
          state.set(integrate(model, q, e, s), v);
          return acceleration(s);
        },
        1e-3);
    state.set(q, v);
    return out;
  };
  EXPECT_TRUE(agrees(ours.dq, by_columns(n, by_q), difference_accuracy));
  EXPECT_TRUE(agrees(ours.dv, by_columns(n, [&](const VectorXd& e) { return along(none, e, acceleration); }),
                     difference_accuracy));
  EXPECT_TRUE(agrees(ours.dtau, inverse_mass_matrix(state), 1e-10));
}

TEST_P(AgainstDifferences, ProductsAreThoseOfTheMatrices) {
  state.set(q, v);
  const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives(state, a, forces);
  const ForwardDynamicsDerivatives<double> forward = forward_dynamics_derivatives(state, a, forces);
  const VectorXd u = random.vector(n);
  const VectorXd y = random.vector(n);
  const VectorXd z = random.vector(n);
  VectorXd rate(n);
  VectorXd by_q(n);
  VectorXd by_v(n);
  VectorXd by_x(n);
  inverse_dynamics_jvp(state, a, u, y, z, rate, forces);
  EXPECT_TRUE(agrees(rate, inverse.dq * u + inverse.dv * y + inverse.da * z, 1e-11));
  inverse_dynamics_vjp(state, a, u, by_q, by_v, by_x, forces);
  EXPECT_TRUE(agrees(by_q, inverse.dq.transpose() * u, 1e-11));
  EXPECT_TRUE(agrees(by_v, inverse.dv.transpose() * u, 1e-11));
  EXPECT_TRUE(agrees(by_x, inverse.da.transpose() * u, 1e-11));
  forward_dynamics_jvp(state, a, u, y, z, rate, forces);
  EXPECT_TRUE(agrees(rate, forward.dq * u + forward.dv * y + forward.dtau * z, 1e-10));
  forward_dynamics_vjp(state, a, u, by_q, by_v, by_x, forces);
  EXPECT_TRUE(agrees(by_q, forward.dq.transpose() * u, 1e-10));
  EXPECT_TRUE(agrees(by_v, forward.dv.transpose() * u, 1e-10));
  EXPECT_TRUE(agrees(by_x, forward.dtau * u, 1e-10));
}

TEST_P(AgainstDifferences, JacobiansOfNodes) {
  for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
    state.set(q, v);
    const Node node{.name = "somewhere",
                    .body = random.integer(0, 11),
                    .X_BN = {Rotation<double>::from_rpy(0.3, -0.2, 1), {0.4, 0.1, -0.3}}};
    const MatrixXd ours = jacobian_dq(state, node, frame);
    for (int i = 0; i < n; ++i) {
      const MatrixXd expected = central_difference([&](double s) -> MatrixXd {
        state.set(integrate(model, q, VectorXd(VectorXd::Unit(n, i)), s));
        return jacobian(state, node, frame);
      });
      EXPECT_TRUE(is_near(MatrixXd(ours.middleCols(i * n, n)), expected, difference_accuracy)) << "coordinate " << i;
    }
  }
}

TEST_P(AgainstDifferences, InBlocksOfLargerMatricesTheSame) {
  state.set(q, v);
  const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives(state, a, forces);
  const ForwardDynamicsDerivatives<double> forward = forward_dynamics_derivatives(state, a, forces);
  MatrixXd wide = MatrixXd::Constant(3 * n, n, 7);
  inverse_dynamics_derivatives(state, a, wide.topRows(n), wide.middleRows(n, n), wide.bottomRows(n), forces);
  EXPECT_EQ((wide.topRows(n) - inverse.dq).norm(), 0);
  EXPECT_EQ((wide.middleRows(n, n) - inverse.dv).norm(), 0);
  EXPECT_EQ((wide.bottomRows(n) - inverse.da).norm(), 0);
  forward_dynamics_derivatives(state, a, wide.topRows(n), wide.middleRows(n, n), wide.bottomRows(n), forces);
  EXPECT_EQ((wide.topRows(n) - forward.dq).norm(), 0);
  EXPECT_EQ((wide.middleRows(n, n) - forward.dv).norm(), 0);
  EXPECT_EQ((wide.bottomRows(n) - forward.dtau).norm(), 0);
}

TEST_P(AgainstDifferences, FloatsAgree) {
  State ideal = dynamics<double>();
  BasicState<float> single = dynamics<float>();
  const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives(ideal, a);
  const InverseDynamicsDerivatives<float> rounded =
      inverse_dynamics_derivatives(single, Eigen::VectorXf(a.cast<float>()));
  EXPECT_TRUE(agrees(rounded.dq.cast<double>(), inverse.dq, 1e-4));
  EXPECT_TRUE(agrees(rounded.dv.cast<double>(), inverse.dv, 1e-4));
  EXPECT_TRUE(agrees(rounded.da.cast<double>(), inverse.da, 1e-4));
}

INSTANTIATE_TEST_SUITE_P(Trees, AgainstDifferences, testing::Range(0, 24));

TEST(Derivatives, OfADeepChainWithoutLosingDigits) {
  Random random(11);
  const Model model = random_chain(80, random);  // deeper than rows of 𝓜⁻¹ are combined
  State state(model, PassiveForces::left_out);
  const int n = model.nv();
  const VectorXd q = random_configuration(model, 1);
  const VectorXd v = random.vector(n);
  const VectorXd x = random.vector(n);
  state.set(q, v);
  const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives(state, x);
  OnDuals duals(model);
  const VectorXd none = VectorXd::Zero(n);
  for (const int j : {0, 1, 40, 79}) {
    const VectorXd e = VectorXd::Unit(n, j);
    EXPECT_TRUE(agrees(inverse.dq.col(j), duals.inverse(q, v, x, e, none, none), dual_accuracy));
    EXPECT_TRUE(agrees(inverse.dv.col(j), duals.inverse(q, v, x, none, e, none), dual_accuracy));
  }
  const ForwardDynamicsDerivatives<double> forward = forward_dynamics_derivatives(state, x);
  const InverseDynamicsDerivatives<double> solved = inverse_dynamics_derivatives(state, forward_dynamics(state, x));
  EXPECT_TRUE(agrees(solved.da * forward.dq, -solved.dq, dual_accuracy));
  EXPECT_TRUE(agrees(solved.da * forward.dv, -solved.dv, dual_accuracy));
}

TEST(Derivatives, DoNotDependOnWhereAFreeBaseIs) {
  BodySpec base{.name = "base", .hinge = {.type = HingeType::free}};
  Random random(5);
  base.inertia = random.inertia();
  ModelBuilder builder("far away");
  builder.add(base);
  for (int i = 0; i < 4; ++i) {
    BodySpec arm{.name = "a" + std::to_string(i), .parent = i == 0 ? "base" : "a" + std::to_string(i - 1)};
    arm.hinge = random_hinge(HingeType::revolute, random);
    arm.X_PF.translation = {0.3, 0.1, -0.2};
    arm.inertia = random.inertia();
    builder.add(arm);
  }
  const Model model = builder.build();
  State state(model);
  VectorXd q = random_configuration(model, 2);
  const VectorXd v = random.vector(model.nv());
  state.set(q, v);
  const InverseDynamicsDerivatives<double> here = inverse_dynamics_derivatives(state, v);
  q.segment<3>(4) += Eigen::Vector3d(1e6, -2e6, 3e6);
  state.set(q, v);
  const InverseDynamicsDerivatives<double> there = inverse_dynamics_derivatives(state, v);
  EXPECT_EQ((here.dq - there.dq).norm(), 0);
  EXPECT_EQ((here.dv - there.dv).norm(), 0);
}

TEST(Derivatives, NothingIsAllocatedAfterTheFirstCall) {
  for (const int sample : {0, 1}) {  // with mimics and without
    RandomState drawn(sample);
    State state(drawn.model);
    const auto n = static_cast<std::size_t>(drawn.model.nv());
    std::vector<double> dq(n * n);
    std::vector<double> dv(n * n);
    std::vector<double> dx(n * n);
    std::vector<double> wide(6 * n * n);
    std::vector<double> one(n);
    std::vector<double> two(n);
    std::vector<double> three(n);
    const Node node = drawn.model.node("b7");
    const std::vector<AppliedForce<double>> forces = {
        {drawn.model, "b7", Force<double>{{1, 2, 3}, {4, 5, 6}}, Frame::aligned}};
    const auto given = detail::as_span(drawn.a);
    const auto all = [&] {
      state.set(drawn.q, drawn.v);
      inverse_dynamics_derivatives(state, given, dq, dv, dx, forces);
      forward_dynamics_derivatives(state, given, dq, dv, dx, forces);
      inverse_dynamics_jvp(state, given, given, given, given, one, forces);
      forward_dynamics_jvp(state, given, given, given, given, one, forces);
      inverse_dynamics_vjp(state, given, given, one, two, three, forces);
      forward_dynamics_vjp(state, given, given, one, two, three, forces);
      jacobian_dq(state, node, Frame::aligned, wide);
    };
    all();
    const std::size_t before = allocations();
    all();
    EXPECT_EQ(allocations(), before);
  }
}

TEST(Derivatives, BadInputIsRefused) {
  RandomState drawn(1);
  State state = drawn.dynamics<double>();
  const int n = drawn.model.nv();
  MatrixXd square(n, n);
  MatrixXd narrow(n, n - 1);
  VectorXd wrong = drawn.a;
  wrong[3] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<AppliedForce<double>> forces = {{Place{99, {}}, Force<double>::zero(), Frame::node}};
  const auto inverse = [&](const VectorXd& a, MatrixXd& dq, MatrixXd& dv, MatrixXd& da, Forces<double> f) {
    inverse_dynamics_derivatives(state, a, dq, dv, da, f);
  };
  EXPECT_THROW(inverse(wrong, square, square, square, {}), ArgumentError);
  EXPECT_THROW(inverse(drawn.a.head(n - 1), square, square, square, {}), ArgumentError);
  EXPECT_THROW(inverse(drawn.a, narrow, square, square, {}), ArgumentError);
  EXPECT_THROW(inverse(drawn.a, square, narrow, square, {}), ArgumentError);
  EXPECT_THROW(inverse(drawn.a, square, square, narrow, {}), ArgumentError);
  EXPECT_THROW(inverse(drawn.a, square, square, square, forces), ArgumentError);
  EXPECT_THROW(forward_dynamics_derivatives(state, wrong, square, square, square), ArgumentError);
  EXPECT_THROW(forward_dynamics_derivatives(state, drawn.a, square, square, narrow), ArgumentError);
  VectorXd out(n);
  VectorXd too_short(n - 1);
  EXPECT_THROW(inverse_dynamics_jvp(state, drawn.a, wrong, drawn.a, drawn.a, out), ArgumentError);
  EXPECT_THROW(inverse_dynamics_jvp(state, drawn.a, drawn.a, drawn.a, drawn.a, too_short), ArgumentError);
  EXPECT_THROW(inverse_dynamics_vjp(state, drawn.a, wrong, out, out, out), ArgumentError);
  EXPECT_THROW(forward_dynamics_jvp(state, drawn.a, drawn.a, drawn.a, wrong, out), ArgumentError);
  EXPECT_THROW(forward_dynamics_vjp(state, wrong, drawn.a, out, out, out), ArgumentError);
  EXPECT_THROW(jacobian_dq(state, "nowhere", Frame::node), ArgumentError);
  EXPECT_THROW(jacobian_dq(state, "b7", Frame::node, square), ArgumentError);
}

TEST(Derivatives, OfASingularSystemNameTheHinge) {
  BodySpec arm{.name = "arm"};
  arm.hinge = {.name = "shoulder", .type = HingeType::revolute};
  arm.inertia = RigidInertia<double>::about_center(1, {0.1, 0, 0}, Sym3<double>::diagonal(0.1, 0.1, 0.1));
  BodySpec ring{.name = "ring", .parent = "arm"};
  ring.hinge = {.name = "wrist", .type = HingeType::revolute};
  State state(ModelBuilder().add(arm).add(ring).build());
  const VectorXd x = VectorXd::Ones(2);
  EXPECT_NO_THROW(inverse_dynamics_derivatives(state, x));
  try {
    forward_dynamics_derivatives(state, x);
    FAIL() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("wrist"));
  }
}

}  // namespace
}  // namespace bunraku::test
