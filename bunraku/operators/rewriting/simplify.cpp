#include "bunraku/operators/rewriting/simplify.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/operators/language/detail/derivatives.hpp"
#include "bunraku/operators/language/detail/marks.hpp"
#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku {

namespace {

using operators::Engine;
using operators::Limit;
using operators::Polynomial;

/// A larger expression is no candidate as it is written: it is taken to be built by a program, with parts shared.
constexpr double most_written = 1'000;

/// Adds the outermost parts of x that are as asked, and what becomes of them.
template <class Is, class Become>
void collect(const Operator& x, const Is& is, const Become& become, std::vector<Change>& out) {
  if (!is(x)) {
    for (const Operator& part : x.term().parts) {
      collect(part, is, become, out);
    }
  } else if (std::none_of(out.begin(), out.end(), [&](const Change& each) { return each.before == x; })) {
    out.push_back({x, become(x)});
  }
}

/// Leaves out what has a rate of the joint map as a factor.
class ConstantMaps {
 public:
  /// What is left, or nothing.
  std::optional<Operator> of(const Operator& x) {
    const auto found = known_.find(&x.term());
    if (found != known_.end()) {
      return found->second;
    }
    std::optional<Operator> out = of_new(x);
    known_.emplace(&x.term(), out);
    return out;
  }

 private:
  std::optional<Operator> of_new(const Operator& x) {
    const Term& t = x.term();
    std::vector<std::optional<Operator>> parts;
    std::vector<Operator> left;
    for (const Operator& each : t.parts) {
      parts.push_back(of(each));
      if (parts.back()) {
        left.push_back(*parts.back());
      }
    }
    const bool all_left = left.size() == parts.size();
    switch (t.type) {
      case TermType::joint_rate:
        return std::nullopt;
      case TermType::sum:
        return left.empty() ? std::nullopt : std::optional(sum_of(left));
      case TermType::product:
      case TermType::adjoint:
      case TermType::scale:
      case TermType::cross:
      case TermType::force_cross:
      case TermType::block:
      case TermType::gather:
      case TermType::spread:
      case TermType::carry:
      case TermType::lyapunov:
        if (!all_left) {
          return std::nullopt;
        }
        break;
      default:
        break;
    }
    std::size_t i = 0;
    return operators::with_parts(x, [&](const Operator& part) { return parts[i++].value_or(Operator(0.0) * part); });
  }

  std::unordered_map<const Term*, std::optional<Operator>> known_;
};

/// x with its derivatives carried out and the symbols that the identities define beforehand replaced, and the steps
/// that do it.
Operator spelled(const Operator& x, const Search& search, std::vector<DerivationStep>& steps) {
  Operator out = x;
  std::vector<Change> derivatives;
  collect(
      x,
      [](const Operator& part) {
        return part.term().type == TermType::derivative || part.term().type == TermType::time_rate;
      },
      operators::differentiated, derivatives);
  if (!derivatives.empty()) {
    out = operators::differentiated(x);
    steps.push_back({"derivatives", "JR03 (3.26)–(3.41), (4.42)–(4.43)", out, false, derivatives});
  }
  const auto is_rate = [](const Operator& part) { return part.term().type == TermType::joint_rate; };
  if (search.conditions.constant_maps && operators::any_in(out, is_rate)) {
    std::vector<Change> rates;
    collect(out, is_rate, [](const Operator& rate) { return Operator(0.0) * rate; }, rates);
    out = ConstantMaps().of(out).value_or(Operator(0.0) * out);
    steps.push_back({"constant joint maps", "JR03 (3.26)", out, false, rates});
  }
  for (const Identity& each : search.identities.value_or(identities())) {
    if (each.use != IdentityUse::definition || !each.applies(search.conditions)) {
      continue;
    }
    const std::function<Operator(const Operator&)> replaced = [&](const Operator& part) {
      return part == each.left ? each.right : operators::with_parts(part, replaced);
    };
    if (operators::any_in(out, [&](const Operator& part) { return part == each.left; })) {
      out = replaced(out);
      steps.push_back({each.name, each.source, out, false, {{each.left, each.right}}});
    }
  }
  return out;
}

Derivation searched(const Operator& given, const Search& search, bool record) {
  std::vector<DerivationStep> first;
  const Operator x = spelled(given, search, first);
  if (x.range().kind == SpaceKind::any) {
    throw OperatorError("the space of this identity is not known", "add it to, or multiply it by, something");
  }
  Engine engine(search, false);
  if (record) {
    engine.record(x);
  }
  Derivation out{given, {}, x};
  Operator written = x;
  try {
    written = engine.solved(x);
  } catch (const Limit& limit) {
    throw OperatorError(fmt::format("a limit was reached: {}", limit.what()));
  }
  const std::size_t solved_steps = engine.steps().size();
  std::unordered_map<const Term*, double> sizes;
  const bool is_candidate = operators::size_of(written, sizes) <= most_written;
  std::optional<operators::Cost> least;
  if (is_candidate) {
    written = operators::tidied(written);
    least = operators::cost_of(written, search.use);
  }
  out.result = written;
  bool is_normal = false;
  try {
    const Polynomial p = engine.normal(engine.read(written), engine.shown_as_root());
    const Operator best = engine.written_best(p);
    if (!least || operators::cost_of(best, search.use) < *least) {
      out.result = best;
      is_normal = true;
    }
  } catch (const Limit& limit) {
    out.note = fmt::format("{}: this is the best so far", limit.what());
  }
  out.conditions = engine.conditions();
  if (!record) {
    return out;
  }
  out.steps.assign(engine.steps().begin(), is_normal
                                               ? engine.steps().end()
                                               : engine.steps().begin() + static_cast<std::ptrdiff_t>(solved_steps));
  out.steps.insert(out.steps.begin(), first.begin(), first.end());
  if (out.steps.empty() && !(out.result == x)) {
    out.steps.push_back({"algebra", "associative and distributive laws", out.result});
  } else if (!out.steps.empty()) {
    out.steps.back().expression = out.result;  // the same but for the order and grouping of sums
  }
  return out;
}

/// What was found before, for the table of identities. The last ones are kept.
class Kept {
 public:
  struct Entry {
    Operator x;
    Conditions conditions;
    Use use;
    Operator result;
  };

  std::optional<Operator> find(const Operator& x, const Search& search) {
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->use == search.use && it->conditions == search.conditions && it->x == x) {
        entries_.splice(entries_.begin(), entries_, it);
        return entries_.front().result;
      }
    }
    return std::nullopt;
  }

  void put(const Operator& x, const Search& search, const Operator& result) {
    constexpr std::size_t most = 256;
    const std::lock_guard lock(mutex_);
    entries_.push_front({x, search.conditions, search.use, result});
    if (entries_.size() > most) {
      entries_.pop_back();
    }
  }

 private:
  std::mutex mutex_;
  std::list<Entry> entries_;
};

Kept& kept() {
  static Kept all;
  return all;
}

}  // namespace

Operator simplify(const Operator& x, const Search& search) {
  if (search.identities) {
    return searched(x, search, false).result;
  }
  if (std::optional<Operator> before = kept().find(x, search)) {
    return *before;
  }
  const Operator result = searched(x, search, false).result;
  kept().put(x, search, result);
  return result;
}

Operator simplify(const Operator& x, const Conditions& conditions) {
  return simplify(x, Search{.conditions = conditions});
}

Derivation derive(const Operator& x, const Search& search) {
  return searched(x, search, true);
}

namespace {

/// What is evaluated keeps the vectors that are there; proofs need to know what they are made of.
void define_vectors(Engine& engine, bool passive) {
  const Operator phi(Symbol::phi);
  const Operator H(Symbol::H);
  const Operator thetadd(Symbol::thetadd);
  const Operator ideal = H * Operator(Symbol::f) + Operator(Symbol::armature) * thetadd;
  engine.define(Symbol::T, passive ? ideal - Operator(Symbol::T_p) : ideal, "hinge forces", "RK92 (12), (24)");
  engine.define(Symbol::f, phi * (Operator(Symbol::M) * Operator(Symbol::alpha) + Operator(Symbol::b)), "forces",
                "RK92 (24)");
  engine.define(Symbol::alpha, ~phi * (~H * thetadd + Operator(Symbol::a)), "accelerations", "RK92 (25)");
}

}  // namespace

std::optional<Derivation> prove(const Operator& left, const Operator& right, const Search& search) {
  std::vector<DerivationStep> first;
  const Operator whole = left - right;
  const Operator difference = spelled(whole, search, first);
  try {
    Engine engine(search, true);
    if (!search.identities) {
      define_vectors(engine, operators::symbols_in(difference).contains(Symbol::T_p));
    }
    engine.record(difference);
    const Operator written = engine.solved(difference);
    const Polynomial p = engine.normal(engine.read(written), engine.shown_as_root());
    if (!p.zero()) {
      return std::nullopt;
    }
    Derivation out{whole, engine.steps(), engine.write(p), engine.conditions()};
    out.steps.insert(out.steps.begin(), first.begin(), first.end());
    if (out.steps.empty()) {
      out.steps.push_back({"algebra", "associative and distributive laws", out.result});
    }
    out.steps.back().expression = out.result;
    return out;
  } catch (const Limit&) {
    return std::nullopt;
  } catch (const OperatorError&) {
    return std::nullopt;
  }
}

std::string to_string(const Derivation& derivation) {
  const auto text = [](const Operator& x) { return operators::is_zero(x) ? "0" : to_unicode(x); };
  std::string out = fmt::format("  {}\n", to_unicode(derivation.start));
  const Operator* before = &derivation.start;
  for (const DerivationStep& step : derivation.steps) {
    const Operator& after = step.expression;
    const operators::Marks marks = operators::new_parts(*before, after);
    const std::string line = marks.whole ? text(after) : operators::marked_unicode(after, marks);
    std::vector<std::string> changes;  // that cannot be read off the lines
    for (const Change& each : step.changed) {
      const bool is_all = each.before == *before && each.after == after;
      if (!is_all && line.find(fmt::format("⟦{}⟧", text(each.after))) == std::string::npos) {
        changes.push_back(fmt::format("{} → {}", text(each.before), text(each.after)));
      }
    }
    out += fmt::format("= {}\n      by {}{}, {}{}{}\n", line, step.rule, step.adjoint ? " (adjoint)" : "", step.source,
                       changes.empty() ? "" : ": ", fmt::join(changes, "; "));
    before = &after;
  }
  for (const std::string& condition : derivation.conditions) {
    out += fmt::format("  where {}\n", condition);
  }
  if (!derivation.note.empty()) {
    out += fmt::format("  note: {}\n", derivation.note);
  }
  return out;
}

std::string explain(const Operator& x, const Search& search) {
  return to_string(derive(x, search));
}

}  // namespace bunraku
