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
  force_cross,    ///< The block-diagonal Q of a stacked vector of forces (JR03 2.8): Q(f) x = cross(x)* f.
  joint_rate,     ///< The derivative of H along each of some hinge-space vectors.
  gather,         ///< The block-diagonal y = x + E y E*, inward.
  spread,         ///< The block-diagonal y(k) = x(k) + E*(k,p) y(p) E(p,k), outward.
  carry,          ///< The block-diagonal y(k) = E*(k,p) x(p) E(p,k): one step outward.
  lyapunov,       ///< The block-diagonal y with r y + y r = x.
  derivative,     ///< Of an operator, along a hinge-space vector.
  time_rate,      ///< Of an operator, in time.
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
  // NOLINTNEXTLINE(readability-identifier-naming): the papers' letter
  friend Operator Q(const Operator& f);
  // NOLINTNEXTLINE(readability-identifier-naming): the papers' letter
  friend Operator dH(const std::vector<Operator>& along);
  friend Operator gather(const Operator& E, const Operator& x);
  friend Operator spread(const Operator& E, const Operator& x);
  friend Operator carry(const Operator& E, const Operator& x);
  friend Operator lyap(const Operator& r, const Operator& x);
  friend Operator diff(const Operator& x, const Operator& u);
  friend Operator dt(const Operator& x);
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
/// The block-diagonal Q of a stacked vector of forces (JR03 2.8): Q(f) x = cross(x)* f, skew. Throws OperatorError for
/// what is no stacked vector of body space.
// NOLINTNEXTLINE(readability-identifier-naming): the papers' letter
BUNRAKU_API Operator Q(const Operator& f);
/// The derivative of H along stacked vectors of hinge space, one after another: hinge space from body space,
/// memoryless. It is zero but for universal hinges, and those that users define, of which one vector alone is taken.
/// Throws OperatorError for other operands, or none.
// NOLINTNEXTLINE(readability-identifier-naming): the papers' letter
BUNRAKU_API Operator dH(const std::vector<Operator>& along);
/// The block-diagonal y with y = x + E y E*: each body's x and what its children carry over, from the tips to the base.
/// E is one step (E_φ, E_ψ, also of a family, or 𝕊) and x memoryless on body space, or of the form E z E*, which is
/// block diagonal, too, as each body has one parent; throws OperatorError otherwise. R = gather(E_φ, M).
BUNRAKU_API Operator gather(const Operator& E, const Operator& x);
/// The block-diagonal y with y(k) = x(k) + E*(k,p) y(p) E(p,k), p the parent of k: from the base to the tips. Throws as
/// gather. Υ = spread(E_ψ, H* D⁻¹ H).
BUNRAKU_API Operator spread(const Operator& E, const Operator& x);
/// The block-diagonal y with y(k) = E*(k,p) x(p) E(p,k), p the parent of k, zero at the bodies on the world: what
/// spread does once. Throws as gather.
BUNRAKU_API Operator carry(const Operator& E, const Operator& x);
/// The block-diagonal y with r y + y r = x, for memoryless r and x of one space, r symmetric and positive definite:
/// with r = sqrt(D) and the derivative x of D that of sqrt(D). Throws OperatorError for other operands.
BUNRAKU_API Operator lyap(const Operator& r, const Operator& x);
/// The derivative of x along u, a stacked vector of hinge space: that of the components of its blocks where the
/// configuration moves as q ⊕ ε u, at constant θ̇ and θ̈. u itself may depend on the state: its value counts. An
/// expression as all others are; what it comes to is found by rules (docs/operators.md, "Derivatives") when it is
/// simplified or evaluated. Throws OperatorError where u is no such vector, and where x has a part without a rule.
BUNRAKU_API Operator diff(const Operator& x, const Operator& u);
/// The derivative of x in the velocity coordinate i: along unit(i).
BUNRAKU_API Operator diff(const Operator& x, int i);
/// The derivative of x in time, with θ̇ and θ̈ the velocities and accelerations: that of components, so that dt(V) is
/// α less gravity and less cross((ω, 0)) V. Throws OperatorError where x has a part without a rule; θ̈, α, f and T would
/// need the rate of θ̈.
BUNRAKU_API Operator dt(const Operator& x);
/// The sum of several, at least one: as + adds them, in linear time. Throws OperatorError as + does.
BUNRAKU_API Operator sum_of(const std::vector<Operator>& parts);
/// The product of several, at least one: as * multiplies them, in linear time. Throws OperatorError as * does.
BUNRAKU_API Operator product_of(const std::vector<Operator>& parts);
/// x with its identities of unknown space in a known one; x itself where its space is known.
BUNRAKU_API Operator in_space(const Operator& x, const Space& space);

}  // namespace bunraku
