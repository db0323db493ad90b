#include <fmt/format.h>

#include "bunraku/operators/language/detail/marks.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku {

namespace {

using operators::Marks;

enum class Style { ascii, unicode, latex };

/// How tightly a printed expression holds together.
enum class Binding { sum, product, prefix, postfix, atom };

struct Printed {
  std::string text;
  Binding binding = Binding::atom;
};

class Printer {
 public:
  explicit Printer(Style style) : style_(style) {}

  Printed print(const Operator& x, const Marks& marks = {}) const {
    if (marks.whole) {
      return {fmt::format("⟦{}⟧", print(x).text)};
    }
    const Term& t = x.term();
    switch (t.type) {
      case TermType::symbol:
        return {std::string(style_ == Style::ascii     ? info(t.symbol).ascii
                            : style_ == Style::unicode ? info(t.symbol).unicode
                                                       : info(t.symbol).latex) +
                family(t)};
      case TermType::variable:
        return {t.name};
      case TermType::identity:
        return {"I"};
      case TermType::number:
        return {fmt::format("{}", t.number), t.number < 0 ? Binding::sum : Binding::atom};
      case TermType::unit:
        return {style_ == Style::latex ? fmt::format(R"(\operatorname{{unit}}\left( {} \right))", t.index)
                                       : fmt::format("unit({})", t.index)};
      case TermType::sum:
        return {sum(t.parts, marks), Binding::sum};
      case TermType::product:
        return {product(t.parts, marks), Binding::product};
      case TermType::scale:
        return {scale(t.number, t.parts[0], marks.of(0)), t.number < 0 ? Binding::sum : Binding::product};
      case TermType::adjoint:
        return style_ == Style::ascii ? Printed{"~" + held(t.parts[0], Binding::prefix, marks.of(0)), Binding::prefix}
                                      : raised(t.parts[0], "∗", "*", marks.of(0));
      case TermType::inverse:
        return style_ == Style::ascii ? call("inv", t, marks) : raised(t.parts[0], "⁻¹", "-1", marks.of(0));
      case TermType::root:
        return style_ == Style::ascii ? call("sqrt", t, marks)
                                      : raised(t.parts[0], "^½", R"(\frac{1}{2})", marks.of(0));
      case TermType::dense_inverse:
        return call("dense_inv", t, marks);
      case TermType::cross:
        return call("cross", t, marks);
      case TermType::gather:
        return call("gather", t, marks);
      case TermType::spread:
        return call("spread", t, marks);
      case TermType::carry:
        return call("carry", t, marks);
      case TermType::force_cross:
        return call("Q", t, marks);
      case TermType::joint_rate:
        return call("dH", t, marks);
      case TermType::lyapunov:
        return call("lyap", t, marks);
      case TermType::derivative:
        return call("diff", t, marks);
      case TermType::time_rate:
        return call("dt", t, marks);
      case TermType::block:
        return {fmt::format("{}[{}{}]", held(t.parts[0], Binding::postfix, marks.of(0)), body(t.range.part),
                            t.domain.part.empty() ? "" : ", " + body(t.domain.part)),
                Binding::postfix};
    }
    return {};
  }

 private:
  /// In parentheses where it would otherwise fall apart.
  std::string held(const Operator& x, Binding least, const Marks& marks) const {
    const Printed printed = print(x, marks);
    return printed.binding >= least ? printed.text : parenthesized(printed.text);
  }
  std::string parenthesized(const std::string& text) const {
    return style_ == Style::latex ? fmt::format(R"(\left( {} \right))", text) : fmt::format("({})", text);
  }
  /// The pair of a symbol's family, where it is not the standard one.
  std::string family(const Term& t) const {
    return t.parts.empty() ? "" : fmt::format("_{{{}, {}}}", print(t.parts[0]).text, print(t.parts[1]).text);
  }
  Printed call(std::string_view name, const Term& t, const Marks& marks) const {
    std::string arguments;
    for (std::size_t i = 0; i < t.parts.size(); ++i) {
      arguments += (i == 0 ? "" : ", ") + print(t.parts[i], marks.of(i)).text;
    }
    return {style_ == Style::latex ? fmt::format(R"(\operatorname{{{}}}{})", name, parenthesized(arguments))
                                   : fmt::format("{}({})", name, arguments)};
  }
  Printed raised(const Operator& x, std::string_view mark, std::string_view power, const Marks& marks) const {
    if (style_ == Style::unicode) {
      return {held(x, Binding::postfix, marks) + std::string(mark), Binding::postfix};
    }
    return {fmt::format("{}^{{{}}}", held(x, Binding::atom, marks), power), Binding::postfix};
  }
  /// How many operands from the i-th on are marked as a whole.
  static std::size_t marked_from(std::size_t i, const Marks& marks) {
    std::size_t end = i;
    while (marks.of(end).whole) {
      ++end;
    }
    return end - i;
  }
  std::string sum(const std::vector<Operator>& terms, const Marks& marks) const {
    std::string out;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Term& p = terms[i].term();
      const Marks inner = marks.of(i);
      const bool negative = (p.type == TermType::scale || p.type == TermType::number) && p.number < 0;
      if (const std::size_t run = marked_from(i, marks); run > 1) {
        const auto from = terms.begin() + static_cast<std::ptrdiff_t>(i);
        const std::vector<Operator> together(from, from + static_cast<std::ptrdiff_t>(run));
        out += fmt::format("{}⟦{}⟧", out.empty() ? "" : " + ", sum(together, {}));
        i += run - 1;
      } else if (out.empty()) {
        out += p.type == TermType::sum && !inner.whole ? parenthesized(print(terms[i], inner).text)
                                                       : print(terms[i], inner).text;
      } else if (!negative) {
        out += " + " + held(terms[i], Binding::product, inner);
      } else if (inner.whole || p.type == TermType::number) {
        out += " - " + held(-terms[i], Binding::product, inner);
      } else {
        out += " - " + scale(-p.number, p.parts[0], inner.of(0));
      }
    }
    return out;
  }
  std::string product(const std::vector<Operator>& factors, const Marks& marks) const {
    std::string out;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (!out.empty()) {
        out += style_ == Style::ascii ? "*" : " ";
      }
      if (const std::size_t run = marked_from(i, marks); run > 1) {
        const auto from = factors.begin() + static_cast<std::ptrdiff_t>(i);
        const std::vector<Operator> together(from, from + static_cast<std::ptrdiff_t>(run));
        out += fmt::format("⟦{}⟧", product(together, {}));
        i += run - 1;
      } else {
        out += held(factors[i], Binding::prefix, marks.of(i));
      }
    }
    return out;
  }
  std::string scale(double number, const Operator& x, const Marks& marks) const {
    if (number == 1) {
      return held(x, Binding::product, marks);
    }
    if (number == -1) {
      return "-" + held(x, Binding::product, marks);
    }
    // two numbers side by side would be one
    return fmt::format("{}{}{}", number, style_ == Style::ascii ? "*" : " ", held(x, Binding::product, marks));
  }
  static std::string body(const std::string& name) {
    constexpr std::string_view spaces = " \t\n\r";  // which the reader takes off a name without quotation marks
    if (name.find_first_of(",]\"\\") == std::string::npos && spaces.find(name.front()) == std::string::npos &&
        spaces.find(name.back()) == std::string::npos) {
      return name;
    }
    std::string out = "\"";
    for (const char c : name) {
      out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return out + "\"";
  }

  Style style_;
};

}  // namespace

std::string to_ascii(const Operator& x) {
  return Printer(Style::ascii).print(x).text;
}
std::string to_unicode(const Operator& x) {
  return Printer(Style::unicode).print(x).text;
}
std::string to_latex(const Operator& x) {
  return Printer(Style::latex).print(x).text;
}

std::string operators::marked_unicode(const Operator& x, const Marks& marks) {
  return Printer(Style::unicode).print(x, marks).text;
}

}  // namespace bunraku
