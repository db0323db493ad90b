/// Parameters that differ from state to state, against models that have them as their own.
#include <vector>

#include <gtest/gtest.h>

#include "batch/tables.hpp"
#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/builder.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/vectors.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

/// The same model with other numbers: what the rows of one state say.
Model changed(const Model& model, const BatchParameters<double>& p, int state) {
  ModelBuilder builder(model.name());
  Vec3<double> gravity = model.gravity();
  if (p.gravity.data() != nullptr) {
    const double* g = p.gravity.row(state);
    gravity = {g[0], g[1], g[2]};
  }
  builder.set_gravity(gravity);
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    BodySpec spec{.name = body.name,
                  .parent = body.parent == world ? std::string(world_name)
                                                 : model.bodies()[static_cast<std::size_t>(body.parent)].name,
                  .hinge = body.hinge,
                  .X_PF = body.X_PF,
                  .X_MB = body.X_MB,
                  .inertia = body.inertia};
    if (p.inertial.data() != nullptr) {
      spec.inertia = RigidInertia<double>::from_parameters(p.inertial.row(state) + 10 * b);
    }
    if (p.placement.data() != nullptr) {
      const double* x = p.placement.row(state) + 7 * b;
      spec.X_PF = {Rotation<double>(Quaternion<double>{x[0], x[1], x[2], x[3]}), {x[4], x[5], x[6]}};
    }
    for (int j = 0; j < body.nv; ++j) {
      HingeDof& dof = spec.hinge.dofs[static_cast<std::size_t>(j)];
      const auto take = [&](const StateRows<const double>& rows, double& number) {
        if (rows.data() != nullptr) {
          number = rows.row(state)[body.v_index + j];
        }
      };
      take(p.armature, dof.armature);
      take(p.damping, dof.damping);
      take(p.friction, dof.friction);
      take(p.stiffness, dof.stiffness);
    }
    builder.add(spec);
  }
  return builder.build();
}

/// Random parameters near a model's own, a row a state.
struct Numbers {
  Numbers(const Model& model, int states, Random& random)
      : inertial(states, 10 * std::ssize(model.bodies())),
        placement(states, 7 * std::ssize(model.bodies())),
        armature(states, model.nv()),
        damping(states, model.nv()),
        friction(states, model.nv()),
        stiffness(states, model.nv()),
        gravity(states, 3) {
    for (int i = 0; i < states; ++i) {
      for (int b = 0; b < std::ssize(model.bodies()); ++b) {
        const Body& body = model.bodies()[static_cast<std::size_t>(b)];
        const double factor = random.uniform(0.5, 2);
        const std::array<double, 10> pi = body.inertia.parameters();
        for (int j = 0; j < 10; ++j) {  // a multiple of a body is a body
          inertial(i, 10 * b + j) = factor * pi[static_cast<std::size_t>(j)];
        }
        const Quaternion<double> turn =
            Quaternion<double>::exp({random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
        placement.row(i).segment(7 * b, 7) << turn.w, turn.x, turn.y, turn.z, random.uniform(-1, 1),
            random.uniform(-1, 1), random.uniform(-1, 1);
      }
      for (int j = 0; j < model.nv(); ++j) {
        armature(i, j) = random.uniform(0.01, 1);
        damping(i, j) = random.uniform(0, 2);
        friction(i, j) = random.uniform(0, 1);
        stiffness(i, j) = random.uniform(0, 3);
      }
      gravity.row(i) = random.vector(3).transpose();
    }
  }
  Table<double> inertial;
  Table<double> placement;
  Table<double> armature;
  Table<double> damping;
  Table<double> friction;
  Table<double> stiffness;
  Table<double> gravity;
};

struct Given {
  std::string name;
  bool inertial = false;
  bool placement = false;
  bool hinges = false;
  bool gravity = false;
};

class BatchParametersOf : public testing::TestWithParam<Given> {};

TEST_P(BatchParametersOf, AreThoseOfModels) {
  const Given& given = GetParam();
  Random random(12);
  const int states = 11;
  for (int sample = 0; sample < 8; ++sample) {
    const Model model = random_dynamics_model(sample, random);
    const Numbers numbers(model, states, random);
    BatchParameters<double> p;
    if (given.inertial) {
      p.inertial = numbers.inertial;
    }
    if (given.placement) {
      p.placement = numbers.placement;
    }
    if (given.hinges) {
      p.armature = numbers.armature;
      p.damping = numbers.damping;
      p.friction = numbers.friction;
      p.stiffness = numbers.stiffness;
    }
    if (given.gravity) {
      p.gravity = numbers.gravity;
    }
    Table<double> q(states, model.nq());
    Table<double> v(states, model.nv());
    Table<double> x(states, model.nv());
    for (int i = 0; i < states; ++i) {
      q.row(i) = random_configuration(model, static_cast<unsigned>(i)).transpose();
      v.row(i) = random.vector(model.nv()).transpose();
      x.row(i) = random.vector(model.nv()).transpose();
    }
    Batch batch(model);
    batch.set_parameters(p);
    const int n = model.nv();
    Table<double> torque(states, n);
    Table<double> acceleration(states, n);
    Table<double> mass(states, n * n);
    Table<double> inverse(states, n * n);
    Table<double> by_q(states, n * n);
    Table<double> by_v(states, n * n);
    Table<double> by_a(states, n * n);
    Table<double> faster_by_q(states, n * n);
    Table<double> faster_by_v(states, n * n);
    Table<double> faster_by_tau(states, n * n);
    Table<double> poses(states, 16 * std::ssize(model.bodies()));
    Table<double> energy(states, 2);
    Table<double> momenta(states, 6);
    Table<double> centers(states, 3);
    batch.inverse_dynamics(q, v, x, torque).or_throw();
    batch.forward_dynamics(q, v, x, acceleration).or_throw();
    batch.inverse_dynamics_derivatives(q, v, x, by_q, by_v, by_a).or_throw();
    batch.forward_dynamics_derivatives(q, v, x, faster_by_q, faster_by_v, faster_by_tau).or_throw();
    batch.mass_matrix(q, mass).or_throw();
    batch.inverse_mass_matrix(q, inverse).or_throw();
    batch.poses(q, poses).or_throw();
    batch.energy(q, v, energy).or_throw();
    batch.momentum(q, v, momenta).or_throw();
    batch.center_of_mass(q, centers).or_throw();
    Table<double> again = Table<double>::Constant(states, n, -1);
    const std::vector<std::ptrdiff_t> subset = {9, 2, 3, 10, 0};
    batch.forward_dynamics(q, v, x, again, subset).or_throw();
    for (int i = 0; i < states; ++i) {
      const Model own = changed(model, p, i);
      State state(own);
      state.set(Eigen::VectorXd(q.row(i).transpose()), Eigen::VectorXd(v.row(i).transpose()));
      const Eigen::VectorXd given_x = x.row(i).transpose();
      const auto near = [&](const Eigen::VectorXd& got, const Eigen::VectorXd& wanted, const char* what) {
        EXPECT_TRUE(is_near(got, wanted, 1e-11)) << what << ", sample " << sample << ", state " << i;
      };
      near(torque.row(i).transpose(), inverse_dynamics(state, given_x), "inverse dynamics");
      near(acceleration.row(i).transpose(), forward_dynamics(state, given_x), "forward dynamics");
      const InverseDynamicsDerivatives<double> inverse_by = inverse_dynamics_derivatives(state, given_x);
      near(by_q.row(i).transpose(), inverse_by.dq.transpose().reshaped(), "inverse dynamics by q");
      near(by_v.row(i).transpose(), inverse_by.dv.transpose().reshaped(), "inverse dynamics by v");
      near(by_a.row(i).transpose(), inverse_by.da.reshaped(), "inverse dynamics by a");
      const ForwardDynamicsDerivatives<double> forward_by = forward_dynamics_derivatives(state, given_x);
      near(faster_by_q.row(i).transpose(), forward_by.dq.transpose().reshaped(), "forward dynamics by q");
      near(faster_by_v.row(i).transpose(), forward_by.dv.transpose().reshaped(), "forward dynamics by v");
      near(faster_by_tau.row(i).transpose(), forward_by.dtau.reshaped(), "forward dynamics by tau");
      near(mass.row(i).transpose(), mass_matrix(state).reshaped(), "mass matrix");
      near(inverse.row(i).transpose(), inverse_mass_matrix(state).reshaped(), "inverse");
      near(energy.row(i).transpose(), Eigen::Vector2d(kinetic_energy(state), potential_energy(state)), "energy");
      const Vec3<double> c = center_of_mass(state);
      near(centers.row(i).transpose(), Eigen::Vector3d(c.x, c.y, c.z), "centre of mass");
      const Force<double> h = momentum(state);
      for (int j = 0; j < 6; ++j) {
        EXPECT_NEAR(momenta(i, j), h[j], 1e-10 * (1 + std::abs(h[j])));
      }
      for (int b = 0; b < std::ssize(model.bodies()); ++b) {
        const Transform<double> X = pose(state, b);
        EXPECT_NEAR(poses(i, 16 * b + 3), X.translation.x, 1e-11);
        EXPECT_NEAR(poses(i, 16 * b + 6), X.rotation(1, 2), 1e-11);
      }
      const bool ran = std::find(subset.begin(), subset.end(), i) != subset.end();
      EXPECT_EQ(again.row(i), ran ? Eigen::RowVectorXd(acceleration.row(i)) : Eigen::RowVectorXd::Constant(n, -1));
    }
    batch.clear_parameters();
    Batch plain(model);
    Table<double> first(states, n);
    Table<double> second(states, n);
    batch.inverse_dynamics(q, v, x, first).or_throw();
    plain.inverse_dynamics(q, v, x, second).or_throw();
    EXPECT_EQ(first, second);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BatchParametersOf,
                         testing::Values(Given{"inertial", true}, Given{"placement", false, true},
                                         Given{"hinges", false, false, true},
                                         Given{"gravity", false, false, false, true},
                                         Given{"all", true, true, true, true}),
                         [](const auto& each) { return each.param.name; });

TEST(BatchParameters, WrongOnesAreRefusedAndChangeNothing) {
  Random random(12);
  const Model model = random_dynamics_model(0, random);
  Numbers numbers(model, 7, random);
  Batch batch(model);
  BatchParameters<double> p;
  EXPECT_THROW(batch.set_parameters(p), ArgumentError);
  p.inertial = numbers.inertial.leftCols(9);
  EXPECT_THROW(batch.set_parameters(p), ArgumentError);
  p = {};
  numbers.placement(3, 0) = 2;
  p.placement = numbers.placement;
  EXPECT_THROW(batch.set_parameters(p), ArgumentError);
  p = {};
  numbers.gravity(6, 1) = std::numeric_limits<double>::quiet_NaN();
  p.gravity = numbers.gravity;
  EXPECT_THROW(batch.set_parameters(p), ArgumentError);
  const Table<double> q = random_configuration(model, 1).transpose();
  Table<double> out(1, model.nv());
  EXPECT_TRUE(batch.gravity_torques(q, out).ok()) << "of any number of states, as before";
  numbers.gravity(6, 1) = 0;
  batch.set_parameters(p);
  EXPECT_THROW(batch.gravity_torques(q, out), ArgumentError) << "of as many states as the parameters";
}

}  // namespace
}  // namespace bunraku::test
