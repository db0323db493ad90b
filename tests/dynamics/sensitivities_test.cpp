/// Sensitivities against differences along the manifold of what is differentiated, against derivatives of operator
/// expressions, and against each other.
#include "bunraku/dynamics/sensitivities.hpp"

#include <limits>

#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/model/changes.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/spatial/exponential.hpp"
#include "support/allocations.hpp"
#include "support/finite_difference.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr double exact = 1e-12;
constexpr double differences = 1e-9;         // sixth order, steps of 0.01
constexpr double second_differences = 2e-9;  // of gradients, some of them with differences in them

/// The largest difference as a part of the largest number in b.
double apart(const MatrixXd& a, const MatrixXd& b) {
  const double largest = b.size() == 0 ? 0 : b.cwiseAbs().maxCoeff();
  const double difference = b.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  return difference == 0 ? 0 : difference / largest;
}

/// f''(0) by central differences of sixth order.
template <class F>
double second_difference(F&& f, double h) {
  const auto both = [&](double s) { return f(s) + f(-s); };
  return (2 * both(3 * h) - 27 * both(2 * h) + 270 * both(h) - 490 * f(0)) / (180 * h * h);
}

/// A random state with friction, springs, and forces from outside in all three frames.
class Sensitivities : public testing::TestWithParam<int>, protected RandomState {
 protected:
  Sensitivities() : RandomState(GetParam()), n(model.nv()), state(model) {
    for (unsigned seed = 1000; spring_jumps(); ++seed) {
      q = random_configuration(model, seed);
    }
    v = v.cwiseSign().cwiseProduct(v.cwiseAbs().cwiseMax(0.1)).eval();  // friction's sign must stay within the steps
    w = random.vector(n);
    for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
      for (int i = 0; i < 3; ++i) {
        const Place place{random.integer(-1, 11),
                          {Rotation<double>::from_rpy(random.uniform(-1, 1), random.uniform(-1, 1), 0.3),
                           {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}}};
        const VectorXd f = random.vector(6);
        forces.emplace_back(place, Force<double>{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}, frame);
      }
    }
    state.set(q, v);
  }
  /// Whether a step of the differences leads past half a turn of a spring, or near it, where there is no derivative.
  bool spring_jumps() {
    const auto torques = [&](const VectorXd& there) {
      state.set(there);
      return passive_torques(state);
    };
    const VectorXd here = torques(q);
    for (int i = 0; i < n; ++i) {
      for (const double step : {-0.1, -0.03, 0.03, 0.1}) {
        if ((torques(integrate(model, q, unit(i), step)) - here).norm() > 0.5) {
          return true;
        }
      }
    }
    return false;
  }
  VectorXd unit(int i) const { return VectorXd::Unit(n, i); }
  /// The derivative of f() along u in q and y in v.
  template <class F>
  MatrixXd along(const VectorXd& u, const VectorXd& y, F&& f, double step = 0.01) {
    const MatrixXd out = central_difference(
        [&](double s) -> MatrixXd {
          state.set(integrate(model, q, u, s), v + s * y);
          return f();
        },
        step);
    state.set(q, v);
    return out;
  }
  template <class F>
  MatrixXd by_q(int i, F&& f, double step = 0.01) {
    return along(unit(i), VectorXd::Zero(n), std::forward<F>(f), step);
  }
  template <class F>
  MatrixXd by_v(int i, F&& f, double step = 0.01) {
    return along(VectorXd::Zero(n), unit(i), std::forward<F>(f), step);
  }
  /// 𝓜 without armature.
  MatrixXd bare_mass() {
    ModelBuilder builder = edit(model);
    for (BodySpec& body : builder.bodies()) {
      for (HingeDof& dof : body.hinge.dofs) {
        dof.armature = 0;
      }
    }
    State bare(builder.build());
    bare.set(q);
    return mass_matrix(bare);
  }
  /// The hinges' bracket c(u,x).
  VectorXd bracket(const VectorXd& u, const VectorXd& x) const {
    VectorXd out = VectorXd::Zero(n);
    for (const Body& body : model.bodies()) {
      if (body.leader != world) {
        continue;
      }
      const int k = body.v_index;
      const auto cross3 = [&](int a, int b) -> Eigen::Vector3d {
        return Eigen::Vector3d(u.segment<3>(k + a)).cross(Eigen::Vector3d(x.segment<3>(k + b)));
      };
      if (body.hinge.type == HingeType::spherical) {
        out.segment<3>(k) = cross3(0, 0);
      } else if (body.hinge.type == HingeType::free) {
        out.segment<3>(k) = cross3(0, 0);
        out.segment<3>(k + 3) = cross3(3, 0) + cross3(0, 3);
      } else if (body.hinge.type == HingeType::planar) {
        out[k] = u[k + 1] * x[k + 2] - u[k + 2] * x[k + 1];
        out[k + 1] = u[k + 2] * x[k] - u[k] * x[k + 2];
      }
    }
    return out;
  }

  int n;
  State state;
  VectorXd w;
  std::vector<AppliedForce<double>> forces;
};

TEST_P(Sensitivities, OfTheMassMatrix) {
  const MatrixXd all = mass_matrix_derivatives(state);
  const double largest = mass_matrix(state).cwiseAbs().maxCoeff();
  for (int i = 0; i < n; ++i) {
    const MatrixXd ours = mass_matrix_derivative(state, i);
    EXPECT_EQ((ours - all.middleCols(i * n, n)).cwiseAbs().maxCoeff(), 0) << i;
    EXPECT_LT((ours - ours.transpose()).cwiseAbs().maxCoeff(), exact * largest);
    const MatrixXd theirs = by_q(i, [&] { return mass_matrix(state); });
    EXPECT_LT((ours - theirs).cwiseAbs().maxCoeff(), 1e-10 * largest) << i;
  }
}

/// Fewer, since rewriting takes its time.
class SensitivitiesOfExpressions : public Sensitivities {};

TEST_P(SensitivitiesOfExpressions, OfTheMassMatrix) {
  using namespace soa;
  for (int i = GetParam() % 3; i < n; i += 5) {
    const Program change(model, diff(H * phi * M * ~phi * ~H, i));
    const MatrixXd theirs = change(state, MatrixXd(MatrixXd::Identity(n, n)));
    EXPECT_LT((mass_matrix_derivative(state, i) - theirs).cwiseAbs().maxCoeff(),
              exact * mass_matrix(state).cwiseAbs().maxCoeff())
        << i;
  }
}

TEST_P(Sensitivities, OfTheMassMatrixInTime) {
  const MatrixXd rate = mass_matrix_rate(state);
  EXPECT_LT(apart(rate, along(v, VectorXd::Zero(n), [&] { return mass_matrix(state); })), differences);
  const MatrixXd skew = rate - 2 * coriolis_matrix(state);
  EXPECT_LT((skew + skew.transpose()).cwiseAbs().maxCoeff(), exact * rate.cwiseAbs().maxCoeff());
  const MatrixXd all = mass_matrix_derivatives(state);
  MatrixXd sum = MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    sum += v[i] * all.middleCols(i * n, n);
  }
  EXPECT_LT(apart(sum, rate), exact);
}

TEST_P(Sensitivities, TheConnectionIsThatOfTheMassMatrix) {
  EXPECT_LT(apart(coriolis_along(state, v), coriolis_matrix(state)), exact);
  const VectorXd u = random.vector(n);
  const VectorXd x = random.vector(n);
  const MatrixXd C_u = coriolis_along(state, u);
  const MatrixXd C_x = coriolis_along(state, x);
  EXPECT_LT(
      apart(C_u + C_u.transpose(), along(u, VectorXd::Zero(n), [&] { return mass_matrix(state); }, 3e-3)), differences);
  const MatrixXd M = bare_mass();
  EXPECT_LT((C_u * x - C_x * u - M * bracket(u, x)).norm(), exact * (C_u * x).norm());
  State fast(model, PassiveForces::left_out);
  fast.set(q, u);
  EXPECT_LT(apart(C_u * u, bias(fast) - gravity_torques(fast)), exact);
}

TEST_P(Sensitivities, ChristoffelSymbols) {
  const MatrixXd symbols = christoffel(state);
  const MatrixXd changes = mass_matrix_derivatives(state);
  const MatrixXd M = bare_mass();
  MatrixXd sum = MatrixXd::Zero(n, n);
  double worst = 0;
  for (int j = 0; j < n; ++j) {
    const MatrixXd C_j = symbols.middleCols(j * n, n);
    sum += v[j] * C_j;
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) {  // Koszul's formula: JR03 5.53 and what brackets add
        const double expected =
            0.5 * (changes(i, k * n + j) + changes(i, j * n + k) - changes(j, i * n + k) +
                   M.row(i).dot(bracket(unit(j), unit(k))) - M.row(k).dot(bracket(unit(j), unit(i))) -
                   M.row(j).dot(bracket(unit(k), unit(i))));
        worst = std::max(worst, std::abs(C_j(i, k) - expected));
      }
    }
  }
  EXPECT_LT(worst, exact * symbols.cwiseAbs().maxCoeff());
  EXPECT_LT(apart(sum, coriolis_matrix(state)), exact);
}

TEST_P(Sensitivities, OfEnergies) {
  const EnergyGradient<double> kinetic = kinetic_energy_gradient(state);
  const VectorXd potential = potential_energy_gradient(state);
  VectorXd kinetic_q(n);
  VectorXd potential_q(n);
  for (int i = 0; i < n; ++i) {
    kinetic_q[i] = by_q(i, [&] { return MatrixXd::Constant(1, 1, kinetic_energy(state)); })(0, 0);
    potential_q[i] = by_q(i, [&] { return MatrixXd::Constant(1, 1, potential_energy(state)); })(0, 0);
  }
  EXPECT_LT(apart(kinetic.by_q, kinetic_q), differences);
  EXPECT_LT(apart(kinetic.by_v, mass_matrix(state) * v), exact);
  EXPECT_LT(apart(potential, potential_q), differences);
  State ideal = dynamics<double>();
  ideal.set(q);
  EXPECT_EQ(potential_energy_gradient(ideal), gravity_torques(ideal));
}

TEST_P(Sensitivities, OfMomenta) {
  const MomentumDerivatives<double> central = momentum_derivatives(state);
  const MomentumDerivatives<double> spatial = spatial_momentum_derivatives(state);
  const auto about_center = [&] { return MatrixXd(to_eigen(momentum(state))); };
  const auto about_origin = [&] { return MatrixXd(to_eigen(Phi<double>(center_of_mass(state)) * momentum(state))); };
  MatrixXd central_q(6, n);
  MatrixXd spatial_q(6, n);
  MatrixXd spatial_v(6, n);
  MatrixXd center_q(3, n);
  for (int i = 0; i < n; ++i) {
    central_q.col(i) = by_q(i, about_center);
    spatial_q.col(i) = by_q(i, about_origin);
    spatial_v.col(i) = by_v(i, about_origin);
    center_q.col(i) = by_q(i, [&] { return MatrixXd(to_eigen(center_of_mass(state))); });
  }
  EXPECT_LT(apart(central.dq, central_q), differences);
  EXPECT_LT(apart(central.dv, centroidal_momentum_matrix(state)), exact);
  EXPECT_LT(apart(spatial.dq, spatial_q), differences);
  EXPECT_LT(apart(spatial.dv, spatial_v), differences);
  EXPECT_LT(apart(center_of_mass_jacobian(state), center_q), differences);
}

TEST_P(Sensitivities, OfOperationalSpaceInertias) {
  const std::vector<Node> nodes = {
      {.name = "one", .body = 11, .X_BN = {Rotation<double>::from_rpy(0.3, -0.2, 1), {0.4, 0.1, -0.3}}},
      {.name = "two", .body = 8, .X_BN = {Rotation<double>::from_rpy(0.1, 0.2, -1), {0.1, 0.1, 0.3}}}};
  for (const std::size_t count : {1, 2}) {
    const std::vector<Node> some(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
    const auto m = static_cast<Eigen::Index>(6 * count);
    MatrixXd here;
    try {
      here = lambda(state, some);
    } catch (const Error&) {  // not all directions are free
      EXPECT_THROW(lambda_derivatives(state, some), Error);
      continue;
    }
    const MatrixXd inverse = lambda_inverse(state, some);
    const double condition = here.norm() * inverse.norm();
    MatrixXd J(m, n);
    for (std::size_t c = 0; c < count; ++c) {
      J.middleRows(static_cast<Eigen::Index>(6 * c), 6) = jacobian(state, some[c], Frame::node);
    }
    const MatrixXd all = lambda_derivatives(state, some);
    const MatrixXd mass = mass_matrix_derivatives(state);
    const MatrixXd Y = inverse_mass_times(state, MatrixXd(J.transpose()));
    MatrixXd sum = MatrixXd::Zero(m, m);
    for (int i = 0; i < n; ++i) {
      const MatrixXd ours = all.middleCols(i * m, m);
      MatrixXd change(m, n);
      for (std::size_t c = 0; c < count; ++c) {
        change.middleRows(static_cast<Eigen::Index>(6 * c), 6) =
            jacobian_dq(state, some[c], Frame::node).middleCols(i * n, n);
      }
      const MatrixXd of_inverse = change * Y + (change * Y).transpose() - Y.transpose() * mass.middleCols(i * n, n) * Y;
      EXPECT_LT((ours + here * of_inverse * here).cwiseAbs().maxCoeff(), 1e-13 * condition * here.norm()) << i;
      const MatrixXd theirs = -here * by_q(i, [&] { return lambda_inverse(state, some); }) * here;
      EXPECT_LT((ours - theirs).cwiseAbs().maxCoeff(), 1e-10 * condition * here.norm()) << i;
      sum += w[i] * ours;
    }
    EXPECT_LT((lambda_along(state, some, w) - sum).norm(), exact * all.norm());
  }
}

TEST_P(Sensitivities, SecondOfInverseDynamics) {
  const InverseDynamicsSecond<double> ours = inverse_dynamics_second(state, a, w, forces);
  const auto gradients = [&] {
    MatrixXd out(n, 3);
    inverse_dynamics_vjp(state, a, w, out.col(0), out.col(1), out.col(2), forces);
    return out;
  };
  MatrixXd qq(n, n);
  MatrixXd vq(n, n);
  MatrixXd aq(n, n);
  MatrixXd qv(n, n);
  MatrixXd vv(n, n);
  for (int j = 0; j < n; ++j) {
    const MatrixXd q_change = by_q(j, gradients);
    const MatrixXd v_change = by_v(j, gradients);
    qq.col(j) = q_change.col(0);
    vq.col(j) = q_change.col(1);
    aq.col(j) = q_change.col(2);
    qv.col(j) = v_change.col(0);
    vv.col(j) = v_change.col(1);
  }
  EXPECT_LT(apart(ours.qq, qq), second_differences);
  EXPECT_LT(apart(ours.qv, qv), second_differences);
  EXPECT_LT(apart(ours.qv, vq.transpose()), second_differences);
  EXPECT_LT(apart(ours.vv, vv), second_differences);
  EXPECT_LT(apart(ours.qa, aq.transpose()), second_differences);
  const MatrixXd mass = mass_matrix_derivatives(state);
  MatrixXd of_mass(n, n);
  for (int i = 0; i < n; ++i) {
    of_mass.row(i) = w.transpose() * mass.middleCols(i * n, n);
  }
  EXPECT_LT(apart(ours.qa, of_mass), 1e-10);
  const MatrixXd symbols = christoffel(state);  // θ̇*C_θ̇'s second derivative
  MatrixXd of_symbols(n, n);
  for (int j = 0; j < n; ++j) {
    of_symbols.col(j) = symbols.middleCols(j * n, n).transpose() * w;
  }
  EXPECT_LT(apart(ours.vv, of_symbols + of_symbols.transpose()), 1e-10);
  VectorXd by_position(n);
  VectorXd by_rate(n);
  VectorXd by_acceleration(n);
  inverse_dynamics_vjp(state, a, w, by_position, by_rate, by_acceleration, forces);
  MatrixXd brackets(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      brackets(i, j) = by_position.dot(bracket(unit(j), unit(i)));
    }
  }
  EXPECT_LT((ours.qq - ours.qq.transpose() - brackets).cwiseAbs().maxCoeff(),
            second_differences * ours.qq.cwiseAbs().maxCoeff());
  const VectorXd u = random.vector(n) * 0.3;  // and λ·T itself, along a line
  const double bend = second_difference(
      [&](double t) {
        state.set(integrate(model, q, u, t), v);
        return w.dot(inverse_dynamics(state, a, forces));
      },
      0.02);
  EXPECT_NEAR(u.dot(ours.qq * u), bend, 1e-7 * ours.qq.norm() * u.squaredNorm());
}

TEST_P(Sensitivities, SecondOfForwardDynamics) {
  const ForwardDynamicsSecond<double> ours = forward_dynamics_second(state, a, w, forces);
  const VectorXd tau = a;
  const auto gradients = [&] {
    MatrixXd out(n, 3);
    forward_dynamics_vjp(state, tau, w, out.col(0), out.col(1), out.col(2), forces);
    return out;
  };
  MatrixXd qq(n, n);
  MatrixXd qv(n, n);
  MatrixXd vv(n, n);
  MatrixXd tq(n, n);
  for (int j = 0; j < n; ++j) {
    const MatrixXd q_change = by_q(j, gradients, 1e-3);  // some accelerations vary within 0.01 already
    const MatrixXd v_change = by_v(j, gradients);
    qq.col(j) = q_change.col(0);
    tq.col(j) = q_change.col(2);
    qv.col(j) = v_change.col(0);
    vv.col(j) = v_change.col(1);
  }
  EXPECT_LT(apart(ours.qq, qq), second_differences);
  EXPECT_LT(apart(ours.qv, qv), second_differences);
  EXPECT_LT(apart(ours.vv, vv), second_differences);
  EXPECT_LT(apart(ours.qtau, tq.transpose()), second_differences);
  const VectorXd u = random.vector(n) * 0.1;
  const double bend = second_difference(
      [&](double t) {
        state.set(integrate(model, q, u, t), v);
        return w.dot(forward_dynamics(state, tau, forces));
      },
      0.01);
  EXPECT_NEAR(u.dot(ours.qq * u), bend, 1e-6 * ours.qq.norm() * u.squaredNorm());
}

TEST_P(Sensitivities, InInertialParameters) {
  const MatrixXd forward = forward_dynamics_by_parameters(state, a, forces);
  const MatrixXd inverse = regressor(state, VectorXd(forward_dynamics(state, a, forces)));
  EXPECT_LT(apart(mass_matrix(state) * forward, -inverse), 1e-10);
  const VectorXd at = forward_dynamics(state, a, forces);
  for (const int body : {2, 7, 11}) {
    const std::string& name = model.bodies()[static_cast<std::size_t>(body)].name;
    const std::array<double, 10> pi = model.bodies()[static_cast<std::size_t>(body)].inertia.parameters();
    MatrixXd by_parameter(n, 10);
    MatrixXd torque_by_parameter(n, 10);
    for (std::size_t c = 0; c < 10; ++c) {
      const auto changed = [&](double s, bool accelerations) -> MatrixXd {
        std::array<double, 10> moved = pi;
        moved[c] += s;
        State other(with_inertia(model, name, RigidInertia<double>::from_parameters(moved)));
        other.set(q, v);
        return accelerations ? forward_dynamics(other, a, forces) : inverse_dynamics(other, at, forces);
      };
      by_parameter.col(static_cast<Eigen::Index>(c)) =
          central_difference([&](double s) { return changed(s, true); }, 1e-4);
      torque_by_parameter.col(static_cast<Eigen::Index>(c)) =
          central_difference([&](double s) { return changed(s, false); }, 1e-2);
    }
    EXPECT_LT(apart(inverse.middleCols(10 * body, 10), torque_by_parameter), differences);
    EXPECT_LT(apart(forward.middleCols(10 * body, 10), by_parameter), 1e-7);  // little mass makes much of rounding
  }
}

TEST_P(Sensitivities, InPlacements) {
  const MatrixXd inverse = inverse_dynamics_by_placements(state, a, forces);
  const MatrixXd forward = forward_dynamics_by_placements(state, a, forces);
  MatrixXd inverse_expected(n, inverse.cols());
  MatrixXd forward_expected(n, inverse.cols());
  for (int c = 0; c < inverse.cols(); ++c) {
    const auto changed = [&](double s, bool accelerations) -> MatrixXd {
      ModelBuilder builder = edit(model);
      Motion<double> twist = Motion<double>::zero();
      twist[c % 6] = s;
      Transform<double>& X_PF = builder.bodies()[static_cast<std::size_t>(c / 6)].X_PF;
      X_PF = X_PF * exp(twist);
      State other(builder.build());
      other.set(q, v);
      return accelerations ? forward_dynamics(other, a, forces) : inverse_dynamics(other, a, forces);
    };
    inverse_expected.col(c) = central_difference([&](double s) { return changed(s, false); });
    forward_expected.col(c) = central_difference([&](double s) { return changed(s, true); }, 1e-3);
  }
  EXPECT_LT(apart(inverse, inverse_expected), differences);
  EXPECT_LT(apart(forward, forward_expected), differences);
}

TEST_P(Sensitivities, InBlocksOfLargerMatricesTheSame) {
  MatrixXd wide = MatrixXd::Constant(4 * n, n * n, 7);
  mass_matrix_derivatives(state, wide.topRows(n));
  EXPECT_EQ((wide.topRows(n) - mass_matrix_derivatives(state)).norm(), 0);
  christoffel(state, wide.middleRows(n, n));
  EXPECT_EQ((wide.middleRows(n, n) - christoffel(state)).norm(), 0);
  EXPECT_EQ((wide.bottomRows(2 * n).array() - 7).abs().maxCoeff(), 0);
  MatrixXd tall = MatrixXd::Constant(4 * n, n, 7);
  inverse_dynamics_second(state, a, w, tall.topRows(n), tall.middleRows(n, n), tall.middleRows(2 * n, n),
                          tall.bottomRows(n), forces);
  const InverseDynamicsSecond<double> inverse = inverse_dynamics_second(state, a, w, forces);
  EXPECT_EQ((tall.topRows(n) - inverse.qq).norm(), 0);
  EXPECT_EQ((tall.bottomRows(n) - inverse.qa).norm(), 0);
  forward_dynamics_second(state, a, w, tall.topRows(n), tall.middleRows(n, n), tall.middleRows(2 * n, n),
                          tall.bottomRows(n), forces);
  const ForwardDynamicsSecond<double> forward = forward_dynamics_second(state, a, w, forces);
  EXPECT_LT(apart(tall.topRows(n), forward.qq), exact);
  EXPECT_LT(apart(tall.bottomRows(n), forward.qtau), exact);
}

TEST_P(Sensitivities, FloatsAgree) {
  State ideal = dynamics<double>();
  BasicState<float> single = dynamics<float>();
  const Eigen::VectorXf rate = a.cast<float>();
  const Eigen::VectorXf weight = w.cast<float>();
  EXPECT_LT(apart(christoffel(single).cast<double>(), christoffel(ideal)), 1e-4);
  EXPECT_LT(apart(mass_matrix_derivatives(single).cast<double>(), mass_matrix_derivatives(ideal)), 1e-4);
  EXPECT_LT(apart(momentum_derivatives(single).dq.cast<double>(), momentum_derivatives(ideal).dq), 1e-4);
  EXPECT_LT(
      apart(inverse_dynamics_second(single, rate, weight).qq.cast<double>(), inverse_dynamics_second(ideal, a, w).qq),
      1e-3);
  EXPECT_LT(
      apart(inverse_dynamics_by_placements(single, rate).cast<double>(), inverse_dynamics_by_placements(ideal, a)),
      1e-4);
}

INSTANTIATE_TEST_SUITE_P(Trees, Sensitivities, testing::Range(0, 24));
INSTANTIATE_TEST_SUITE_P(Trees, SensitivitiesOfExpressions, testing::Range(0, 24, 4));

TEST(SensitivitiesOfStates, NothingIsAllocatedAfterTheFirstCall) {
  for (const int sample : {0, 1}) {  // with mimics and without
    RandomState drawn(sample);
    State state(drawn.model);
    const auto n = static_cast<std::size_t>(drawn.model.nv());
    const std::size_t bodies = drawn.model.bodies().size();
    std::array<std::vector<double>, 4> squares;
    for (std::vector<double>& each : squares) {
      each.resize(n * n);
    }
    std::vector<double> cube(n * n * n);
    std::vector<double> one(n);
    std::vector<double> two(n);
    std::vector<double> six(6 * n);
    std::vector<double> more(6 * n);
    std::vector<double> parameters(10 * bodies * n);
    std::vector<double> placements(6 * bodies * n);
    std::vector<double> inertia(36);
    std::vector<double> inertias(36 * n);
    const std::array<Node, 1> nodes = {drawn.model.node("b11")};
    const std::vector<AppliedForce<double>> forces = {
        {drawn.model, "b7", Force<double>{{1, 2, 3}, {4, 5, 6}}, Frame::aligned}};
    const auto given = detail::as_span(drawn.a);
    const auto all = [&] {
      state.set(drawn.q, drawn.v);
      mass_matrix_derivative(state, 1, squares[0]);
      mass_matrix_derivatives(state, cube);
      mass_matrix_rate(state, squares[0]);
      coriolis_along(state, given, squares[0]);
      christoffel(state, cube);
      kinetic_energy_gradient(state, one, two);
      potential_energy_gradient(state, one);
      momentum_derivatives(state, six, more);
      spatial_momentum_derivatives(state, six, more);
      try {
        lambda_along(state, nodes, given, inertia);
        lambda_derivatives(state, nodes, inertias);
      } catch (const Error&) {
        FAIL() << "the node has not all directions";
      }
      inverse_dynamics_second(state, given, given, squares[0], squares[1], squares[2], squares[3], forces);
      forward_dynamics_second(state, given, given, squares[0], squares[1], squares[2], squares[3], forces);
      forward_dynamics_by_parameters(state, given, parameters, forces);
      inverse_dynamics_by_placements(state, given, placements, forces);
      forward_dynamics_by_placements(state, given, placements, forces);
    };
    all();
    const std::size_t before = allocations();
    all();
    EXPECT_EQ(allocations(), before);
  }
}

TEST(SensitivitiesOfStates, DoNotDependOnWhereAFreeBaseIs) {
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
  const MatrixXd mass = mass_matrix_derivatives(state);
  const MatrixXd symbols = christoffel(state);
  const MatrixXd second = inverse_dynamics_second(state, v, v).qq;
  q.segment<3>(4) += Eigen::Vector3d(1e6, -2e6, 3e6);
  state.set(q, v);
  EXPECT_EQ((mass_matrix_derivatives(state) - mass).norm(), 0);
  EXPECT_EQ((christoffel(state) - symbols).norm(), 0);
  EXPECT_EQ((inverse_dynamics_second(state, v, v).qq - second).norm(), 0);
  EXPECT_EQ(mass.leftCols(6 * model.nv()).norm(), 0);  // 𝓜 does not depend on it at all
}

/// A pendulum of two equal links with point masses at their ends, in closed form.
TEST(SensitivitiesOfStates, OfADoublePendulum) {
  const auto point = RigidInertia<double>::about_center(1, {1, 0, 0}, Sym3<double>::diagonal(0, 0, 0));
  BodySpec upper{.name = "upper", .inertia = point};
  upper.hinge = {.name = "shoulder", .type = HingeType::revolute, .axis = {0, 0, 1}};
  BodySpec lower{.name = "lower", .parent = "upper", .inertia = point};
  lower.hinge = {.name = "elbow", .type = HingeType::revolute, .axis = {0, 0, 1}};
  lower.X_PF.translation = {1, 0, 0};
  State state(ModelBuilder().add(upper).add(lower).build());
  const double angle = 0.7;
  state.set(Eigen::Vector2d(0.3, angle), Eigen::Vector2d(0.5, -1.5));
  Eigen::Matrix2d change;  // 𝓜 = [3 + 2c, 1 + c; 1 + c, 1]
  change << -2 * std::sin(angle), -std::sin(angle), -std::sin(angle), 0;
  EXPECT_LT((mass_matrix_derivative(state, 1) - change).norm(), 1e-15);
  EXPECT_EQ(mass_matrix_derivative(state, 0).norm(), 0);
  const MatrixXd symbols = christoffel(state);
  EXPECT_NEAR(symbols(0, 0 * 2 + 1), -std::sin(angle), 1e-15);  // of 2 θ̇₁θ̇₂ in the first row, half each
  EXPECT_NEAR(symbols(0, 1 * 2 + 0), -std::sin(angle), 1e-15);
  EXPECT_NEAR(symbols(0, 1 * 2 + 1), -std::sin(angle), 1e-15);
  EXPECT_NEAR(symbols(1, 0 * 2 + 0), std::sin(angle), 1e-15);
  EXPECT_NEAR(symbols(1, 1 * 2 + 1), 0, 1e-15);
}

TEST(SensitivitiesOfStates, BadInputIsRefused) {
  RandomState drawn(1);
  State state = drawn.dynamics<double>();
  const int n = drawn.model.nv();
  MatrixXd square(n, n);
  MatrixXd narrow(n, n - 1);
  VectorXd out(n);
  VectorXd too_short(n - 1);
  VectorXd wrong = drawn.a;
  wrong[3] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<AppliedForce<double>> forces = {{Place{99, {}}, Force<double>::zero(), Frame::node}};
  EXPECT_THROW(mass_matrix_derivative(state, -1), ArgumentError);
  EXPECT_THROW(mass_matrix_derivative(state, n), ArgumentError);
  EXPECT_THROW(mass_matrix_derivative(state, 0, narrow), ArgumentError);
  EXPECT_THROW(mass_matrix_derivatives(state, square), ArgumentError);
  EXPECT_THROW(mass_matrix_rate(state, narrow), ArgumentError);
  EXPECT_THROW(christoffel(state, square), ArgumentError);
  EXPECT_THROW(coriolis_along(state, wrong), ArgumentError);
  EXPECT_THROW(coriolis_along(state, too_short), ArgumentError);
  EXPECT_THROW(kinetic_energy_gradient(state, out, too_short), ArgumentError);
  EXPECT_THROW(potential_energy_gradient(state, too_short), ArgumentError);
  EXPECT_THROW(momentum_derivatives(state, square, square), ArgumentError);
  EXPECT_THROW(spatial_momentum_derivatives(state, square, square), ArgumentError);
  EXPECT_THROW(lambda_along(state, {"nowhere"}, drawn.a), ArgumentError);
  EXPECT_THROW(lambda_along(state, {"b11"}, wrong), ArgumentError);
  EXPECT_THROW(lambda_derivatives(state, {"b11"}, square), ArgumentError);
  EXPECT_THROW(inverse_dynamics_second(state, wrong, drawn.a), ArgumentError);
  EXPECT_THROW(inverse_dynamics_second(state, drawn.a, wrong), ArgumentError);
  EXPECT_THROW(inverse_dynamics_second(state, drawn.a, drawn.a, forces), ArgumentError);
  EXPECT_THROW(inverse_dynamics_second(state, drawn.a, drawn.a, square, square, square, narrow), ArgumentError);
  EXPECT_THROW(forward_dynamics_second(state, wrong, drawn.a), ArgumentError);
  EXPECT_THROW(forward_dynamics_second(state, drawn.a, too_short), ArgumentError);
  EXPECT_THROW(forward_dynamics_by_parameters(state, wrong), ArgumentError);
  EXPECT_THROW(forward_dynamics_by_parameters(state, drawn.a, square), ArgumentError);
  EXPECT_THROW(inverse_dynamics_by_placements(state, wrong), ArgumentError);
  EXPECT_THROW(inverse_dynamics_by_placements(state, drawn.a, forces), ArgumentError);
  EXPECT_THROW(forward_dynamics_by_placements(state, drawn.a, square), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
