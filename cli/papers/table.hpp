/// @file
/// The statements of the papers about open chains, as pairs of operator expressions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bunraku::cli::papers {

/// Random systems of each kind.
inline constexpr int random_systems = 50;
/// The largest residual of a statement that holds, but for procedures that say otherwise.
inline constexpr double tolerance = 1e-11;
/// The smallest one that refutes.
inline constexpr double refutation = 1e-3;

/// On which systems a statement is meant to hold. Blocks are counted from the base, bodies 0, 1, …
enum class Systems {
  any,        ///< Chains, trees and robots.
  serial,     ///< Chains, and robots that are chains.
  chain4,     ///< Chains of four bodies on hinges of all types.
  revolute4,  ///< Chains of four bodies on revolute hinges.
  slider4,    ///< Chains of four: revolute, revolute, prismatic, revolute.
  branch5,    ///< Trees of five: 0 carries 1, 1 carries 2 and 3, 3 carries 4.
  mobile4,    ///< Chains of four: free, revolute, spherical, revolute, with one node on the last.
  arms,       ///< Two to six chains of six or seven on revolute hinges, with a node on the tip of each.
  flexible,   ///< Trees of rigid and flexible bodies on hinges of all types, children on frames and on nodes.
  nodal,      ///< Chains of flexible bodies of which every node has six displacements of its own (RJK89 §4).
};

/// What is claimed of the two sides.
enum class Claim {
  holds,      ///< They are equal.
  algebra,    ///< They are equal by a definition, or by adding and multiplying out: printed in a paper, shows little.
  fails,      ///< They are not: a misprint. See docs/errata.md.
  ill_typed,  ///< A misprint that does not even fit: its factors are of different spaces.
};

/// One statement: left = right. Besides the symbols it may use what expand() and variables() know.
struct Row {
  const char* line;                ///< Which line of its item: the number in the paper, as far as there is one.
  const char* source;              ///< Where the papers have it.
  const char* left;                ///< Operator text.
  const char* right;               ///< Operator text.
  Systems systems = Systems::any;  ///< On what.
  Claim claim = Claim::holds;      ///< What is claimed.
  const char* note = "";           ///< What it says, or how it was read.
};

/// One item of the papers.
struct Item {
  const char* id;             ///< K1 … L1.
  const char* title;          ///< What it is about.
  std::span<const Row> rows;  ///< Its statements.
};

/// All of them.
std::span<const Item> items();

/// A text of the table with its abbreviations written out: MASS, BIAS, the papers' own Φ, Ψ and L, and so on.
std::string expand(std::string_view text);

}  // namespace bunraku::cli::papers
