// A loop of a plan as a recursion, written as the papers write theirs.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

namespace {

std::string subscript(int n) {
  static constexpr std::array digits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string out;
  for (const char c : std::to_string(n)) {
    out += digits[static_cast<std::size_t>(c - '0')];
  }
  return out;
}

/// Writes values by name, or in line where they are used once and in the loop that makes them.
class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan), uses_(plan.values.size()), loop_of_(plan.values.size(), -1) {
    for (const Value& value : plan.values) {
      for (const int in : value.in) {
        if (in != no_value) {
          ++uses_[at(in)];
        }
      }
    }
    for (std::size_t l = 0; l < plan.loops.size(); ++l) {
      for (const int v : plan.loops[l].values) {
        loop_of_[at(v)] = static_cast<int>(l);
      }
    }
    name_all();
  }

  std::string write(const Loop& loop) {
    loop_ = static_cast<int>(&loop - plan_.loops.data());
    std::string out;
    for (const int v : loop.values) {
      for (const std::string& line : lines(v)) {
        out += line + "\n";
      }
    }
    if (!out.empty()) {
      out.pop_back();
    }
    return out;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const Value& value(int i) const { return plan_.values[at(i)]; }

  void name_all() {
    std::map<std::string, int> counts;
    std::vector<std::string> letters(plan_.values.size());
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      const Value& v = value(i);
      std::string letter;
      switch (v.step) {
        case Step::input:
          letter = "x";
          break;
        case Step::filter:
          letter = "z";
          break;
        case Step::innovation:
          letter = "ε";
          break;
        case Step::smoother:
          letter = "λ";
          break;
        case Step::residual:
          letter = "ν";
          break;
        default:
          letter = v.space.kind == SpaceKind::hinge  ? "u"
                   : v.space.kind == SpaceKind::body ? "w"
                   : v.space.kind == SpaceKind::node ? "g"
                                                     : "c";
          break;
      }
      if (i == plan_.output && v.step != Step::input) {
        letter = "y";
      }
      letters[at(i)] = letter;
      if (!is_inline(i)) {
        ++counts[letter];
      }
    }
    std::map<std::string, int> given;
    names_.resize(plan_.values.size());
    for (std::size_t i = 0; i < letters.size(); ++i) {
      names_[i] = letters[i];
      if (counts[letters[i]] > 1 && !is_inline(static_cast<int>(i))) {
        names_[i] += subscript(++given[letters[i]]);
      }
    }
  }

  /// Whether a value is written where it is used instead of on a line of its own.
  bool is_inline(int i) const {
    const Value& v = value(i);
    if (v.step == Step::vector || v.step == Step::one) {
      return true;
    }
    if (i == plan_.output || uses_[at(i)] != 1 || direction_of(v) != Direction::local || is_late(v) ||
        v.step == Step::input || v.step == Step::innovation || v.step == Step::residual || v.step == Step::inject) {
      return false;
    }
    for (std::size_t u = 0; u < plan_.values.size(); ++u) {
      const std::vector<int>& in = plan_.values[u].in;
      if (std::find(in.begin(), in.end(), i) != in.end()) {
        return loop_of_[u] == loop_of_[at(i)] && plan_.values[u].step != Step::dot;
      }
    }
    return false;
  }

  /// Name(k), or the part's name alone.
  std::string named(int i, std::string_view k = "k") const {
    const Space& space = value(i).space;
    if (space.kind == SpaceKind::number || !space.part.empty()) {
      return names_[at(i)];
    }
    return fmt::format("{}({})", names_[at(i)], space.kind == SpaceKind::node ? "nodes at " + std::string(k) : k);
  }

  std::string symbol(const Factor& factor, std::string_view k = "k") const {
    const std::string name = to_unicode(factor.what);
    const bool plain = factor.what.term().type == TermType::symbol || factor.what.term().type == TermType::variable;
    std::string out = plain || name.find(' ') == std::string::npos ? name : fmt::format("[{}]", name);
    return fmt::format("{}{}({})", out, factor.adjoint ? "*" : "", k);
  }

  /// A value where it is used: its name, or what it is made of.
  std::string use(int i, bool in_product = false) const {
    if (!is_inline(i)) {
      return named(i);
    }
    const Value& v = value(i);
    switch (v.step) {
      case Step::vector:
        return fmt::format("{}(k)", to_unicode(v.factor.what));
      case Step::one:
        return "1";
      case Step::apply:
      case Step::apply_solved:
        return fmt::format("{} {}", symbol(v.factor), use(v.in[0], true));
      case Step::combine: {
        const std::string sum = combination(v);
        return in_product && (v.in.size() > 1 || (v.in.size() == 1 && v.coefficients[0] < 0)) ? fmt::format("[{}]", sum)
                                                                                              : sum;
      }
      case Step::apply_cross:
        return fmt::format("{} ×{} {}", use(v.in[1], true), v.factor.adjoint ? "*" : "", use(v.in[0], true));
      case Step::scale_by:
        return fmt::format("{} {}", use(v.in[1], true), use(v.in[0], true));
      default:
        return named(i);
    }
  }

  std::string combination(const Value& v) const {
    if (v.in.empty()) {
      return "0";
    }
    std::string out;
    for (std::size_t i = 0; i < v.in.size(); ++i) {
      const double c = v.coefficients[i];
      out += out.empty() ? (c < 0 ? "−" : "") : (c < 0 ? " − " : " + ");
      const double size = std::abs(c);
      out += size == 1 ? use(v.in[i], v.in.size() > 1 || c < 0) : fmt::format("{} {}", size, use(v.in[i], true));
    }
    return out;
  }

  std::string plus(int i) const { return i == no_value ? "" : " + " + use(i); }

  std::vector<std::string> lines(int i) const {
    const Value& v = value(i);
    if (is_inline(i) && i != plan_.output) {
      return {};
    }
    const std::string own = named(i);
    switch (v.step) {
      case Step::filter: {
        const std::string rest = rest_name(i, "ε");
        return {fmt::format("{} = Σ φ(k,c) {}⁺(c){}", own, names_[at(i)], plus(v.in[1])),
                fmt::format("{}(k) = {}− H(k) {}", rest, v.in[0] == no_value ? "" : use(v.in[0]) + " ", own),
                fmt::format("{}⁺(k) = {} + G(k) {}(k)", names_[at(i)], own, rest)};
      }
      case Step::smoother: {
        const std::string rest = rest_name(i, "ν");
        return {
            fmt::format("{}⁺(k) = φ*(p,k) {}(p)", names_[at(i)], names_[at(i)]),
            fmt::format("{}(k) = {}− G*(k) {}⁺(k)", rest, v.in[0] == no_value ? "" : use(v.in[0]) + " ", names_[at(i)]),
            fmt::format("{} = {}⁺(k) + H*(k) {}(k){}", own, names_[at(i)], rest, plus(v.in[1]))};
      }
      case Step::propagate:
        return {v.factor.adjoint ? fmt::format("{} = φ*(p,k) {} + {}", own, named(i, "p"), use(v.in[0]))
                                 : fmt::format("{} = Σ φ(k,c) {} + {}", own, named(i, "c"), use(v.in[0]))};
      case Step::shift: {
        const Symbol s = v.factor.what.term().symbol;
        const std::string_view up = s == Symbol::S ? "" : "φ(k,c) ";
        const std::string_view down = s == Symbol::S ? "" : "φ*(p,k) ";
        const std::string_view gain = s == Symbol::K ? "G" : "";
        const auto of = [&](std::string_view k) {
          std::string text = use(v.in[0], true);
          for (std::size_t from = 0; (from = text.find("(k)", from)) != std::string::npos;) {
            text.replace(from, 3, fmt::format("({})", k));
          }
          return text;
        };
        return {v.factor.adjoint ? fmt::format("{} = {}{}{}", own, gain.empty() ? "" : "G*(k) ", down, of("p"))
                                 : fmt::format("{} = Σ {}{}{}", own, up, gain.empty() ? "" : "G(c) ", of("c"))};
      }
      case Step::innovation:
      case Step::residual:  // written with its sweep
        return {};
      case Step::dot:
        return {fmt::format("{} = Σ {}* {}", own, named_or_inline(v.in[0]), named_or_inline(v.in[1]))};
      case Step::inject:
        return {fmt::format("{} = {} for k = {}, else 0", own, use(v.in[0]), value(v.in[0]).space.part)};
      case Step::extract:
        return {fmt::format("{} = {}", own, named(v.in[0], v.space.part))};
      case Step::apply_dense:
        return {fmt::format("{} = {} {}, by a dense matrix", names_[at(i)], to_unicode(v.factor.what),
                            names_[at(v.in[0])])};
      case Step::combine:
        return {fmt::format("{} = {}", own, combination(v))};
      case Step::apply:
      case Step::apply_solved:
        return {fmt::format("{} = {} {}", own, symbol(v.factor), use(v.in[0], true))};
      case Step::apply_cross:
        return {
            fmt::format("{} = {} ×{} {}", own, use(v.in[1], true), v.factor.adjoint ? "*" : "", use(v.in[0], true))};
      case Step::scale_by:
        return {fmt::format("{} = {} {}", own, use(v.in[1], true), use(v.in[0], true))};
      case Step::vector:
        return {fmt::format("{} = {}(k)", own, to_unicode(v.factor.what))};
      default:
        return {};
    }
  }

  std::string named_or_inline(int i) const { return use(i, true); }

  /// How the innovation or residual of a sweep is called.
  std::string rest_name(int sweep, const std::string& otherwise) const {
    for (std::size_t u = 0; u < plan_.values.size(); ++u) {
      const Value& v = plan_.values[u];
      if ((v.step == Step::innovation || v.step == Step::residual) && v.in[0] == sweep) {
        return names_[u];
      }
    }
    return otherwise;
  }

  const Plan& plan_;
  std::vector<int> uses_;
  std::vector<int> loop_of_;
  std::vector<std::string> names_;
  int loop_ = 0;
};

}  // namespace

std::string recursion(const Plan& plan, const Loop& loop) {
  return Writer(plan).write(loop);
}

std::vector<std::string_view> lines_of(std::string_view recursion) {
  std::vector<std::string_view> out;
  while (!recursion.empty()) {
    const std::size_t end = std::min(recursion.find('\n'), recursion.size());
    out.push_back(recursion.substr(0, end));
    recursion.remove_prefix(std::min(end + 1, recursion.size()));
  }
  return out;
}

}  // namespace bunraku::operators
