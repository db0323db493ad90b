/// Expressions as text and as C++: what is read and what is printed.
#include "operators/language.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "operators/messages.hpp"
#include "operators/random_expression.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Reading {
  const char* text;
  Operator means;
};

std::vector<Reading> readings() {
  using namespace soa;
  const Operator one = I;
  return {
      // products, in all spellings
      {"H*phi*M*~phi*~H", H * phi * M * ~phi * ~H},
      {"H phi M ~phi ~H", H * phi * M * ~phi * ~H},
      {"H φ M φ∗ H∗", H * phi * M * ~phi * ~H},
      {"H·φ·M·φ†·Hᵀ", H * phi * M * ~phi * ~H},
      {R"(H \phi M \phi^{*} H^{\top})", H * phi * M * ~phi * ~H},
      {R"(H \cdot \phi\,M\; \phi^{\ast} \, H^*)", H * phi * M * ~phi * ~H},
      {" H\t*\n phi\r\n* M ", H * phi * M},
      {"Hφ", H * phi},
      {"φM", phi * M},
      {"H(phi)(M)", H * phi * M},
      {"(H)phi", H * phi},
      {"H{phi}", H * phi},
      {"H × phi", H * phi},
      // sums and signs
      {"phi - psi + M", (phi - psi) + M},
      {"phi - (psi + M)", phi - (psi + M)},
      {"-phi", -Operator(phi)},
      {"−phi", -Operator(phi)},
      {"--phi", phi},
      {"- + -phi", phi},
      {"phi - -psi", phi + psi},
      {"phi * -psi", -(phi * psi)},
      {"I + H*phi*K", one + H * phi * K},
      {"H phi K + I", H * phi * K + one},
      {"phi (I - K*H*psi)", phi * (one - K * H * psi)},
      {"2*I - phi", Operator(2) * one - phi},
      // what binds how
      {"~H*D*H", ~H * D * H},
      {"~phi^-1", ~inv(phi)},
      {"~inv(phi)", ~inv(phi)},
      {"phi^-1^*", ~inv(phi)},
      {"phi^*^-1", inv(~phi)},
      {"inv(~phi)", inv(~phi)},
      {"~~phi", phi},
      {"~~~phi", ~phi},
      {"-~phi", -~Operator(phi)},
      {"~-phi", -~Operator(phi)},
      {"~phi[1, 2]", ~Operator(phi).block("1", "2")},
      {"(~phi)[1, 2]", (~phi).block("1", "2")},

      {"2*phi^-1", 2 * inv(phi)},
      {"H*phi + H*psi", H * phi + H * psi},
      {"(H*phi)*(M*b)", H * phi * M * b},
      {"~(H*phi)", ~(H * phi)},
      // powers
      {"D^-1", inv(D)},
      {"D^(-1)", inv(D)},
      {"D^{-1}", inv(D)},
      {"D⁻¹", inv(D)},
      {"D^½", sqrt(D)},
      {"D^(1/2)", sqrt(D)},
      {"D^1/2", sqrt(D)},
      {R"(D^{\frac{1}{2}})", sqrt(D)},
      {"D^-1/2", inv(sqrt(D))},
      {"D^(-1/2)", inv(sqrt(D))},
      {"D^-½", inv(sqrt(D))},
      {R"(D^{-\frac{1}{2}})", inv(sqrt(D))},

      // functions
      {"inv(H*phi*M*~phi*~H)", inv(H * phi * M * ~phi * ~H)},
      {R"(\operatorname{inv}\left( \phi \right))", inv(phi)},
      {"dense_inv(phi)", dense_inv(phi)},
      {"sqrt(D)", sqrt(D)},
      {"cross(V)", cross(V)},
      {"cross(~phi*~H*thetad)", cross(~phi * ~H * thetad)},
      {"unit(3)", Operator::unit(3)},
      {"~H*unit( 0 )", ~H * Operator::unit(0)},
      {R"(\left( \phi - I \right) M)", (phi - one) * M},
      // numbers
      {"2 phi", 2 * phi},
      {"phi 2", 2 * phi},
      {"phi*2*3", 6 * phi},
      {"2*3*phi", 6 * phi},
      {".5 phi", 0.5 * phi},
      {"5.*phi", 5 * phi},
      {"1e-3phi", 1e-3 * phi},
      {"2E_phi", 2 * E_phi},
      {"1*phi", phi},
      {"0*phi", 0 * phi},
      {"2", 2.0},
      {"2 + 3*4", 14.0},
      {"inv(4)", 0.25},
      {"~a*M*a + 2", ~a * M * a + Operator(2)},
      // blocks
      {"phi[1, 2]", Operator(phi).block("1", "2")},
      {"phi[ left arm ,link_2 ]", Operator(phi).block("left arm", "link_2")},
      {R"(phi["a,b", "c]"])", Operator(phi).block("a,b", "c]")},
      {R"(phi["say \"a\"", "back\\slash"])", Operator(phi).block("say \"a\"", "back\\slash")},
      {"V[3]", Operator(V).block("3")},
      {"(~phi*b)[tip]", (~phi * b).block("tip")},
      {"phi[0, 1]*phi[1, 2]", Operator(phi).block("0", "1") * Operator(phi).block("1", "2")},
      {"H[0, 0]*V[0]", Operator(H).block("0", "0") * Operator(V).block("0")},
      // the papers' letters
      {"ψ̃ + φ̃", psit + phit},
      {"τ̄ - τ", taub - tau},
      {"θ̈", thetadd},
      {"H∗θ̇", ~H * thetad},
      {"𝕊 Δ_φ", S * Delta_phi},
      {"𝒜 + D", armature + D},
      {"E_φ E_ψ Ω Υ α", E_phi * E_psi * Omega * Upsilon * alpha},
      {R"(\mathcal{E}_{\psi} \tilde{\psi} \bar{\tau} \Upsilon)", E_psi * psit * taub * Upsilon},
      {R"(\mathbb{S} \Delta_{\phi} + \mathcal{E}_{\phi})", S * Delta_phi + E_phi},
      {R"(\ddot{\theta} - \dot{\theta})", thetadd - thetad},
  };
}

TEST(Language, ReadsWhatIsMeant) {
  for (const Reading& each : readings()) {
    SCOPED_TRACE(each.text);
    try {
      EXPECT_EQ(parse(each.text), each.means);
    } catch (const OperatorError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Language, PrintsWhatItReads) {
  for (const Reading& each : readings()) {
    expect_round_trip(each.means);
  }
}

TEST(Language, PrintsAsThePapersWrite) {
  using namespace soa;
  const Operator mass = inv(H * phi * M * ~phi * ~H);
  EXPECT_EQ(to_ascii(mass), "inv(H*phi*M*~phi*~H)");
  EXPECT_EQ(to_unicode(mass), "(H φ M φ∗ H∗)⁻¹");
  EXPECT_EQ(to_latex(mass), R"(\left( H \phi M \phi^{*} H^{*} \right)^{-1})");
  const Operator factor = ~(I - H * psi * K) * inv(D);
  EXPECT_EQ(to_ascii(factor), "~(I - H*psi*K)*inv(D)");
  EXPECT_EQ(to_unicode(factor), "(I - H ψ K)∗ D⁻¹");
  EXPECT_EQ(to_latex(factor), R"(\left( I - H \psi K \right)^{*} D^{-1})");
  EXPECT_EQ(to_ascii(2 * (phi + psi) - 0.5 * M * b * ~b), "2*(phi + psi) - 0.5*M*b*~b");
  EXPECT_EQ(to_unicode(sqrt(D) * Operator::unit(0)), "D^½ unit(0)");
  EXPECT_EQ(to_ascii((~phi).block("1", "tip, left") * ~Operator(phi).block("2", "tip, left")),
            R"((~phi)[1, "tip, left"]*~phi[2, "tip, left"])");
}

TEST(Language, RandomExpressionsAreReadBack) {
  const Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  const Operator W_1 = Operator::variable("W_1", SpaceKind::hinge, SpaceKind::hinge);
  const Operator L = Operator::variable("L", SpaceKind::node, SpaceKind::node);
  ExpressionParts parts{.leaves = all_symbols(), .functions = true};
  for (const Operator& each : {x, W_1, L}) {
    parts.leaves.push_back(each);
  }
  RandomExpression draw(parts, 1);
  std::size_t longest = 0;
  for (int i = 0; i < 3000; ++i) {
    const Operator each = i % 5 == 4 ? draw.block(1 + i % 3) : draw.any(1 + i % 5);
    expect_round_trip(each, {x, W_1, L});
    longest = std::max(longest, to_ascii(each).size());
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_GT(longest, 150);
}

TEST(Language, NamesOfBodiesAreReadBack) {
  for (const std::string name : {"0", "left arm", " a", "a ", "a\t", "\ta", "\n", "\"", "\\", "\\,a", "a\\", ",", "]",
                                 "[", "ü", "\\ x", "a\"b"}) {
    expect_round_trip(Operator(Symbol::phi).block(name, name));
  }
}

TEST(Language, NumbersAreReadBackExactly) {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const double number = random.uniform() * std::pow(10, random.integer(-300, 300));
    expect_round_trip(number * soa::phi);
    expect_round_trip(soa::psi + number * soa::phi);
    expect_round_trip(Operator(number));
    expect_round_trip(~soa::a * soa::a + Operator(number));
  }
}

TEST(Language, EverySymbolInEveryScript) {
  for (const SymbolInfo& each : symbol_table()) {
    const Operator x(each.symbol);
    for (const std::string_view text : {each.ascii, each.unicode, each.latex}) {
      EXPECT_EQ(parse(text), x) << text;
    }
    EXPECT_EQ(to_ascii(x), each.ascii);
    EXPECT_EQ(to_unicode(x), each.unicode);
    EXPECT_EQ(to_latex(x), each.latex);
    EXPECT_EQ(x.range().kind, each.range);
    EXPECT_EQ(x.domain().kind, each.domain);
    EXPECT_EQ(x.kind(), each.kind);
    EXPECT_EQ(~x == x, each.symmetric);
    EXPECT_FALSE(each.meaning.empty() || each.source.empty());
    EXPECT_FALSE(is_free_name(each.ascii));
    EXPECT_THAT(known_names(), Contains(std::string(each.ascii)));
    EXPECT_EQ(info(each.symbol).symbol, each.symbol);
  }
}

TEST(Language, SymbolsInCpp) {
  using namespace soa;
  const std::vector<std::pair<Operator, Symbol>> names{{E_phi, Symbol::E_phi},
                                                       {E_φ, Symbol::E_phi},
                                                       {phi, Symbol::phi},
                                                       {φ, Symbol::phi},
                                                       {phit, Symbol::phit},
                                                       {φ̃, Symbol::phit},
                                                       {H, Symbol::H},
                                                       {M, Symbol::M},
                                                       {B, Symbol::B},
                                                       {R, Symbol::R},
                                                       {P, Symbol::P},
                                                       {D, Symbol::D},
                                                       {G, Symbol::G},
                                                       {K, Symbol::K},
                                                       {tau, Symbol::tau},
                                                       {τ, Symbol::tau},
                                                       {taub, Symbol::taub},
                                                       {τ̄, Symbol::taub},
                                                       {E_psi, Symbol::E_psi},
                                                       {E_ψ, Symbol::E_psi},
                                                       {psi, Symbol::psi},
                                                       {ψ, Symbol::psi},
                                                       {psit, Symbol::psit},
                                                       {ψ̃, Symbol::psit},
                                                       {Upsilon, Symbol::Upsilon},
                                                       {Υ, Symbol::Upsilon},
                                                       {Omega, Symbol::Omega},
                                                       {Ω, Symbol::Omega},
                                                       {S, Symbol::S},
                                                       {𝕊, Symbol::S},
                                                       {Delta_phi, Symbol::Delta_phi},
                                                       {Δ_φ, Symbol::Delta_phi},
                                                       {armature, Symbol::armature},
                                                       {𝒜, Symbol::armature},
                                                       {V, Symbol::V},
                                                       {alpha, Symbol::alpha},
                                                       {α, Symbol::alpha},
                                                       {a, Symbol::a},
                                                       {b, Symbol::b},
                                                       {f, Symbol::f},
                                                       {T, Symbol::T},
                                                       {thetad, Symbol::thetad},
                                                       {θ̇, Symbol::thetad},
                                                       {thetadd, Symbol::thetadd},
                                                       {θ̈, Symbol::thetadd},
                                                       {T_p, Symbol::T_p},
                                                       {ang, Symbol::ang},
                                                       {stiffness, Symbol::stiffness},
                                                       {𝒦, Symbol::stiffness},
                                                       {a_g, Symbol::a_g},
                                                       {A, Symbol::A},
                                                       {A_h, Symbol::A_h},
                                                       {U, Symbol::U},
                                                       {a_n, Symbol::a_n},
                                                       {M_C, Symbol::M_C}};
  std::vector<bool> seen(symbol_table().size());
  for (const auto& [x, symbol] : names) {
    EXPECT_EQ(x, Operator(symbol)) << info(symbol).ascii;
    seen[static_cast<std::size_t>(symbol)] = true;
  }
  EXPECT_THAT(seen, Not(Contains(false)));
  EXPECT_EQ(inv(H * φ * M * ~φ * ~H), parse("inv(H*phi*M*~phi*~H)"));
  EXPECT_EQ(H * φ * (M * ~φ * (~H * θ̈ + a) + b) + 𝒜 * θ̈,
            parse("H*phi*(M*~phi*(~H*thetadd + a) + b) + armature*thetadd"));
  EXPECT_EQ(~B * Ω * B - 2 * ~B * Υ * B, parse("~B*Omega*B - 2*~B*Upsilon*B"));
  EXPECT_EQ(I - H * ψ * K, parse("I - H*psi*K"));
  EXPECT_EQ(-ψ + φ, parse("-psi + phi"));
  EXPECT_EQ(sqrt(D) * Operator::unit(0), parse("sqrt(D)*unit(0)"));
}

TEST(Language, SpacesAndKinds) {
  const auto kind = [](const char* text) { return parse(text).kind(); };
  EXPECT_EQ(kind("H*phi"), Kind::causal);
  EXPECT_EQ(kind("~(H*phi)"), Kind::anticausal);
  EXPECT_EQ(kind("H*phi*M*~phi*~H"), Kind::general);
  EXPECT_EQ(kind("H*P*~H + D"), Kind::memoryless);
  EXPECT_EQ(kind("inv(D)"), Kind::memoryless);
  EXPECT_EQ(kind("inv(phi)"), Kind::causal);
  EXPECT_EQ(kind("M + phi"), Kind::causal);
  EXPECT_EQ(kind("phi + ~phi"), Kind::general);
  EXPECT_EQ(kind("a*~a"), Kind::general);
  EXPECT_EQ(kind("cross(V)"), Kind::memoryless);
  EXPECT_EQ(to_string(Kind::anticausal), "anticausal");
  const Operator J = parse("~B*~phi*~H");
  EXPECT_EQ(J.range().kind, SpaceKind::node);
  EXPECT_EQ(J.domain().kind, SpaceKind::hinge);
  EXPECT_EQ(to_string(J.range()), "node space");
  const Operator part = parse("H[3, tip]");
  EXPECT_EQ(to_string(part.range()), "hinge space at 3");
  EXPECT_EQ(to_string(part.domain()), "body space at tip");
  EXPECT_EQ(parse("~V*f").range().kind, SpaceKind::number);
}

TEST(Language, Variables) {
  const Operator x = Operator::variable("x", SpaceKind::hinge, SpaceKind::number);
  const Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  const Operator wide = Operator::variable("W2", SpaceKind::node, SpaceKind::body);
  const Variables all{x, W, wide};
  EXPECT_EQ(parse("~H*x", all), ~soa::H * x);
  EXPECT_EQ(parse("W2*W*~W", all), wide * W * ~W);
  EXPECT_EQ(parse("2W2", all), 2 * wide);
  EXPECT_EQ(W.kind(), Kind::memoryless);
  EXPECT_THAT(error_of("~H*x").what(), HasSubstr("'x' is not known"));
  EXPECT_THAT(error_of("Ww*V", all).what(), HasSubstr("did you mean 'W"));
  EXPECT_FALSE(x == Operator::variable("x", SpaceKind::body, SpaceKind::number));
  expect_round_trip(sqrt(W) * ~wide * wide * ~soa::H * x, all);
}

TEST(Language, Families) {
  using namespace soa;  // NOLINT(google-build-using-namespace)
  const Operator X = Operator(M) + B * ~B;
  const Operator none = 0 * Operator(armature);
  const Operator other = Operator::of_family(Symbol::psi, X, armature);
  EXPECT_EQ(to_ascii(other), "psi_{M + B*~B, armature}");
  EXPECT_EQ(to_unicode(other), "ψ_{M + B B∗, 𝒜}");
  EXPECT_EQ(to_latex(other), R"(\psi_{M + B B^{*}, \mathcal{A}})");
  EXPECT_EQ(other.kind(), Kind::causal);
  EXPECT_FALSE(other == Operator(psi));
  EXPECT_FALSE(other == Operator::of_family(Symbol::psi, X, none));
  EXPECT_EQ(Operator::of_family(Symbol::psi, M, armature), Operator(psi)) << "the standard one";
  for (const SymbolInfo& each : symbol_table()) {
    if (!has_family(each.symbol)) {
      EXPECT_THROW(Operator::of_family(each.symbol, X, none), OperatorError) << each.ascii;
      continue;
    }
    for (const Operator& A : {none, Operator(armature), 0.1 * in_space(I, {SpaceKind::hinge})}) {
      const Operator x = Operator::of_family(each.symbol, X, A);
      expect_round_trip(x);
      expect_round_trip(~x);
      expect_round_trip(x + 2 * x);
      EXPECT_EQ(~x == x, each.symmetric);
    }
  }
  expect_round_trip(inv(Operator::of_family(Symbol::D, X, none)) * H * Operator::of_family(Symbol::psi, X, none));
  expect_round_trip(Operator::of_family(Symbol::psi, Operator::of_family(Symbol::P, X, none), none));
  EXPECT_EQ(parse("psi_{M, 0*armature}[1, 2]"), Operator::of_family(Symbol::psi, M, none).block("1", "2"));
  EXPECT_THROW(Operator::of_family(Symbol::psi, phi, armature), OperatorError) << "not memoryless";
  EXPECT_THROW(Operator::of_family(Symbol::psi, H, armature), OperatorError);
  EXPECT_THROW(Operator::of_family(Symbol::psi, M, M), OperatorError);
  EXPECT_THAT(error_of("psi_{phi, armature}").what(), HasSubstr("in place of the inertia"));
  EXPECT_THAT(error_of("psi_{M}").what(), HasSubstr("',' is missing here"));
  EXPECT_THAT(error_of("phi_{M, armature}").what(), HasSubstr("phi"));
}

TEST(Language, RecursionsOverBlocks) {
  using namespace soa;  // NOLINT(google-build-using-namespace)
  const Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  const Operator composite = gather(E_phi, M);
  EXPECT_EQ(to_ascii(composite), "gather(E_phi, M)");
  EXPECT_EQ(composite.kind(), Kind::memoryless);
  EXPECT_EQ(~composite, composite);
  EXPECT_FALSE(~gather(S, W) == gather(S, W));
  EXPECT_FALSE(gather(E_phi, M) == spread(E_phi, M));
  expect_round_trip(composite * spread(E_psi, ~H * inv(D) * H) * phi);
  expect_round_trip(~gather(Operator::of_family(Symbol::E_psi, W, armature), W) + M, {W});
  EXPECT_THROW(gather(phi, M), OperatorError) << "not one step";
  EXPECT_THROW(gather(E_phi, phi), OperatorError) << "not memoryless";
  EXPECT_THROW(spread(E_phi, H), OperatorError);
  EXPECT_THAT(error_of("gather(E_phi)").what(), HasSubstr("',' is missing here"));
}

TEST(Language, SumsAndProductsOfMany) {
  using namespace soa;  // NOLINT(google-build-using-namespace)
  EXPECT_EQ(sum_of({phi, M, Operator(psi) + P}), phi + Operator(M) + psi + P);
  EXPECT_EQ(sum_of({I, phi}), I + Operator(phi));
  EXPECT_EQ(product_of({H, phi, 2 * Operator(M), I}), 2 * (H * phi * M));
  EXPECT_THROW(sum_of({phi, H}), OperatorError);
  EXPECT_THROW(product_of({phi, H}), OperatorError);
}

TEST(Language, NamesForVariables) {
  for (const std::string_view name : {"x", "W_1", "_a", "Mass", "phi2", "i"}) {
    EXPECT_TRUE(is_free_name(name)) << name;
    EXPECT_NO_THROW(Operator::variable(std::string(name), SpaceKind::body, SpaceKind::body));
  }
  for (const std::string_view name : {"", "phi", "I", "inv", "dense_inv", "unit", "2x", "x y", "x-1", "ü", "x.y"}) {
    EXPECT_FALSE(is_free_name(name)) << name;
    EXPECT_THROW(Operator::variable(std::string(name), SpaceKind::body, SpaceKind::body), OperatorError) << name;
  }
  EXPECT_THROW(Operator::variable("x", SpaceKind::number, SpaceKind::body), OperatorError);
  EXPECT_THROW(Operator::variable("x", SpaceKind::any, SpaceKind::body), OperatorError);
  EXPECT_THROW(Operator::variable("x", SpaceKind::body, SpaceKind::any), OperatorError);
}

}  // namespace
}  // namespace bunraku::test
