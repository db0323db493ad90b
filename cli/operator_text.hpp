/// @file
/// What `op` and `verify` take from the command line and show of expressions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/verify.hpp"

namespace bunraku::cli {

/// Variables as `--let` declares them: `A:body<-body` an operator, `x:hinge` a stacked vector. Throws ArgumentError.
Variables parse_variables(const std::vector<std::string>& declarations);
/// The help of `--let`.
inline constexpr const char* let_help =
    "a name for an arbitrary memoryless operator, A:body<-body, or stacked vector, x:hinge (repeatable); spaces are "
    "hinge, body and node";

/// The names of a list: separated by commas, white space around them aside; a backslash before a comma keeps it.
std::vector<std::string> split_names(std::string_view list);

/// The two sides of `LHS = RHS` or `LHS == RHS`.
struct Sides {
  std::string_view left;   ///< Before the sign.
  std::string_view right;  ///< After it.
  bool doubled = false;    ///< It is `==`.
};
/// Takes a text apart at its `=` or `==`, one in a body's name aside; nothing where there is none.
std::optional<Sides> split_sides(std::string_view text);

/// A row or a column of a matrix.
struct Place {
  int index;          ///< Its number in file order.
  std::string label;  ///< The body, hinge or node whose first number it is; empty for the others.
};
/// The `size` numbers of a space in an order.
std::vector<Place> places_of(const Model& model, std::span<const Node> nodes, const Space& space, int size,
                             Order order);

/// The matrix of an expression, column by column. Throws ArgumentError where it would not fit into memory.
std::vector<double> dense_matrix(Evaluation& evaluation, Order order);
/// The same for people: a line a row, with the name of its body, hinge or node.
std::string dense_text(Evaluation& evaluation, const Model& model, Order order);

/// `hinge space from body space, 7 × 54, causal`, or what a stacked vector is.
std::string spaces_text(const Operator& x, int rows, int cols);
/// `2 sweeps: inward, outward`.
std::string sweeps_text(const PlanReport& plan);
/// An expression for people: as the papers write it, its spaces, what is evaluated in its place, in how many sweeps.
std::string summary_text(const Operator& x, const Evaluation& evaluation);

/// A derivation for people, a line a step.
std::string derivation_text(const Derivation& derivation);
/// A verdict for people, in one line.
std::string verdict_text(const Verdict& verdict);

/// The symbols and functions of the language, for people.
std::string symbols_text();
/// The symbols for programs.
std::string symbols_json();

/// `hinge`, `body`, `node`, `number`.
std::string_view space_name(SpaceKind kind);

}  // namespace bunraku::cli
