#include <fmt/format.h>

#include "bunraku/operators/language/text.hpp"

namespace bunraku {

namespace {

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

  Printed print(const Operator& x) const {
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
        return {sum(t), Binding::sum};
      case TermType::product:
        return {product(t), Binding::product};
      case TermType::scale:
        return {scale(t), t.number < 0 ? Binding::sum : Binding::product};
      case TermType::adjoint:
        return style_ == Style::ascii ? Printed{"~" + held(t.parts[0], Binding::prefix), Binding::prefix}
                                      : raised(t.parts[0], "∗", "*");
      case TermType::inverse:
        return style_ == Style::ascii ? call("inv", t.parts[0]) : raised(t.parts[0], "⁻¹", "-1");
      case TermType::root:
        return style_ == Style::ascii ? call("sqrt", t.parts[0]) : raised(t.parts[0], "^½", R"(\frac{1}{2})");
      case TermType::dense_inverse:
        return call("dense_inv", t.parts[0]);
      case TermType::cross:
        return call("cross", t.parts[0]);
      case TermType::gather:
        return call("gather", t.parts[0], t.parts[1]);
      case TermType::spread:
        return call("spread", t.parts[0], t.parts[1]);
      case TermType::block:
        return {fmt::format("{}[{}{}]", held(t.parts[0], Binding::postfix), body(t.range.part),
                            t.domain.part.empty() ? "" : ", " + body(t.domain.part)),
                Binding::postfix};
    }
    return {};
  }

 private:
  /// In parentheses where it would otherwise fall apart.
  std::string held(const Operator& x, Binding least) const {
    const Printed printed = print(x);
    return printed.binding >= least ? printed.text : parenthesized(printed.text);
  }
  std::string parenthesized(const std::string& text) const {
    return style_ == Style::latex ? fmt::format(R"(\left( {} \right))", text) : fmt::format("({})", text);
  }
  /// The pair of a symbol's family, where it is not the standard one.
  std::string family(const Term& t) const {
    return t.parts.empty() ? "" : fmt::format("_{{{}, {}}}", print(t.parts[0]).text, print(t.parts[1]).text);
  }
  Printed call(std::string_view name, const std::string& arguments) const {
    return {style_ == Style::latex ? fmt::format(R"(\operatorname{{{}}}{})", name, parenthesized(arguments))
                                   : fmt::format("{}({})", name, arguments)};
  }
  Printed call(std::string_view name, const Operator& x) const { return call(name, print(x).text); }
  Printed call(std::string_view name, const Operator& x, const Operator& y) const {
    return call(name, fmt::format("{}, {}", print(x).text, print(y).text));
  }
  Printed raised(const Operator& x, std::string_view mark, std::string_view power) const {
    if (style_ == Style::unicode) {
      return {held(x, Binding::postfix) + std::string(mark), Binding::postfix};
    }
    return {fmt::format("{}^{{{}}}", held(x, Binding::atom), power), Binding::postfix};
  }
  std::string sum(const Term& t) const {
    std::string out;
    for (const Operator& part : t.parts) {
      const Term& p = part.term();
      const bool negative = (p.type == TermType::scale || p.type == TermType::number) && p.number < 0;
      if (!out.empty()) {
        out += negative ? " - " : " + ";
        out += negative ? held(-part, Binding::product) : held(part, Binding::product);
      } else {
        out += p.type == TermType::sum ? parenthesized(print(part).text) : print(part).text;
      }
    }
    return out;
  }
  std::string product(const Term& t) const {
    std::string out;
    for (const Operator& part : t.parts) {
      if (!out.empty()) {
        out += style_ == Style::ascii ? "*" : " ";
      }
      out += held(part, Binding::prefix);
    }
    return out;
  }
  std::string scale(const Term& t) const {
    const Operator& x = t.parts[0];
    if (t.number == -1) {
      return "-" + held(x, Binding::product);
    }
    // two numbers side by side would be one
    return fmt::format("{}{}{}", t.number, style_ == Style::ascii ? "*" : " ", held(x, Binding::product));
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

}  // namespace bunraku
