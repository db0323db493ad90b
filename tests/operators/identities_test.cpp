/// Each identity of the table, on dense matrices: it holds where it says so, and does not where it says that it needs
/// more.
#include "bunraku/operators/rewriting/identities.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/dense_system.hpp"
#include "support/coupled_models.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

/// Whether the dense system has all symbols of an expression: with couplings some have no blocks.
bool has_all(const DenseSystem& dense, const Operator& x) {
  const Term& t = x.term();
  return (t.type != TermType::symbol || dense.has(t.symbol)) &&
         std::all_of(t.parts.begin(), t.parts.end(), [&](const Operator& part) { return has_all(dense, part); });
}

/// The variables in an expression.
void collect_variables(const Operator& x, Variables& out) {
  if (x.term().type == TermType::variable && std::find(out.begin(), out.end(), x) == out.end()) {
    out.push_back(x);
  }
  for (const Operator& part : x.term().parts) {
    collect_variables(part, out);
  }
}

/// The largest number of the terms of a sum: what cancels leaves rounding of these.
double size_of_terms(const DenseSystem& dense, const Operator& x) {
  double out = 0;
  for (const Operator& part : x.term().type == TermType::sum ? x.term().parts : std::vector{x}) {
    out = std::max(out, dense(part).cwiseAbs().maxCoeff());
  }
  return out;
}

/// The difference of both sides, as a part of the largest term of either.
double residual(const DenseSystem& dense, const Identity& identity) {
  const double size = std::max(size_of_terms(dense, identity.left), size_of_terms(dense, identity.right));
  const double difference = (dense(identity.left) - dense(identity.right)).cwiseAbs().maxCoeff();
  return size == 0 ? 0 : difference / size;
}

/// A copy with random memoryless values for the variables of an identity.
DenseSystem with_values(DenseSystem dense, const Identity& identity) {
  Variables variables;
  collect_variables(identity.left, variables);
  collect_variables(identity.right, variables);
  Random random(7);
  for (const Operator& each : variables) {
    Eigen::MatrixXd value = Eigen::MatrixXd::Zero(dense.dimension(each.range()), dense.dimension(each.domain()));
    for (int k = 0; k < dense.N; ++k) {
      const std::string body = std::to_string(k);
      const auto [row, rows] = dense.place({each.range().kind, body});
      const auto [column, columns] = dense.place({each.domain().kind, body});
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          value(row + i, column + j) = random.uniform();
        }
      }
    }
    const bool family = each.term().name == "X" || each.term().name == "Y";  // symmetric and positive
    dense.bind(each, family ? Eigen::MatrixXd(value * value.transpose()) : value);
  }
  return dense;
}

/// Chains and trees with hinges of all types, and coupled ones.
std::vector<Model> models_of(const Conditions& conditions) {
  std::vector<Model> out;
  if (conditions.couplings) {
    for (const CoupledModel& each : coupled_models(conditions.armature)) {
      out.push_back(each.model);
    }
    return out;
  }
  for (unsigned seed = 0; seed < 4; ++seed) {
    Random random(seed + 40);
    ModelBuilder built = random_tree(6, seed % 2 == 0 ? 0 : 0.7, random);
    ModelBuilder builder("tree");
    for (BodySpec body : built.bodies()) {
      if (body.name == "b0" || body.name == "b1") {  // with free ones there, much holds that does not in general
        body.hinge = random_hinge(HingeType::revolute, random);
      }
      for (HingeDof& dof : body.hinge.dofs) {
        dof.armature = conditions.armature ? random.uniform(0.1, 0.5) : 0;
      }
      builder.add(std::move(body));
    }
    out.push_back(builder.build());
  }
  return out;
}

/// These models at random states in dense matrices, made once for all identities.
const std::vector<DenseSystem>& dense_systems(const Conditions& conditions) {
  static std::array<std::vector<DenseSystem>, 4> made;
  std::vector<DenseSystem>& out = made[(conditions.armature ? 1U : 0U) + (conditions.couplings ? 2U : 0U)];
  if (out.empty()) {
    unsigned seed = 1;
    for (const Model& model : models_of(conditions)) {
      out.push_back(SystemAndDense(model, seed++).dense());
    }
  }
  return out;
}

class Identities : public testing::TestWithParam<int> {
 protected:
  const Identity& identity = identities()[static_cast<std::size_t>(GetParam())];
};

/// Those of closures need systems that have some: see closure_test.cpp.
bool names_closures(const Identity& identity) {
  const auto names = [](const Operator& x) {
    return x.term().type == TermType::symbol && is_of_closures(x.term().symbol);
  };
  return operators::any_in(identity.left, names) || operators::any_in(identity.right, names);
}

TEST_P(Identities, HoldWhereTheySay) {
  if (names_closures(identity)) {
    return;
  }
  SCOPED_TRACE(identity.name + ", " + identity.source + ": " + to_ascii(identity.left) + " = " +
               to_ascii(identity.right));
  EXPECT_FALSE(identity.name.empty() || identity.source.empty());
  EXPECT_EQ(identity.left.range(), identity.right.range());
  EXPECT_EQ(identity.left.domain(), identity.right.domain());
  EXPECT_FALSE(identity.left == identity.right);
  for (const Conditions& conditions :
       {Conditions{false, false}, Conditions{true, false}, Conditions{false, true}, Conditions{true, true}}) {
    SCOPED_TRACE(testing::Message() << "armature " << conditions.armature << ", couplings " << conditions.couplings);
    const bool holds =
        !(identity.without_armature && conditions.armature) && !(identity.without_couplings && conditions.couplings);
    double worst = 0;
    bool defined = true;
    for (const DenseSystem& each : dense_systems(conditions)) {
      const DenseSystem dense = with_values(each, identity);
      defined = defined && has_all(dense, identity.left) && has_all(dense, identity.right);
      if (defined) {
        worst = std::max(worst, residual(dense, identity));
      }
    }
    if (holds) {
      EXPECT_TRUE(defined);
      EXPECT_LT(worst, 1e-9);
    } else if (defined) {
      EXPECT_GT(worst, 1e-4) << "the condition is not needed";
    }
  }
}

TEST_P(Identities, AreVerified) {
  if (names_closures(identity)) {
    return;
  }
  Variables variables;
  collect_variables(identity.right, variables);
  if (std::any_of(variables.begin(), variables.end(), [](const Operator& x) { return x.term().name == "X"; })) {
    return;  // it has to be symmetric, which random values are not
  }
  SCOPED_TRACE(identity.name + ": " + to_ascii(identity.left) + " = " + to_ascii(identity.right));
  VerifyOptions options{.chains = 4, .trees = 4, .seed = 5};
  for (const bool couplings : {false, true}) {
    const Conditions conditions{!identity.without_armature, couplings && !identity.without_couplings};
    for (const Model& model : models_of(conditions)) {
      options.models.push_back(model);
    }
  }
  collect_variables(identity.left, options.variables);
  const bool names_armature = identity.name == "no armature";
  options.chains = names_armature ? 0 : options.chains;  // where armature is named, verify gives some of its own
  options.trees = names_armature ? 0 : options.trees;
  const Verdict verdict = verify(identity.left, identity.right, options);
  EXPECT_TRUE(verdict.holds) << verdict.counterexample;
  EXPECT_EQ(verdict.samples, options.chains + options.trees + static_cast<int>(options.models.size()));
  const Verdict adjoint = verify(~identity.left, ~identity.right, options);
  EXPECT_TRUE(adjoint.holds) << adjoint.counterexample;
}

INSTANTIATE_TEST_SUITE_P(Rows, Identities, testing::Range(0, static_cast<int>(identities().size())));

TEST(IdentityTable, Applies) {
  const Operator x(Symbol::M);
  Identity identity{"name", "source", x, x};
  const auto applies = [&] {
    std::string out;
    for (const bool armature : {false, true}) {
      for (const bool couplings : {false, true}) {
        out += identity.applies({armature, couplings}) ? "1" : "0";
      }
    }
    return out;
  };
  EXPECT_EQ(applies(), "1111");
  identity.without_armature = true;
  EXPECT_EQ(applies(), "1100");
  identity.without_couplings = true;
  EXPECT_EQ(applies(), "1000");
  identity.without_armature = false;
  EXPECT_EQ(applies(), "1010");
  identity.without_couplings = false;
  identity.with_couplings = true;
  EXPECT_EQ(applies(), "0101");
}

TEST(IdentityTable, ConditionsOfASystem) {
  for (const bool armature : {false, true}) {
    for (const bool couplings : {false, true}) {
      const Conditions conditions{armature, couplings};
      for (const Model& model : models_of(conditions)) {
        Conditions found = conditions_of(System(model));
        found.constant_maps = found.simple_hinges = false;  // these have hinges of several kinds
        EXPECT_EQ(found, conditions);
      }
    }
  }
}

TEST(IdentityTable, ConditionsOfHinges) {
  for (const HingeType type : all_hinge_types) {
    Random random(1);
    ModelBuilder builder("one");
    builder.add(BodySpec{.name = "body", .hinge = random_hinge(type, random), .inertia = random.inertia()});
    const Conditions found = conditions_of(builder.build());
    const bool changes = type == HingeType::universal || type == HingeType::custom;
    const bool turns = type == HingeType::spherical || type == HingeType::planar || type == HingeType::free;
    EXPECT_EQ(found.constant_maps, !changes) << to_string(type);
    EXPECT_EQ(found.simple_hinges, !changes && !turns) << to_string(type);
  }
}

TEST(IdentityTable, NoRowTwice) {
  const std::span<const Identity> all = identities();
  EXPECT_GE(all.size(), 45);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(all[i].left == all[j].left && all[i].right == all[j].right) << to_ascii(all[i].left);
    }
  }
}

}  // namespace
}  // namespace bunraku::test
