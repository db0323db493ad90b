/// @file
/// Operator expressions: the algebra of the papers as values of C++.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/operators/language/symbols.hpp"

namespace bunraku {

/// An expression is wrong: factors that do not fit, an unknown name, an inverse without a rule. Where it came from a
/// text, what() shows the place in it.
class BUNRAKU_API OperatorError : public ArgumentError {
 public:
  /// What is wrong, and what to do about it.
  explicit OperatorError(const std::string& problem, const std::string& cure = {});
  /// The same of a part of an expression, as to_ascii writes it.
  OperatorError(const std::string& problem, const std::string& cure, const std::string& culprit);
  /// The same at a place in a text: bytes [start, start + length).
  OperatorError(const std::string& problem, const std::string& cure, const std::string& text, std::size_t start,
                std::size_t length);
  ~OperatorError() override;

  /// What is wrong, in one line.
  const std::string& problem() const noexcept { return problem_; }
  /// What to do about it, or empty.
  const std::string& cure() const noexcept { return cure_; }
  /// The part of the expression that is to blame, as to_ascii writes it, or empty; see pointed().
  const std::string& culprit() const noexcept { return culprit_; }
  /// Whether the place in a text is known.
  bool has_place() const noexcept { return has_place_; }

 private:
  std::string problem_;
  std::string cure_;
  std::string culprit_;
  bool has_place_ = false;
};

/// What an expression is made of at its outermost.
enum class TermType {
  symbol,         ///< One of Symbol; its parts are the pair of its family, or none for M and 𝒜.
  variable,       ///< A name that the user gave: an arbitrary memoryless operator or stacked vector.
  identity,       ///< I.
  number,         ///< A number.
  unit,           ///< The unit vector of one hinge velocity.
  sum,            ///< x + y + …
  product,        ///< x y …
  scale,          ///< number · x.
  adjoint,        ///< x*.
  inverse,        ///< x⁻¹, to be found by the identities.
  dense_inverse,  ///< x⁻¹ by a dense matrix, asked for by name.
  root,           ///< x^½ of a memoryless x.
  cross,          ///< The block-diagonal cross product of a stacked vector (JR03 2.5).
  gather,         ///< The block-diagonal y = x + E y E*, inward.
  spread,         ///< The block-diagonal y(k) = x(k) + E*(k,p) y(p) E(p,k), outward.
  block,          ///< x(i,j), what body j contributes to body i.
};

struct Term;
struct BlockPlace;
using BlockFunction = std::function<void(const BlockPlace& place, std::span<double> block)>;

/// An operator expression. Values are cheap to copy and may be shared between threads.
///
/// Sums and products are written as in C++; a product whose spaces do not match throws OperatorError when it is
/// written, naming both factors and their spaces. Nothing is computed until a System evaluates it.
class BUNRAKU_API Operator {
 public:
  /// A symbol of the papers.
  Operator(Symbol symbol);  // NOLINT(google-explicit-constructor): H*phi*~H is to read as in the papers
  /// A number: a factor.
  Operator(double number);  // NOLINT(google-explicit-constructor): so that 2*phi works
  /// The identity; its space follows from where it stands.
  static Operator identity();
  /// An arbitrary memoryless operator (domain hinge, body or node; closure with itself) or stacked vector (domain
  /// number), by name; one that a function gives comes from define(). A variable may have the name of a symbol of
  /// closures, A or U, and hides it where it is among the variables of a text.
  static Operator variable(const std::string& name, SpaceKind range, SpaceKind domain,
                           std::shared_ptr<const BlockFunction> function = nullptr);
  /// P, D, G, K, ψ or what is derived of them (ψ̃, τ, τ̄, E_ψ, Υ, Ω) with another pair in place of inertia and armature:
  /// P = X + E_ψ P E_φ*, D = H P H* + A. The pair (M, 𝒜) gives the symbol itself; A may be zero, `0*armature`. Throws
  /// OperatorError unless X is memoryless on body space, A memoryless on hinge space, and the symbol one of those.
  static Operator of_family(Symbol symbol, const Operator& X, const Operator& A);
  /// The unit vector of hinge space for the velocity coordinate i. Throws OperatorError when i is negative.
  static Operator unit(int i);

  /// Where its values are.
  const Space& range() const;
  /// What it acts on: `number` for a stacked vector.
  const Space& domain() const;
  /// Along which direction it carries, as far as its factors tell.
  Kind kind() const;
  /// Its outermost node.
  const Term& term() const { return *term_; }

  /// x(i,j): the part that body j contributes to body i, by name or number.
  Operator block(const std::string& i, const std::string& j) const;
  /// x(i) of a stacked vector.
  Operator block(const std::string& i) const;

  friend bool operator==(const Operator& x, const Operator& y);
  friend Operator operator~(const Operator& x);
  friend Operator operator+(const Operator& x, const Operator& y);
  friend Operator operator*(const Operator& x, const Operator& y);
  friend Operator inv(const Operator& x);
  friend Operator dense_inv(const Operator& x);
  friend Operator sqrt(const Operator& x);
  friend Operator cross(const Operator& x);
  friend Operator gather(const Operator& E, const Operator& x);
  friend Operator spread(const Operator& E, const Operator& x);
  friend Operator sum_of(const std::vector<Operator>& parts);
  friend Operator product_of(const std::vector<Operator>& parts);
  friend Operator in_space(const Operator& x, const Space& space);

 private:
  explicit Operator(Term term);

  std::shared_ptr<const Term> term_;
};

/// A node of an expression. Immutable and shared.
struct Term {
  TermType type = TermType::identity;                       ///< What it is.
  Symbol symbol = Symbol::phi;                              ///< For symbol.
  std::string name = {};                                    ///< For variable.
  double number = 0;                                        ///< For number and scale.
  int index = 0;                                            ///< For unit.
  std::vector<Operator> parts = {};                         ///< The operands.
  Space range = {};                                         ///< Where its values are.
  Space domain = {};                                        ///< What it acts on.
  Kind kind = Kind::memoryless;                             ///< Along which direction it carries.
  std::size_t hash = 0;                                     ///< Of its structure.
  int depth = 0;                                            ///< Of its nesting.
  std::shared_ptr<const BlockFunction> function = nullptr;  ///< For variable: what gives its blocks.
};

inline const Space& Operator::range() const {
  return term_->range;
}
inline const Space& Operator::domain() const {
  return term_->domain;
}
inline Kind Operator::kind() const {
  return term_->kind;
}

/// Whether two are written alike.
BUNRAKU_API bool operator==(const Operator& x, const Operator& y);
/// The adjoint x*.
BUNRAKU_API Operator operator~(const Operator& x);
/// −x.
BUNRAKU_API Operator operator-(const Operator& x);
/// The sum. Throws OperatorError unless both act between the same spaces.
BUNRAKU_API Operator operator+(const Operator& x, const Operator& y);
/// The difference. Throws as the sum.
BUNRAKU_API Operator operator-(const Operator& x, const Operator& y);
/// The product. Throws OperatorError unless x acts on what y gives.
BUNRAKU_API Operator operator*(const Operator& x, const Operator& y);
/// x⁻¹, which the identities have to give. Throws OperatorError unless x maps a space to itself.
BUNRAKU_API Operator inv(const Operator& x);
/// x⁻¹ by a dense factorization, O(n³). Throws as inv.
BUNRAKU_API Operator dense_inv(const Operator& x);
/// x^½ of a memoryless x. Throws OperatorError for another.
BUNRAKU_API Operator sqrt(const Operator& x);
/// The block-diagonal spatial cross product of a stacked vector of body space. Throws OperatorError for another.
BUNRAKU_API Operator cross(const Operator& x);
/// The block-diagonal y with y = x + E y E*: each body's x and what its children carry over, from the tips to the base.
/// E is one step (E_φ, E_ψ, also of a family, or 𝕊) and x memoryless on body space; throws OperatorError otherwise.
/// R = gather(E_φ, M).
BUNRAKU_API Operator gather(const Operator& E, const Operator& x);
/// The block-diagonal y with y(k) = x(k) + E*(k,p) y(p) E(p,k), p the parent of k: from the base to the tips. Throws as
/// gather. Υ = spread(E_ψ, H* D⁻¹ H).
BUNRAKU_API Operator spread(const Operator& E, const Operator& x);
/// The sum of several, at least one: as + adds them, in linear time. Throws OperatorError as + does.
BUNRAKU_API Operator sum_of(const std::vector<Operator>& parts);
/// The product of several, at least one: as * multiplies them, in linear time. Throws OperatorError as * does.
BUNRAKU_API Operator product_of(const std::vector<Operator>& parts);
/// x with its identities of unknown space in a known one; x itself where its space is known.
BUNRAKU_API Operator in_space(const Operator& x, const Space& space);

}  // namespace bunraku
