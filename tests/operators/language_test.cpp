/// Expressions as text and as C++: what is read, what is printed, and what is refused and where.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/simplify.hpp"
#include "bunraku/operators/soa.hpp"
#include "bunraku/operators/text.hpp"
#include "operators/random_expression.hpp"

namespace bunraku {

/// For GoogleTest's messages.
inline void PrintTo(const Operator& x, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << to_ascii(x);
}

}  // namespace bunraku

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// The error of a text.
OperatorError error_of(const std::string& text, const Variables& variables = {}) {
  try {
    const Operator x = parse(text, variables);
    ADD_FAILURE() << text << " is read as " << to_ascii(x);
  } catch (const OperatorError& error) {
    return error;
  }
  return OperatorError("none");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out{""};
  for (const char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

/// The characters of a line, combining marks with what they stand on.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    const bool continues = (byte & 0xC0U) == 0x80U;
    const bool combines = byte == 0xCC || (byte == 0xCD && static_cast<unsigned char>(line[i + 1]) < 0xB0);
    if (continues || combines) {
      out.back() += line[i];
    } else {
      out.emplace_back(1, line[i]);
    }
  }
  return out;
}

/// What of the text stands over the caret of an error's message.
std::string marked(const OperatorError& error) {
  const std::vector<std::string> lines = lines_of(error.what());
  if (lines.size() < 3) {
    return "no place";
  }
  const std::vector<std::string> text = cells_of(lines[1]);
  const std::vector<std::string> marks = cells_of(lines[2]);
  std::string out;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != " ") {
      EXPECT_THAT(marks[i], out.empty() ? "^" : "~");
      out += i < text.size() ? text[i] : "$";  // $: after the end
    }
  }
  return out;
}

void expect_round_trip(const Operator& x, const Variables& variables = {}) {
  for (const std::string& text : {to_ascii(x), to_unicode(x), to_latex(x)}) {
    SCOPED_TRACE(text);
    try {
      const Operator again = parse(text, variables);
      EXPECT_EQ(again, x);
    } catch (const OperatorError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What is read

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
                                                       {θ̈, Symbol::thetadd}};
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

// ---------------------------------------------------------------------------------------------------------------------
// What is refused, and where

struct Refusal {
  const char* text;
  const char* problem;  // contained in what()
  const char* at;       // what is marked; $ is the end
};

TEST(Language, MistakesAreShownWhereTheyAre) {
  const std::vector<Refusal> refusals{
      // factors that do not fit: both are named, with their spaces
      {"H*phi*H", "'H*phi' (body space to hinge space) and 'H' (body space to hinge space)", "H"},
      {"H*phi*H", "the left factor acts on body space, the right one gives hinge space", "H"},
      {"phi + H", "'phi' (body space to body space) and 'H' (body space to hinge space)", "H"},
      {"phi*B*phi", "acts on node space, the right one gives body space", "phi"},
      {"M*a*a", "'M*a' (the numbers to body space)", "a"},
      {"phi + 2", "2*I", "2"},
      {"I + H", "the identity maps a space to itself", "H"},
      {"V + thetad", "'V' (the numbers to body space) and 'thetad' (the numbers to hinge space)", "thetad"},
      {"phi[0, 1]*phi[2, 3]", "body space at 1, the right one gives body space at 2", "phi[2, 3]"},
      {"phi*M[1, 1]^-1", "body space at 1", "M[1, 1]^-1"},
      {"M*(phi*(H*phi))", "does not fit", "(H*phi)"},
      {"φ M (ψ̃ θ̇)", "'psit' (body space to body space) and 'thetad'", "θ̇"},
      {"psi*K*H*phi + phi*K*phi", "does not fit", "phi"},
      {"inv(H)", "the inverse of 'H' (body space to hinge space)", "inv(H)"},
      {"H^-1*phi", "only what maps a space to itself", "H^-1"},
      {"sqrt(phi)", "'phi' (body space to body space), which is causal", "sqrt(phi)"},
      {"cross(M)", "it takes a stacked vector of body space", "cross(M)"},
      {"cross(thetad)", "it takes a stacked vector of body space", "cross(thetad)"},
      {"V[1, 2]", "a stacked vector [i]", "V[1, 2]"},
      {"phi[1]", "an operator has blocks [i, j]", "phi[1]"},
      {"phi[1, 2][1, 2]", "no blocks to choose from", "phi[1, 2][1, 2]"},
      {"inv(0*phi)", "the inverse of zero", "inv(0*phi)"},
      {"unit(-1)", "counted from 0", "unit(-1)"},
      {"1e300*1e300", "not finite", "1e300"},
      // names
      {"H*fi*M", "'fi' is not known", "fi"},
      {"H*phii*M", "did you mean 'phi'", "phii"},
      {"omega", "did you mean 'Omega'", "omega"},
      {"H*Ph*M", "did you mean", "Ph"},
      {"invv(D)", "did you mean 'inv'", "invv"},
      {"arm*D", "'arm' is not known", "arm"},
      {R"(H \phj)", R"('\phj' is not known)", R"(\phj)"},
      {"H*foo_bar1", "'foo_bar1' is not known", "foo_bar1"},
      {"H*phi*Ж", "'Ж' is not expected here", "Ж"},
      // punctuation
      {"H*(phi", "')' is missing here", "$"},
      {"H*phi)", "this parenthesis closes nothing", ")"},
      {"H*", "the expression ends", "$"},
      {"H phi +", "the expression ends", "$"},
      {"H**phi", "'*' is not expected here", "*"},
      {"inv D", "'(' is missing here", "D"},
      {"phi[1, 2", "']' is missing here", "$"},
      {"phi[, 2]", "a body's name or number is missing here", ","},
      {"phi[1, ]", "a body's name or number is missing here", "]"},
      {R"(phi["1, 2])", "'\"' is missing here", "$"},
      {"phi^3", "this power is not known", "3"},
      {"phi^(1/3)", "this power is not known", "("},
      {"phi^", "this power is not known", "$"},
      {"unit(x)", "unit takes a velocity index", "x"},
      {"phi = psi", "bunraku verify", "="},
      {"phi, psi", "',' is not expected here", ","},
      {"1e999*phi", "this number is not one", "1"},
      {".*phi", "this number is not one", "."},
      {R"(\left( \phi ))", R"('\right)' is missing here)", ")"},
      {"phi $ M", "'$' is not expected here", "$"},
  };
  for (const Refusal& each : refusals) {
    SCOPED_TRACE(each.text);
    const OperatorError error = error_of(each.text);
    EXPECT_THAT(error.what(), HasSubstr(each.problem));
    EXPECT_TRUE(error.has_place());
    EXPECT_EQ(marked(error), each.at) << error.what();
  }
}

TEST(Language, EveryErrorOfATextHasItsPlace) {
  std::string tower = "phi";
  for (int i = 0; i < 300; ++i) {
    tower += "⁻¹∗";
  }
  for (const std::string& text :
       {tower, std::string("~") + tower, std::string("2*phi*1e308*10"), std::string("I[1]")}) {
    EXPECT_TRUE(error_of(text).has_place()) << text.substr(0, 40);
  }
}

TEST(Language, LongTextsAreShownInPart) {
  std::string text = "M";
  for (int i = 0; i < 200; ++i) {
    text += " + M";
  }
  const OperatorError error = error_of(text + " + H" + text);
  EXPECT_EQ(marked(error).substr(0, 1), "H");
  for (const std::string& line : lines_of(error.what())) {
    EXPECT_LT(line.size(), 400) << line;
  }
}

TEST(Language, NoText) {
  for (const char* const text : {"", "  ", "\t\n", "\\,"}) {
    EXPECT_THAT(error_of(text).what(), HasSubstr("there is no expression"));
  }
}

TEST(Language, UnreadableBytes) {
  EXPECT_THAT(error_of("phi*\xff*M").what(), HasSubstr("not UTF-8"));
  EXPECT_THAT(error_of("phi*\xcf").what(), HasSubstr("not UTF-8"));
  EXPECT_THAT(error_of(std::string("phi\0M", 5)).what(), HasSubstr("not expected here"));
  EXPECT_THAT(error_of("phi\x1b[31m").what(), Not(HasSubstr("\x1b")));
}

TEST(Language, Limits) {
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '(') + "phi" + std::string(static_cast<std::size_t>(n), ')');
  };
  EXPECT_EQ(parse(nested(99)), Operator(Symbol::phi));
  EXPECT_THAT(error_of(nested(100)).what(), HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(error_of(nested(4'000)).what(), HasSubstr("nested more than 100 deep"));
  EXPECT_EQ(parse(std::string(9'997, ' ') + "phi"), Operator(Symbol::phi));
  EXPECT_THAT(error_of(std::string(9'998, ' ') + "phi").what(), HasSubstr("longer than 10000 bytes"));
  EXPECT_EQ(parse(std::string(5'000, '~') + "phi"), Operator(Symbol::phi));
  std::string tower = "phi";
  for (int i = 0; i < 300; ++i) {
    tower += "^-1^*";
  }
  EXPECT_THAT(error_of(tower).what(), HasSubstr("nested more than 400 deep"));
  Operator x = soa::phi;
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) {
          x = ~inv(x);
        }
      },
      OperatorError);
}

TEST(Language, TheLongestTextsAreReadAtOnce) {
  for (const std::string mark : {"*", "+"}) {
    std::string text = "M";
    while (text.size() < 9'990) {
      text += mark + "M";
    }
    const auto start = std::chrono::steady_clock::now();
    const Operator x = parse(text);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(x.term().parts.size(), (text.size() + 1) / 2);
    EXPECT_LT(seconds, 1) << mark;
  }
}

TEST(Language, LaterErrorsPointAtTheText) {
  const auto pointed_at = [](const std::string& text) {
    try {
      static_cast<void>(simplify(parse(text)));
    } catch (const OperatorError& error) {
      EXPECT_FALSE(error.has_place());
      return marked(pointed(error, text));
    }
    return std::string("no OperatorError");
  };
  EXPECT_EQ(pointed_at("M*inv(phi + M)*b"), "inv(phi + M)");
  EXPECT_EQ(pointed_at("M*(φ + M)⁻¹ b"), "(φ + M)⁻¹");
  const OperatorError elsewhere("problem", "cure", "psi");
  EXPECT_FALSE(pointed(elsewhere, "phi*M").has_place());
  EXPECT_EQ(marked(pointed(elsewhere, "φ ψ M")), "ψ");
}

// ---------------------------------------------------------------------------------------------------------------------
// Variables, and mistakes in C++

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

TEST(Language, MistakesInCpp) {
  using namespace soa;
  try {
    static_cast<void>(H * phi * H);
    ADD_FAILURE();
  } catch (const OperatorError& error) {
    EXPECT_THAT(error.problem(), HasSubstr("'H*phi' (body space to hinge space) and 'H' (body space to hinge space)"));
    EXPECT_THAT(error.cure(), HasSubstr("acts on body space, the right one gives hinge space"));
    EXPECT_FALSE(error.has_place());
    EXPECT_THAT(error.what(), HasSubstr(error.problem()));
    EXPECT_THAT(error.what(), HasSubstr(error.cure()));
  }
  EXPECT_THROW(static_cast<void>(phi + H), OperatorError);
  EXPECT_THROW(static_cast<void>(I + H), OperatorError);
  EXPECT_THROW(static_cast<void>(inv(H)), OperatorError);
  EXPECT_THROW(static_cast<void>(dense_inv(K)), OperatorError);
  EXPECT_THROW(static_cast<void>(sqrt(psi)), OperatorError);
  EXPECT_THROW(static_cast<void>(cross(T)), OperatorError);
  EXPECT_THROW(static_cast<void>(Operator::unit(-1)), OperatorError);
  EXPECT_THROW(static_cast<void>(Operator(phi).block("1")), OperatorError);
  EXPECT_THROW(static_cast<void>(Operator(V).block("")), OperatorError);
  EXPECT_THROW(static_cast<void>(Operator(phi).block("", "1")), OperatorError);
  EXPECT_THROW(static_cast<void>(Operator(std::numeric_limits<double>::infinity())), OperatorError);
  EXPECT_THROW(static_cast<void>(Operator(0.0) * phi + H), OperatorError);
}

}  // namespace
}  // namespace bunraku::test
