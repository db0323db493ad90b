/// Derivatives of operators: every rule against differences of dense matrices.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/definitions.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/dense_system.hpp"
#include "operators/messages.hpp"
#include "support/coupled_models.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using namespace bunraku::soa;
using testing::HasSubstr;

const Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
const Operator w = Operator::variable("w", SpaceKind::hinge, SpaceKind::number);
const Operator mass = H * phi * M * ~phi * ~H + 𝒜;

/// Trees of hinges of all types; springs are on those with plain coordinates.
Model tree_of(int bodies, int sample, bool custom = true) {
  Random random(static_cast<unsigned>(100 + sample));
  ModelBuilder tree = random_tree(bodies, 0.15 * (sample % 7), random);
  ModelBuilder out("tree");
  for (BodySpec body : tree.bodies()) {
    const HingeType type = body.hinge.type;
    if (type == HingeType::custom && !custom) {
      body.hinge = random_hinge(HingeType::universal, random);
      body.hinge.name = body.name + "_hinge";
    }
    const bool plain = type != HingeType::spherical && type != HingeType::planar && type != HingeType::free &&
                       type != HingeType::custom;
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = sample % 2 == 0 ? random.uniform(0, 0.5) : 0;
      dof.stiffness = plain ? random.uniform(0, 1) : 0;
      dof.damping = random.uniform(0, 1);
    }
    out.add(std::move(body));
  }
  return out.build();
}

/// A system at a state, with the dense one there and where the state has moved.
class Moving {
 public:
  explicit Moving(const Model& model, unsigned seed = 5) : both_(model, seed), dense_(both_.dense()) {
    for (const Operator& each : {u, w}) {
      const Eigen::VectorXd value = both_.random.vector(model.nv());
      both_.system.bind(each, detail::as_span(value));
      dense_.bind(each, value);
    }
  }

  System& system() { return both_.system; }
  const DenseSystem& dense() const { return dense_; }

  /// The largest difference between x, which is a derivative, as its plan has it and as differences have it, as a part
  /// of the largest number in it or in what is differentiated.
  double residual(const Operator& x, bool simplified = false) {
    const Eigen::MatrixXd ours = (simplified ? both_.system(x) : both_.system.literal(x)).dense();
    const Eigen::MatrixXd theirs = dense_(x);
    double scale = 0;
    for (Operator inner = x;;) {
      scale = std::max(scale, dense_(inner).cwiseAbs().maxCoeff());
      if (inner.term().type != TermType::derivative && inner.term().type != TermType::time_rate) {
        break;
      }
      const Operator part = inner.term().parts[0];
      inner = part;
    }
    const double difference = (ours - theirs).cwiseAbs().maxCoeff();
    return difference == 0 ? 0 : difference / scale;
  }

 private:
  SystemAndDense both_;
  DenseSystem dense_;
};

std::vector<Operator> differentiable_symbols() {
  std::vector<Operator> out;
  for (const SymbolInfo& each : symbol_table()) {
    if (!is_of_closures(each.symbol)) {
      out.emplace_back(each.symbol);
    }
  }
  return out;
}

class Differentiation : public testing::TestWithParam<int> {};

/// What has the rate of the joint map in it, of which a user's hinge has no derivative.
bool needs_second_rate(Symbol symbol) {
  return symbol == Symbol::a || symbol == Symbol::alpha || symbol == Symbol::f || symbol == Symbol::T;
}

TEST_P(Differentiation, OfEverySymbolAlongAVector) {
  for (const bool custom : {false, true}) {
    Moving moving(tree_of(13, GetParam(), custom));
    for (const Operator& x : differentiable_symbols()) {
      if (!custom || !needs_second_rate(x.term().symbol)) {
        EXPECT_LT(moving.residual(diff(x, u)), 1e-9) << to_ascii(x);
      }
    }
  }
}

TEST_P(Differentiation, OfEverySymbolInTime) {
  for (const bool custom : {false, true}) {
    Moving moving(tree_of(13, GetParam(), custom));
    for (const Operator& x : differentiable_symbols()) {
      const Symbol symbol = x.term().symbol;
      const bool needs_jerk = symbol == Symbol::thetadd || symbol == Symbol::alpha || symbol == Symbol::f ||
                              symbol == Symbol::T || symbol == Symbol::T_p;
      if (!needs_jerk && (!custom || !needs_second_rate(symbol))) {
        EXPECT_LT(moving.residual(dt(x)), 1e-9) << to_ascii(x);
      }
    }
  }
}

TEST_P(Differentiation, InOneCoordinate) {
  const Model model = tree_of(13, GetParam());
  Moving moving(model);
  for (int i = GetParam() % 3; i < model.nv(); i += 3) {
    for (const Operator& x : std::vector<Operator>{H * phi, mass, P, V}) {
      EXPECT_LT(moving.residual(diff(x, i)), 1e-9) << to_ascii(x) << " in " << i;
    }
  }
}

TEST_P(Differentiation, OfFunctions) {
  Moving moving(tree_of(9, GetParam(), false));
  const Operator x = M + cross(V) * M;
  for (const Operator& each : std::vector<Operator>{inv(mass),
                                                    dense_inv(mass),
                                                    sqrt(D),
                                                    inv(sqrt(D)),
                                                    inv(D),
                                                    cross(V),
                                                    Q(f),
                                                    Q(M * V) * cross(~H * thetad),
                                                    gather(E_phi, x),
                                                    spread(E_phi, x),
                                                    carry(E_phi, x),
                                                    gather(E_psi, x),
                                                    spread(E_psi, x),
                                                    carry(E_psi, x),
                                                    gather(S, Delta_phi),
                                                    spread(S, Delta_phi),
                                                    carry(S, Delta_phi),
                                                    lyap(sqrt(D), H * R * ~H),
                                                    gather(E_phi, E_phi * R * ~E_phi),
                                                    Operator(phi).block("2", "5"),
                                                    ~V * M * V * 0.5,
                                                    G * D * ~G + 2 * M,
                                                    ~B * ~phi * ~H,
                                                    (~phi * ~H * thetad).block("3"),
                                                    M * (phi + ~psi) * B,
                                                    I + phi}) {
    EXPECT_LT(moving.residual(diff(each, u)), 1e-9) << to_ascii(each);
  }
}

/// Families of pairs that move: of composite inertias and of articulated ones at the hinges.
TEST_P(Differentiation, OfFamilies) {
  Moving moving(tree_of(9, GetParam()));
  const std::vector<std::pair<Operator, Operator>> pairs{{M + B * ~B, 0.3 * I}, {R, D}, {M + 0.1 * I, 0 * 𝒜}};
  for (const auto& [X, A] : pairs) {
    for (const Symbol symbol : {Symbol::P, Symbol::D, Symbol::G, Symbol::K, Symbol::tau, Symbol::taub, Symbol::E_psi,
                                Symbol::psi, Symbol::psit, Symbol::Upsilon, Symbol::Omega}) {
      const Operator x = Operator::of_family(symbol, X, A);
      EXPECT_LT(moving.residual(diff(x, u)), 1e-9) << to_ascii(x);
    }
  }
}

/// The mass matrix, its inverse and what is made of them, rewritten.
TEST_P(Differentiation, Simplified) {
  Moving moving(tree_of(9, GetParam(), false));
  for (const Operator& each : std::vector<Operator>{
           diff(mass, 1), diff(inv(mass), 1), dt(mass), dt(inv(mass)), diff(H * phi * M * ~phi * ~H, u),
           diff(~B * ~phi * ~H * inv(mass) * H * phi * B, u), diff(phi * M * ~phi, u), diff(inv(sqrt(D)), u),
           diff((I - H * psi * K), u), diff(H * phi * (M * ~phi * a + b), u), dt(V), diff(f, u),
           dt(inv(sqrt(D)) * (I - H * psi * K))}) {
    EXPECT_LT(moving.residual(each, true), 1e-9) << to_ascii(each);
  }
}

/// Where each hinge has one velocity, or is cylindrical or translational, more is zero: rules know it.
TEST_P(Differentiation, OfSimpleHinges) {
  Random random(static_cast<unsigned>(GetParam()));
  ModelBuilder builder("simple");
  const std::vector<HingeType> types{HingeType::cylindrical, HingeType::revolute, HingeType::translational,
                                     HingeType::prismatic,   HingeType::helical,  HingeType::revolute};
  for (std::size_t i = 0; i < types.size(); ++i) {
    BodySpec body{.name = "b" + std::to_string(i), .hinge = random_hinge(types[i], random)};
    if (i > 0) {
      body.parent = "b" + std::to_string(i == 3 ? 1 : i - 1);
    }
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  const Model model = builder.build();
  ASSERT_TRUE(conditions_of(model).simple_hinges);
  Moving moving(model);
  for (const Operator& each : std::vector<Operator>{diff(mass, 2), diff(inv(mass), 2), diff(mass, u), dt(mass),
                                                    diff(diff(mass, u), w), diff(P, u), diff(T, u)}) {
    EXPECT_LT(moving.residual(each, true), 1e-8) << to_ascii(each);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, Differentiation, testing::Range(0, 4));

class SecondDerivative : public testing::TestWithParam<int> {};

TEST_P(SecondDerivative, OfSymbolsAndFunctions) {
  Moving moving(tree_of(7, GetParam(), false));
  for (const Operator& each :
       std::vector<Operator>{phi,   H, E_phi, R,       mass, inv(mass),      P, D, G, K, psi, Upsilon, Omega, V, a,
                             alpha, f, T,     sqrt(D), Q(f), carry(E_psi, M)}) {
    EXPECT_LT(moving.residual(diff(diff(each, u), w)), 1e-7) << to_ascii(each);
  }
  for (const Operator& each : std::vector<Operator>{mass, V, D}) {
    EXPECT_LT(moving.residual(diff(dt(each), w)), 1e-7) << to_ascii(each);
    EXPECT_LT(moving.residual(dt(diff(each, w))), 1e-7) << to_ascii(each);
  }
}

/// Along a vector that depends on the state itself.
TEST_P(SecondDerivative, AlongWhatMoves) {
  Moving moving(tree_of(7, GetParam(), false));
  const Operator flow = D * thetad;
  EXPECT_LT(moving.residual(diff(mass, flow)), 1e-9);
  EXPECT_LT(moving.residual(diff(diff(H * phi, flow), w)), 1e-7);
}

TEST_P(SecondDerivative, AndTheThird) {
  Moving moving(tree_of(7, GetParam(), false));
  const Operator third = diff(diff(diff(H, u), w), u);
  const Operator flat = dH({u, w, u});
  EXPECT_LT(relative_difference(moving.system().literal(third).dense(), moving.dense()(flat)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Trees, SecondDerivative, testing::Range(0, 2));

TEST(DifferentiationWithCouplings, OfWhatNeedsNoArticulatedBodies) {
  for (const CoupledModel& each : coupled_models(true)) {
    Moving moving(each.model);
    for (const Operator& x :
         std::vector<Operator>{phi, E_phi, H, R, V, a, b, alpha, f, T, mass, inv(mass), ~B * ~phi * ~H}) {
      EXPECT_LT(moving.residual(diff(x, u)), 1e-9) << each.name << ": " << to_ascii(x);
    }
    EXPECT_LT(moving.residual(diff(inv(mass), u), true), 1e-9) << each.name;
    EXPECT_LT(moving.residual(dt(mass), true), 1e-9) << each.name;
  }
}

/// Where one of a cluster hangs on another, P is not differentiated; where none does, it is.
TEST(DifferentiationWithCouplings, OfArticulatedBodies) {
  int refused = 0;
  int done = 0;
  for (const CoupledModel& each : coupled_models(true)) {
    Moving moving(each.model);
    for (const Operator& x : std::vector<Operator>{P, D, G, K, psi, Omega, H * psi * K}) {
      try {
        EXPECT_LT(moving.residual(diff(x, u)), 1e-9) << each.name << ": " << to_ascii(x);
        ++done;
      } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("is not block diagonal here: hinge")) << each.name << ": " << to_ascii(x);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

/// The number of loops does not depend on the number of bodies.
TEST(DifferentiationPlan, StaysLinear) {
  for (const Operator& x : std::vector<Operator>{diff(mass, 1), diff(inv(mass), 1), dt(mass), diff(P, 1), diff(T, 1)}) {
    std::vector<int> sweeps;
    std::vector<double> flops;
    for (const int bodies : {10, 40, 160}) {
      Random random(3);
      const Model model = random_chain(bodies, random);
      System system(model);
      system.set_accelerations(std::vector<double>(static_cast<std::size_t>(model.nv()), 0.1));
      const PlanReport report = system(x).plan();
      sweeps.push_back(report.fused);
      flops.push_back(report.flops);
      for (const Sweep& sweep : report.sweeps) {
        EXPECT_NE(sweep.direction, "whole") << to_ascii(x);
      }
    }
    EXPECT_EQ(sweeps[0], sweeps[1]) << to_ascii(x);
    EXPECT_EQ(sweeps[1], sweeps[2]) << to_ascii(x);
    EXPECT_NEAR((flops[2] - flops[1]) / (flops[1] - flops[0]), 4, 0.1) << to_ascii(x);
  }
}

TEST(DifferentiationText, IsReadAndPrinted) {
  const Operator x = diff(H * phi, 1) + dt(H * phi);
  EXPECT_EQ(to_ascii(x), "diff(H*phi, unit(1)) + dt(H*phi)");
  for (const Operator& each : {x, diff(diff(P, thetad), 2), Q(f) * ang, carry(E_phi, M), lyap(sqrt(D), D),
                               ~dH({thetad, thetad}), diff(sqrt(D), thetad)}) {
    for (const std::string& text : {to_ascii(each), to_unicode(each), to_latex(each)}) {
      EXPECT_EQ(parse(text), each) << text;
    }
  }
  EXPECT_EQ(parse("diff(phi, 2)"), diff(phi, Operator::unit(2)));
  EXPECT_EQ(~diff(D, 0), diff(D, 0));
  EXPECT_EQ(~dt(R), dt(R));
  EXPECT_EQ(~Q(f), -Q(f));
}

TEST(DifferentiationText, IsExplained) {
  const Derivation derivation = derive(diff(phi, 1));
  ASSERT_FALSE(derivation.steps.empty());
  EXPECT_EQ(derivation.steps[0].rule, "derivatives");
  EXPECT_THAT(derivation.steps[0].source, HasSubstr("JR03"));
  EXPECT_EQ(to_ascii(derivation.steps[0].expression), "-phit*~cross(~H*unit(1))*phi");
  ASSERT_EQ(derivation.steps[0].changed.size(), 1U);
  EXPECT_EQ(derivation.steps[0].changed[0].before, diff(phi, 1));
  EXPECT_THAT(to_ascii(simplify(diff(M, 1))), HasSubstr("0*"));
}

/// dH is nothing where no hinge has it.
TEST(DifferentiationText, LeavesOutRatesOfConstantMaps) {
  const Conditions constant{.constant_maps = true};
  const Derivation derivation = derive(diff(H * phi, 1), Search{.conditions = constant});
  ASSERT_GE(derivation.steps.size(), 2U);
  EXPECT_EQ(derivation.steps[1].rule, "constant joint maps");
  EXPECT_EQ(to_ascii(derivation.steps[1].expression), "-H*phit*~cross(~H*unit(1))*phi");
  EXPECT_THAT(to_ascii(simplify(diff(H * phi, 1))), HasSubstr("dH(unit(1))"));
  EXPECT_THAT(to_ascii(simplify(diff(inv(mass), 1), constant)), testing::Not(HasSubstr("dH")));
  EXPECT_THAT(to_ascii(simplify(diff(H, 1), constant)), HasSubstr("0*"));
  // JR03 (4.43), ℍ_δ being −cross(H* unit(1))*
  const Conditions simple{.constant_maps = true, .simple_hinges = true};
  EXPECT_EQ(to_ascii(simplify(diff(H * phi * M * ~phi * ~H, 1), simple)),
            "-H*phi*(M*~phi*cross(~H*unit(1)) + ~cross(~H*unit(1))*phi*M)*~phi*~H");
  Random random(3);
  System chain(random_chain(5, random));
  EXPECT_TRUE(conditions_of(chain).constant_maps);
  EXPECT_FALSE(conditions_of(tree_of(13, 1)).constant_maps);
  EXPECT_EQ(chain(diff(H, 1)).dense().norm(), 0);
}

TEST(DifferentiationErrors, NameThePlaceAndTheCure) {
  const auto said = [](const char* text) { return message_of([&] { static_cast<void>(parse(text)); }); };
  EXPECT_THAT(said("2*diff(phi)"), HasSubstr("diff takes two operands, and ',' is missing here\n  2*diff(phi)\n"
                                             "            ^\nfor example diff(x, 0), diff(x, thetad)"));
  EXPECT_THAT(said("H*diff(phi, V)"),
              HasSubstr("the derivative along 'V' (the numbers to body space) is not defined\n  H*diff(phi, V)\n    "
                        "^~~~~~~~~~~~\ndiff takes the index of a hinge velocity or a stacked vector of hinge space"));
  EXPECT_THAT(said("diff(phi, 0.5)"), HasSubstr("the derivative along '0.5'"));
  EXPECT_THAT(said("diff(phi, phi)"), HasSubstr("the derivative along 'phi'"));
  EXPECT_THAT(said("diff(phi, -1)"), HasSubstr("the derivative along '-1'"));
  EXPECT_THAT(said("diff(I, 1)"), HasSubstr("the space of this identity is not known"));
  EXPECT_THAT(said("dt(f)"), HasSubstr("'thetadd' has no derivative here: its rate is not given"));
  EXPECT_THAT(said("dt(thetadd)"), HasSubstr("'thetadd' has no derivative here"));
  EXPECT_THAT(said("dt(T_p)"), HasSubstr("'T_p' has no derivative here"));
  EXPECT_THAT(said("phi*diff(M_C*H, 1)"), HasSubstr("'M_C' has no derivative here: the equations of closures"));
  EXPECT_THAT(said("diff(A*~B, 1)"), HasSubstr("'A' has no derivative here"));
  EXPECT_THAT(said("dH(V)"), HasSubstr("dH along 'V'"));
  EXPECT_THAT(said("Q(thetad)"), HasSubstr("Q of 'thetad'"));
  EXPECT_THAT(said("lyap(D, phi)"), HasSubstr("lyap of"));
  EXPECT_THAT(said("carry(phi, M)"), HasSubstr("carry along"));
  EXPECT_THAT(said("diff(sqrt(D[1,1]), 1)"), HasSubstr("the root of the block of one body"));
  EXPECT_THAT(said("diff(diff(diff(diff(diff(psi, 1), 1), 1), 1), 1)"), HasSubstr("is too large"));
}

TEST(DifferentiationErrors, AtASystem) {
  const Model model = tree_of(13, 1);
  System system(model);
  for (const std::string text : {"H*diff(phi, 99)", "H*phi*~H*unit(99)"}) {
    try {
      static_cast<void>(system(parse(text)));
      ADD_FAILURE() << text;
    } catch (const OperatorError& error) {
      const std::string said = pointed(error, text).what();
      EXPECT_THAT(said, HasSubstr("unit(99): the model has"));
      EXPECT_THAT(said, HasSubstr("^~")) << said;
      EXPECT_THAT(said, HasSubstr("they are counted from 0"));
    }
  }
  EXPECT_THAT(message_of([&] { static_cast<void>(system(diff(diff(H, 1), 2)).dense()); }),
              HasSubstr("is custom, and of its joint map one derivative is known, not 2"));
  const Operator water = define("water", SpaceKind::body, SpaceKind::body,
                                [](const BlockPlace&, std::span<double> block) { block[0] = 1; });
  EXPECT_THAT(message_of([&] { static_cast<void>(diff(M + water, 1)); }),
              HasSubstr("'water' has no derivative here: a function gives it"));
}

/// Springs of hinges whose coordinates are not plain have no rule.
TEST(DifferentiationErrors, OfSprings) {
  Random random(4);
  ModelBuilder builder("ball");
  BodySpec ball{.name = "ball", .hinge = random_hinge(HingeType::spherical, random), .inertia = random.inertia()};
  for (HingeDof& dof : ball.hinge.dofs) {
    dof.stiffness = 1;
  }
  builder.add(ball);
  const Model model = builder.build();
  System sprung(model);
  sprung.set_accelerations(std::vector<double>(3, 0.1));
  EXPECT_THAT(message_of([&] { static_cast<void>(sprung(diff(T, 0)).dense()); }), HasSubstr("is not linear"));
  System ideal(model, PassiveForces::left_out);
  ideal.set_accelerations(std::vector<double>(3, 0.1));
  EXPECT_EQ(ideal(diff(T_p, 0)).dense().norm(), 0);
}

TEST(DifferentiationConjectures, AreVerified) {
  EXPECT_TRUE(verify(diff(mass, thetad), dt(mass)).holds);
  EXPECT_TRUE(verify(dt(V), ~phi * (~H * thetadd + a - a_g) - cross(ang * V) * V).holds);
  EXPECT_FALSE(verify(dt(V), ~phi * (~H * thetadd + a - a_g)).holds);
}

}  // namespace
}  // namespace bunraku::test
