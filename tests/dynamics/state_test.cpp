/// The state and the arguments of the calls: what is set stays, what is wrong is refused, copies are copies, and spans,
/// containers and Eigen's objects give one result.
#include "bunraku/dynamics/state.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/finite_difference.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const ArgumentError& e) {
    return e.what();
  }
  return "nothing was refused";
}

/// So many random columns of n numbers.
Eigen::MatrixXd random_columns(Random& random, int n, int count) {
  Eigen::MatrixXd out(n, count);
  for (int j = 0; j < count; ++j) {
    out.col(j) = random.vector(n);
  }
  return out;
}

class States : public testing::TestWithParam<int>, protected RandomState {
 protected:
  States() : RandomState(GetParam()) {}
};

TEST_P(States, GiveBackWhatWasSet) {
  State state(model);
  EXPECT_EQ(state.q(), normalize(model, neutral(model)));
  EXPECT_EQ(state.v(), Eigen::VectorXd::Zero(model.nv()));
  state.set(q, v);
  EXPECT_TRUE(is_near(state.q(), q, 1e-15)) << "quaternions may change in their last digit";
  EXPECT_EQ(state.v(), v);
  state.set(q);
  EXPECT_EQ(state.v(), Eigen::VectorXd::Zero(model.nv()));
}

TEST_P(States, CopiesShareNothingThatChanges) {
  State first(model, PassiveForces::left_out);
  first.set(q, v);
  const Eigen::VectorXd torque = inverse_dynamics(first, a);
  State copy = first;
  EXPECT_EQ(copy.passive_forces(), PassiveForces::left_out);
  EXPECT_EQ(inverse_dynamics(copy, a), torque);
  copy.set(neutral(model));
  EXPECT_EQ(inverse_dynamics(first, a), torque);
  first = copy;
  EXPECT_EQ(first.q(), copy.q());
  first.set(q, v);
  EXPECT_EQ(copy.v(), Eigen::VectorXd::Zero(model.nv()));
  State moved = std::move(first);
  EXPECT_EQ(inverse_dynamics(moved, a), torque);
}

TEST_P(States, PosesAndVelocitiesOfNodesInEveryFrame) {
  State state(model);
  state.set(q, v);
  PlainKinematics plain(model);
  plain.set_state(q, v);
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const Node node{"n", k, random.transform()};
    const Transform<double> X_WN = plain.pose(node);
    EXPECT_TRUE(is_near(to_eigen(pose(state, node)), to_eigen(X_WN), 1e-13));
    const Motion<double> V = plain.velocity(node);
    EXPECT_TRUE(is_near(velocity(state, node, Frame::node), V, 1e-12));
    EXPECT_TRUE(is_near(velocity(state, node, Frame::aligned), X_WN.rotation * V, 1e-12));
    const Motion<double> at_origin = velocity(state, node, Frame::world);
    const Vec3<double> linear =
        (X_WN.rotation * V).linear - cross((X_WN.rotation * V).angular, X_WN.translation);
    EXPECT_TRUE(is_near(at_origin, Motion<double>{(X_WN.rotation * V).angular, linear}, 1e-11));
    for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
      const Eigen::VectorXd by_jacobian = jacobian(state, node, frame) * v;
      EXPECT_TRUE(is_near(to_eigen(velocity(state, node, frame)), by_jacobian, 1e-11));
    }
  }
}

TEST_P(States, AccelerationsAreTheRatesOfVelocities) {
  State state(model);
  state.set(q, v);
  const Node node{"n", static_cast<int>(model.bodies().size()) - 1, random.transform()};
  for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
    const Eigen::VectorXd expected = central_difference(
        [&](double t) -> Eigen::VectorXd {
          State later(model);
          later.set(integrate(model, q, v + t / 2 * a, t), v + t * a);
          return to_eigen(velocity(later, node, frame));
        },
        1e-3);
    EXPECT_TRUE(is_near(to_eigen(acceleration(state, node, frame, a)), expected, 1e-5)) << "to the path's own order";
    const Eigen::VectorXd by_jacobian =
        jacobian(state, node, frame) * a + jacobian_rate(state, node, frame) * v;
    EXPECT_TRUE(is_near(to_eigen(acceleration(state, node, frame, a)), by_jacobian, 1e-11));
  }
}

TEST_P(States, RowsOfJacobians) {
  State state(model);
  state.set(q, v);
  const int last = static_cast<int>(model.bodies().size()) - 1;
  for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
    const Eigen::MatrixXd J = jacobian(state, last, frame);
    const Eigen::MatrixXd rate = jacobian_rate(state, last, frame);
    EXPECT_EQ(jacobian(state, last, frame, Rows::angular), J.topRows(3));
    EXPECT_EQ(jacobian(state, last, frame, Rows::linear), J.bottomRows(3));
    EXPECT_EQ(jacobian_rate(state, last, frame, Rows::linear), rate.bottomRows(3));
  }
}

TEST_P(States, BlocksOfLargerMatricesAreWrittenInPlace) {
  State state(model);
  state.set(q, v);
  const int n = model.nv();
  const int last = static_cast<int>(model.bodies().size()) - 1;
  const auto check = [](auto&& call, const Eigen::MatrixXd& expected) {
    Eigen::MatrixXd whole = Eigen::MatrixXd::Constant(expected.rows() + 3, expected.cols() + 2, 7);
    auto block = whole.block(2, 1, expected.rows(), expected.cols());
    call(block);
    EXPECT_EQ(block, expected);
    block.setConstant(7);
    EXPECT_EQ(whole, Eigen::MatrixXd::Constant(whole.rows(), whole.cols(), 7)) << "nothing beside it is touched";
  };
  const Eigen::MatrixXd X = random_columns(random, n, 3);
  check([&](auto& out) { mass_matrix(state, out); }, mass_matrix(state));
  check([&](auto& out) { inverse_mass_matrix(state, out); }, inverse_mass_matrix(state));
  check([&](auto& out) { coriolis_matrix(state, out); }, coriolis_matrix(state));
  check([&](auto& out) { inverse_mass_times(state, X, out); }, inverse_mass_times(state, X));
  check([&](auto& out) { mass_root_times(state, X, out); }, mass_root_times(state, X));
  check([&](auto& out) { regressor(state, a, out); }, regressor(state, a));
  check([&](auto& out) { hinge_regressor(state, a, out); }, hinge_regressor(state, a));
  check([&](auto& out) { jacobian(state, last, Frame::node, out); }, jacobian(state, last, Frame::node));
  check([&](auto& out) { centroidal_momentum_matrix(state, out); }, centroidal_momentum_matrix(state));
  check([&](auto& out) { center_of_mass_jacobian(state, out); }, center_of_mass_jacobian(state));
  check([&](auto& out) { lambda_inverse(state, {last, 0}, out); }, lambda_inverse(state, {last, 0}));
}

TEST_P(States, SeveralRightHandSidesAreSolvedForAll) {
  State state(model);
  state.set(q);
  const int n = model.nv();
  const Eigen::MatrixXd inverse = inverse_mass_times(state, Eigen::MatrixXd::Identity(n, n));
  EXPECT_TRUE(is_near(inverse * mass_matrix(state), Eigen::MatrixXd::Identity(n, n), 1e-6));
  EXPECT_TRUE(is_near(inverse, inverse_mass_matrix(state), 1e-9));
  Eigen::MatrixXd in_place = random_columns(random, n, 4);
  const Eigen::MatrixXd right = in_place;
  inverse_mass_times(state, in_place, in_place);
  for (int j = 0; j < 4; ++j) {
    EXPECT_EQ(in_place.col(j), inverse_mass_times(state, right.col(j)));
  }
}

TEST_P(States, HingeParametersEnterLinearly) {
  State state(model);
  state.set(q, v);
  Eigen::VectorXd bodies(10 * static_cast<int>(model.bodies().size()));
  Eigen::VectorXd hinges(4 * hinge_velocities(model));
  int at = 0;
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const RigidInertia<double>& m = model.body(k).inertia;
    bodies.segment<10>(10 * k) << m.mass, m.first_moment.x, m.first_moment.y, m.first_moment.z, m.inertia.xx,
        m.inertia.xy, m.inertia.xz, m.inertia.yy, m.inertia.yz, m.inertia.zz;
    for (const HingeDof& dof : model.body(k).hinge.dofs) {
      hinges.segment<4>(at) << dof.armature, dof.damping, dof.friction, dof.stiffness;
      at += 4;
    }
  }
  ASSERT_EQ(at, hinges.size());
  const Eigen::VectorXd torque = regressor(state, a) * bodies + hinge_regressor(state, a) * hinges;
  EXPECT_TRUE(is_near(torque, inverse_dynamics(state, a), 1e-11));
  State ideal(model, PassiveForces::left_out);
  ideal.set(q, v);
  EXPECT_TRUE(is_near(inverse_dynamics(ideal, a) - inverse_dynamics(state, a), passive_torques(state), 1e-11));
  EXPECT_EQ(passive_torques(ideal), Eigen::VectorXd::Zero(model.nv()));
}

INSTANTIATE_TEST_SUITE_P(Trees, States, testing::Range(0, 8));  // mimics too

TEST(Arguments, SpansContainersAndEigenGiveOneResult) {
  RandomState random(2);
  const int n = random.model.nv();
  State state(random.model);
  const std::vector<double> q(random.q.begin(), random.q.end());
  const std::vector<double> v(random.v.begin(), random.v.end());
  state.set(q, v);
  const Eigen::VectorXd expected = inverse_dynamics(state, random.a);
  state.set(random.q, random.v);
  EXPECT_EQ(inverse_dynamics(state, random.a), expected);
  Eigen::VectorXd out(n);
  inverse_dynamics(state, 2 * random.a - random.a, out);
  EXPECT_EQ(out, expected) << "an expression";
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(2, n);
  rows.row(1) = random.a;
  std::vector<double> numbers(static_cast<std::size_t>(n));
  inverse_dynamics(state, rows.row(1), numbers);
  EXPECT_EQ(Eigen::Map<const Eigen::VectorXd>(numbers.data(), n), expected) << "a row";
  Eigen::MatrixXd columns(n, 2);
  inverse_dynamics(state, random.a, columns.col(1));
  EXPECT_EQ(columns.col(1), expected) << "a column";
  inverse_dynamics(state, Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<>>(random.a.data(), n,
                                                                                    Eigen::InnerStride<>(1)),
                   out);
  EXPECT_EQ(out, expected) << "a map whose stride only the run knows";
}

TEST(Arguments, OfTheWrongShapeAreRefusedAndNothingChanges) {
  RandomState random(1);
  const int n = random.model.nv();
  State state(random.model);
  state.set(random.q, random.v);
  const Eigen::MatrixXd square = Eigen::MatrixXd::Identity(n, n);
  const auto size = [n](const char* text) { return fmt::format(fmt::runtime(text), n); };
  EXPECT_EQ(refusal([&] { inverse_dynamics(state, square); }),
            fmt::format("acceleration is {0}×{0}, the model wants a vector of {0}", n));
  EXPECT_EQ(refusal([&] { inverse_dynamics(state, Eigen::VectorXd::Zero(n + 1)); }),
            fmt::format("acceleration has {} numbers, the model wants {}", n + 1, n));
  EXPECT_EQ(refusal([&] { inverse_mass_times(state, Eigen::MatrixXd::Zero(n + 1, 2)); }),
            fmt::format("x is {}×2, the model wants columns of {}", n + 1, n));
  Eigen::MatrixXd J(3, n);
  EXPECT_EQ(refusal([&] { jacobian(state, 0, Frame::node, J); }),
            size("the Jacobian is 3×{0}, the model wants 6×{0}"));
  EXPECT_NO_THROW(jacobian(state, 0, Frame::node, J, Rows::linear));
  EXPECT_THAT(refusal([&] { pose(state, "no such node"); }), HasSubstr("has no node 'no such node'"));
  EXPECT_THAT(refusal([&] { pose(state, 12345); }), HasSubstr("has no body 12345"));
  EXPECT_THAT(refusal([&] { state.set(random.q, square); }), HasSubstr("v is"));
  EXPECT_EQ(state.v(), random.v);
}

TEST(Arguments, NodesByObjectNameAndIndex) {
  RandomState random(4);
  State state(random.model);
  state.set(random.q, random.v);
  const std::string name = random.model.body(3).name;
  const Transform<double> expected = pose(state, 3);
  EXPECT_EQ(pose(state, name), expected);
  EXPECT_EQ(pose(state, name.c_str()), expected);
  EXPECT_EQ(pose(state, random.model.node(name)), expected);
  EXPECT_EQ(pose(state, world), Transform<double>::identity());
  EXPECT_EQ(pose(state, "world"), Transform<double>::identity());
  const Eigen::MatrixXd both = lambda_inverse(state, {name, 1});
  EXPECT_EQ(lambda_inverse(state, std::vector<std::string>{name, random.model.body(1).name}), both);
  const std::array nodes = {random.model.node(name), random.model.node(random.model.body(1).name)};
  EXPECT_EQ(lambda_inverse(state, nodes), both);
}

}  // namespace
}  // namespace bunraku::test
