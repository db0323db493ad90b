// Atoms, and expressions as polynomials of them.

#include "bunraku/operators/rewriting/detail/engine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/derivatives.hpp"
#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku::operators {

namespace {

/// A product of more words keeps a factor whole.
constexpr std::size_t most_words_of_product = 64;
/// No polynomial has more words, no search more steps and more seconds.
constexpr std::size_t most_words = 2'000;
constexpr std::size_t most_work = 200'000;
constexpr double most_seconds = 2;
/// Letters are 16 bits wide, one of them for the adjoint.
constexpr std::size_t most_atoms = 30'000;

bool in_family(const Operator& x) {
  return any_in(
      x, [](const Operator& part) { return part.term().type == TermType::symbol && has_family(part.term().symbol); });
}

}  // namespace

Engine::Engine(const Search& search, bool assume) : search_(search), assume_(assume) {
  for (const Identity& each : search.identities.value_or(identities())) {
    if (each.applies(search.conditions)) {
      table_.push_back(each);
    }
  }
  for (const SpaceKind kind : {SpaceKind::any, SpaceKind::number, SpaceKind::node, SpaceKind::hinge, SpaceKind::body}) {
    spaces_.push_back({kind});
  }
  for (const Identity& each : table_) {
    if (each.use == IdentityUse::rule) {
      groups_.push_back({each.name, each.source});
    }
  }
  family(Operator(Symbol::M), Operator(Symbol::armature));  // the standard one is the first
  for (const Identity& each : table_) {
    if (each.use == IdentityUse::rule && !in_family(each.left) && !in_family(each.right)) {
      add_rule(each, -1);
    }
  }
}

void Engine::define(Symbol symbol, const Operator& value, const std::string& name, const std::string& source) {
  add_rule(Word{letter(symbol)}, read(value), name, source);
}

void Engine::tick(std::size_t work) {
  const bool look = work_ / 256 != (work_ + work) / 256;
  work_ += work;
  if (work_ > most_work) {
    throw Limit("the search took too many steps");
  }
  if (look && std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > most_seconds) {
    throw Limit("the search took too long");
  }
}

void Engine::condition(const std::string& what) {
  if (std::find(conditions_.begin(), conditions_.end(), what) == conditions_.end()) {
    conditions_.push_back(what);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Atoms

int Engine::space(const Space& space) {
  const auto found = std::find(spaces_.begin(), spaces_.end(), space);
  if (found != spaces_.end()) {
    return static_cast<int>(found - spaces_.begin());
  }
  spaces_.push_back(space);
  return static_cast<int>(spaces_.size()) - 1;
}

Operator Engine::of_family(Symbol symbol, int family) const {
  const Family& f = families_[static_cast<std::size_t>(family)];
  return f.standard ? Operator(symbol) : Operator::of_family(symbol, f.X_written, f.A_written);
}

Letter Engine::family_letter(Symbol symbol, int family) {
  const Operator leaf = of_family(symbol, family);
  const auto found = letters_.find(leaf);
  if (found != letters_.end()) {
    return found->second;
  }
  const int before = reading_family_;
  reading_family_ = -1;
  const Letter out = letter(leaf);
  reading_family_ = before;
  atoms_[out >> 1U].family = family;
  find_facts(atoms_[out >> 1U]);
  return out;
}

int Engine::family(const Operator& X, const Operator& A) {
  const int before = reading_family_;
  reading_family_ = -1;
  Family made{{}, {}, X, A, families_.empty()};
  if (made.standard) {
    made.X = of_letter(letter(X));
    made.A = of_letter(letter(A));
    if (!search_.conditions.armature) {
      made.A.words.clear();
    }
  } else {
    made.X = normal(read(solved(X)));
    made.A = normal(read(solved(A)));
  }
  reading_family_ = before;
  for (std::size_t i = 0; i < families_.size(); ++i) {
    if (families_[i].X == made.X && families_[i].A == made.A) {
      return static_cast<int>(i);
    }
  }
  if (!made.standard) {
    made.X_written = write(made.X);
    made.A_written = made.A.zero() ? Operator(0.0) * Operator(Symbol::armature) : write(made.A);
    for (const auto& [p, written] : {std::pair{made.X, made.X_written}, std::pair{made.A, made.A_written}}) {
      if (!is_symmetric(p)) {
        condition(fmt::format("{} is symmetric", to_ascii(written)));
      }
    }
  }
  families_.push_back(made);
  const int out = static_cast<int>(families_.size()) - 1;
  add_rules(out);
  return out;
}

Letter Engine::letter(const Operator& leaf) {
  const auto found = letters_.find(leaf);
  if (found != letters_.end()) {
    return found->second;
  }
  if (atoms_.size() > most_atoms) {
    throw Limit("the expression has too many different parts");
  }
  const Term& t = leaf.term();
  Atom atom{.expression = leaf,
            .text = to_ascii(leaf),
            .range = space(t.range),
            .domain = space(t.domain),
            .kind = t.kind,
            .symmetric = ~leaf == leaf};
  find_facts(atom);
  const auto out = static_cast<Letter>(2 * atoms_.size());
  atoms_.push_back(std::move(atom));
  letters_.emplace(leaf, out);
  return out;
}

void Engine::find_facts(Atom& atom) {
  const Term& t = atom.expression.term();
  const Conditions& has = search_.conditions;
  if (t.type != TermType::symbol) {
    return;
  }
  const auto positive = [&](bool psd, bool pd) {
    atom.psd = psd;
    atom.pd = pd;
    atom.invertible = pd;
  };
  const Family* f = atom.family < 0 ? nullptr : &families_[static_cast<std::size_t>(atom.family)];
  const bool family_psd = f != nullptr && is_psd(f->X) && is_psd(f->A);
  switch (t.symbol) {
    case Symbol::M:
    case Symbol::R:
      return positive(true, !has.massless);
    case Symbol::ang:
      return positive(true, false);
    case Symbol::armature:
      return positive(true, has.armature && !has.ungeared);
    case Symbol::P:
      return positive(family_psd, family_psd && is_pd(f->X));
    case Symbol::D:
      positive(family_psd, family_psd && (is_pd(f->X) || is_pd(f->A)));
      atom.invertible = true;  // or there is no K and no ψ of it
      return;
    case Symbol::Upsilon:
      return positive(family_psd, false);
    case Symbol::phi:
    case Symbol::psi:
      atom.invertible = true;
      return;
    case Symbol::E_phi:
    case Symbol::E_psi:
    case Symbol::K:
    case Symbol::S:
      atom.one_step = true;
      return;
    default:
      return;
  }
}

Letter Engine::inverse_letter(const Polynomial& p, bool known) {
  const Polynomial other = adjoint(p);
  const bool of_closures = spaces_[static_cast<std::size_t>(p.range)] == Space{SpaceKind::closure};
  const Operator made = inv(of_closures ? write_inverted(p) : write(p));
  const auto found = letters_.find(made);
  if (found != letters_.end()) {
    return found->second;
  }
  const bool symmetric = other == p;
  if (!symmetric) {
    const auto reversed = letters_.find(inv(of_closures ? write_inverted(other) : write(other)));
    if (reversed != letters_.end()) {
      return static_cast<Letter>(reversed->second ^ 1U);
    }
  }
  const Letter out = letter(made);
  Atom& atom = atoms_[out >> 1U];
  atom.symmetric = symmetric;
  atom.invertible = !of_closures || known;  // closures may repeat one another: then it is one by least squares
  atom.pd = is_pd(p);
  atom.psd = atom.pd || (of_closures && is_psd(p));
  atom.inner = p;
  if (known) {  // x⁻¹ times the heaviest word of x, and the other way round
    const std::vector<std::pair<Word, double>> words = sorted(p);
    const auto& [lead, c] = words.back();
    Polynomial rest = p;
    rest.words.erase(lead);
    const Word own(1, out);
    Polynomial left = one(p.range);
    left.add(own, rest, {}, -1);
    Polynomial right = one(p.range);
    right.add({}, rest, own, -1);
    for (Polynomial* each : {&left, &right}) {
      for (auto& [w, number] : each->words) {
        number /= c;
      }
    }
    add_rule(own + lead, left, "inverse", "x⁻¹x = x x⁻¹ = I");
    add_rule(lead + own, right, "inverse", "x⁻¹x = x x⁻¹ = I");
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Polynomials

Polynomial Engine::of_letter(Letter l) const {
  return {range(l), domain(l), {{Word(1, l), 1.0}}};
}

Polynomial Engine::of_word(const Word& w) const {
  return {range(w.front()), domain(w.back()), {{w, 1.0}}};
}

Polynomial Engine::one(int space) const {
  return {space, space, {{Word{}, 1.0}}};
}

Operator Engine::identity(int space) const {
  return in_space(Operator::identity(), spaces_[static_cast<std::size_t>(space)]);
}

Word Engine::adjoint(const Word& w) const {
  Word out(w.rbegin(), w.rend());
  for (Letter& l : out) {
    l = adjoint(l);
  }
  return out;
}

Polynomial Engine::adjoint(const Polynomial& p) const {
  Polynomial out{p.domain, p.range};
  for (const auto& [w, c] : p.words) {
    out.words.emplace(adjoint(w), c);
  }
  return out;
}

Polynomial Engine::product(const Polynomial& a, const Polynomial& b) {
  Polynomial out{a.range, b.domain};
  tick(a.size() * b.size());
  for (const auto& [u, c] : a.words) {
    for (const auto& [v, d] : b.words) {
      const double number = c * d;
      if (!std::isnormal(number)) {
        throw Limit("numbers are too large or too small to be multiplied out");
      }
      out.add(u + v, number);
    }
  }
  if (out.size() > most_words) {
    throw Limit("the expression has too many products");
  }
  return out;
}

Polynomial Engine::let(const Polynomial& p) {
  const Operator whole = write(p);
  const Letter l = letter(whole);
  atoms_[l >> 1U].symmetric = is_symmetric(p);
  return of_letter(l);
}

Polynomial Engine::read(const Operator& x) {
  if (reading_family_ >= 0) {  // not what it means elsewhere
    return read_anew(x);
  }
  const auto found = polynomials_.find(&x.term());
  if (found != polynomials_.end()) {
    return found->second;
  }
  Polynomial out = read_anew(x);
  kept_.push_back(x);
  polynomials_.emplace(&x.term(), out);
  return out;
}

Polynomial Engine::read_product(const Term& t) {
  Polynomial out = read(t.parts[0]);
  for (std::size_t i = 1; i < t.parts.size(); ++i) {
    Polynomial next = read(t.parts[i]);
    if (out.size() * next.size() > most_words_of_product) {
      out = normal(std::move(out));
      next = normal(std::move(next));
    }
    while (out.size() * next.size() > most_words_of_product) {
      Polynomial& larger = out.size() > next.size() ? out : next;
      larger = let(larger);
    }
    out = product(out, next);
  }
  return out;
}

Polynomial Engine::read_anew(const Operator& x) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::identity:
      return one(space(t.range));
    case TermType::number: {
      Polynomial out{space(t.range), space(t.domain)};
      out.add(Word{}, t.number);
      return out;
    }
    case TermType::symbol:
      if (has_family(t.symbol)) {
        const int f = t.parts.empty()        ? std::max(reading_family_, 0)
                      : reading_second_ >= 0 ? reading_second_
                                             : family(t.parts[0], t.parts[1]);
        return of_letter(family_letter(t.symbol, f));
      }
      if (reading_family_ >= 0 && t.symbol == Symbol::M) {
        return families_[static_cast<std::size_t>(reading_family_)].X;
      }
      if (reading_family_ >= 0 && t.symbol == Symbol::armature) {
        return families_[static_cast<std::size_t>(reading_family_)].A;
      }
      return of_letter(letter(x));
    case TermType::variable:
      if (reading_second_ >= 0) {
        const Family& second = families_[static_cast<std::size_t>(reading_second_)];
        return t.range.kind == SpaceKind::body ? second.X : second.A;
      }
      return of_letter(letter(x));
    case TermType::unit:
      return of_letter(letter(x));
    case TermType::scale: {
      const Polynomial inner = read(t.parts[0]);
      Polynomial out{inner.range, inner.domain};
      for (const auto& [w, c] : inner.words) {
        if (t.number != 0 && !std::isnormal(t.number * c)) {
          throw Limit("numbers are too large or too small to be multiplied out");
        }
        out.add(w, t.number * c);
      }
      return out;
    }
    case TermType::sum: {
      Polynomial out = read(t.parts[0]);
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        out.add(read(t.parts[i]));
        if (out.size() > most_words) {
          throw Limit("the expression has too many products");
        }
      }
      for (const auto& [w, c] : out.words) {
        if (!std::isfinite(c)) {
          throw Limit("numbers are too large to be added up");
        }
      }
      return out;
    }
    case TermType::product:
      return read_product(t);
    case TermType::adjoint:
      return adjoint(read(t.parts[0]));
    case TermType::inverse: {
      if (reading_family_ >= 0) {
        return of_letter(inverse_letter(read(t.parts[0]), true));
      }
      const auto found = letters_.find(x);
      if (found != letters_.end()) {
        return of_letter(found->second);
      }
      const std::optional<Operator> value = inverse(normal(read(t.parts[0])), {});
      if (!value) {
        throw OperatorError(fmt::format("no identity gives the inverse of '{}'", to_ascii(t.parts[0])));
      }
      return read(*value);
    }
    case TermType::gather: {
      if (x == gather(Operator(Symbol::E_phi), Operator(Symbol::M))) {
        return of_letter(letter(Operator(Symbol::R)));
      }
      const bool is_new = !letters_.contains(x);
      const Letter y = letter(x);
      if (is_new) {
        const Polynomial inner = normal(read(t.parts[1]));
        Atom& atom = atoms_[y >> 1U];
        atom.symmetric = is_symmetric(inner);
        atom.psd = is_psd(inner);
        atom.pd = is_pd(inner);
        atom.invertible = atom.pd;
        if (t.parts[0] == Operator(Symbol::E_phi) && row(IdentityUse::pair) != nullptr) {
          const Letter E = letter(t.parts[0]);
          Polynomial right = of_letter(y);
          right.add(inner, -1);
          atoms_[y >> 1U].inner = inner;
          add_rule(Word{E, y, adjoint(E)}, right, "composite bodies", "RK92 (31)");
        }
      }
      return of_letter(y);
    }
    case TermType::spread:
    case TermType::carry:
    case TermType::lyapunov: {
      const Letter y = letter(x);
      const bool symmetric = is_symmetric(normal(read(solved(t.parts[1]))));
      atoms_[y >> 1U].symmetric = symmetric;
      return of_letter(y);
    }
    case TermType::derivative:
    case TermType::time_rate:
      return read(solved(differentiated(x)));
    case TermType::dense_inverse: {
      const Letter l = letter(x);
      atoms_[l >> 1U].symmetric = is_symmetric(normal(read(solved(t.parts[0]))));
      return of_letter(l);
    }
    case TermType::root: {
      const bool is_new = !letters_.contains(x);
      const Letter l = letter(x);
      if (is_new) {
        const Polynomial inner = normal(read(solved(t.parts[0])));
        Atom& atom = atoms_[l >> 1U];
        atom.symmetric = is_symmetric(inner);
        atom.psd = is_psd(inner);
        atom.pd = is_pd(inner);
        atom.invertible = atom.pd;
        if (atom.psd) {
          add_rule(Word{l, l}, inner, "root", "x^½ x^½ = x");
        }
        if (atom.pd && inner.size() == 1 && inner.words.begin()->second == 1) {  // with its inverse, complete
          const Word w = inner.words.begin()->first;
          const Letter r = inverse_letter(of_letter(l), true);
          add_rule(Word{r} + w, of_letter(l), "root", "x^½ x^½ = x");
          add_rule(w + Word{r}, of_letter(l), "root", "x^½ x^½ = x");
          const Word whole{inverse_letter(inner, true)};
          add_rule(Word{r, r}, of_word(whole), "root", "x^½ x^½ = x");
          add_rule(whole + Word{l}, of_letter(r), "root", "x^½ x^½ = x");
          add_rule(Word{l} + whole, of_letter(r), "root", "x^½ x^½ = x");
        }
      }
      return of_letter(l);
    }
    case TermType::cross: {
      const bool is_new = !letters_.contains(x);
      const Letter l = letter(x);
      if (is_new && search_.conditions.simple_hinges) {
        const Letter map = adjoint(letter(Operator(Symbol::H)));
        const Polynomial inner = read(t.parts[0]);
        const bool of_hinges =
            !inner.zero() && std::all_of(inner.words.begin(), inner.words.end(), [&](const auto& each) {
              return !each.first.empty() && each.first.front() == map;
            });
        if (of_hinges) {
          add_rule(Word{l, map}, {range(l), domain(map)}, "hinges of one velocity", "JR03 (2.6)");
        }
      }
      return of_letter(l);
    }
    case TermType::force_cross:
    case TermType::joint_rate:
    case TermType::block:
      return of_letter(letter(x));
  }
  return {};
}

bool Engine::before(const Word& a, const Word& b) const {
  if (a.size() != b.size()) {
    return a.size() < b.size();
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      const Atom& x = atom(a[i]);
      const Atom& y = atom(b[i]);
      return &x != &y ? x.text < y.text : a[i] < b[i];
    }
  }
  return false;
}

std::vector<std::pair<Word, double>> Engine::sorted(const Polynomial& p) const {
  std::vector<std::pair<Word, double>> out(p.words.begin(), p.words.end());
  std::sort(out.begin(), out.end(), [&](const auto& x, const auto& y) { return before(x.first, y.first); });
  return out;
}

}  // namespace bunraku::operators
