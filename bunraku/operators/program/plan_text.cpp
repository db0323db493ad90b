// A loop of a plan as recursions, written as the papers write theirs.

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
  Writer(const Plan& plan, bool nested)
      : plan_(plan), bar_H_(nested ? "H̄" : "H"), within_(nested ? "φ_b" : ""), uses_(plan.values.size()) {
    for (const Value& value : plan.values) {
      for (const int in : value.in) {
        if (in != no_value && value.owner == no_value) {
          ++uses_[at(in)];
        }
      }
    }
    name_families();
    name_all();
  }

  std::string write(const Loop& loop) {
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

  /// Of several families the second on have a number at their letters.
  void name_families() {
    int count = 0;
    marks_.resize(plan_.values.size());
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      if (plan_.values[i].step == Step::riccati && count++ > 0) {
        marks_[i] = subscript(count);
      }
    }
  }
  std::string family_mark(const Value& v) const {
    return v.uses.empty() || v.uses.back() == no_value ? "" : marks_[at(v.uses.back())];
  }

  /// A symbol that names a vector, or nothing.
  static bool is_named_vector(const Value& v) {
    return v.what.term().type == TermType::symbol && v.what.domain().kind == SpaceKind::number &&
           (v.step == Step::propagate || v.step == Step::combine || v.step == Step::bias ||
            v.step == Step::gyroscopic || v.step == Step::node_bias || v.step == Step::gravity);
  }

  static std::string letter_of(const Value& v) {
    if (is_named_vector(v)) {
      return to_unicode(v.what);
    }
    switch (v.step) {
      case Step::input:
        return "x";
      case Step::filter:
        return "z";
      case Step::innovation:
        return "ε";
      case Step::smoother:
        return "λ";
      case Step::residual:
        return "ν";
      default:
        return v.space.kind == SpaceKind::hinge     ? "u"
               : v.space.kind == SpaceKind::body    ? "w"
               : v.space.kind == SpaceKind::node    ? "g"
               : v.space.kind == SpaceKind::closure ? "r"
                                                    : "c";
    }
  }

  /// Whether a value is a vector that lines name.
  static bool is_vector(const Value& v) {
    switch (v.step) {
      case Step::joints:
      case Step::riccati:
      case Step::blocks:
      case Step::block_inverse:
      case Step::block_root:
      case Step::block_lyapunov:
      case Step::joint_rate:
      case Step::gather:
      case Step::spread:
      case Step::carry:
      case Step::dense_inverse:
      case Step::dense_root:
      case Step::closures:
      case Step::columns:
      case Step::norms:
      case Step::solve:
        return false;
      default:
        return v.owner == no_value;
    }
  }

  void name_all() {
    std::map<std::string, int> counts;
    std::vector<std::string> letters(plan_.values.size());
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      const Value& v = value(i);
      letters[at(i)] = i == plan_.output && v.step != Step::input ? "y" : letter_of(v);
      if (is_vector(v) && !is_inline(i)) {
        ++counts[letters[at(i)]];
      }
    }
    std::map<std::string, int> given;
    names_.resize(plan_.values.size());
    for (std::size_t i = 0; i < letters.size(); ++i) {
      names_[i] = letters[i];
      if (counts[letters[i]] > 1 && is_vector(plan_.values[i]) && !is_inline(static_cast<int>(i))) {
        names_[i] += subscript(++given[letters[i]]);
      }
    }
  }

  /// Whether a value is written where it is used instead of on a line of its own.
  bool is_inline(int i) const {
    const Value& v = value(i);
    if (v.step == Step::given || v.step == Step::passive || v.step == Step::constants || v.step == Step::one) {
      return true;
    }
    if (i == plan_.output || uses_[at(i)] != 1 || direction_of(v) != Direction::local || is_late(v) ||
        v.step == Step::input || v.step == Step::innovation || v.step == Step::residual || v.step == Step::inject ||
        v.step == Step::gyroscopic || v.step == Step::node_bias || is_named_vector(v)) {
      return false;
    }
    for (std::size_t u = 0; u < plan_.values.size(); ++u) {
      const std::vector<int>& in = plan_.values[u].in;
      if (std::find(in.begin(), in.end(), i) != in.end()) {
        return in_one_loop(i, static_cast<int>(u)) && plan_.values[u].step != Step::dot;
      }
    }
    return false;
  }

  /// Whether the loops make both together, whichever loops are run.
  bool in_one_loop(int i, int j) const {
    if (value(i).of_state != value(j).of_state) {
      return false;
    }
    for (const std::vector<Loop>* loops : {&plan_.of_state, &plan_.of_vector}) {
      for (const Loop& loop : *loops) {
        const auto holds = [&](int v) {
          return std::find(loop.values.begin(), loop.values.end(), v) != loop.values.end();
        };
        if (holds(i) != holds(j)) {
          return false;
        }
      }
    }
    return true;
  }

  /// Name(k), or the part's name alone.
  std::string named(int i, std::string_view k = "k") const {
    const Space& space = value(i).space;
    if (space.kind == SpaceKind::number || space.kind == SpaceKind::closure || !space.part.empty()) {
      return names_[at(i)];
    }
    return fmt::format("{}({})", names_[at(i)], space.kind == SpaceKind::node ? "nodes at " + std::string(k) : k);
  }

  /// The block that a step applies.
  std::string symbol(const Value& v, std::string_view k = "k") const {
    std::string name;
    switch (v.part) {
      case Part::P:
        name = "P" + family_mark(v);
        break;
      case Part::D:
        name = "D" + family_mark(v);
        break;
      case Part::inverse_D:
        name = "D" + family_mark(v) + "⁻¹";
        break;
      case Part::G:
        name = "G" + family_mark(v);
        break;
      default:
        name = bracketed(v.what);
    }
    return fmt::format("{}{}({})", name, v.adjoint ? "*" : "", k);
  }
  static std::string bracketed(const Operator& what) {
    const std::string name = to_unicode(what);
    const bool plain = what.term().type == TermType::symbol || what.term().type == TermType::variable;
    return plain || name.find(' ') == std::string::npos ? name : fmt::format("[{}]", name);
  }

  /// A vector as a whole.
  std::string whole(int i) const {
    const Step step = value(i).step;
    const bool given = step == Step::given || step == Step::passive || step == Step::constants;
    return given ? to_unicode(value(i).what) : names_[at(i)];
  }

  /// A value where it is used: its name, or what it is made of.
  std::string use(int i, bool in_product = false) const {
    if (is_inline(i) && value(i).step == Step::constants && value(i).space.kind == SpaceKind::closure) {
      return to_unicode(value(i).what);
    }
    if (!is_inline(i)) {
      return named(i);
    }
    const Value& v = value(i);
    switch (v.step) {
      case Step::given:
      case Step::passive:
      case Step::constants:
        return fmt::format("{}(k)", to_unicode(v.what));
      case Step::one:
        return "1";
      case Step::apply:
        return fmt::format("{} {}", symbol(v), use(v.in[0], true));
      case Step::combine: {
        const std::string sum = combination(v);
        return in_product && (v.in.size() > 1 || (v.in.size() == 1 && v.coefficients[0] < 0)) ? fmt::format("[{}]", sum)
                                                                                              : sum;
      }
      case Step::apply_force_cross:
        return fmt::format("{} ×* {}", use(v.in[0], true), use(v.in[1], true));
      case Step::apply_cross:
        return fmt::format("{} ×{} {}", use(v.in[1], true), v.adjoint ? "*" : "", use(v.in[0], true));
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

  /// φ_b before what it is applied to, where bodies of a cluster hang on one another.
  std::string within(std::string_view k = "k", std::string_view adjoint = "") const {
    return within_.empty() ? "" : fmt::format("{}{}({}) ", within_, adjoint, k);
  }

  std::vector<std::string> riccati_lines(int i) const {
    const Value& v = value(i);
    const std::string& m = marks_[at(i)];
    const std::string X = v.uses[1] == no_value ? "M" : bracketed(value(v.uses[1]).what);
    const std::string A = v.part == Part::armature ? " + 𝒜(k)"
                          : v.part == Part::blocks ? fmt::format(" + {}(k)", bracketed(value(v.uses[2]).what))
                                                   : "";
    return {fmt::format("P{0}(k) = {1}(k) + Σ φ(k,c) P{0}⁺(c) φ*(k,c)", m, X),
            fmt::format("D{0}(k) = {2}(k) P{0}(k) {2}*(k){1}", m, A, bar_H_),
            fmt::format("G{0}(k) = P{0}(k) {1}*(k) D{0}⁻¹(k)", m, bar_H_),
            within_.empty()
                ? fmt::format("P{0}⁺(k) = P{0}(k) − G{0}(k) D{0}(k) G{0}*(k)", m)
                : fmt::format("P{0}⁺(k) = {1}[P{0}(k) − G{0}(k) D{0}(k) G{0}*(k)] {2}", m, within(), within_ + "*(k)")};
  }

  /// Lines of what makes blocks or matrices.
  std::vector<std::string> block_lines(int i) const {
    const Value& v = value(i);
    switch (v.step) {
      case Step::joints:
        return {"φ(p,k), H(k) of q(k)"};
      case Step::riccati:
        return riccati_lines(i);
      case Step::gather:
      case Step::spread: {
        const std::string name = v.what.term().type == TermType::symbol ? to_unicode(v.what) : "Y" + subscript(i);
        const std::string_view E = v.part == Part::S ? "" : v.part == Part::E_phi ? "φ" : "ψ";
        const std::string own = bracketed(value(v.uses[1]).what);
        if (v.step == Step::gather) {
          return {E.empty() ? fmt::format("{0}(k) = {1}(k) + Σ {0}(c)", name, own)
                            : fmt::format("{0}(k) = {1}(k) + Σ {2}(k,c) {0}(c) {2}*(k,c)", name, own, E)};
        }
        return {E.empty() ? fmt::format("{0}(k) = {1}(k) + {0}(p)", name, own)
                          : fmt::format("{0}(k) = {1}(k) + {2}*(p,k) {0}(p) {2}(p,k)", name, own, E)};
      }
      case Step::carry: {
        const std::string_view E = v.part == Part::S ? "" : v.part == Part::E_phi ? "φ" : "ψ";
        const std::string own = bracketed(value(v.uses[1]).what);
        return {E.empty() ? fmt::format("{}(k) = {}(p)", "Y" + subscript(i), own)
                          : fmt::format("{0}(k) = {2}*(p,k) {1}(p) {2}(p,k)", "Y" + subscript(i), own, E)};
      }
      case Step::joint_rate: {
        std::string along;
        for (const int each : v.in) {
          along += (along.empty() ? "" : ", ") + use(each);
        }
        return {fmt::format("{}(k), the derivative of H(k) along {}", to_unicode(v.what), along)};
      }
      case Step::block_inverse:
      case Step::block_root:
      case Step::block_lyapunov:
        return {fmt::format("{}(k), block by block", bracketed(v.what))};
      case Step::dense_inverse:
      case Step::dense_root:
        return {fmt::format("{}, by a dense matrix", bracketed(v.what))};
      case Step::closures:
        return {"A, A_h of the poses of the closures' nodes"};
      case Step::columns:
        return {fmt::format("e = {}, a column for each of the m equations of the closures", to_unicode(v.what))};
      case Step::solve:
        return {v.in.empty() ? fmt::format("{} = (𝔟* 𝔟)⁻¹, 𝔟 = D{}^(−½) e: a solve of closure size m",
                                           bracketed(v.what), marks_[at(v.uses[0])])
                             : fmt::format("{}: a solve of closure size m", bracketed(v.what))};
      default:
        return {};
    }
  }

  std::vector<std::string> lines(int i) const {
    const Value& v = value(i);
    if (!is_vector(v)) {
      return block_lines(i);
    }
    if (is_inline(i) && i != plan_.output) {
      return {};
    }
    const std::string own = named(i);
    const std::string m = family_mark(v);
    switch (v.step) {
      case Step::filter: {
        const std::string rest = rest_name(i, "ε");
        const std::string sum = fmt::format("Σ φ(k,c) {}⁺(c){}", names_[at(i)], plus(v.in[1]));
        const bool inner = !within_.empty() && v.in[1] != no_value;
        return {fmt::format("{} = {}{}", own, within(), inner ? fmt::format("[{}]", sum) : sum),
                fmt::format("{}(k) = {}− H(k) {}", rest, v.in[0] == no_value ? "" : use(v.in[0]) + " ", own),
                fmt::format("{}⁺(k) = {} + {}G{}(k) {}(k)", names_[at(i)], own, within(), m, rest)};
      }
      case Step::smoother: {
        const std::string rest = rest_name(i, "ν");
        const bool inner = !within_.empty() && v.in[1] != no_value;
        return {fmt::format("{}⁺(k) = {}φ*(p,k) {}(p)", names_[at(i)], within("k", "*"), names_[at(i)]),
                fmt::format("{}(k) = {}− G{}*(k) {}⁺(k)", rest,
                            v.in[0] == no_value         ? ""
                            : v.part == Part::inverse_D ? fmt::format("D{}⁻¹(k) {} ", m, use(v.in[0], true))
                                                        : use(v.in[0]) + " ",
                            m, names_[at(i)]),
                fmt::format("{} = {}⁺(k) + {}*(k) {}(k){}", own, names_[at(i)], bar_H_, rest,
                            inner ? fmt::format(" + {}{}", within("k", "*"), use(v.in[1], true)) : plus(v.in[1]))};
      }
      case Step::propagate:
        return {v.adjoint ? fmt::format("{} = φ*(p,k) {} + {}", own, named(i, "p"), use(v.in[0]))
                          : fmt::format("{} = Σ φ(k,c) {} + {}", own, named(i, "c"), use(v.in[0]))};
      case Step::bias:
        return {fmt::format("(ω_r, v_r) = H*(k) {}", use(v.in[1])),
                fmt::format("{} = (ω(p) × ω_r, ω(p) × [ω(p) × l(p,k) + 2 v_r] + ω_r × v_r) + Ḣ*(k) {}, ω(p) of {}, "
                            "and −g where k hangs on the world",
                            own, use(v.in[1]), named(v.in[0], "p"))};
      case Step::gravity:
        return {fmt::format("{} = −g where k hangs on the world, else 0", own)};
      case Step::gyroscopic:
        return {fmt::format("{} = (ω(k) × 𝒥(k) ω(k), ω(k) × [ω(k) × m(k) p(k)]), ω(k) of {}", own, use(v.in[0]))};
      case Step::node_bias:
        return {fmt::format("{} = (0, ω(k) × [ω(k) × l]) at node l, ω(k) of {}, and −g at nodes on the world", own,
                            named(v.in[0]))};
      case Step::rates:
        return {
            fmt::format("{} = what the closures ask of their nodes' accelerations, of {}", own, names_[at(v.in[0])])};
      case Step::shift: {
        const std::string_view up = v.part == Part::S ? "" : "φ(k,c) ";
        const std::string_view down = v.part == Part::S ? "" : "φ*(p,k) ";
        const bool gain = v.part == Part::K;
        const auto of = [&](std::string_view k) {
          std::string text = use(v.in[0], true);
          for (std::size_t from = 0; (from = text.find("(k)", from)) != std::string::npos;) {
            text.replace(from, 3, fmt::format("({})", k));
          }
          return text;
        };
        return {v.adjoint ? fmt::format("{} = {}{}{}", own, gain ? fmt::format("G{}*(k) {}", m, within("k", "*")) : "",
                                        down, of("p"))
                          : fmt::format("{} = Σ {}{}{}", own, up, gain ? fmt::format("{}G{}(c) ", within("c"), m) : "",
                                        of("c"))};
      }
      case Step::innovation:
      case Step::residual:  // written with its sweep
        return {};
      case Step::dot:
        return {fmt::format("{} = Σ {}* {}", own, use(v.in[0], true), use(v.in[1], true))};
      case Step::inject:
        return {fmt::format("{} = {} for k = {}, else 0", own, use(v.in[0]), v.domain.part)};
      case Step::extract:
        return {fmt::format("{} = {}", own, named(v.in[0], v.space.part))};
      case Step::apply_dense:
        return {fmt::format("{} = {} {}", names_[at(i)], bracketed(v.what), whole(v.in[0]))};
      case Step::combine:
        return {fmt::format("{} = {}", own, combination(v))};
      case Step::apply:
        if (direction_of(v) == Direction::whole) {
          return {fmt::format("{} = {}{} {}", names_[at(i)], bracketed(v.what), v.adjoint ? "*" : "", whole(v.in[0]))};
        }
        return {fmt::format("{} = {} {}", own, symbol(v), use(v.in[0], true))};
      case Step::apply_force_cross:
        return {fmt::format("{} = {} ×* {}", own, use(v.in[0], true), use(v.in[1], true))};
      case Step::apply_cross:
        return {fmt::format("{} = {} ×{} {}", own, use(v.in[1], true), v.adjoint ? "*" : "", use(v.in[0], true))};
      case Step::scale_by:
        return {fmt::format("{} = {} {}", own, use(v.in[1], true), use(v.in[0], true))};
      case Step::given:
      case Step::passive:
      case Step::constants:
        return {fmt::format("{} = {}(k)", own, to_unicode(v.what))};
      default:
        return {};
    }
  }

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
  std::string bar_H_;   // H̄ or H
  std::string within_;  // φ_b or nothing
  std::vector<int> uses_;
  std::vector<std::string> names_;
  std::vector<std::string> marks_;
};

}  // namespace

std::string recursion(const Plan& plan, const Loop& loop, bool nested) {
  return Writer(plan, nested).write(loop);
}

}  // namespace bunraku::operators
