/// @file
/// The tuned sweeps of one state, in the variant for the processor: inverse and forward dynamics, 𝓜, 𝓜⁻¹ and 𝓜⁻¹x over
/// the coordinates of all hinges. See workspace.hpp for what they are.
#pragma once

#include <memory>
#include <span>

#include "bunraku/kernels/closure_support.hpp"
#include "bunraku/kernels/slopes.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

struct ColumnLayout;
struct DerivativeLayout;
struct LoopPlan;

/// The sweeps of one state, with their scratch. Made by make_sweeps; all memory is allocated then.
template <class T>
class Sweeps {
 public:
  Sweeps();
  virtual ~Sweeps();
  Sweeps(const Sweeps&) = delete;
  Sweeps& operator=(const Sweeps&) = delete;
  Sweeps(Sweeps&&) = delete;
  Sweeps& operator=(Sweeps&&) = delete;

  /// A new state in arrays over all hinges that stay where they are until the next; nothing is computed.
  virtual void set_state(const T* q, const T* v) = 0;
  /// Where the tree embeds loops: what they leave free at the state just set, with the columns of X in each cluster.
  /// False where something is in doubt, or without a plan of each cluster, and in single precision: then Embedding
  /// tells.
  virtual bool free_loops(std::span<const LoopPlan> plans, double tolerance, int* independent) = 0;
  /// Where the tree embeds loops: what they leave free at the state just set, as Embedding has it; `independent` stays
  /// where it is until the next. forward and what inverts 𝓜 are then of the closed system, and 𝓜⁻¹ is X(X*𝓜X)⁻¹X*.
  virtual void set_embedding(std::span<const double> basis, std::span<const double> bias, const int* independent) = 0;
  /// T = Hφ[Mφ*(H*θ̈ + a) + b] + armature (RK92 6–12) for velocities and accelerations of all hinges; null: zeros.
  virtual void inverse(const T* velocity, const T* acceleration, T* torque) = 0;
  /// θ̈ from T (RK92 §VII). Throws Error where D is singular.
  virtual void forward(const T* torque, T* acceleration) = 0;
  /// 𝓜⁻¹x = [I − HψK]* D⁻¹ [I − HψK] x. Throws as forward.
  virtual void solve(const T* x, T* out) = 0;
  /// 𝓜 = HφMφ*H* + armature by composite bodies (RK92 28–33), both triangles.
  virtual void mass_matrix(T* out) = 0;
  /// 𝓜⁻¹ = [I − HψK]* D⁻¹ [I − HψK], both triangles, over the user's coordinates. Throws as forward.
  virtual void inverse_mass_matrix(T* out) = 0;
  /// ln det 𝓜 = Σ ln D. Throws as forward.
  virtual T log_determinant() = 0;

  /// @name Derivatives; the first call of each makes room
  /// @{
  /// ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈ at the state's velocities, over all hinges, column by column; see inverse_derivatives.hpp.
  virtual void inverse_derivatives(const T* acceleration, T* dq, T* dv, T* da) = 0;
  /// The first two as products read them, until the next call. With `unbound` without columns that
  /// multiply_derivatives() does not read then.
  virtual Slopes<T> slopes(const T* acceleration, bool unbound) = 0;
  /// ∂T along (u, y, z) of (q, θ̇, θ̈) at the state's velocities, over all hinges; see inverse_products.hpp.
  virtual void inverse_along(const T* acceleration, const T* u, const T* y, const T* z, T* torque) = 0;
  /// (∂T/∂q)*λ, (∂T/∂θ̇)*λ and (∂T/∂θ̈)*λ, likewise.
  virtual void inverse_back(const T* acceleration, const T* weight, T* dq, T* dv, T* da) = 0;
  /// Whether no hinge of a free body has damping or a spring.
  virtual bool free_bare() = 0;
  /// 𝓜⁻¹ as inverse_mass_matrix(), by the factors of the last forward() at this state.
  virtual void inverse_mass_of_forward(T* out) = 0;
  /// 𝓜⁻¹x as solve(), likewise.
  virtual void solve_of_forward(const T* x, T* out) = 0;
  /// −𝓜⁻¹X and −𝓜⁻¹Y of slopes, with mimics over the user's coordinates; see derivative_products.hpp. `unbound`:
  /// nothing but gravity acts between free bodies and the world.
  virtual void multiply_derivatives(const T* inverse, const Slopes<T>& slopes, bool unbound, T* out_x, T* out_y) = 0;
  /// @}

  /// @name Closed systems, in steps: see closure_columns.hpp
  /// @{
  /// Of forward dynamics all but the last sweep; with `biased` false of 𝓜⁻¹x. Throws as forward.
  virtual void closed_inward(const T* torque, bool biased) = 0;
  /// ε as closed_inward left it, after corrections.
  virtual void closed_again() = 0;
  /// Where a closure's node is and, with `moving`, how it moves.
  virtual void closed_node(bool moving, ClosureNode<T>& node) = 0;
  /// How two nodes move against each other; and where forces in a's axes at b's point act on their links.
  virtual void closed_relation(const ClosureNode<T>& a, const ClosureNode<T>& b, ClosureRelation<T>& out,
                               PlainPose<T>& on_a, PlainPose<T>& on_b) const = 0;
  /// What a closure of constant directions asks of accelerations; see closure_terms.
  virtual void closed_terms(const RowForces<T>& N, const ClosureRelation<T>& relation, int rows, RowNumbers<T>& rate,
                            RowNumbers<T>& bias) const = 0;
  /// The columns of one closure, after closed_inward.
  virtual void closed_columns(ClosureColumns<T>& columns) = 0;
  /// What step D has of a closure on one tree or two; see closure_right.
  virtual void closed_right(ClosureColumns<T>& one, ClosureColumns<T>* two, const RowNumbers<T>& asked,
                            const RowNumbers<T>& bias, ClosureTerms<T>& out) const = 0;
  /// All of these at once, after closed_inward with velocities, of a closure of constant directions between two links
  /// of the tree, or of one and the world: see closure_loop.hpp.
  virtual void closed_loop(const ClosureNode<T>& a, const ClosureNode<T>& b, ClosureColumns<T>& columns,
                           ClosureTerms<T>& terms) = 0;
  /// Adds e*D⁻¹e of pairs of closures, scaled, to their blocks of Λ; see closure_products.
  virtual void closed_products(std::span<const ClosurePair<T>> pairs, const SharedCoordinate* shared, T* lambda,
                               std::size_t stride) const = 0;
  /// e, scaled, of all coordinates; see gather_columns.
  virtual void closed_gather(const ClosureColumns<T>& columns, T* out, std::size_t stride) const = 0;
  /// Eliminates n rows of `columns` numbers and substitutes back; see closure_solve.hpp. False where a pivot is not
  /// above `floor`.
  virtual bool closed_factor(T* rows, std::size_t stride, std::size_t n, std::size_t columns, T floor,
                             T& least) const = 0;
  /// The same of n rows that are independent, with f = Λ⁻¹r beside them; see solve_independent.
  virtual bool closed_independent(const T* lambda, std::size_t stride, std::size_t n, const T* r, T floor, T* rows,
                                  T* f, T& least) const = 0;
  /// x ← Λ⁻¹x by such factors.
  virtual void closed_solve(const T* rows, std::size_t stride, std::size_t n, T* x) const = 0;
  /// Adds the squares of columns of E W, with E from closed_gather of this tree; see add_squares.
  virtual void closed_squares(const T* E, std::size_t E_stride, const T* W, std::size_t W_stride, std::size_t m,
                              std::size_t columns, T* out) const = 0;
  /// r ← r − E*D⁻¹E f, likewise.
  virtual void closed_residual(const T* E, std::size_t stride, std::size_t m, const T* f, T* r) const = 0;
  /// The least of equal forces; see shorten_forces.
  virtual void closed_shorten(const T* C, std::size_t stride, std::size_t kept, std::size_t n, T* scratch, T* f,
                              T* y) const = 0;
  /// ε ← ε − e f̃.
  virtual void closed_correct(const ClosureColumns<T>& columns, const RowNumbers<T>& force) = 0;
  /// The last sweep: θ̈, or 𝓜⁻¹x.
  virtual void closed_outward(T* acceleration) = 0;
  /// D⁻¹ of each coordinate, after closed_inward.
  virtual const T* inverse_D() const = 0;
  /// ε of each coordinate, after closed_inward.
  virtual const T* innovations() const = 0;
  /// @}

  /// What it works on.
  const Tree& tree() const { return *tree_; }

  /// Keeps the tree that it works on.
  void keep(std::shared_ptr<const Tree> tree);

 protected:
  /// The lists of derivatives, made at the first call.
  const DerivativeLayout& derivative_layout(const ColumnLayout& composite, const ColumnLayout& innovation, int lanes);

 private:
  std::shared_ptr<const Tree> tree_;
  std::unique_ptr<const DerivativeLayout> derivative_layout_;
};

extern template class Sweeps<double>;
extern template class Sweeps<float>;

/// The sweeps of a model. O(N) memory.
template <class T>
std::unique_ptr<Sweeps<T>> make_sweeps(std::shared_ptr<const Tree> tree);

}  // namespace bunraku::kernels
