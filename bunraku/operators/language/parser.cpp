#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "bunraku/operators/language/text.hpp"

namespace bunraku {

namespace {

/// Longer texts are refused: nobody writes them, and every step of an expression costs memory.
constexpr std::size_t max_length = 10'000;
/// Deeper parentheses are refused: they are read by recursion.
constexpr int max_nesting = 100;

enum class Function {
  inverse,
  dense_inverse,
  root,
  cross,
  force_cross,
  dt,
  unit,
  gather,
  spread,
  carry,
  lyap,
  diff,
  map_rate
};

struct FunctionName {
  std::string_view name;
  Function function;
  std::string_view call = "inv(x)";  // as messages show it
};
constexpr std::array functions{FunctionName{"inv", Function::inverse},
                               FunctionName{"sqrt", Function::root},
                               FunctionName{"dense_inv", Function::dense_inverse},
                               FunctionName{"cross", Function::cross},
                               FunctionName{"unit", Function::unit},
                               FunctionName{"gather", Function::gather, "gather(E_phi, x)"},
                               FunctionName{"spread", Function::spread, "spread(E_phi, x)"},
                               FunctionName{"carry", Function::carry, "carry(E_phi, x)"},
                               FunctionName{"Q", Function::force_cross},
                               FunctionName{"dH", Function::map_rate},
                               FunctionName{"lyap", Function::lyap, "lyap(sqrt(D), x)"},
                               FunctionName{"diff", Function::diff, "diff(x, 0), diff(x, thetad)"},
                               FunctionName{"dt", Function::dt}};

constexpr std::string_view identity_name = "I";
/// Between a symbol and the pair of its family.
constexpr std::string_view family_mark = "_{";

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A power after `^`, in its spellings. The spelling may stand in (…) or {…}.
enum class Power { adjoint, inverse, root, inverse_root };
struct PowerName {
  std::string_view text;
  Power power;
};
constexpr std::array powers{PowerName{"-1/2", Power::inverse_root},
                            PowerName{"-½", Power::inverse_root},
                            PowerName{"-\\frac{1}{2}", Power::inverse_root},
                            PowerName{"1/2", Power::root},
                            PowerName{"½", Power::root},
                            PowerName{"\\frac{1}{2}", Power::root},
                            PowerName{"-1", Power::inverse},
                            PowerName{"*", Power::adjoint},
                            PowerName{"∗", Power::adjoint},
                            PowerName{"\\ast", Power::adjoint},
                            PowerName{"\\top", Power::adjoint}};
constexpr std::array<std::string_view, 4> adjoint_marks{"∗", "†", "ᵀ", "\\ast"};
constexpr std::array<std::string_view, 4> times_marks{"*", "·", "\\cdot", "×"};

class Parser {
 public:
  Parser(std::string_view text, const Variables& variables) : text_(text), variables_(variables) {}

  /// A symbol or an inverted part, as to_ascii writes it, and where it stands.
  struct Mark {
    std::string what;
    std::size_t start;
    std::size_t length;
  };
  const std::vector<Mark>& marks() const { return marks_; }

  Operator parse() {
    if (text_.size() > max_length) {
      throw OperatorError(fmt::format("the expression is longer than {} bytes", max_length));
    }
    if (const std::size_t bad = detail::first_not_utf8(text_); bad < text_.size()) {
      fail("this is not UTF-8", "", bad, 1);
    }
    skip_space();
    if (at_end()) {
      throw OperatorError("there is no expression", "for example H*phi*M*~phi*~H");
    }
    Operator x = sum();
    if (!at_end()) {
      unexpected();
    }
    return x;
  }

 private:
  // -------------------------------------------------------------------------------------------------------------------
  // Characters

  [[noreturn]] void fail(const std::string& problem, const std::string& cure, std::size_t start,
                         std::size_t length) const {
    throw OperatorError(problem, cure, std::string(text_), start, length);
  }
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  void skip_space() {
    while (!at_end()) {
      if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r') {
        ++at_;
      } else if (rest().starts_with("\\,") || rest().starts_with("\\;") || rest().starts_with("\\ ")) {
        at_ += 2;
      } else {
        return;
      }
    }
  }
  /// Whether `name` stands at offset `from` and ends there: not in the middle of a longer word.
  bool stands_at(std::string_view name, std::size_t from) const {
    if (!text_.substr(std::min(from, text_.size())).starts_with(name)) {
      return false;
    }
    const std::size_t end = from + name.size();
    if (end >= text_.size()) {
      return true;
    }
    const char next = text_[end];
    if (text_.substr(end).starts_with(family_mark)) {
      return true;
    }
    if (name.starts_with('\\') && is_word(name.back())) {
      return !is_word(next) || is_digit(next) || next == '_';
    }
    return !is_word(name.back()) || !is_word(next);
  }
  bool take(std::string_view token) {
    if (!stands_at(token, at_)) {
      return false;
    }
    at_ += token.size();
    skip_space();
    return true;
  }
  /// Length of the character at offset `from`.
  std::size_t character(std::size_t from) const {
    std::size_t length = 1;
    while (from + length < text_.size() && (static_cast<unsigned char>(text_[from + length]) & 0xC0U) == 0x80U) {
      ++length;
    }
    return length;
  }
  /// Where the last token ended, before the space after it.
  std::size_t end_of_last() const {
    std::size_t end = at_;
    while (end > 0 && (text_[end - 1] == ' ' || text_[end - 1] == '\t' || text_[end - 1] == '\n')) {
      --end;
    }
    return end;
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Sums, products, factors

  /// Combines what was read; where it does not fit, points at [start, here).
  template <class Make>
  Operator fitted(std::size_t start, Make make) const {
    try {
      return make();
    } catch (const OperatorError& error) {
      if (error.has_place()) {
        throw;
      }
      const std::size_t end = end_of_last();
      fail(error.problem(), error.cure(), start, end > start ? end - start : 1);
    }
  }

  Operator sum() {
    if (++nesting_ > max_nesting) {
      fail(fmt::format("parentheses are nested more than {} deep", max_nesting), "", at_, 1);
    }
    bool negative = sign();
    std::size_t start = at_;
    Operator x = product();
    if (negative) {
      x = -x;
    }
    while (!at_end()) {
      if (take("+") || rest().starts_with('-') || rest().starts_with("−")) {
        negative = sign();
        start = at_;
        const Operator y = product();
        x = fitted(start, [&] { return negative ? x - y : x + y; });
      } else {
        break;
      }
    }
    --nesting_;
    return x;
  }

  /// Reads any signs; whether they come to a minus.
  bool sign() {
    bool negative = false;
    while (true) {
      if (take("-") || take("−")) {
        negative = !negative;
      } else if (!take("+")) {
        return negative;
      }
    }
  }

  Operator product() {
    Operator x = factor();
    while (!at_end()) {
      const bool times = std::any_of(times_marks.begin(), times_marks.end(), [&](auto mark) { return take(mark); });
      if (!times && !starts_factor()) {
        break;
      }
      const std::size_t start = at_;
      const Operator y = factor();
      x = fitted(start, [&] { return x * y; });
    }
    return x;
  }

  bool starts_factor() const {
    static constexpr std::array<std::string_view, 9> enders{"+", "-", "−", ")", "]", "}", ",", "\\right", "="};
    return std::none_of(enders.begin(), enders.end(), [&](auto end) { return rest().starts_with(end); });
  }

  Operator factor() {
    int adjoints = 0;
    bool negative = false;
    while (!at_end()) {
      if (take("~")) {
        ++adjoints;
      } else if (take("-") || take("−")) {
        negative = !negative;
      } else {
        break;
      }
    }
    Operator x = postfix();
    if (adjoints % 2 == 1) {
      x = ~x;
    }
    return negative ? -x : x;
  }

  Operator postfix() {
    const std::size_t start = at_;
    Operator x = primary();
    while (!at_end()) {
      if (std::any_of(adjoint_marks.begin(), adjoint_marks.end(), [&](auto mark) { return take(mark); })) {
        x = ~x;
      } else if (take("⁻¹")) {
        mark_inverse(x, start);
        x = fitted(start, [&] { return inv(x); });
      } else if (take("^")) {
        const Power p = power();
        if (p == Power::inverse) {
          mark_inverse(x, start);
        }
        x = fitted(start, [&] {
          return p == Power::adjoint ? ~x : p == Power::inverse ? inv(x) : p == Power::root ? sqrt(x) : inv(sqrt(x));
        });
      } else if (take("[")) {
        x = blocks(x, start);
      } else {
        break;
      }
    }
    return x;
  }

  Power power() {
    const std::size_t start = at_;
    const bool brace = take("{");
    const bool parenthesis = !brace && take("(");
    for (const PowerName& each : powers) {
      if (rest().starts_with(each.text)) {
        at_ += each.text.size();
        skip_space();
        if ((brace && !take("}")) || (parenthesis && !take(")"))) {
          break;
        }
        return each.power;
      }
    }
    fail("this power is not known", "powers are ^*, ^-1, ^(1/2) and ^(-1/2)", start, at_end() ? 0 : 1);
  }

  Operator blocks(const Operator& x, std::size_t start) {
    const std::string i = body();
    if (take(",")) {
      const std::string j = body();
      close("]");
      return fitted(start, [&] { return x.block(i, j); });
    }
    close("]");
    return fitted(start, [&] { return x.block(i); });
  }

  /// A body's name or number up to `,` or `]`; in quotation marks it may hold those.
  std::string body() {
    std::string name;
    const std::size_t start = at_;
    if (rest().starts_with('"')) {
      ++at_;  // spaces after it belong to the name
      while (!at_end() && text_[at_] != '"') {
        at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 1U : 0U;
        name += text_[at_++];
      }
      close("\"");
    } else {
      while (!at_end() && text_[at_] != ',' && text_[at_] != ']') {
        name += text_[at_++];
      }
      name.erase(name.find_last_not_of(" \t\n\r") + 1);
    }
    if (name.empty()) {
      fail("a body's name or number is missing here", "blocks are chosen as phi[3, 5] or V[link_2]", start, 1);
    }
    return name;
  }

  void close(std::string_view token) {
    if (!take(token)) {
      fail(fmt::format("'{}' is missing here", token), "", at_, 1);
    }
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Names, numbers, parentheses

  Operator primary() {
    if (at_end()) {
      fail("the expression ends where a factor should follow", "", end_of_last(), 1);
    }
    if (is_digit(text_[at_]) || text_[at_] == '.') {
      return {number()};
    }
    for (const auto& [open, shut] : {std::pair{"\\left(", "\\right)"}, std::pair{"(", ")"}, std::pair{"{", "}"}}) {
      if (rest().starts_with(open)) {
        at_ += std::string_view(open).size();
        skip_space();
        Operator x = sum();
        close(shut);
        return x;
      }
    }
    return named();
  }

  double number() {
    double value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc{}) {
      fail("this number is not one", "", at_, 1);
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    skip_space();
    return value;
  }

  Operator named() {
    std::size_t longest = 0;
    std::function<Operator()> found;
    const auto offer = [&](std::string_view name, auto make) {
      if (name.size() > longest && stands_at(name, at_)) {
        longest = name.size();
        found = make;
      }
    };
    const std::size_t start = at_;
    for (const Operator& each : variables_) {  // before symbols, some of which they may hide
      offer(each.term().name, [&each] { return each; });
    }
    for (const SymbolInfo& each : symbol_table()) {
      for (const std::string_view name : {each.ascii, each.unicode, each.latex}) {
        offer(name, [this, &each, start, length = name.size()] {
          marks_.push_back({std::string(each.ascii), start, length});
          return of_family(each.symbol, start);
        });
      }
    }
    offer(identity_name, [] { return Operator::identity(); });
    for (const FunctionName& each : functions) {
      offer(each.name, [this, start, f = each.function] { return call(f, start); });
      offer(fmt::format("\\operatorname{{{}}}", each.name),
            [this, start, f = each.function] { return call(f, start); });
    }
    if (longest == 0) {
      unexpected();
    }
    at_ += longest;
    skip_space();
    return found();
  }

  /// A symbol, with the pair of its family where that follows.
  Operator of_family(Symbol symbol, std::size_t start) {
    if (!has_family(symbol) || !take(family_mark)) {
      return {symbol};
    }
    const Operator X = sum();
    close(",");
    const Operator A = sum();
    close("}");
    return fitted(start, [&] { return Operator::of_family(symbol, X, A); });
  }

  void mark_inverse(const Operator& x, std::size_t start) {
    marks_.push_back({to_ascii(x), start, end_of_last() - start});
  }

  /// A velocity coordinate: it may be one that a model has not.
  void mark_unit(const Operator& index, std::size_t start) {
    if (index.term().type == TermType::number) {
      marks_.push_back({fmt::format("unit({})", index.term().number), start, end_of_last() - start});
    }
  }

  /// A function's value; its name stands at `start`.
  Operator call(Function function, std::size_t start) {
    const bool left = take("\\left(");
    if (!left && !take("(")) {
      fail("'(' is missing here", "a function takes its argument in parentheses: inv(x)", at_, 1);
    }
    if (function == Function::unit) {
      int i = 0;
      const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), i);
      if (status != std::errc{}) {
        fail("unit takes a velocity index", "for example unit(0)", at_, 1);
      }
      at_ = static_cast<std::size_t>(end - text_.data());
      skip_space();
      close(left ? "\\right)" : ")");
      mark_unit(Operator(static_cast<double>(i)), start);
      return fitted(start, [&] { return Operator::unit(i); });
    }
    const Operator x = sum();
    if (function == Function::map_rate) {
      std::vector<Operator> along{x};
      while (take(",")) {
        along.push_back(sum());
      }
      close(left ? "\\right)" : ")");
      return fitted(start, [&] { return dH(along); });
    }
    if (function >= Function::gather) {
      if (!take(",")) {
        const auto* const named = std::find_if(functions.begin(), functions.end(),
                                               [&](const FunctionName& each) { return each.function == function; });
        fail(fmt::format("{} takes two operands, and ',' is missing here", named->name),
             fmt::format("for example {}", named->call), at_, 1);
      }
      const std::size_t second = at_;
      const Operator y = sum();
      if (function == Function::diff) {
        mark_unit(y, second);
      }
      close(left ? "\\right)" : ")");
      return fitted(start, [&] {
        switch (function) {
          case Function::gather:
            return gather(x, y);
          case Function::spread:
            return spread(x, y);
          case Function::carry:
            return carry(x, y);
          case Function::lyap:
            return lyap(x, y);
          default:
            return diff(x, y);
        }
      });
    }
    close(left ? "\\right)" : ")");
    if (function == Function::inverse) {
      mark_inverse(x, start);
    }
    return fitted(start, [&] {
      switch (function) {
        case Function::inverse:
          return inv(x);
        case Function::dense_inverse:
          return dense_inv(x);
        case Function::root:
          return sqrt(x);
        case Function::force_cross:
          return Q(x);
        case Function::dt:
          return dt(x);
        default:
          return cross(x);
      }
    });
  }

  [[noreturn]] void unexpected() const {
    std::size_t length = 0;
    while (at_ + length < text_.size() && (is_word(text_[at_ + length]) || (length == 0 && text_[at_] == '\\'))) {
      ++length;
    }
    if (length == 0) {
      length = at_end() ? 0 : character(at_);
      const std::string_view found = text_.substr(at_, length);
      fail(found == ")"   ? "this parenthesis closes nothing"
           : found == "=" ? "an expression has no '='"
                          : fmt::format("'{}' is not expected here", detail::printable(found)),
           found == "=" ? "`bunraku verify LHS RHS` compares two" : "", at_, length);
    }
    const std::string name(text_.substr(at_, length));
    std::vector<std::string> names = known_names();
    for (const Operator& each : variables_) {
      names.push_back(each.term().name);
    }
    const std::string near = detail::did_you_mean(name, names);
    fail(fmt::format("'{}' is not known{}", name, near), near.empty() ? "`bunraku op --symbols` lists the symbols" : "",
         at_, length);
  }

  std::string_view text_;
  const Variables& variables_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::vector<Mark> marks_;
};

}  // namespace

Operator parse(std::string_view text, const Variables& variables) {
  return Parser(text, variables).parse();
}

OperatorError pointed(const OperatorError& error, std::string_view text, const Variables& variables) {
  if (error.has_place() || error.culprit().empty()) {
    return error;
  }
  Parser parser(text, variables);
  static_cast<void>(parser.parse());
  for (const Parser::Mark& mark : parser.marks()) {
    if (mark.what == error.culprit()) {
      return {error.problem(), error.cure(), std::string(text), mark.start, mark.length};
    }
  }
  return error;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const SymbolInfo& each : symbol_table()) {
    names.emplace_back(each.ascii);
  }
  names.emplace_back(identity_name);
  for (const FunctionName& each : functions) {
    names.emplace_back(each.name);
  }
  return names;
}

bool is_free_name(std::string_view name) {
  if (name.empty() || is_digit(name.front()) || !std::all_of(name.begin(), name.end(), is_word)) {
    return false;
  }
  const std::vector<std::string> taken = known_names();
  return std::find(taken.begin(), taken.end(), name) == taken.end();
}

bool may_name_variable(std::string_view name) {
  const std::span<const SymbolInfo> all = symbol_table();
  return is_free_name(name) || std::any_of(all.begin(), all.end(), [&](const SymbolInfo& each) {
           return is_of_closures(each.symbol) && each.ascii == name;
         });
}

}  // namespace bunraku
