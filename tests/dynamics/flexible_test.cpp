/// Flexible bodies in random trees against a reference that knows positions of points alone, and against conservation,
/// rigid bodies, and each other.
#include "bunraku/model/flexible.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/model/changes.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/vectors.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "support/allocations.hpp"
#include "support/flexible_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_flexible.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// What sums over a tree of some ten levels lose: a few hundred units of the last place.
constexpr double rounding = 1e-13;
/// The reference's second differences are good to some 1e-14 of the largest acceleration of any of its points, of which
/// what is compared may be a tenth.
constexpr double second_differences = 1e-12;

/// Six numbers in Eigen.
VectorXd numbers(const Force<double>& f) {
  return to_eigen(f);
}
VectorXd numbers(const Motion<double>& v) {
  return to_eigen(v);
}

class FlexibleTrees : public testing::TestWithParam<int> {
 protected:
  FlexibleTrees() { state.set(drawn.q, drawn.v); }
  LongVector exact(const VectorXd& x) const { return x.cast<long double>(); }
  /// Where something was inverted.
  double inverted() {
    condition = condition > 0 ? condition : reference.condition(q);
    return rounding + 1e-15 * condition;
  }

  FlexibleSystem drawn{GetParam()};
  const Model& model = drawn.model;
  FlexibleReference reference{model, drawn.sources};  // with lumps where the user put them
  State state{model};
  LongVector q = exact(drawn.q);
  LongVector v = exact(drawn.v);
  LongVector a = exact(drawn.a);
  LongVector torque = exact(drawn.torque);
  double condition = 0;  ///< Of 𝓜, where it has been asked for.
};

TEST_P(FlexibleTrees, LumpsMoveAsTheyWereGiven) {  // however the model has made them fewer
  const FlexibleReference own(model);
  EXPECT_TRUE(agrees(own.mass(q).cast<double>(), reference.mass(q), rounding));
  EXPECT_TRUE(agrees(own.bias(q, v).cast<double>(), reference.bias(q, v), second_differences));
  EXPECT_TRUE(agrees(static_cast<double>(own.gravity_energy(q)), reference.gravity_energy(q), rounding));
}

TEST_P(FlexibleTrees, MassMatrixAndItsInverse) {
  const LongMatrix M = reference.mass(q);
  const LongMatrix inverse = reference.solve(q, LongMatrix::Identity(model.nv(), model.nv()));
  EXPECT_TRUE(agrees(mass_matrix(state), M, rounding));
  EXPECT_TRUE(agrees(inverse_mass_matrix(state), inverse, inverted()));
  EXPECT_TRUE(agrees(inverse_mass_times(state, drawn.torque), LongMatrix(inverse * torque), inverted()));
  // of ln det the error is that of all pivots' digits together
  EXPECT_NEAR(log_det_mass(state), static_cast<double>(reference.log_det(q)), model.nv() * inverted());
  const VectorXd root = inverse_mass_root_times(state, drawn.torque);
  EXPECT_TRUE(agrees(root.squaredNorm(), torque.dot(inverse * torque), inverted()));
  EXPECT_TRUE(agrees(mass_root_times(state, root), torque, inverted()));
}

TEST_P(FlexibleTrees, TorquesOfMotionGravityAndSprings) {
  const LongVector C = reference.bias(q, v);
  EXPECT_TRUE(agrees(bias(state), C, second_differences));
  EXPECT_TRUE(agrees(gravity_torques(state), reference.gravity_torques(q), rounding));
  EXPECT_TRUE(agrees(passive_torques(state), reference.passive(q, v), rounding));
  EXPECT_TRUE(agrees(inverse_dynamics(state, drawn.a), reference.inverse(q, v, a), second_differences));
  EXPECT_TRUE(agrees(VectorXd(coriolis_matrix(state) * drawn.v), LongVector(C - reference.gravity_torques(q)),
                     second_differences));
}

TEST_P(FlexibleTrees, AccelerationsByAllAlgorithms) {
  const LongVector expected = reference.forward(q, v, torque);
  // relative to the largest acceleration; torques of springs may be a hundred times the one that is left
  EXPECT_TRUE(agrees(forward_dynamics(state, drawn.torque), expected, second_differences + inverted()));
  for (const ForwardAlgorithm by :
       {ForwardAlgorithm::fd1, ForwardAlgorithm::fd2, ForwardAlgorithm::fd3, ForwardAlgorithm::fd4}) {
    EXPECT_TRUE(agrees(forward_dynamics_by(by, state, drawn.torque), expected, second_differences + inverted()))
        << "algorithm " << static_cast<int>(by);
  }
}

TEST_P(FlexibleTrees, SomeHingesMoveAsPrescribed) {
  HingeSet modes(model);
  for (const FlexiblePart& part : model.flexible()) {
    modes.insert(part.nodes.front());
  }
  const auto is_mode = [&](int i) {
    return std::any_of(model.flexible().begin(), model.flexible().end(),
                       [&](const FlexiblePart& part) { return i >= part.v_index && i < part.v_index + part.modes; });
  };
  VectorXd acceleration = drawn.a;
  VectorXd torques = drawn.torque;
  hybrid_dynamics(state, modes, acceleration, torques);
  for (int i = 0; i < model.nv(); ++i) {
    EXPECT_EQ(is_mode(i) ? acceleration[i] : torques[i], is_mode(i) ? drawn.a[i] : drawn.torque[i]);
  }
  // accelerations follow from an inverse, torques from these
  EXPECT_TRUE(agrees(torques, reference.inverse(q, v, exact(acceleration)), second_differences + inverted()));
}

TEST_P(FlexibleTrees, LockedModesAreARigidBodyThatIsBent) {
  HingeSet modes(model);
  std::vector<int> left;
  for (const FlexiblePart& part : model.flexible()) {
    modes.insert(part.nodes.front());
  }
  for (const Body& body : model.bodies()) {
    if (body.hinge.type != HingeType::modal) {
      for (int i = 0; i < body.nv; ++i) {
        left.push_back(body.v_index + i);
      }
    }
  }
  const Model bent = lock(model, modes, drawn.q);
  ASSERT_EQ(bent.nv(), static_cast<int>(left.size()));
  VectorXd q_left(bent.nq());
  for (std::size_t k = 0; k < model.bodies().size(); ++k) {
    const Body& whole = model.bodies()[k];
    const Body& now = bent.bodies()[k];
    if (now.nq > 0) {
      q_left.segment(now.q_index, now.nq) = drawn.q.segment(whole.q_index, whole.nq);
    }
  }
  State rigid(bent);
  rigid.set(q_left);
  const MatrixXd M = reference.mass(q).cast<double>();
  EXPECT_TRUE(agrees(mass_matrix(rigid), MatrixXd(M(left, left)), rounding));
}

TEST_P(FlexibleTrees, EnergiesMomentumAndCentre) {
  EXPECT_TRUE(agrees(kinetic_energy(state), reference.kinetic_energy(q, v), rounding));
  // gravity's and the springs' parts may cancel: rounding is that of the larger
  const long double gravity = reference.gravity_energy(q);
  const long double springs = reference.spring_energy(q);
  EXPECT_NEAR(potential_energy(state), static_cast<double>(gravity + springs),
              rounding * static_cast<double>(std::abs(gravity) + springs));
  EXPECT_TRUE(agrees(numbers(momentum(state)), reference.momentum(q, v), rounding));
  EXPECT_TRUE(agrees(MatrixXd(to_eigen(center_of_mass(state))), LongMatrix(reference.center_of_mass(q)), rounding));
  EXPECT_TRUE(agrees(VectorXd(centroidal_momentum_matrix(state) * drawn.v), reference.momentum(q, v), rounding));
}

TEST_P(FlexibleTrees, NodesAreWhereTheReferenceHasThem) {
  for (const std::string& name : drawn.places) {
    SCOPED_TRACE(name);
    const Node node = model.node(name);
    const LongMatrix J = reference.jacobian(q, node);
    const Eigen::Matrix4d X = reference.pose(q, node).matrix();
    EXPECT_TRUE(agrees(MatrixXd(to_eigen(pose(state, name))), MatrixXd(X), rounding));
    EXPECT_TRUE(agrees(numbers(velocity(state, name, Frame::node)), reference.velocity(q, v, node), rounding));
    EXPECT_TRUE(agrees(MatrixXd(jacobian(state, name, Frame::node)), J, rounding));
    // in the world's axes, at the node and at the origin
    MatrixXd turn = MatrixXd::Zero(6, 6);
    turn.topLeftCorner(3, 3) = turn.bottomRightCorner(3, 3) = X.topLeftCorner<3, 3>();
    const MatrixXd aligned = turn * J.cast<double>();
    MatrixXd at_origin = aligned;
    for (int i = 0; i < model.nv(); ++i) {
      const Eigen::Vector3d w = aligned.col(i).head<3>();
      at_origin.col(i).tail<3>() -= w.cross(X.topRightCorner<3, 1>());
    }
    EXPECT_TRUE(agrees(MatrixXd(jacobian(state, name, Frame::aligned)), aligned, rounding));
    EXPECT_TRUE(agrees(MatrixXd(jacobian(state, name, Frame::world)), at_origin, rounding));
    const LongVector bend = reference.bias_acceleration(q, v, node);
    const VectorXd bent = bend.cast<double>();  // of nodes that go straight it is nothing
    EXPECT_TRUE(is_near(numbers(jacobian_bias(state, name, Frame::aligned)), bent, second_differences));
    EXPECT_TRUE(is_near(VectorXd(jacobian_rate(state, name, Frame::aligned) * drawn.v), bent, second_differences));
    EXPECT_TRUE(agrees(numbers(acceleration(state, name, Frame::aligned, drawn.a)), MatrixXd(aligned * drawn.a + bent),
                       second_differences));
  }
}

TEST_P(FlexibleTrees, ForcesAtNodesAndThroughHinges) {
  const std::string& name = drawn.places.back();
  const Node node = model.node(name);
  const AppliedForce<double> push(node, drawn.random.force(), Frame::node);
  const LongVector pushed = reference.jacobian(q, node).transpose() * exact(numbers(push.force));
  EXPECT_TRUE(agrees(inverse_dynamics(state, drawn.a, {&push, 1}), LongVector(reference.inverse(q, v, a) - pushed),
                     second_differences));
  EXPECT_TRUE(agrees(forward_dynamics(state, drawn.torque, {&push, 1}), reference.forward(q, v, torque + pushed),
                     second_differences + inverted()));
  const LongMatrix J = reference.jacobian(q, node);
  EXPECT_TRUE(agrees(lambda_inverse(state, {node}), LongMatrix(J * reference.solve(q, J.transpose())), inverted()));
  const std::vector<Force<double>> through = reactions(state, drawn.a);
  // of the model's own lumps: made fewer they hang on other hinges
  const MatrixXd expected = FlexibleReference(model).reactions(q, v, a).cast<double>();
  const double largest = expected.cwiseAbs().maxCoeff();
  for (std::size_t k = 0; k < through.size(); ++k) {  // nodes without mass, among others, feel nothing
    EXPECT_LE((numbers(through[k]) - expected.col(static_cast<Eigen::Index>(k))).cwiseAbs().maxCoeff(),
              second_differences * largest)
        << k;
  }
}

TEST_P(FlexibleTrees, RegressorTimesParameters) {
  const LongVector expected = reference.bodies_mass(q) * a + reference.bias(q, v);
  EXPECT_TRUE(agrees(VectorXd(regressor(state, drawn.a) * inertial_parameters(model)), expected, second_differences));
}

TEST_P(FlexibleTrees, OperatorExpressions) {
  using namespace soa;
  System system(model, drawn.q, drawn.v);
  system.set_torques(drawn.torque);
  const LongMatrix M_bodies = reference.bodies_mass(q);
  const LongMatrix I = LongMatrix::Identity(model.nv(), model.nv());
  const Operator mass = H * phi * M * ~phi * ~H;
  EXPECT_TRUE(agrees(system(mass).dense(), M_bodies, rounding));
  const LongVector scale = M_bodies.diagonal().cwiseSqrt().cwiseInverse();
  const LongMatrix scaled = scale.asDiagonal() * M_bodies * scale.asDiagonal();
  const LongVector values = Eigen::SelfAdjointEigenSolver<LongMatrix>(scaled).eigenvalues();
  const double without_armature = rounding + 1e-15 * static_cast<double>(values[values.size() - 1] / values[0]);
  EXPECT_TRUE(
      agrees(system(inv(mass)).dense(), LongMatrix(Eigen::LDLT<LongMatrix>(M_bodies).solve(I)), without_armature));
  EXPECT_TRUE(agrees(system(inv(mass + soa::armature)).dense(), reference.solve(q, I), inverted()));
  const Operator forces = H * phi * (M * ~phi * soa::a + soa::b);
  EXPECT_TRUE(agrees(system(forces).dense(), reference.bias(q, v), second_differences));
  EXPECT_TRUE(agrees(system(T_p).dense(), reference.passive(q, v), rounding));
  const Operator forward = inv(mass + soa::armature) * (soa::T - forces + T_p);
  EXPECT_TRUE(agrees(system(forward).dense(), reference.forward(q, v, torque), second_differences + inverted()));
  for (const Sweep& sweep : system(forward).plan().sweeps) {
    EXPECT_NE(sweep.direction, "whole") << "through a dense matrix: " << sweep.text;
  }
  const std::string& tip = drawn.places.back();
  system.set_nodes(std::vector<std::string>{tip});
  EXPECT_TRUE(agrees(system(~B * ~phi * ~H).dense(), reference.jacobian(q, model.node(tip)), rounding));
}

TEST_P(FlexibleTrees, InSinglePrecision) {
  using Vector = Eigen::VectorXf;
  BasicState<float> rough(model);
  rough.set(Vector(drawn.q.cast<float>()), Vector(drawn.v.cast<float>()));
  // as `rounding`, by float's last place: 1e-13 / 2.2e-16 · 1.2e-7
  constexpr double rough_rounding = 5e-5;
  EXPECT_TRUE(agrees(mass_matrix(rough).cast<double>(), reference.mass(q), rough_rounding));
  EXPECT_TRUE(agrees(inverse_dynamics(rough, Vector(drawn.a.cast<float>())).cast<double>(), reference.inverse(q, v, a),
                     rough_rounding));
  // what an inverse loses is seen in torques: 𝓜θ̈ must be T − 𝓒 to rounding, whatever the condition of 𝓜
  const Vector found = forward_dynamics(rough, Vector(drawn.torque.cast<float>()));
  const LongMatrix M = reference.mass(q);
  const LongVector left = torque - reference.bias(q, v) + reference.passive(q, v);
  const double scale = static_cast<double>((M.cwiseAbs() * found.cast<long double>().cwiseAbs()).maxCoeff());
  EXPECT_LE(static_cast<double>((M * found.cast<long double>() - left).cwiseAbs().maxCoeff()), 1e-3 * scale);
}

/// Every function of a batch against those of a state.
TEST_P(FlexibleTrees, BatchesGiveWhatStatesGive) {
  using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr int states = 11;  // no multiple of a register's
  constexpr double same = 1e-12;
  const int n = model.nv();
  const auto bodies = static_cast<int>(model.bodies().size());
  Table positions(states, model.nq());
  Table velocities(states, n);
  Table x(states, n);
  for (int i = 0; i < states; ++i) {
    positions.row(i) = random_flexible_configuration(model, drawn.random).transpose();
    velocities.row(i) = drawn.random.vector(n).transpose();
    x.row(i) = drawn.random.vector(n, 5).transpose();
  }
  Batch batch(model);
  Table torques(states, n), accelerations(states, n), biases(states, n), weights(states, n), solved(states, n);
  Table masses(states, n * n), inverses(states, n * n), jacobians(states, 6 * n);
  Table dets(states, 1), energies(states, 2), momenta(states, 6), centres(states, 3);
  Table poses(states, 16 * bodies), moving(states, 6 * bodies), node(states, 16);
  const std::string& tip = drawn.places.back();
  batch.inverse_dynamics(positions, velocities, x, torques).or_throw();
  batch.forward_dynamics(positions, velocities, x, accelerations).or_throw();
  batch.bias(positions, velocities, biases).or_throw();
  batch.gravity_torques(positions, weights).or_throw();
  batch.mass_matrix(positions, masses).or_throw();
  batch.inverse_mass_matrix(positions, inverses).or_throw();
  batch.inverse_mass_times(positions, x, solved).or_throw();
  batch.log_det_mass(positions, dets).or_throw();
  batch.poses(positions, poses).or_throw();
  batch.pose(positions, tip, node).or_throw();
  batch.velocities(positions, velocities, moving).or_throw();
  batch.jacobian(positions, tip, Frame::aligned, jacobians).or_throw();
  batch.center_of_mass(positions, centres).or_throw();
  batch.energy(positions, velocities, energies).or_throw();
  batch.momentum(positions, velocities, momenta).or_throw();
  using namespace soa;
  const Program program(model, inv(H * phi * M * ~phi * ~H + soa::armature));
  Table by_program(states, n);
  batch.apply(program, positions, velocities, x, by_program).or_throw();
  for (int i = 0; i < states; ++i) {
    SCOPED_TRACE(i);
    const VectorXd given = x.row(i).transpose();
    const auto square = [&](const Table& rows, int columns) {
      return MatrixXd(Eigen::Map<const Table>(rows.row(i).data(), rows.cols() / columns, columns));
    };
    state.set(VectorXd(positions.row(i).transpose()), VectorXd(velocities.row(i).transpose()));
    const double lost = same + 1e-15 * eigenvalue_ratio(mass_matrix(state));
    EXPECT_TRUE(agrees(torques.row(i).transpose(), inverse_dynamics(state, given), same));
    EXPECT_TRUE(agrees(accelerations.row(i).transpose(), forward_dynamics(state, given), lost));
    EXPECT_TRUE(agrees(biases.row(i).transpose(), bias(state), same));
    EXPECT_TRUE(agrees(weights.row(i).transpose(), gravity_torques(state), same));
    EXPECT_TRUE(agrees(square(masses, n), mass_matrix(state), same));
    EXPECT_TRUE(agrees(square(inverses, n), inverse_mass_matrix(state), lost));
    EXPECT_TRUE(agrees(solved.row(i).transpose(), inverse_mass_times(state, given), lost));
    EXPECT_TRUE(agrees(by_program.row(i).transpose(), inverse_mass_times(state, given), lost));
    EXPECT_NEAR(dets(i, 0), log_det_mass(state), n * lost);
    EXPECT_TRUE(agrees(square(node, 4), MatrixXd(to_eigen(pose(state, tip))), same));
    EXPECT_TRUE(agrees(square(jacobians, n), MatrixXd(jacobian(state, tip, Frame::aligned)), same));
    EXPECT_TRUE(agrees(centres.row(i).transpose(), MatrixXd(to_eigen(center_of_mass(state))), same));
    EXPECT_TRUE(
        agrees(energies.row(i), MatrixXd(Eigen::RowVector2d(kinetic_energy(state), potential_energy(state))), same));
    EXPECT_TRUE(agrees(momenta.row(i).transpose(), numbers(momentum(state)), same));
    MatrixXd all(4, 4 * bodies);
    MatrixXd found(4, 4 * bodies);
    VectorXd speeds(6 * bodies);
    for (int k = 0; k < bodies; ++k) {
      all.middleCols(4 * k, 4) = to_eigen(pose(state, k));
      found.middleCols(4 * k, 4) =
          Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(poses.row(i).data() + 16 * k);
      speeds.segment<6>(6 * k) = numbers(velocity(state, k, Frame::aligned));
    }
    EXPECT_TRUE(agrees(found, all, same));
    EXPECT_TRUE(agrees(moving.row(i).transpose(), speeds, same));
  }
}

TEST_P(FlexibleTrees, ALoopThroughAFlexibleNode) {
  constexpr std::array types = {HingeType::spherical, HingeType::fixed, HingeType::revolute};
  const FlexibleLoop loop(drawn, GetParam() % 3 == 0 ? std::string(world_name) : drawn.places[1],
                          types[static_cast<std::size_t>(GetParam() / 2 % 3)]);
  ASSERT_EQ(loop.model.nv(), model.nv());
  const LongVector fits = reference.fitting_velocity(q, v, loop.ties);
  const LongVector expected = reference.closed_forward(q, fits, torque, loop.ties);
  ClosedSystem system(loop.model);
  system.set(drawn.q, VectorXd(fits.cast<double>()));
  EXPECT_LE(closure_gap(system).cwiseAbs().maxCoeff(), rounding);
  EXPECT_LE(closure_velocity(system).cwiseAbs().maxCoeff(), rounding);
  // 𝓜 is inverted, and what it makes of the closures' rows once more
  EXPECT_TRUE(agrees(closed_forward_dynamics(system, drawn.torque), expected, 1e-10 + 10 * inverted()));
}

INSTANTIATE_TEST_SUITE_P(Samples, FlexibleTrees, testing::Range(0, flexible_samples));

/// The reference itself on trees of rigid bodies of all hinge types, with mimics.
TEST(FlexibleReferenceItself, AgreesOnRigidTrees) {
  for (int sample = 0; sample < 12; ++sample) {
    SCOPED_TRACE(sample);
    Random random(static_cast<unsigned>(sample) + 40);
    ModelBuilder builder("rigid");
    const ModelBuilder whole = edit(random_dynamics_model(sample, random));
    for (BodySpec body : whole.bodies()) {
      if (body.hinge.type == HingeType::custom) {
        body.hinge = Hinge{.name = body.hinge.name, .type = HingeType::planar};
      }
      const bool plain = body.hinge.type != HingeType::planar && body.hinge.type != HingeType::spherical &&
                         body.hinge.type != HingeType::free;
      for (HingeDof& dof : body.hinge.dofs) {
        dof.stiffness = plain ? dof.stiffness : 0;
      }
      builder.add(std::move(body));
    }
    const Model model = builder.build();
    const VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    const VectorXd v = random.vector(model.nv());
    const VectorXd a = random.vector(model.nv());
    State state(model);
    state.set(q, v);
    const FlexibleReference reference(model);
    const LongVector x = q.cast<long double>();
    const LongVector y = v.cast<long double>();
    EXPECT_TRUE(agrees(mass_matrix(state), reference.mass(x), rounding));
    EXPECT_TRUE(agrees(inverse_dynamics(state, a), reference.inverse(x, y, a.cast<long double>()), second_differences));
    EXPECT_TRUE(agrees(passive_torques(state), reference.passive(x, y), rounding));
    EXPECT_TRUE(agrees(kinetic_energy(state), reference.kinetic_energy(x, y), rounding));
    EXPECT_TRUE(
        agrees(potential_energy(state), reference.gravity_energy(x) + reference.spring_energy(x), rounding * 10));
    EXPECT_TRUE(agrees(integrate(model, q, v, 0.7), reference.moved(x, y, 0.7), rounding));
  }
}

TEST(FlexibleBodies, HaveTheMassOfTheirLumps) {
  Random random(17);
  for (const int modes : {1, 2, 4, 8}) {
    FlexibleBody body = random_flexible_body({.modes = modes, .named = 3, .nameless = 100}, random);
    ModelBuilder builder("one");
    BodySpec frame{.name = "f"};
    frame.hinge.type = HingeType::free;
    add_flexible_body(builder, frame, body);
    const Model model = builder.build();
    ASSERT_EQ(model.nv(), 6 + modes);
    const FlexibleReference reference(model, {{.body = "f", .flexible = body}});
    LongVector q = LongVector::Zero(model.nq());
    q[0] = 1;
    const MatrixXd M = reference.mass(q).cast<double>();
    EXPECT_TRUE(agrees(MatrixXd(to_eigen(rigid_inertia(body).matrix())), MatrixXd(M.topLeftCorner(6, 6)), rounding));
    const std::vector<double> modal = modal_mass(body);
    const MatrixXd found = Eigen::Map<const MatrixXd>(modal.data(), modes, modes);
    EXPECT_TRUE(agrees(found, MatrixXd(M.bottomRightCorner(modes, modes)), rounding));
    // K x = ω² M x
    const VectorXd k = Eigen::Map<const VectorXd>(body.stiffness.data(), modes);
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> waves(MatrixXd(k.asDiagonal()),
                                                                   M.bottomRightCorner(modes, modes));
    const VectorXd expected = waves.eigenvalues().cwiseSqrt() / (2 * EIGEN_PI);
    const std::vector<double> hertz = held_frequencies(body);
    ASSERT_EQ(hertz.size(), static_cast<std::size_t>(modes));
    EXPECT_TRUE(agrees(VectorXd(Eigen::Map<const VectorXd>(hertz.data(), modes)), expected, 1e-11));
    // fewer lumps, the same motion: of points as many stand for any number as there are numbers in 1, ρ, γ and S
    const FlexibleBody fewest = with_fewest_lumps(body);
    EXPECT_LE(fewest.nodes.size(), static_cast<std::size_t>(3 + 25 + 1 + 3 + 3 * modes + modes * (modes + 1) / 2));
    const FlexibleReference fewer(model, {{.body = "f", .flexible = fewest}});
    for (int i = 0; i < 3; ++i) {
      LongVector at = random_flexible_configuration(model, random).cast<long double>();
      EXPECT_TRUE(agrees(fewer.mass(at).cast<double>(), reference.mass(at), rounding));
      EXPECT_TRUE(agrees(static_cast<double>(fewer.gravity_energy(at)), reference.gravity_energy(at), rounding));
    }
  }
}

TEST(FlexibleBodies, OfManyPointsNeedNoMoreThanTheirMotionHasNumbers) {
  Random random(18);
  const FlexibleBody body =
      random_flexible_body({.modes = 1, .named = 0, .nameless = 3, .turning = false}, random);  // three points
  FlexibleBody many = body;
  for (int i = 0; i < 40; ++i) {
    FlexibleNode node = many.nodes.front();
    node.place = random.vec3();
    node.shape.translation = {random.vec3()};
    node.shape.shortening = {random.uniform(0, 1)};
    many.nodes.push_back(node);
  }
  EXPECT_LE(with_fewest_lumps(many).nodes.size(), 8U);  // 1, ρ, γ and S
}

/// A body without modes is a rigid one, to the last bit.
TEST(FlexibleBodies, WithoutModesAreRigid) {
  Random random(19);
  FlexibleBody flexible = random_flexible_body({.modes = 0, .named = 3, .nameless = 2}, random);
  const RigidInertia<double> inertia = rigid_inertia(flexible);
  ModelBuilder bending("bending");
  ModelBuilder rigid("rigid");
  BodySpec arm{.name = "arm", .X_PF = random.transform(), .X_MB = random.transform()};
  arm.hinge = {.type = HingeType::universal, .axis = random.unit(), .axis2 = random.unit()};
  add_flexible_body(bending, arm, flexible);
  arm.inertia = inertia;
  rigid.add(arm);
  BodySpec hand{.name = "hand", .X_PF = random.transform(), .inertia = random.inertia()};
  hand.hinge = {.type = HingeType::revolute, .axis = random.unit()};
  hand.parent = "arm.n1";
  bending.add(hand);
  rigid.add({.name = "arm.n1", .parent = "arm", .X_PF = Transform<double>::translate(flexible.nodes[1].place)});
  rigid.add(hand);
  const Model a = bending.build();
  const Model b = rigid.build();
  ASSERT_EQ(a.nv(), b.nv());
  State state_a(a);
  State state_b(b);
  const VectorXd q = random.vector(a.nq());
  const VectorXd v = random.vector(a.nv());
  const VectorXd x = random.vector(a.nv());
  state_a.set(q, v);
  state_b.set(q, v);
  EXPECT_EQ(mass_matrix(state_a), mass_matrix(state_b));
  EXPECT_EQ(bias(state_a), bias(state_b));
  EXPECT_EQ(inverse_dynamics(state_a, x), inverse_dynamics(state_b, x));
  EXPECT_EQ(forward_dynamics(state_a, x), forward_dynamics(state_b, x));
  EXPECT_EQ(kinetic_energy(state_a), kinetic_energy(state_b));
  EXPECT_TRUE(is_near(pose(state_a, "arm.n1").translation, pose(state_b, "arm") * flexible.nodes[1].place, 1e-15));
}

/// What a state becomes in so many steps, and the worst of what is watched on the way.
template <class F>
void fly(State& state, double h, int steps, F&& watch) {
  const VectorXd none = VectorXd::Zero(state.model().nv());
  for (int i = 0; i < steps; ++i) {
    const NextState<double> next = step(state, none, h, Integrator::runge_kutta_4);
    state.set(next.q, next.v);
    watch((i + 1) * h);
  }
}

class FreeFlight : public testing::TestWithParam<bool> {};

TEST_P(FreeFlight, KeepsEnergyAndMomentum) {
  Random random(23);
  ModelBuilder builder = free_flyer(random);
  builder.set_gravity(GetParam() ? Vec3<double>{3, -2, -9} : Vec3<double>::zero());
  const Model model = builder.build();
  const FlexibleReference reference(model);
  State state(model);
  const VectorXd q = random_flexible_configuration(model, random);  // |η| up to ½: deflections as large as the body
  const VectorXd v = random.vector(model.nv(), 2);
  state.set(q, v);
  const double kinetic = kinetic_energy(state);
  const double energy = kinetic + potential_energy(state);
  const VectorXd momentum_before = numbers(momentum(state));
  const Vec3<double> g = model.gravity();
  double drift = 0;
  double slip = 0;
  double farthest = 0;
  fly(state, 2e-4, 4000, [&](double t) {  // fourth order: at the highest frequency, some 30 rad/s, 1e-9 a second
    drift = std::max(drift, std::abs(kinetic_energy(state) + potential_energy(state) - energy));
    VectorXd expected = momentum_before;  // gravity has no moment about the centre of mass
    expected.tail<3>() += model.mass() * t * Eigen::Vector3d(g.x, g.y, g.z);
    slip = std::max(slip, (numbers(momentum(state)) - expected).norm());
    for (const FlexiblePart& part : model.flexible()) {
      farthest = std::max(farthest, state.q().segment(part.q_index, part.modes).cwiseAbs().maxCoeff());
    }
  });
  EXPECT_LE(drift, 1e-8 * kinetic);
  EXPECT_LE(slip, 1e-8 * momentum_before.norm());
  EXPECT_GE(farthest, 0.3);  // it did bend far
  const LongVector q_end = VectorXd(state.q()).cast<long double>();
  const LongVector v_end = VectorXd(state.v()).cast<long double>();
  const long double all =
      reference.kinetic_energy(q_end, v_end) + reference.gravity_energy(q_end) + reference.spring_energy(q_end);
  EXPECT_NEAR(static_cast<double>(all), energy, 1e-8 * kinetic);
}

INSTANTIATE_TEST_SUITE_P(Gravity, FreeFlight, testing::Bool());

TEST(FlexibleBodies, LoseWhatDampingTakes) {
  Random random(29);
  ModelBuilder builder("damped");
  BodySpec frame{.name = "f", .inertia = random.inertia()};
  frame.hinge.type = HingeType::free;
  add_flexible_body(builder, frame,
                    random_flexible_body({.modes = 3, .named = 2, .nameless = 3, .damping = 2}, random));
  const Model model = builder.build();
  State state(model);
  state.set(random_flexible_configuration(model, random), random.vector(model.nv(), 2));
  const VectorXd d = damping(model);
  const double before = kinetic_energy(state) + potential_energy(state);
  const auto power = [&] { return state.v().dot(d.cwiseProduct(VectorXd(state.v()))); };
  const double h = 2e-4;
  const int steps = 4000;
  double lost = power() / 3;  // Simpson's rule, as good as the steps
  fly(state, h, steps, [&](double t) {
    const int i = static_cast<int>(std::lround(t / h));
    lost += power() * (i == steps ? 1 : i % 2 == 1 ? 4 : 2) / 3;
  });
  lost *= h;
  EXPECT_GT(lost, 0.1);
  EXPECT_NEAR(before - kinetic_energy(state) - potential_energy(state), lost, 1e-8 * before);
}

/// A clamped–free beam of unit length and mass along x that bends in the plane of x and z by its first mode, as
/// `points` lumps; bending draws them in.
FlexibleBody beam(double EI, int points) {
  const double bL = 1.8751040687119611;
  const double sigma = (std::cosh(bL) + std::cos(bL)) / (std::sinh(bL) + std::sin(bL));
  const auto shape = [&](double x) {
    return std::cosh(bL * x) - std::cos(bL * x) - sigma * (std::sinh(bL * x) - std::sin(bL * x));
  };
  const auto slope = [&](double x) {
    return bL * (std::sinh(bL * x) + std::sin(bL * x) - sigma * (std::cosh(bL * x) - std::cos(bL * x)));
  };
  FlexibleBody out;
  out.stiffness = {EI * std::pow(bL, 4)};  // ∫ shape² = 1
  double drawn_in = 0;
  for (int i = 0; i < points; ++i) {
    const double x = (i + 0.5) / points;
    drawn_in += slope(x) * slope(x) / points;
    const double m = 1.0 / points;
    FlexibleNode node{.place = {x, 0, 0}, .inertia = {m, Vec3<double>::zero(), Sym3<double>{}}};
    node.shape = {.translation = {{0, 0, shape(x)}}, .shortening = {drawn_in - slope(x) * slope(x) / (2 * points)}};
    out.nodes.push_back(node);
  }
  return out;
}

/// At a fixed state stiffness does not tell; trajectories do, by 1/stiffness.
TEST(FlexibleBodies, BecomeRigidAsStiffnessGrows) {
  const auto pendulum = [](const FlexibleBody& body) {
    ModelBuilder builder("pendulum");
    BodySpec arm{.name = "arm"};
    arm.hinge = {.type = HingeType::revolute, .axis = Vec3<double>::unit_y()};
    add_flexible_body(builder, arm, body);
    return builder.build();
  };
  FlexibleBody stiff = beam(1, 20);
  stiff.stiffness.clear();
  for (FlexibleNode& node : stiff.nodes) {
    node.shape = {};
  }
  const Model rigid = pendulum(stiff);
  ASSERT_EQ(rigid.nv(), 1);
  constexpr double h = 1e-4;  // the stiffest beam swings at 350 rad/s
  constexpr int steps = 4000;
  std::vector<double> angles;
  State state(rigid);
  fly(state, h, steps, [&](double) { angles.push_back(state.q()[0]); });
  std::vector<double> errors;
  for (const double EI : {1e1, 1e2, 1e3, 1e4}) {
    const Model bending = pendulum(beam(EI, 20));
    ASSERT_EQ(bending.nv(), 2);
    State other(bending);
    double worst = 0;
    std::size_t i = 0;
    fly(other, h, steps, [&](double) { worst = std::max(worst, std::abs(other.q()[0] - angles[i++])); });
    errors.push_back(worst);
  }
  EXPECT_LT(errors.back(), 1e-3);
  EXPECT_NEAR(errors[1] / errors[2], 10, 1);
  EXPECT_NEAR(errors[2] / errors[3], 10, 0.5);
}

TEST(FlexibleBodies, AllocateNothing) {
  for (const int sample : {1, 2}) {
    FlexibleSystem drawn(sample);
    const Model& model = drawn.model;
    State state(model);
    const Node node = model.node(drawn.places.back());
    const auto n = static_cast<std::size_t>(model.nv());
    const std::size_t bodies = model.bodies().size();
    std::vector<double> out(n);
    std::vector<double> matrix(n * n);
    std::vector<double> columns(6 * n);
    std::vector<double> parameters(10 * bodies * n);
    std::vector<Motion<double>> motions(bodies);
    std::vector<double> q_next(static_cast<std::size_t>(model.nq()));
    std::vector<double> dq(n * n);
    std::vector<double> dv(n * n);
    std::vector<double> by_v(n);
    std::vector<double> by_last(n);
    const auto given = detail::as_span(drawn.a);
    const std::size_t before = allocations();
    state.set(drawn.q, drawn.v);
    inverse_dynamics(state, given, out);
    forward_dynamics(state, given, out);
    bias(state, out);
    gravity_torques(state, out);
    passive_torques(state, out);
    inverse_mass_times(state, given, out);
    mass_matrix(state, matrix);
    inverse_mass_matrix(state, matrix);
    coriolis_matrix(state, matrix);
    jacobian(state, node, Frame::aligned, columns);
    jacobian_rate(state, node, Frame::aligned, columns);
    accelerations(state, given, motions);
    bias_accelerations(state, motions);
    centroidal_momentum_matrix(state, columns);
    regressor(state, given, parameters);
    double sum = log_det_mass(state) + kinetic_energy(state) + potential_energy(state) + momentum(state).force.x +
                 center_of_mass(state).x + pose(state, node).translation.x +
                 velocity(state, node, Frame::node).linear.x;
    EXPECT_EQ(allocations(), before);
    const auto with_room = [&] {
      state.set(drawn.q, drawn.v);
      step(state, given, 1e-3, Integrator::runge_kutta_4, q_next, out);
      inverse_dynamics_derivatives(state, given, dq, dv, matrix);
      forward_dynamics_derivatives(state, given, dq, dv, matrix);
      inverse_dynamics_jvp(state, given, given, given, given, out);
      inverse_dynamics_vjp(state, given, given, out, by_v, by_last);
      forward_dynamics_jvp(state, given, given, given, given, out);
      forward_dynamics_vjp(state, given, given, out, by_v, by_last);
      sum += out[0];
    };
    with_room();
    const std::size_t after = allocations();
    with_room();
    EXPECT_EQ(allocations(), after);
    EXPECT_TRUE(std::isfinite(sum));
  }
}

TEST(FlexibleBodies, RootsOfTheirMassAllocateNothing) {  // up to six modes; roots of larger blocks do
  FlexibleSystem drawn(2);
  State state(drawn.model);
  std::vector<double> out(static_cast<std::size_t>(drawn.model.nv()));
  const auto given = detail::as_span(drawn.a);
  const auto roots = [&] {
    state.set(drawn.q, drawn.v);
    mass_root_times(state, given, out);
    inverse_mass_root_times(state, given, out);
  };
  roots();
  const std::size_t before = allocations();
  roots();
  EXPECT_EQ(allocations(), before);
}

TEST(FlexibleBodies, ABatchOfThemAllocatesNothing) {
  FlexibleSystem drawn(5);
  using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int n = drawn.model.nv();
  const Table q = drawn.q.transpose().replicate(9, 1);
  const Table v = drawn.v.transpose().replicate(9, 1);
  const Table x = drawn.torque.transpose().replicate(9, 1);
  Table out(9, n);
  Batch batch(drawn.model);
  batch.forward_dynamics(q, v, x, out).or_throw();
  const std::size_t before = allocations();
  batch.forward_dynamics(q, v, x, out);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace bunraku::test
