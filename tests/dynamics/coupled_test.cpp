/// Hinges that follow others: the sweeps over clusters against the dense S*𝓜S.
#include <cmath>
#include <numeric>

#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/bunraku.hpp"
#include "support/allocations.hpp"
#include "support/coupled_models.hpp"
#include "support/dense_reference.hpp"
#include "support/random_model.hpp"
#include "support/traps.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// What the calls give, against long-double solutions with the dense mass matrix.
template <class T>
void expect_exact(const Model& model, unsigned seed, double tolerance) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  Random random(seed);
  const VectorXd q = random_configuration(model, seed);
  const DenseReference dense(model, q);
  const LongMatrix mass = dense.mass().cast<long double>();
  const Eigen::LDLT<LongMatrix> factor(mass);
  ASSERT_TRUE(factor.isPositive());
  const MatrixXd inverse = factor.solve(LongMatrix::Identity(model.nv(), model.nv())).cast<double>();
  const VectorXd scale = mass.diagonal().cast<double>().cwiseSqrt();  // what has other units is not compared
  const double condition = (scale.asDiagonal() * inverse * scale.asDiagonal()).norm();
  const double bound = tolerance * (1 + condition);
  const auto error = [](const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); };

  BasicState<T> state(model, PassiveForces::left_out);
  state.set(Vector(q.cast<T>()), Vector(random.vector(model.nv()).cast<T>()));
  const VectorXd x = random.vector(model.nv());
  const VectorXd a = random.vector(model.nv());
  EXPECT_LT(error(mass_matrix(state).template cast<double>(), mass.cast<double>()), bound);
  EXPECT_LT(error(scale.asDiagonal() * inverse_mass_matrix(state).template cast<double>() * scale.asDiagonal(),
                  scale.asDiagonal() * inverse * scale.asDiagonal()),
            bound);
  EXPECT_LT(error(scale.asDiagonal() * inverse_mass_times(state, Vector(x.cast<T>())).template cast<double>(),
                  scale.asDiagonal() * (inverse * x)),
            bound);
  const auto logs = factor.vectorD().array().log();
  EXPECT_NEAR(static_cast<double>(log_det_mass(state)), static_cast<double>(logs.sum()),
              bound * (1 + static_cast<double>(logs.abs().sum())));
  const Vector torque = inverse_dynamics(state, Vector(a.cast<T>()));
  EXPECT_LT(error(scale.asDiagonal() * forward_dynamics(state, torque).template cast<double>(), scale.asDiagonal() * a),
            bound * (1 + torque.norm() / (dense.mass() * a).norm()));
}

/// Whether no body of a cluster carries another of it.
bool are_side_by_side(const CoupledModel& coupled) {
  return std::all_of(coupled.clusters.begin(), coupled.clusters.end(), [&](const std::vector<int>& cluster) {
    return std::all_of(cluster.begin(), cluster.end(), [&](int k) {
      return std::find(cluster.begin(), cluster.end(), coupled.model.body(k).parent) == cluster.end();
    });
  });
}

TEST(Coupled, TheProgramsOfDynamicsAreExact) {
  int side_by_side = 0;
  for (const CoupledModel& coupled : coupled_models(true)) {
    SCOPED_TRACE(coupled.name);
    const Model& model = coupled.model;
    const int n = model.nv();
    Random random(5);
    const VectorXd q = random_configuration(model, 5);
    const VectorXd torque = random.vector(n);
    State state(model);
    state.set(q, random.vector(n));
    const AppliedForce<double> push(model, model.bodies().back().name, random.force(), Frame::aligned);
    const VectorXd bias = inverse_dynamics(state, VectorXd::Zero(n), {&push, 1});
    const MatrixXd mass = DenseReference(model, q).mass();
    const MatrixXd inverse = mass.inverse();
    const double bound = 1e-13 * mass.norm() * inverse.norm();
    const VectorXd expected = inverse * (torque - bias);
    const auto is_exact = [&](const MatrixXd& found, const MatrixXd& wanted) {
      return (found - wanted).norm() <= bound * (1 + wanted.norm());
    };
    std::vector<Motion<double>> wanted(model.bodies().size());
    accelerations(state, expected, wanted);
    for (const ForwardAlgorithm by :
         {ForwardAlgorithm::fd1, ForwardAlgorithm::fd2, ForwardAlgorithm::fd3, ForwardAlgorithm::fd4}) {
      if (by == ForwardAlgorithm::fd4 && !are_side_by_side(coupled)) {
        EXPECT_THROW(static_cast<void>(forward_dynamics_by(by, state, torque)), Error);
        continue;
      }
      side_by_side += by == ForwardAlgorithm::fd4 ? 1 : 0;
      const bool has_links = by == ForwardAlgorithm::fd2 || by == ForwardAlgorithm::fd4;
      std::vector<Motion<double>> links(has_links ? wanted.size() : 0);
      VectorXd found(n);
      forward_dynamics_by(by, state, torque, found, {&push, 1}, links);
      EXPECT_TRUE(is_exact(found, expected));
      for (std::size_t k = 0; k < links.size(); ++k) {
        EXPECT_TRUE(is_exact(to_eigen(links[k]), to_eigen(wanted[k])));
      }
    }
    const MatrixXd root = mass_root_times(state, MatrixXd(MatrixXd::Identity(n, n)));
    EXPECT_TRUE(is_exact(root * root.transpose(), mass));
    EXPECT_TRUE(is_exact(inverse_mass_root_times(state, root), MatrixXd::Identity(n, n)));
    const std::vector<std::string> nodes = {model.bodies().back().name, model.body(3).name};
    MatrixXd J(12, n);
    for (int i = 0; i < 2; ++i) {
      J.middleRows(6 * i, 6) = jacobian(state, nodes[static_cast<std::size_t>(i)], Frame::node);
    }
    EXPECT_TRUE(is_exact(lambda_inverse(state, nodes), J * inverse * J.transpose()));
    HingeSet prescribed(model);
    std::vector<int> free;
    for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
      const Body& body = model.body(k);
      for (int j = body.v_index; j < body.v_index + body.nv && k % 2 == 0; ++j) {
        prescribed.insert(k);
      }
      for (int j = body.v_index; j < body.v_index + body.nv && k % 2 != 0; ++j) {
        free.push_back(j);
      }
    }
    VectorXd acceleration = random.vector(n);
    const VectorXd given = acceleration;
    VectorXd needed = torque;
    hybrid_dynamics(state, prescribed, acceleration, needed, {&push, 1});
    EXPECT_TRUE(is_exact(mass * acceleration + bias, needed));  // and what was given is still there:
    for (int j = 0; j < n; ++j) {
      const bool is_free = std::find(free.begin(), free.end(), j) != free.end();
      EXPECT_EQ(is_free ? needed[j] : acceleration[j], is_free ? torque[j] : given[j]);
    }
  }
  EXPECT_GE(side_by_side, 1);
}

/// Links that grow outward, so that D of the coupled two is ill-conditioned, but not singular.
TEST(Coupled, RootsTakeLinksOfVeryDifferentMass) {
  ModelBuilder builder;
  double mass = 1;
  for (int i = 0; i < 12; ++i) {
    BodySpec body{.name = "b" + std::to_string(i),
                  .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1),
                  .inertia = RigidInertia<double>::about_center(mass, {0.3, 0.1, 0.2}, {mass, mass, mass, 0, 0, 0})};
    body.X_PF.translation = {0.5, 0.2, 0.1};
    body.hinge.type = HingeType::revolute;
    body.hinge.axis = i % 2 == 0 ? Vec3<double>{0, 0, 1} : Vec3<double>{0, 1, 0};
    if (i == 11) {
      body.hinge.mimic = Mimic{"b0_hinge", 1.5};
    }
    builder.add(body);
    mass *= 5;
  }
  const Model model = builder.build();
  for (unsigned seed = 0; seed < 20; ++seed) {
    const VectorXd q = random_configuration(model, seed);
    State state(model);
    state.set(q);
    const MatrixXd one = MatrixXd::Identity(model.nv(), model.nv());
    const MatrixXd root = mass_root_times(state, one);
    const MatrixXd dense = DenseReference(model, q).mass();
    EXPECT_LT((root * root.transpose() - dense).norm(), 1e-12 * dense.norm());
    EXPECT_LT((inverse_mass_root_times(state, root) - one).norm(), 1e-6);
  }
}

TEST(Coupled, AllWaysAreExact) {
  for (const bool armature : {false, true}) {
    for (const CoupledModel& coupled : coupled_models(armature)) {
      SCOPED_TRACE(coupled.name);
      expect_exact<double>(coupled.model, 3, 1e-13);
      expect_exact<float>(coupled.model, 3, 1e-4);
    }
  }
}

/// Fourteen bodies, from chains to bushes, some of several velocities, some fixed, on the world or on a free body; a
/// third of those with one velocity follow others anywhere in the tree, with ratios of either sign and none.
Model random_couplings(unsigned seed) {
  Random random(seed);
  const auto below = [&](int n) { return std::min(n - 1, static_cast<int>((random.uniform() + 1) / 2 * n)); };
  ModelBuilder builder("random");
  std::vector<std::string> leaders;
  const int reach = 1 + static_cast<int>(seed % 6);
  for (int i = 0; i < 14; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    const int parent = i - 1 - below(std::min(i + 1, reach));
    body.parent = parent < 0 ? std::string(world_name) : "b" + std::to_string(parent);
    const int kind = below(12);
    const HingeType type = i == 0 && seed % 3 == 0 ? HingeType::free
                           : kind == 0             ? HingeType::spherical
                           : kind == 1             ? HingeType::universal
                           : kind == 2             ? HingeType::fixed
                           : kind == 3             ? HingeType::helical
                           : kind < 7              ? HingeType::prismatic
                                                   : HingeType::revolute;
    body.hinge = random_hinge(type, random);
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = seed % 2 == 0 && below(2) == 0 ? random.uniform(0.1, 0.5) : 0;
    }
    if (body.hinge.dofs.size() == 1) {
      if (!leaders.empty() && below(3) == 0) {
        const std::string& leader = leaders[static_cast<std::size_t>(below(static_cast<int>(leaders.size())))];
        body.hinge.mimic = Mimic{leader, below(8) == 0 ? 0.0 : random.uniform(-2, 2), random.uniform()};
      } else {
        leaders.push_back(body.name + "_hinge");
      }
    }
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

TEST(Coupled, RandomTreesAreExact) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_exact<double>(random_couplings(seed), seed, 1e-13);
  }
}

/// So deep that 𝓜⁻¹ is made column by column.
TEST(Coupled, DeepChainsAreExact) {
  ModelBuilder builder("deep");
  Random random(9);
  for (int i = 0; i < 70; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    body.parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1);
    body.hinge = random_hinge(i % 7 == 3 ? HingeType::prismatic : HingeType::revolute, random);
    body.hinge.dofs[0].armature = 1;
    if (i % 8 == 5) {
      body.hinge.mimic = Mimic{"b" + std::to_string(i - i % 3 - 1) + "_hinge", random.uniform(-2, 2)};
    }
    body.X_PF.translation = {0.01, -0.01, 0.02};
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  const Model model = builder.build();
  ASSERT_GT(model.nv(), 55);
  expect_exact<double>(model, 4, 1e-13);
}

/// A hand with `count` fingers, the first of which the others follow, outside an arm.
Model gripper(HingeType type, int count, double finger_mass, double armature, bool mimic = true) {
  ModelBuilder builder("gripper");
  const auto add = [&](const std::string& name, const std::string& parent, HingeType hinge, double mass) {
    BodySpec body{.name = name, .parent = parent};
    body.hinge.name = "h_" + name;
    body.hinge.type = hinge;
    body.hinge.axis = {0, 0.6, 0.8};
    body.X_PF.translation = {0.1, -0.2, 0.3};
    body.inertia = mass == 0 ? RigidInertia<double>::zero()
                             : RigidInertia<double>::about_center(mass, {0.05, 0.1, -0.1},
                                                                  {0.02 * mass, 0.02 * mass, 0.02 * mass, 0, 0, 0});
    return body;
  };
  builder.add(add("arm", "world", HingeType::revolute, 2));
  builder.add(add("hand", "arm", HingeType::revolute, 1));
  for (int i = 0; i < count; ++i) {
    BodySpec finger = add("finger" + std::to_string(i), "hand", type, finger_mass);
    finger.hinge.dofs.resize(1);
    finger.hinge.dofs[0].armature = i == 1 ? armature : 0;
    if (i > 0 && mimic) {
      finger.hinge.mimic = Mimic{"h_finger0", i % 2 == 1 ? -1.0 : 0.5};
    }
    builder.add(finger);
  }
  return builder.build();
}

template <class F>
std::string says(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// What each call over clusters says.
std::vector<std::string> complaints(const Model& model) {
  State state(model);
  const VectorXd zero = VectorXd::Zero(model.nv());
  const Traps traps;
  return {says([&] { static_cast<void>(forward_dynamics(state, zero)); }),
          says([&] { static_cast<void>(inverse_mass_times(state, zero)); }),
          says([&] { static_cast<void>(inverse_mass_matrix(state)); }),
          says([&] { static_cast<void>(log_det_mass(state)); })};
}

TEST(Coupled, HandsWithFingersAreExact) {
  for (const HingeType type : {HingeType::revolute, HingeType::prismatic, HingeType::helical}) {
    for (const int count : {2, 5}) {
      expect_exact<double>(gripper(type, count, 0.1, 0), 5, 1e-13);
      expect_exact<double>(gripper(type, count, 0.1, 0.3), 6, 1e-13);
    }
  }
}

TEST(Coupled, MasslessClustersAreRefusedByName) {
  for (const HingeType type : {HingeType::revolute, HingeType::prismatic, HingeType::helical}) {
    for (const std::string& each : complaints(gripper(type, 3, 0, 0))) {
      EXPECT_THAT(each, HasSubstr("hinge 'h_finger0' is coupled to others and moves nothing that has mass"));
    }
    for (const std::string& each : complaints(gripper(type, 3, 0, 0.3))) {  // a follower's rotor is enough
      EXPECT_EQ(each, "accepted");
    }
  }
}

TEST(Coupled, MasslessChainsAreRefusedByName) {
  for (const double mass : {0.0, 1.0}) {
    ModelBuilder builder("chain");
    for (int k = 0; k < 4; ++k) {
      BodySpec body{.name = "b" + std::to_string(k)};
      body.parent = k == 0 ? std::string(world_name) : "b" + std::to_string(k - 1);
      body.hinge.name = "h" + std::to_string(k);
      body.hinge.type = HingeType::revolute;
      body.hinge.axis = k % 2 == 0 ? Vec3<double>{1, 0, 0} : Vec3<double>{0, 1, 0};
      body.X_PF.translation = {0.1, 0.2, 0.3};
      const double own = k < 2 ? 1 : k == 3 ? mass : 0;
      body.inertia =
          RigidInertia<double>::about_center(own, {0.05, 0.1, -0.1}, {0.02 * own, 0.02 * own, 0.02 * own, 0, 0, 0});
      if (k == 3) {
        body.hinge.mimic = Mimic{"h2", 0.7};
      }
      builder.add(body);
    }
    const Model model = builder.build();
    for (const std::string& each : complaints(model)) {
      EXPECT_THAT(
          each, HasSubstr(mass == 0 ? "hinge 'h2' is coupled to others and moves nothing that has mass" : "accepted"));
    }
  }
}

TEST(Coupled, NothingIsAllocated) {
  for (const CoupledModel& coupled : coupled_models(true)) {
    SCOPED_TRACE(coupled.name);
    State state(coupled.model);
    const VectorXd q = random_configuration(coupled.model, 4);
    const VectorXd x = VectorXd::Ones(coupled.model.nv());
    VectorXd out(coupled.model.nv());
    MatrixXd square(coupled.model.nv(), coupled.model.nv());
    const std::size_t before = allocations();
    state.set(q, x);
    inverse_dynamics(state, x, out);
    forward_dynamics(state, x, out);
    inverse_mass_times(state, x, out);
    mass_matrix(state, square);
    inverse_mass_matrix(state, square);
    static_cast<void>(log_det_mass(state));
    EXPECT_EQ(allocations(), before);
  }
}

/// A dense matrix of it would take 800 MB, and its factor 10¹² steps.
TEST(Coupled, TenThousandBodiesInPairs) {
  ModelBuilder builder("pairs");
  Random random(8);
  for (int i = 0; i < 10000; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    body.parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1);
    body.hinge = random_hinge(HingeType::revolute, random);
    body.hinge.dofs[0].armature = 50;  // no more condition than can be checked
    if (i % 2 == 1) {
      body.hinge.mimic = Mimic{"b" + std::to_string(i - 1) + "_hinge", -0.5};
    }
    body.X_PF.translation = {0, 0, 1e-4};
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  const Model model = builder.build();
  ASSERT_EQ(model.nv(), 5000);
  State state(model, PassiveForces::left_out);
  const VectorXd a = random.vector(model.nv());
  state.set(random_configuration(model, 2), VectorXd(1e-3 * random.vector(model.nv())));
  const VectorXd torque = inverse_dynamics(state, a);
  EXPECT_LT((forward_dynamics(state, torque) - a).norm() / a.norm(), 1e-9);
  EXPECT_LT((inverse_mass_times(state, VectorXd(torque - bias(state))) - a).norm() / a.norm(), 1e-9);
  EXPECT_TRUE(std::isfinite(log_det_mass(state)));
}

}  // namespace
}  // namespace bunraku::test
