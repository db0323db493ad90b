/// Mistakes in expressions, as text and as C++: what is refused, and where.
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "operators/language.hpp"
#include "operators/messages.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;
using testing::Not;

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
    const std::clock_t start = std::clock();  // of this process alone, so that a busy machine does not count
    const Operator x = parse(text);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(x.term().parts.size(), (text.size() + 1) / 2);
    EXPECT_LT(seconds, 20) << mark << ": as if every mark were compared with every other";
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
