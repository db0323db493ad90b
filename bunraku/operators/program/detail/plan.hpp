/// @file
/// An expression as a sequence of loops over the bodies: what System runs and plan() prints.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku::operators {

/// What one step does at every body k with parent p. `in` are its operands.
enum class Step {
  input,         ///< The vector that the operator is applied to.
  one,           ///< The number 1, which a stacked vector is applied to.
  vector,        ///< A stacked vector's part (symbol, variable or unit).
  apply,         ///< The block of a memoryless symbol or variable, or D⁻¹, times in[0].
  apply_cross,   ///< The cross product of in[1], times in[0].
  apply_solved,  ///< The inverse or root of a memoryless expression's block, times in[0].
  combine,       ///< Σ coefficient · in.
  scale_by,      ///< in[0] times the number in[1].
  dot,           ///< The number Σ in[0]·in[1] over all bodies.
  inject,        ///< The part in[0] at one body, zero elsewhere.
  extract,       ///< The part of in[0] at one body.
  shift,         ///< Inward: E_φ, K or 𝕊. Σ over children of their block times in[0]. Outward: the adjoint.
  propagate,     ///< φ inward, φ* outward: x(k) = in[0](k) + Σ φ(k,c) x(c).
  filter,        ///< ψ inward: z = ψ(K x + w) with x = in[0], w = in[1], either may be absent.
  innovation,    ///< ε = x − H z of the filter in[0].
  smoother,      ///< ψ* outward: s = ψ*(H* d + w) with d = in[0], w = in[1], either may be absent.
  residual,      ///< r = d − K* s of the smoother in[0].
  apply_dense,   ///< The inverse or root of a matrix, times in[0].
};

/// Absent operand.
inline constexpr int no_value = -1;

/// A memoryless or neighbour operator as steps apply it.
struct Factor {
  Operator what = Operator::identity();  ///< A symbol, a variable, or (for solved and dense) an expression.
  bool adjoint = false;                  ///< Its adjoint.
};

/// One value of the plan and the step that makes it.
struct Value {
  Step step = Step::input;                ///< How it is made.
  std::vector<int> in = {};               ///< Operands: indices of values.
  std::vector<double> coefficients = {};  ///< For combine.
  Factor factor = {};                     ///< For vector, apply, apply_solved, apply_dense, shift.
  Space space = {};                       ///< Where it lives.
};

/// Which way a loop runs.
enum class Direction {
  inward,   ///< From the tips to the base.
  outward,  ///< From the base to the tips.
  local,    ///< Any order.
  whole,    ///< Not a loop over the bodies: a dense solve.
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
  std::vector<Loop> loops = {};                ///< In order.
  int output = no_value;                       ///< The result.
  int input = no_value;                        ///< The vector applied to, or no_value.
  bool symmetric = false;                      ///< The expression is its own adjoint.

  /// Loops that carry information along the tree.
  int sweeps() const;
};

/// Which way a step has to run: inward, outward, or local where it does not matter.
Direction direction_of(const Value& value);
/// Whether a value is complete only after the loop that makes it: one that belongs to no body, or to one alone.
bool is_late(const Value& value);

/// The plan of an expression as it stands. Inverses of memoryless operators are taken block by block; another is
/// refused (OperatorError), or with `dense` taken by a dense matrix.
Plan make_plan(const Operator& x, bool dense);

/// x with all adjoints moved to symbols, and symbols that others define replaced: φ̃, ψ̃, τ, τ̄, E_ψ, Ω.
Operator expanded(const Operator& x);
/// x with all adjoints moved to symbols, variables and solved blocks.
Operator pushed(const Operator& x);
/// pushed(x) or its adjoint, whichever has fewer adjoints in it, written as ~(…) in the second case; part by part.
Operator tidied(const Operator& x);

/// Floating-point operations and bytes moved for a body, in the mean over the bodies, whose hinges have `nv` velocities
/// in the mean.
struct Work {
  double flops = 0;  ///< Additions and multiplications.
  double bytes = 0;  ///< Read and written, blocks and values.
};
/// The work of one step at a body.
Work work_of(const Plan& plan, int index, double nv, double nodes);

/// A loop as a recursion in the papers' style.
std::string recursion(const Plan& plan, const Loop& loop);
/// Its lines.
std::vector<std::string_view> lines_of(std::string_view recursion);

}  // namespace bunraku::operators
