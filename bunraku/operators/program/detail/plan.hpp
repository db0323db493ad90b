/// @file
/// An expression as loops over the bodies, from the state to the result: what programs run and plan() prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/program/detail/folded.hpp"

namespace bunraku::operators {

/// What one step does at every body k with parent p.
enum class Step {
  // what is there from the start
  input,      ///< The vector that the operator is applied to.
  probe,      ///< Unit vectors, to which an expression is applied that is wanted as blocks or as a matrix.
  one,        ///< The number 1, which a stacked vector is applied to.
  given,      ///< A stacked vector that the state has: θ̇, θ̈ or T.
  passive,    ///< The hinges' own forces T_p.
  constants,  ///< A user's stacked vector, or a unit vector.
  // blocks
  joints,          ///< φ(p,k) and H of the configuration.
  riccati,         ///< Inward: P, D, G of a family (X, A).
  blocks,          ///< The blocks of a memoryless expression.
  block_inverse,   ///< Their inverses.
  block_root,      ///< Their symmetric roots.
  block_lyapunov,  ///< y of r y + y r = x, for the blocks r and x.
  joint_rate,      ///< The derivative of H along the vectors in.
  gather,          ///< Inward: y = x + E y E*, block diagonal.
  spread,          ///< Outward: y(k) = x(k) + E*(k,p) y(p) E(p,k).
  carry,           ///< Outward: y(k) = E*(k,p) x(p) E(p,k).
  dense_inverse,   ///< The inverse of an expression's matrix.
  dense_root,      ///< Its symmetric root.
  closures,        ///< The closures' equations: A and A_h of the configuration.
  columns,         ///< The matrix of an expression, column by column.
  norms,           ///< |D^(−½) x|² of the columns x of an expression, made where the solve asks for it.
  solve,  ///< (e*D⁻¹e)⁻¹ of closure size from the columns e; without e the inverse of any closure-space matrix.
  // vectors
  bias,               ///< Outward: a of V.
  gravity,            ///< a_g.
  gyroscopic,         ///< b of V.
  node_bias,          ///< a_n of V.
  rates,              ///< What closures ask of their nodes' accelerations, of V and θ̇.
  apply,              ///< A block times in[0].
  apply_cross,        ///< The cross product of in[1], times in[0].
  apply_force_cross,  ///< Q of the forces in[1], times in[0].
  apply_dense,        ///< A matrix times in[0].
  combine,            ///< Σ coefficient · in.
  scale_by,           ///< in[0] times the number in[1].
  dot,                ///< The number Σ in[0]·in[1] over all bodies.
  inject,             ///< The part in[0] at one body, zero elsewhere.
  extract,            ///< The part of in[0] at one body.
  shift,              ///< Inward: E_φ, K or 𝕊. Σ over children of their block times in[0]. Outward: the adjoint.
  propagate,          ///< φ inward, φ* outward: x(k) = in[0](k) + Σ φ(k,c) x(c).
  filter,             ///< ψ inward: z = ψ(K x + w) with x = in[0], w = in[1], either may be absent.
  innovation,         ///< ε = x − H z of the filter in[0].
  smoother,           ///< ψ* outward: s = ψ*(H* d + w) with d = in[0] or D⁻¹ in[0], w = in[1], either may be absent.
  residual,           ///< r = d − K* s of the smoother in[0].
};

/// Which block a step applies or shifts by.
enum class Part {
  none,
  M,          ///< Spatial inertia.
  H,          ///< Joint map.
  B,          ///< Nodes to bodies.
  Delta_phi,  ///< φ(p,k) at k.
  armature,   ///< Rotors.
  stiffness,  ///< Springs.
  ang,        ///< The angular part.
  P,          ///< Of a riccati step.
  D,          ///< Likewise.
  inverse_D,  ///< Likewise.
  G,          ///< Likewise.
  blocks,     ///< Of a step that makes blocks.
  variable,   ///< A user's variable or function.
  A,          ///< Of a closures step.
  A_h,        ///< Likewise.
  E_phi,      ///< One step inward.
  S,          ///< One step inward, numbers as they stand.
  K,          ///< One step inward, through the gain of a riccati step.
  E_psi,      ///< One step inward, through free hinges: for gather and spread.
};

/// Absent operand.
inline constexpr int no_value = -1;

/// One value of the plan and the step that makes it.
struct Value {
  Step step = Step::input;                ///< How it is made.
  Part part = Part::none;                 ///< Which block.
  bool adjoint = false;                   ///< Its adjoint.
  std::vector<int> in = {};               ///< Vectors, or what a step is made of: indices of values.
  std::vector<int> uses = {};             ///< Blocks: indices of values.
  std::vector<double> coefficients = {};  ///< For combine.
  Operator what = Operator::identity();   ///< What it is called, or the expression that is wanted as blocks or matrix.
  Space space = {};                       ///< Where a vector lives; where blocks take to.
  Space domain = {};                      ///< What blocks take.
  bool of_state = true;                   ///< Does not depend on the vector applied to.
  int owner = no_value;                   ///< The value that runs it for each of its unit vectors.
};

/// Which way a loop runs.
enum class Direction {
  inward,   ///< From the tips to the base.
  outward,  ///< From the base to the tips.
  local,    ///< Any order.
  whole,    ///< Not a loop over the bodies: a dense matrix, or closures.
};

/// A loop: its steps are done at each body in turn.
struct Loop {
  Direction direction = Direction::local;  ///< Which way.
  std::vector<int> values = {};            ///< What it makes, in order.
};

/// The loops that apply an expression to a vector.
struct Plan {
  Operator expression = Operator::identity();  ///< What is computed.
  std::vector<Value> values = {};              ///< Operands before what uses them.
  std::vector<Loop> fused = {};                ///< With a new state: all.
  std::vector<Loop> of_state = {};             ///< What a state is enough for.
  std::vector<Loop> of_vector = {};            ///< With a new vector at the same state: the rest.
  int output = no_value;                       ///< The result.
  int input = no_value;                        ///< The vector applied to, or no_value.
  bool symmetric = false;                      ///< The expression is its own adjoint.
  bool mergeable = false;                      ///< Bodies joined by fixed hinges may be taken for one.
};

/// Which loops carry information along the tree.
int sweeps_in(const std::vector<Loop>& loops);

/// What of a system bears on how its symbols are computed. Where neither θ̈ nor T is given both are taken as given, so
/// that there is a plan; values they have none.
struct Meaning {
  bool accelerations = false;  ///< θ̈ is given, and T follows.
  bool torques = false;        ///< T is given, and θ̈ follows.
  bool coupled = false;        ///< Some hinges are coupled.

  /// Equality of all.
  friend bool operator==(const Meaning&, const Meaning&) = default;
};

/// Which way a step has to run: inward, outward, or local where it does not matter.
BUNRAKU_API Direction direction_of(const Value& value);
/// Whether a value is complete only after the loop that makes it: one that belongs to no body, or to one alone.
bool is_late(const Value& value);

/// What to do with an inverse of an operator that carries between bodies.
enum class Inverses {
  refused,  ///< OperatorError.
  dense,    ///< By a dense matrix.
};

/// The plan of an expression as it stands. Inverses of memoryless operators are taken block by block.
BUNRAKU_API Plan make_plan(const Operator& x, const Meaning& meaning, Inverses inverses);

/// e with x = e*D⁻¹e for the D of one family, and that D, where x is such a sum of products: A B*Ω B A* and, of
/// closures of hinge coordinates too, Y 𝓜⁻¹Y*. x is expanded.
struct Columns {
  Operator e;  ///< Hinge space from closure space.
  Operator D;  ///< Of which family.
};
std::optional<Columns> columns_of(const Operator& x);

/// Drops what the result does not need, marks what depends on the vector alone, and fills the loops.
void put_in_order(Plan& plan);
/// Whether nothing tells one link from its bodies: body space is met between hinges, nodes and numbers only, and there
/// in the forms H φ load and φ* H*.
bool is_mergeable(const Plan& plan);

/// A loop as a recursion in the papers' style. `nested`: some body k is a cluster of bodies of which one hangs on
/// another; φ_b(k) is φ among these, and H̄(k) = H(k) φ_b(k).
std::string recursion(const Plan& plan, const Loop& loop, bool nested);

}  // namespace bunraku::operators
