/// @file
/// The search: expressions as sums of words, rules on words, and what is recognised as an inverse.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "bunraku/operators/rewriting/detail/polynomial.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"

namespace bunraku::operators {

/// A bound on time or size was reached.
struct Limit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a letter stands for, and what is known of it.
struct Atom {
  Operator expression;
  std::string text;  ///< As to_ascii writes it: the order of words does not depend on the order of reading.
  int range = 0;
  int domain = 0;
  Kind kind = Kind::memoryless;
  bool symmetric = false;
  bool one_step = false;                           ///< From every body to its parent, and no further.
  bool invertible = false;                         ///< Known to be.
  bool psd = false;                                ///< Symmetric and positive semidefinite.
  bool pd = false;                                 ///< Symmetric and positive definite.
  int family = -1;                                 ///< Of a symbol.
  std::optional<Polynomial> inner = std::nullopt;  ///< Of an inverse: what it is the inverse of.
};

/// P, D, G, K, ψ for X and A in place of M and 𝒜.
struct Family {
  Polynomial X;
  Polynomial A;
  Operator X_written;
  Operator A_written;
  bool standard = false;
};

/// A rule on words: `left` is `right`, wherever it stands.
struct WordRule {
  Word left;
  Polynomial right;
  int group = 0;
  bool adjoint = false;
};

/// Rules of one name, which are one line of a derivation.
struct RuleGroup {
  std::string name;
  std::string source;
  std::vector<int> rules = {};
};

/// How the words of a polynomial are gathered into an expression.
enum class Grouping {
  factored,  ///< Common factors taken out on both sides.
  first,     ///< By their first letters: each remainder computed once.
  last,      ///< By their last letters.
};

/// Told of a step.
using Show = std::function<void(const DerivationStep&)>;

/// How x⁻¹ was refused.
enum class Refusal { none, singular, narrow };

/// One search. Not shared between threads.
class BUNRAKU_API Engine {
 public:
  /// `assume`: what the expression inverts is invertible.
  Engine(const Search& search, bool assume);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Replaces a vector by what it is made of.
  void define(Symbol symbol, const Operator& value, const std::string& name, const std::string& source);
  /// Starts recording steps, of this whole expression.
  void record(const Operator& root) { root_ = root; }
  const std::vector<DerivationStep>& steps() const { return steps_; }
  const std::vector<std::string>& conditions() const { return conditions_; }

  /// x with its inverses found and the arguments of its functions in normal form. Throws OperatorError where an inverse
  /// is not found, Limit where a bound is reached.
  Operator solved(const Operator& x);
  /// x, which has been solved, multiplied out.
  Polynomial read(const Operator& x);
  /// What the rules make of a polynomial.
  Polynomial normal(Polynomial p, const Show& show = {});
  /// A step of the whole expression.
  Show shown_as_root();

  Operator write(const Polynomial& p, Grouping grouping = Grouping::factored);
  /// The cheapest way to write it.
  Operator written_best(const Polynomial& p);

  // for tests
  const std::vector<WordRule>& rules() const { return rules_; }
  const Atom& atom(Letter letter) const { return atoms_[letter >> 1U]; }
  Polynomial normal_of_word(const Word& w);
  Polynomial applied(const WordRule& rule, const Word& w, std::size_t at) const;

 private:
  // atoms and spaces
  int space(const Space& space);
  int family(const Operator& X, const Operator& A);
  Letter letter(const Operator& leaf);
  Letter inverse_letter(const Polynomial& p, bool known);
  Operator of_family(Symbol symbol, int family) const;
  Letter family_letter(Symbol symbol, int family);
  void find_facts(Atom& atom);
  Letter adjoint(Letter l) const { return atom(l).symmetric ? l : static_cast<Letter>(l ^ 1U); }
  int range(Letter l) const { return (l & 1U) != 0 ? atom(l).domain : atom(l).range; }
  int domain(Letter l) const { return (l & 1U) != 0 ? atom(l).range : atom(l).domain; }
  bool square(Letter l) const { return atom(l).range == atom(l).domain; }
  Operator expression(Letter l) const { return (l & 1U) != 0 ? ~atom(l).expression : atom(l).expression; }

  // polynomials
  Polynomial of_letter(Letter l) const;
  Polynomial of_word(const Word& w) const;
  Polynomial one(int space) const;
  Word adjoint(const Word& w) const;
  Polynomial adjoint(const Polynomial& p) const;
  Polynomial product(const Polynomial& a, const Polynomial& b);
  Polynomial let(const Polynomial& p);
  Polynomial read_anew(const Operator& x);
  Polynomial read_product(const Term& t);
  bool before(const Word& a, const Word& b) const;
  std::vector<std::pair<Word, double>> sorted(const Polynomial& p) const;
  void tick(std::size_t work);

  // facts
  enum class Shape { memoryless, step_in, step_out, strict_in, strict_out, in, out, general };
  Shape shape(const Word& w) const;
  bool is_memoryless(const Polynomial& p) const;
  bool is_symmetric(const Polynomial& p) const { return adjoint(p) == p; }
  bool is_strict(const Polynomial& p) const;
  bool is_psd(const Polynomial& p) const;
  bool is_pd(const Polynomial& p) const;
  bool is_invertible(const Polynomial& p) const;
  bool is_singular(const Polynomial& p) const;
  bool is_narrow(const Polynomial& p) const;
  std::optional<Polynomial> diagonal(const Polynomial& p) const;
  bool through_hinges(const Word& w) const;
  int rank(int space) const;
  void condition(const std::string& what);

  // rules
  void add_rules(int family);
  void add_rule(const Identity& identity, int family, int second = -1);
  void add_rule(const Word& left, const Polynomial& right, const std::string& name, const std::string& source);
  bool apply_group(Polynomial& p, const RuleGroup& group, std::set<int>& used);
  bool apply_pairs(Polynomial& p, std::vector<Change>& changed);
  void show_rules(const Show& show, const RuleGroup& group, const std::set<int>& used, const Polynomial& now);
  int group(const std::string& name, const std::string& source);
  const Identity* row(IdentityUse use, std::size_t number = 0) const;

  // inverses
  Operator solved_inverse(const Operator& x);
  Operator solved_function(const Operator& x);
  Operator rebuilt(const Operator& x) const;
  Show shown_in(const Operator& part);
  std::optional<Operator> inverse(const Polynomial& p, const Show& show);
  std::optional<Operator> inverse_of_letter(Letter l, const Show& show);
  std::optional<Operator> inverse_of_word(const Word& w, double c, const Show& show);
  std::optional<Operator> inverse_of_common(const Polynomial& p, const Show& show);
  std::optional<Operator> loop(const Polynomial& p) const;
  std::optional<Operator> causal_inverse(const Polynomial& p, const Show& show);
  std::optional<Operator> push_through(const Polynomial& p, bool suffix);
  std::optional<Polynomial> with_symmetric_variables(const Polynomial& p) const;
  std::optional<Operator> family_inverse(const Polynomial& p, bool assume_symmetric, const Show& show);
  std::optional<Operator> opened_inverse(const Polynomial& p, const Show& show);
  std::optional<Operator> lemma(const Polynomial& p, const Show& show);
  std::optional<Operator> opaque(const Polynomial& p);
  std::optional<Operator> closure_inverse(const Polynomial& p, const Show& show);
  Operator identity(int space) const;

  // writing
  Operator write_inner(const Polynomial& p, Grouping grouping);
  Operator write_sorted(const Polynomial& p, Grouping grouping);
  Operator write_word(const Word& w, int range) const;
  Operator write_plainly(const Polynomial& p) const;
  Operator write_inverted(const Polynomial& p);
  std::optional<Operator> write_product(const Polynomial& p);
  Operator write_groups(const Polynomial& p, Grouping grouping);
  Operator summed(std::vector<std::pair<Word, Operator>> pieces, std::vector<double> numbers) const;
  Operator zero(int range, int domain) const;

  Search search_;
  bool assume_ = false;
  std::vector<Identity> table_;  // those that apply
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t work_ = 0;
  int depth_ = 0;
  int written_depth_ = 0;

  std::vector<Space> spaces_;
  std::vector<Atom> atoms_;
  std::vector<Family> families_;
  struct OperatorHash {
    std::size_t operator()(const Operator& x) const { return x.term().hash; }
  };
  std::unordered_map<Operator, Letter, OperatorHash> letters_;
  std::unordered_map<const Term*, Polynomial> polynomials_;
  std::vector<Operator> kept_;  // whose terms are keys
  std::unordered_map<Operator, Polynomial, OperatorHash> inverses_;
  std::unordered_map<Operator, Operator, OperatorHash> solved_;
  std::vector<WordRule> rules_;
  std::vector<RuleGroup> groups_;
  int reading_family_ = -1;  // of a rule being read: M and 𝒜 are its X and A
  int reading_second_ = -1;  // of a rule on two families: the variables X and Y are its X and A

  std::optional<Operator> root_;
  std::vector<DerivationStep> steps_;
  std::vector<std::string> conditions_;
  Refusal refusal_ = Refusal::none;
};

/// What an expression costs: sweeps, then operations at a body with one velocity and one node, then its length.
struct Cost {
  int sweeps = 0;
  double flops = 0;
  std::size_t length = 0;
  std::string text = {};

  friend auto operator<=>(const Cost&, const Cost&) = default;
};
/// By this the candidates are compared. `x` has no inverse but of what is memoryless.
Cost cost_of(const Operator& x, Use use);

}  // namespace bunraku::operators
