/// Derivatives of the dynamics of flexible bodies, against differences in long double of a reference that knows
/// positions of points alone, and of the library's own functions coordinate by coordinate.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "support/finite_difference.hpp"
#include "support/flexible_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_flexible.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// Eighth-order differences of the reference, whose torques are good to 1e-14: in steps of about 0.01 that is 1e-12,
/// and what is cut off is less; of what is compared the sizes differ by some hundred times.
constexpr double by_reference = 1e-10;
/// Sixth order in double precision: 1e-14 of rounding by a step of 0.01, and 1e-12 cut off of turns that add up along a
/// chain to ten times the one that is differentiated by.
constexpr double by_differences = 1e-8;
/// Two ways of the library to one number.
constexpr double rounding = 1e-11;

class FlexibleDerivatives : public testing::TestWithParam<int> {
 protected:
  FlexibleDerivatives() { state.set(drawn.q, drawn.v); }
  LongVector exact(const VectorXd& x) const { return x.cast<long double>(); }
  /// How much worse what an inverse has made may be.
  double inverted() {
    condition = condition > 0 ? condition : reference.condition(q);
    return 1 + 1e-4 * condition;
  }
  /// A direction in which nothing moves by more than one, and all together by some.
  VectorXd direction() { return drawn.random.vector(model.nv()) / std::sqrt(model.nv()); }
  /// d/ds of f(q ⊕ su, v + sy) in long double. Turns of a twentieth of a radian cut off 1e-13; what is quadratic, as
  /// torques are in v, takes steps of any size.
  template <class F>
  LongVector along(const VectorXd& u, const VectorXd& y, F&& f) const {
    const long double h = 0.05L / (0.05L + exact(u).lpNorm<1>());
    return eighth_order_difference(
        [&](long double s) -> LongVector {
          return f(reference.moved(q, exact(u), s), LongVector(v + s * exact(y)), s);
        },
        h);
  }
  /// The same twice.
  template <class F>
  LongVector twice_along(const VectorXd& u, const VectorXd& y, F&& f) const {
    const long double h = 0.1L / (1 + exact(u).lpNorm<1>());
    return twelfth_order_second_difference(
        [&](long double s) -> LongVector {
          return f(reference.moved(q, exact(u), s), LongVector(v + s * exact(y)), s);
        },
        h);
  }
  /// The matrix of derivatives of f(state) by q, column by column, by differences of the library's own function.
  template <class F>
  MatrixXd by_positions(F&& f) {
    return columns([&](int j, double s) {
      State other(model);
      other.set(integrate(model, drawn.q, VectorXd(VectorXd::Unit(n, j)), s), drawn.v);
      return VectorXd(f(other));
    });
  }
  /// By v.
  template <class F>
  MatrixXd by_velocities(F&& f) {
    return columns([&](int j, double s) {
      State other(model);
      other.set(drawn.q, VectorXd(drawn.v + s * VectorXd::Unit(n, j)));
      return VectorXd(f(other));
    });
  }

  FlexibleSystem drawn{GetParam()};
  const Model& model = drawn.model;
  int n = model.nv();
  FlexibleReference reference{model, drawn.sources};
  State state{model};
  LongVector q = exact(drawn.q);
  LongVector v = exact(drawn.v);
  LongVector a = exact(drawn.a);
  LongVector torque = exact(drawn.torque);
  double condition = 0;  ///< Of 𝓜, where it has been asked for.

 private:
  template <class F>
  MatrixXd columns(F&& f) const {
    MatrixXd out;
    for (int j = 0; j < n; ++j) {
      const VectorXd column = central_difference([&](double s) -> VectorXd { return f(j, s); });
      out.conservativeResize(column.size(), n);
      out.col(j) = column;
    }
    return out;
  }
};

TEST_P(FlexibleDerivatives, OfInverseDynamicsAgainstTheReference) {
  const InverseDynamicsDerivatives<double> found = inverse_dynamics_derivatives(state, drawn.a);
  EXPECT_TRUE(agrees(found.da, reference.mass(q), rounding));
  const VectorXd none = VectorXd::Zero(n);
  const std::array<VectorXd, 3> us = {direction(), none, direction()};
  const std::array<VectorXd, 3> ys = {none, direction(), direction()};
  const std::array<VectorXd, 3> zs = {none, none, direction()};
  for (std::size_t i = 0; i < 3; ++i) {
    const LongVector expected = along(us[i], ys[i], [&](const LongVector& x, const LongVector& w, long double s) {
      return reference.inverse(x, w, a + s * exact(zs[i]));
    });
    VectorXd rate(n);
    inverse_dynamics_jvp(state, drawn.a, us[i], ys[i], zs[i], rate);
    EXPECT_TRUE(agrees(rate, expected, by_reference));
    EXPECT_TRUE(agrees(VectorXd(found.dq * us[i] + found.dv * ys[i] + found.da * zs[i]), expected, by_reference));
  }
}

TEST_P(FlexibleDerivatives, OfForwardDynamicsAgainstTheReference) {
  const ForwardDynamicsDerivatives<double> found = forward_dynamics_derivatives(state, drawn.torque);
  EXPECT_TRUE(agrees(found.dtau, reference.solve(q, LongMatrix::Identity(n, n)), rounding * inverted()));
  const VectorXd none = VectorXd::Zero(n);
  const std::array<VectorXd, 2> us = {direction(), direction()};
  const std::array<VectorXd, 2> ys = {none, direction()};
  const std::array<VectorXd, 2> zs = {none, direction()};
  for (std::size_t i = 0; i < 2; ++i) {
    const LongVector expected = along(us[i], ys[i], [&](const LongVector& x, const LongVector& w, long double s) {
      return reference.forward(x, w, torque + s * exact(zs[i]));
    });
    VectorXd rate(n);
    forward_dynamics_jvp(state, drawn.torque, us[i], ys[i], zs[i], rate);
    EXPECT_TRUE(agrees(rate, expected, by_reference * inverted()));
    EXPECT_TRUE(agrees(VectorXd(found.dq * us[i] + found.dv * ys[i] + found.dtau * zs[i]), expected,
                       by_reference * inverted()));
  }
}

TEST_P(FlexibleDerivatives, EveryColumnWithForcesAtNodes) {
  std::vector<AppliedForce<double>> forces;
  int next = 1;
  for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
    const auto at = drawn.places.size() - static_cast<std::size_t>(next++);
    forces.emplace_back(model, drawn.places[std::max<std::size_t>(at, 1)], drawn.random.force(), frame);
  }
  const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives<double>(state, drawn.a, forces);
  const auto torques = [&](State& other) { return inverse_dynamics<double>(other, drawn.a, forces); };
  EXPECT_TRUE(agrees(inverse.dq, by_positions(torques), by_differences));
  EXPECT_TRUE(agrees(inverse.dv, by_velocities(torques), by_differences));
  const ForwardDynamicsDerivatives<double> forward = forward_dynamics_derivatives<double>(state, drawn.torque, forces);
  const auto accelerations = [&](State& other) { return forward_dynamics<double>(other, drawn.torque, forces); };
  EXPECT_TRUE(agrees(forward.dq, by_positions(accelerations), by_differences * inverted()));
  EXPECT_TRUE(agrees(forward.dv, by_velocities(accelerations), by_differences * inverted()));
}

TEST_P(FlexibleDerivatives, ProductsWithVectors) {
  const VectorXd weight = drawn.random.vector(n);
  const VectorXd u = direction();
  const VectorXd y = direction();
  const VectorXd z = direction();
  VectorXd by_q(n);
  VectorXd by_v(n);
  VectorXd by_last(n);
  VectorXd rate(n);
  const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives(state, drawn.a);
  inverse_dynamics_vjp(state, drawn.a, weight, by_q, by_v, by_last);
  EXPECT_TRUE(agrees(by_q, VectorXd(inverse.dq.transpose() * weight), rounding));
  EXPECT_TRUE(agrees(by_v, VectorXd(inverse.dv.transpose() * weight), rounding));
  EXPECT_TRUE(agrees(by_last, VectorXd(inverse.da * weight), rounding));
  inverse_dynamics_jvp(state, drawn.a, u, y, z, rate);
  EXPECT_TRUE(agrees(rate, VectorXd(inverse.dq * u + inverse.dv * y + inverse.da * z), rounding));
  const ForwardDynamicsDerivatives<double> forward = forward_dynamics_derivatives(state, drawn.torque);
  forward_dynamics_vjp(state, drawn.torque, weight, by_q, by_v, by_last);
  EXPECT_TRUE(agrees(by_q, VectorXd(forward.dq.transpose() * weight), rounding * inverted()));
  EXPECT_TRUE(agrees(by_v, VectorXd(forward.dv.transpose() * weight), rounding * inverted()));
  EXPECT_TRUE(agrees(by_last, VectorXd(forward.dtau * weight), rounding * inverted()));
  forward_dynamics_jvp(state, drawn.torque, u, y, z, rate);
  EXPECT_TRUE(agrees(rate, VectorXd(forward.dq * u + forward.dv * y + forward.dtau * z), rounding * inverted()));
}

TEST_P(FlexibleDerivatives, OfTheMassMatrix) {
  const MatrixXd all = mass_matrix_derivatives(state);
  const MatrixXd symbols = christoffel(state);
  const VectorXd u = direction();
  MatrixXd sum = MatrixXd::Zero(n, n);
  MatrixXd coriolis = MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    sum += u[i] * all.middleCols(i * n, n);
    coriolis += u[i] * symbols.middleCols(i * n, n);
    if (i % 5 == 0) {
      EXPECT_TRUE(agrees(mass_matrix_derivative(state, i), MatrixXd(all.middleCols(i * n, n)), rounding) ||
                  all.middleCols(i * n, n).isZero(rounding));
    }
  }
  const auto masses = [&](const LongVector& x, const LongVector&, long double) -> LongVector {
    return reference.bodies_mass(x).reshaped();
  };
  const LongVector expected = along(u, VectorXd::Zero(n), masses);
  EXPECT_TRUE(agrees(VectorXd(sum.reshaped()), expected, by_reference));
  EXPECT_TRUE(agrees(MatrixXd(coriolis + coriolis.transpose()), sum, rounding));
  EXPECT_TRUE(agrees(coriolis_along(state, u), coriolis, rounding));
  // along the motion
  EXPECT_TRUE(
      agrees(VectorXd(mass_matrix_rate(state).reshaped()), along(drawn.v, VectorXd::Zero(n), masses), by_reference));
  const MatrixXd C = coriolis_matrix(state);
  EXPECT_TRUE(agrees(MatrixXd(C + C.transpose()), mass_matrix_rate(state), rounding));
}

TEST_P(FlexibleDerivatives, OfEnergiesAndMomentum) {
  const VectorXd u = direction();
  const VectorXd y = direction();
  const VectorXd none = VectorXd::Zero(n);
  const EnergyGradient<double> kinetic = kinetic_energy_gradient(state);
  const auto energy = [&](const LongVector& x, const LongVector& w, long double) -> LongVector {
    return LongVector::Constant(1, reference.kinetic_energy(x, w));
  };
  // one number, in which the parts of all coordinates may cancel
  const double scale = kinetic.by_q.cwiseAbs().dot(u.cwiseAbs());
  EXPECT_NEAR(kinetic.by_q.dot(u), static_cast<double>(along(u, none, energy)[0]), by_reference * scale);
  EXPECT_TRUE(agrees(kinetic.by_v, LongVector(reference.mass(q) * v), rounding));
  const VectorXd potential = potential_energy_gradient(state);
  const auto height = [&](const LongVector& x, const LongVector&, long double) -> LongVector {
    return LongVector::Constant(1, reference.gravity_energy(x) + reference.spring_energy(x));
  };
  EXPECT_NEAR(potential.dot(u), static_cast<double>(along(u, none, height)[0]),
              by_reference * potential.cwiseAbs().dot(u.cwiseAbs()));
  const MomentumDerivatives<double> momenta = momentum_derivatives(state);
  const auto impetus = [&](const LongVector& x, const LongVector& w, long double) { return reference.momentum(x, w); };
  EXPECT_TRUE(agrees(VectorXd(momenta.dq * u), along(u, none, impetus), by_reference));
  EXPECT_TRUE(agrees(VectorXd(momenta.dv * y), along(none, y, impetus), by_reference));
  const VectorXd rate = centroidal_momentum_matrix_rate(state) * drawn.v;
  EXPECT_TRUE(agrees(rate, along(drawn.v, none, impetus), by_reference));
}

TEST_P(FlexibleDerivatives, OfJacobians) {
  const VectorXd u = direction();
  for (const std::string& name : drawn.places) {
    if (name == world_name) {
      continue;
    }
    SCOPED_TRACE(name);
    const Node node = model.node(name);
    const auto contracted = [&](Frame frame) {
      const MatrixXd all = jacobian_dq(state, name, frame);
      MatrixXd sum = MatrixXd::Zero(6, n);
      for (int i = 0; i < n; ++i) {
        sum += u[i] * all.middleCols(i * n, n);
      }
      return sum;
    };
    const LongVector expected =
        along(u, VectorXd::Zero(n), [&](const LongVector& x, const LongVector&, long double) -> LongVector {
          return reference.jacobian(x, node).reshaped();
        });
    // of a node on a single hinge that does not change in the node's axes it is nothing
    EXPECT_TRUE(is_near(VectorXd(contracted(Frame::node).reshaped()), VectorXd(expected.cast<double>()), by_reference));
    for (const Frame frame : {Frame::aligned, Frame::world}) {
      const VectorXd differences = central_difference([&](double s) -> VectorXd {
        State other(model);
        other.set(integrate(model, drawn.q, u, s));
        return MatrixXd(jacobian(other, name, frame)).reshaped();
      });
      EXPECT_LE((contracted(frame).reshaped() - differences).cwiseAbs().maxCoeff(), by_differences);
    }
  }
}

TEST_P(FlexibleDerivatives, SecondOnesOfInverseDynamics) {
  const VectorXd weight = drawn.random.vector(n);
  const InverseDynamicsSecond<double> second = inverse_dynamics_second(state, drawn.a, weight);
  const VectorXd u = direction();
  const VectorXd y = direction();
  const VectorXd z = direction();
  const double found =
      u.dot(second.qq * u) + 2 * u.dot(second.qv * y) + y.dot(second.vv * y) + 2 * u.dot(second.qa * z);
  const double scale = u.cwiseAbs().dot(second.qq.cwiseAbs() * u.cwiseAbs()) +
                       2 * u.cwiseAbs().dot(second.qv.cwiseAbs() * y.cwiseAbs()) +
                       y.cwiseAbs().dot(second.vv.cwiseAbs() * y.cwiseAbs()) +
                       2 * u.cwiseAbs().dot(second.qa.cwiseAbs() * z.cwiseAbs());
  const LongVector expected =
      twice_along(u, y, [&](const LongVector& x, const LongVector& w, long double s) -> LongVector {
        return LongVector::Constant(1, exact(weight).dot(reference.inverse(x, w, a + s * exact(z))));
      });
  // rounding of 1e-14 by the square of a step of 0.02
  EXPECT_NEAR(found, static_cast<double>(expected[0]), 1e-9 * scale);
  // and each number, as the derivatives of products are
  const auto product = [&](State& other, int which) {
    std::array<VectorXd, 3> out = {VectorXd(n), VectorXd(n), VectorXd(n)};
    inverse_dynamics_vjp(other, drawn.a, weight, out[0], out[1], out[2]);
    return out[static_cast<std::size_t>(which)];
  };
  const double largest = std::max({second.qq.cwiseAbs().maxCoeff(), second.qv.cwiseAbs().maxCoeff(), 1.0});
  const auto near = [&](const MatrixXd& x, const MatrixXd& b) {
    return (x - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <= by_differences * largest;
  };
  EXPECT_TRUE(near(second.qq, by_positions([&](State& other) { return product(other, 0); })));
  EXPECT_TRUE(near(second.qv, by_velocities([&](State& other) { return product(other, 0); })));
  EXPECT_TRUE(near(second.vv, by_velocities([&](State& other) { return product(other, 1); })));
  EXPECT_TRUE(near(second.qa.transpose(), by_positions([&](State& other) { return product(other, 2); })));
}

TEST_P(FlexibleDerivatives, SecondOnesOfForwardDynamics) {
  const VectorXd weight = drawn.random.vector(n);
  const ForwardDynamicsSecond<double> second = forward_dynamics_second(state, drawn.torque, weight);
  const auto product = [&](State& other, int which) {
    std::array<VectorXd, 3> out = {VectorXd(n), VectorXd(n), VectorXd(n)};
    forward_dynamics_vjp(other, drawn.torque, weight, out[0], out[1], out[2]);
    return out[static_cast<std::size_t>(which)];
  };
  const double largest = std::max({second.qq.cwiseAbs().maxCoeff(), second.qv.cwiseAbs().maxCoeff(), 1.0});
  const auto near = [&](const MatrixXd& x, const MatrixXd& b) {
    return (x - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <= 10 * by_differences * inverted() * largest;
  };
  EXPECT_TRUE(near(second.qq, by_positions([&](State& other) { return product(other, 0); })));
  EXPECT_TRUE(near(second.qv, by_velocities([&](State& other) { return product(other, 0); })));
  EXPECT_TRUE(near(second.vv, by_velocities([&](State& other) { return product(other, 1); })));
  EXPECT_TRUE(near(second.qtau.transpose(), by_positions([&](State& other) { return product(other, 2); })));
}

TEST_P(FlexibleDerivatives, OfOperationalSpaceAndOfSteps) {
  const VectorXd u = direction();
  // of a node that moves in all directions, as those of a free base do
  if (model.body(0).hinge.type == HingeType::free) {
    const std::string& name = drawn.places[1];
    const VectorXd differences = central_difference([&](double s) -> VectorXd {
      State other(model);
      other.set(integrate(model, drawn.q, u, s));
      return lambda(other, {name}).reshaped();
    });
    EXPECT_TRUE(agrees(VectorXd(lambda_along(state, {name}, u).reshaped()), differences, by_differences * inverted()));
  }
  constexpr double h = 1e-3;
  const Linearization<double> linear = step_derivatives(state, drawn.torque, h, Integrator::runge_kutta_4);
  const NextState<double> now = step(state, drawn.torque, h, Integrator::runge_kutta_4);
  const VectorXd y = direction();
  const VectorXd differences = central_difference([&](double s) -> VectorXd {
    State other(model);
    other.set(integrate(model, drawn.q, u, s), VectorXd(drawn.v + s * y));
    const NextState<double> next = step(other, drawn.torque, h, Integrator::runge_kutta_4);
    VectorXd out(2 * n);
    out << difference(model, now.q, next.q), next.v;
    return out;
  });
  VectorXd x(2 * n);
  x << u, y;
  EXPECT_TRUE(agrees(VectorXd(linear.A * x), differences, by_differences * inverted()));
}

TEST_P(FlexibleDerivatives, ByPlacesOfNodesAndHinges) {
  // all frames F move on their parents together
  const auto bodies = static_cast<int>(model.bodies().size());
  const VectorXd x = drawn.random.vector(6 * bodies) * 0.3;
  const auto moved = [&](double s) {
    ModelBuilder builder = edit(model);
    for (BodySpec& body : builder.bodies()) {
      const VectorXd by = s * x.segment<6>(6 * model.body_index(body.name));
      const Motion<double> twist{{by[0], by[1], by[2]}, {by[3], by[4], by[5]}};
      body.X_PF = body.X_PF * Transform<double>{Rotation<double>(Quaternion<double>::exp(twist.angular)),
                                                exponential_translation(twist)};
    }
    return builder.build();
  };
  const LongVector differences = eighth_order_difference(
      [&](long double s) { return FlexibleReference(moved(static_cast<double>(s))).inverse(q, v, a); }, 0x1p-7L);
  // frames are in double precision: 1e-16 by a step of 0.01
  EXPECT_TRUE(agrees(VectorXd(inverse_dynamics_by_placements(state, drawn.a) * x), differences, 1e-9));
}

TEST_P(FlexibleDerivatives, OfBatches) {
  using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr int states = 5;
  Table positions(states, model.nq());
  Table velocities(states, n);
  Table x(states, n);
  for (int i = 0; i < states; ++i) {
    positions.row(i) = random_flexible_configuration(model, drawn.random).transpose();
    velocities.row(i) = drawn.random.vector(n).transpose();
    x.row(i) = drawn.random.vector(n, 5).transpose();
  }
  std::array<Table, 6> out;
  out.fill(Table(states, n * n));
  Batch batch(model);
  batch.inverse_dynamics_derivatives(positions, velocities, x, out[0], out[1], out[2]).or_throw();
  batch.forward_dynamics_derivatives(positions, velocities, x, out[3], out[4], out[5]).or_throw();
  for (int i = 0; i < states; ++i) {
    SCOPED_TRACE(i);
    state.set(VectorXd(positions.row(i).transpose()), VectorXd(velocities.row(i).transpose()));
    const VectorXd given = x.row(i).transpose();
    const InverseDynamicsDerivatives<double> inverse = inverse_dynamics_derivatives(state, given);
    const ForwardDynamicsDerivatives<double> forward = forward_dynamics_derivatives(state, given);
    const double worse = 1 + 1e-3 * eigenvalue_ratio(inverse.da);
    const std::array<MatrixXd, 6> single = {inverse.dq, inverse.dv, inverse.da, forward.dq, forward.dv, forward.dtau};
    for (std::size_t k = 0; k < 6; ++k) {
      const MatrixXd each = Eigen::Map<const Table>(out[k].row(i).data(), n, n);
      EXPECT_TRUE(agrees(each, single[k], k < 3 ? 1e-12 : 1e-12 * worse)) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, FlexibleDerivatives, testing::Range(0, flexible_samples / 2));

TEST(FlexibleLoops, HaveTheDerivativesOfDifferences) {
  int tried = 0;
  for (int sample = 0; sample < flexible_samples; ++sample) {
    SCOPED_TRACE(sample);
    FlexibleSystem drawn(sample);
    const int n = drawn.model.nv();
    const FlexibleLoop loop(drawn, std::string(world_name), HingeType::spherical);
    const FlexibleReference reference(drawn.model);
    const VectorXd fits =
        reference.fitting_velocity(drawn.q.cast<long double>(), drawn.v.cast<long double>(), loop.ties).cast<double>();
    ClosedSystem system(loop.model);
    system.set(drawn.q, fits);
    if (closure_report(system).rank < system.rows()) {
      continue;  // off the closures, where differences lead, their equations contradict each other
    }
    ++tried;
    const ClosedDynamicsDerivatives<double> found = closed_forward_dynamics_derivatives(system, drawn.torque);
    const VectorXd u = drawn.random.vector(n) / std::sqrt(n);
    const VectorXd y = drawn.random.vector(n) / std::sqrt(n);
    const VectorXd z = drawn.random.vector(n) / std::sqrt(n);
    const VectorXd differences = central_difference([&](double s) -> VectorXd {
      system.set(integrate(drawn.model, drawn.q, u, s), VectorXd(fits + s * y));
      return closed_forward_dynamics(system, VectorXd(drawn.torque + s * z));
    });
    EXPECT_TRUE(agrees(VectorXd(found.dq * u + found.dv * y + found.dtau * z), differences, by_differences));
  }
  EXPECT_GE(tried, flexible_samples * 3 / 4);
}

}  // namespace
}  // namespace bunraku::test
