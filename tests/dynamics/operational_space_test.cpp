/// Operational space of several nodes on trees, against dense J𝓜⁻¹J*.
#include <numeric>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_blocks.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

/// J of nodes in their own axes, from the dense reference; zero for the world.
Eigen::MatrixXd dense_jacobian(const DenseReference& reference, int nv, std::span<const Node> nodes) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * static_cast<Eigen::Index>(nodes.size()), nv);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].body == world) {
      continue;
    }
    const Eigen::Matrix4d pose = reference.pose(static_cast<std::size_t>(nodes[i].body)) * to_eigen(nodes[i].X_BN);
    const Eigen::Matrix3d R = pose.topLeftCorner<3, 3>().transpose();
    const Eigen::MatrixXd j = reference.jacobian_at(nodes[i].body, pose.topRightCorner<3, 1>());
    out.middleRows<3>(6 * static_cast<Eigen::Index>(i)) = R * j.topRows<3>();
    out.middleRows<3>(6 * static_cast<Eigen::Index>(i) + 3) = R * j.bottomRows<3>();
  }
  return out;
}

Eigen::Index rank(const Eigen::MatrixXd& J, double threshold) {
  Eigen::FullPivLU<Eigen::MatrixXd> lu(J);
  lu.setThreshold(threshold);
  return lu.rank();
}

class OperationalSpace : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 800};
  Model model = random_dynamics_model(GetParam(), random);
  int N = static_cast<int>(model.bodies().size());
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  Eigen::VectorXd v = random.vector(model.nv());
  DenseReference reference{model, q};
  Eigen::MatrixXd mass = reference.mass();
  double condition = condition_number(mass);
  State dynamics{model};

  void SetUp() override { dynamics.set(q, v); }
};

TEST_P(OperationalSpace, InverseInertiaOfManyNodes) {  // item D5
  std::vector<Node> nodes;
  for (int k = -1; k < N; ++k) {  // the world and every body, so every pair of branches
    nodes.push_back({"n", k, random.transform()});
  }
  nodes.push_back({"twin", N - 1, random.transform()});
  nodes.push_back({"twin", random.integer(0, N - 1), random.transform()});
  const Eigen::MatrixXd J = dense_jacobian(reference, model.nv(), nodes);
  const Eigen::MatrixXd expected = J * solve_symmetric(mass, J.transpose());
  const Eigen::MatrixXd got = lambda_inverse(dynamics, nodes);
  EXPECT_TRUE(is_near(got, expected, 1e-14 * condition));
  EXPECT_TRUE(is_near(got, got.transpose(), 0));
  EXPECT_EQ(got.leftCols<6>().norm(), 0) << "the world does not move";
}

TEST_P(OperationalSpace, InertiaAndConsistentInverse) {  // item D5
  std::vector<int> bodies(static_cast<std::size_t>(N));
  std::iota(bodies.begin(), bodies.end(), 0);
  std::shuffle(bodies.begin(), bodies.end(), random.engine());
  std::vector<Node> nodes;
  for (const int k : bodies) {  // as many bodies as move independently of those before
    nodes.push_back({"n", k, random.transform()});
    const Eigen::MatrixXd J = dense_jacobian(reference, model.nv(), nodes);
    const Eigen::MatrixXd inverse = J * solve_symmetric(mass, J.transpose());
    const Eigen::VectorXd scale = inverse.diagonal().cwiseSqrt().cwiseInverse();
    const bool independent =
        scale.allFinite() && symmetric_eigenvalues(scale.asDiagonal() * inverse * scale.asDiagonal())[0] > 1e-7;
    if (!independent) {
      EXPECT_LT(rank(J, 1e-9), J.rows());
      EXPECT_THROW(static_cast<void>(lambda(dynamics, nodes)), Error);
      EXPECT_THROW(static_cast<void>(dynamically_consistent_inverse(dynamics, nodes)), Error);
      nodes.pop_back();
      continue;
    }
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(J.rows(), J.rows());
    const Eigen::MatrixXd inertia = lambda(dynamics, nodes);
    const double spread = inertia.norm() * inverse.norm();
    EXPECT_TRUE(is_near(inertia * inverse, identity, 1e-13 * spread));
    EXPECT_TRUE(is_near(inertia, inertia.transpose(), 0));
    const Eigen::MatrixXd consistent = dynamically_consistent_inverse(dynamics, nodes);
    EXPECT_TRUE(is_near(J * consistent, identity, 1e-13 * spread)) << "JJ̄ = I";
    EXPECT_TRUE(is_near(consistent, solve_symmetric(mass, J.transpose()) * solve_symmetric(inverse, identity),
                        1e-14 * condition * spread));
  }
}

TEST_P(OperationalSpace, ConsistentInverseMovesWithTheLeastEnergy) {  // item D5
  for (int k = 0; k < N; ++k) {
    const std::vector<Node> nodes{{"n", k, random.transform()}};
    const Eigen::MatrixXd J = dense_jacobian(reference, model.nv(), nodes);
    if (rank(J, 1e-4) < 6) {
      continue;
    }
    const Eigen::VectorXd x = random.vector(6);
    const Eigen::VectorXd least = dynamically_consistent_inverse(dynamics, nodes) * x;
    const Eigen::MatrixXd still = J.fullPivLu().kernel();  // motions that do not move the node
    const double scale = mass.norm() * least.norm() * still.norm();
    const Eigen::VectorXd work = still.transpose() * (mass * least);
    EXPECT_LT(work.cwiseAbs().maxCoeff(), 1e-10 * std::max(1.0, scale));
  }
}

TEST_P(OperationalSpace, ForceCorrection) {  // item D4
  Eigen::VectorXd torque = random.vector(model.nv());
  std::vector<AppliedForce<double>> forces;
  Eigen::VectorXd dense = Eigen::VectorXd::Zero(model.nv());
  for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
    for (int i = 0; i < 2; ++i) {
      const Node node{"n", random.integer(-1, N - 1), random.transform()};
      const Force<double> f = random.force();
      forces.emplace_back(node, f, frame);
      if (node.body == world) {
        continue;
      }
      const Eigen::Matrix4d pose = reference.pose(static_cast<std::size_t>(node.body)) * to_eigen(node.X_BN);
      if (frame == Frame::node) {
        dense += dense_jacobian(reference, model.nv(), {&node, 1}).transpose() * to_eigen(f);
      } else {
        const Eigen::Vector3d point = frame == Frame::aligned ? Eigen::Vector3d(pose.topRightCorner<3, 1>())
                                                              : Eigen::Vector3d(Eigen::Vector3d::Zero());
        dense += reference.jacobian_at(node.body, point).transpose() * to_eigen(f);
      }
    }
  }
  const Eigen::VectorXd correction = force_correction(dynamics, forces);
  EXPECT_TRUE(is_near(correction, solve_symmetric(mass, dense), 1e-14 * condition)) << "𝓜⁻¹J*f";
  EXPECT_TRUE(is_near(correction, forward_dynamics(dynamics, torque, forces) - forward_dynamics(dynamics, torque),
                      1e-13 * condition));
  EXPECT_TRUE(is_near(inverse_dynamics(dynamics, v) - inverse_dynamics(dynamics, v, forces), dense, 1e-12))
      << "J*f in all frames";
  EXPECT_EQ(force_correction(dynamics, {}), Eigen::VectorXd::Zero(model.nv()));
}

INSTANTIATE_TEST_SUITE_P(Trees, OperationalSpace, testing::Range(0, 18));  // mimics too

/// A trunk on the world with two arms.
Model two_arms() {
  Random random(850);
  ModelBuilder builder;
  const auto add = [&](const std::string& name, const std::string& parent) {
    BodySpec body{.name = name, .parent = parent, .hinge = random_hinge(HingeType::revolute, random)};
    body.X_PF = random.transform();
    body.inertia = random.inertia();
    builder.add(body);
  };
  add("trunk0", std::string(world_name));
  add("trunk1", "trunk0");
  for (const char* side : {"left", "right"}) {
    for (int i = 0; i < 7; ++i) {
      add(side + std::to_string(i), i == 0 ? "trunk1" : side + std::to_string(i - 1));
    }
  }
  return builder.build();
}

TEST(OperationalSpaceOfArms, HandsOfASharedTrunkAreCoupled) {  // item D5, RJK89 (A.5) and lemma 5 corrected
  const Model model = two_arms();
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
  State dynamics(model);
  dynamics.set(q, v);
  const std::vector<Node> hands = {model.node("left6"), model.node("right6")};
  const Eigen::MatrixXd inverse = lambda_inverse(dynamics, hands);
  EXPECT_GT((inverse.block<6, 6>(0, 6).norm()), 0.01 * inverse.norm()) << "printed as zero";
  const DenseReference reference(model, q);
  const Eigen::MatrixXd J = dense_jacobian(reference, model.nv(), hands);
  EXPECT_TRUE(is_near(inverse, J * solve_symmetric(reference.mass(), J.transpose()), 1e-11));

  // all of Ω = ψ*H*D⁻¹Hψ on dense blocks: Ω(i,j) = ψ*(c,i)Υ(c)ψ(c,j); lemma 5 misses the pairs across branches
  const DenseBlocks d(model, q, v);
  const DenseArticulated x(d);
  const Eigen::MatrixXd E_psi = d.E * x.tau;
  const Eigen::MatrixXd middle = congruence(d.H.transpose(), inverse_of(x.D));
  const Eigen::MatrixXd omega = congruence(x.psi.transpose(), middle);
  Eigen::MatrixXd upsilon = Eigen::MatrixXd::Zero(6 * d.N, 6 * d.N);
  for (int k = 0; k < d.N; ++k) {  // (A.3), block by block
    const Eigen::MatrixXd column = E_psi.middleCols<6>(6 * k);
    upsilon.block<6, 6>(6 * k, 6 * k) = congruence(column.transpose(), upsilon) + middle.block<6, 6>(6 * k, 6 * k);
  }
  const Eigen::MatrixXd above = x.psi - Eigen::MatrixXd::Identity(6 * d.N, 6 * d.N);
  const Eigen::MatrixXd lemma5 = upsilon + above.transpose() * upsilon + upsilon * above;
  const auto is_ancestor = [&](int i, int j) {
    while (j > i) {
      j = d.body(j).parent;
    }
    return j == i;
  };
  int across = 0;
  for (int i = 0; i < d.N; ++i) {
    for (int j = 0; j < d.N; ++j) {
      int c = i;
      while (!is_ancestor(c, j)) {
        c = d.body(c).parent;
      }
      const auto block = [](const Eigen::MatrixXd& m, int row, int column) {
        return DenseBlocks::block(m, row, column);
      };
      const Eigen::MatrixXd left = block(x.psi, c, i).transpose();
      const Eigen::MatrixXd right = left * block(upsilon, c, c) * block(x.psi, c, j);
      EXPECT_TRUE(is_near(block(omega, i, j), right, 1e-11));
      if (c != i && c != j) {
        ++across;
        EXPECT_EQ(block(lemma5, i, j).norm(), 0);
        EXPECT_GT(block(omega, i, j).norm(), 1e-3);
      } else {
        EXPECT_TRUE(is_near(block(omega, i, j), block(lemma5, i, j), 1e-11));
      }
    }
  }
  EXPECT_EQ(across, 2 * 7 * 7);
}

TEST(OperationalSpaceOfArms, SaysRankAndRows) {
  const Model model = two_arms();
  State dynamics(model);
  dynamics.set(random_configuration(model, 1), Eigen::VectorXd::Zero(model.nv()));
  const auto says = [&](const std::vector<Node>& nodes) {
    std::string text;
    for (const bool inertia : {true, false}) {
      try {
        static_cast<void>(inertia ? lambda(dynamics, nodes) : dynamically_consistent_inverse(dynamics, nodes));
      } catch (const ArgumentError&) {
        return std::string("an argument is wrong");
      } catch (const Error& e) {
        text += e.what();
      }
    }
    return text;
  };
  const auto both = [](const std::string& text) { return testing::ContainsRegex(text + ".*" + text); };
  EXPECT_THAT(says({model.node("left1")}), both("1 node has 6 rows and rank 4"));
  EXPECT_THAT(says({model.node("left6"), model.node("left6")}), both("2 nodes has 12 rows and rank 6"));
  EXPECT_THAT(says({model.node("left6"), model.node("right6"), model.node("right2")}),
              both("3 nodes has 18 rows and rank at most 16"));
  EXPECT_THAT(says({model.node("world")}), both("1 node has 6 rows and rank 0"));
  EXPECT_EQ(says({Node{"n", 99, {}}}), "an argument is wrong");
  EXPECT_EQ(says({model.node("left6"), model.node("right6")}), "");
}

TEST(OperationalSpaceOfArms, RankDoesNotDependOnUnits) {
  // a light finger on a heavy ship, both free: nine orders of magnitude between their blocks
  ModelBuilder builder;
  BodySpec ship{.name = "ship"};
  ship.hinge.type = HingeType::free;
  ship.inertia = RigidInertia<double>::about_center(1e6, {0, 0, 0}, Sym3<double>::diagonal(1e8, 1e8, 1e8));
  BodySpec finger{.name = "finger"};
  finger.hinge.type = HingeType::free;
  finger.inertia = RigidInertia<double>::about_center(1e-3, {0, 0, 0}, Sym3<double>::diagonal(1e-7, 1e-7, 1e-7));
  const Model model = builder.add(ship).add(finger).build();
  const std::vector<Node> nodes = {model.node("ship"), model.node("finger")};
  BasicState<float> dynamics(model);
  const Eigen::MatrixXf inertia = lambda(dynamics, nodes);
  EXPECT_FLOAT_EQ(inertia(3, 3), 1e6F);
  EXPECT_FLOAT_EQ(inertia(6, 6), 1e-7F);
  EXPECT_FLOAT_EQ(dynamically_consistent_inverse(dynamics, nodes)(6, 6), 1);
}

TEST(OperationalSpaceOfArms, InFloat) {
  for (const bool mimic : {false, true}) {
    ModelBuilder builder = edit(two_arms());
    if (mimic) {
      Random random(851);
      BodySpec twin{.name = "twin", .parent = "left3", .inertia = random.inertia()};
      twin.hinge = {.name = "follower", .type = HingeType::revolute, .mimic = Mimic{"left3_hinge", 0.5}};
      builder.add(twin);
    }
    const Model model = builder.build();
    const Eigen::VectorXd q = random_configuration(model, 1);
    const Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
    State exact(model);
    BasicState<float> dynamics(model);
    exact.set(q, v);
    dynamics.set(q.cast<float>(), v.cast<float>());
    const std::vector<Node> hands = {model.node("left6"), model.node("right6")};
    const auto in_double = [](const auto& x) { return Eigen::MatrixXd(x.template cast<double>()); };
    EXPECT_TRUE(is_near(in_double(lambda_inverse(dynamics, hands)), lambda_inverse(exact, hands), 2e-4));
    const Eigen::MatrixXd inertia = lambda(exact, hands);
    const double spread = inertia.norm() * lambda_inverse(exact, hands).norm();
    EXPECT_TRUE(is_near(in_double(lambda(dynamics, hands)), inertia, 1e-6 * spread));
    EXPECT_TRUE(is_near(in_double(dynamically_consistent_inverse(dynamics, hands)),
                        dynamically_consistent_inverse(exact, hands), 1e-6 * spread));
    const AppliedForce<float> push(hands[0], Force<float>{{1, 2, 3}, {4, 5, 6}}, Frame::node);
    const AppliedForce<double> same(hands[0], Force<double>{{1, 2, 3}, {4, 5, 6}}, Frame::node);
    EXPECT_TRUE(is_near(in_double(force_correction(dynamics, {&push, 1})), force_correction(exact, {&same, 1}), 5e-4));
  }
}

TEST(OperationalSpaceOfArms, RefuseWrongArguments) {
  const Model model = two_arms();
  State dynamics(model);
  const std::vector<Node> nodes = {model.node("left6")};
  std::vector<double> wrong(35);
  EXPECT_THROW(lambda_inverse(dynamics, nodes, wrong), ArgumentError);
  EXPECT_THROW(lambda(dynamics, nodes, wrong), ArgumentError);
  EXPECT_THROW(dynamically_consistent_inverse(dynamics, nodes, wrong), ArgumentError);
  EXPECT_THROW(force_correction(dynamics, {}, wrong), ArgumentError);
  AppliedForce<double> nowhere;
  nowhere.body = 99;
  EXPECT_THROW(static_cast<void>(force_correction(dynamics, {&nowhere, 1})), ArgumentError);
  EXPECT_EQ(lambda(dynamics, {}).size(), 0);
}

}  // namespace
}  // namespace bunraku::test
