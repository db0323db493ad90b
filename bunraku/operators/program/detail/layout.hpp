/// @file
/// How the values of a plan lie in memory over a folded model: what of an Evaluator no scalar bears on.
///
/// It is made by an ordinary source, once for all evaluators of whatever scalar: the code for registers, which is
/// compiled for several kinds of processor, may hold no containers but those of its own scalar.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

/// A block of a user's variable: what one body's or node's numbers contribute.
struct VariableBlock {
  int unit = 0;                     ///< Whose step applies it.
  std::vector<int> rows = {};       ///< Numbers of the range.
  std::vector<int> cols = {};       ///< Numbers of the domain.
  std::vector<double> values = {};  ///< Row by row.
};

/// The values of a user's variable.
struct VariableBlocks {
  Operator variable = Operator::identity();  ///< Its name and spaces.
  std::vector<VariableBlock> blocks = {};    ///< In the order of bodies or nodes.
};

/// The values that functions give at a state: q and v are the user's.
void fill_defined(const Model& model, std::span<const double> q, std::span<const double> v,
                  std::vector<VariableBlocks>& variables);

/// What a program needs to know beside model and state.
struct Attachments {
  std::vector<Node> nodes = {};                ///< What B refers to.
  int closure_nodes = 0;                       ///< How many of the first are the closures' own.
  std::vector<VariableBlocks> variables = {};  ///< Values of users' variables.
  bool ideal = false;                          ///< Hinges have no forces of their own.
};

/// The nodes of the model's closures, a and b of each, in their order; those of hinge coordinates have none.
BUNRAKU_API std::vector<Node> closure_nodes(const Model& model);
/// What an expression is evaluated with: where it names A, a_n, U or M_C, or no nodes are given, node space begins with
/// the closures' own nodes. The values of variables are those of the given nodes. Throws OperatorError where B or a
/// symbol of closures has no meaning; `cure` says how to name nodes.
BUNRAKU_API Attachments attachments_for(const Operator& x, const Model& model, const Attachments& given,
                                        const std::string& cure);

/// The body, node or closure that a part names, by name or number. Throws OperatorError.
BUNRAKU_API int part_of(const Model& model, std::span<const Node> nodes, const Space& space);

/// A variable with blocks of zeros for a model folded by bodies.
BUNRAKU_API VariableBlocks blocks_for(const Folded& folded, std::span<const Node> nodes, const Operator& variable);

/// Makes room for the operators of a plan that functions give; `bodies` is folded by bodies.
void attach_defined(const Folded& bodies, const Plan& plan, Attachments& attached);

/// Throws OperatorError where a recursion along E_ψ, or E_φ z E_φ* of blocks that join the bodies of a cluster, would
/// not be block diagonal by bodies: one of a cluster hangs on another.
BUNRAKU_API void check_clusters(const Plan& plan, const Folded& folded);

/// Throws OperatorError where H is to be differentiated more than once, and a hinge of a user's has no such rate; where
/// springs are to be, and one is on a hinge whose coordinates are not plain.
BUNRAKU_API void check_rates(const Plan& plan, const Folded& folded, bool ideal);

/// Throws OperatorError: a matrix or, with a unit, its block has no inverse or root.
[[noreturn]] BUNRAKU_API void refuse_matrix(const Plan& plan, const Folded& folded, int value, int unit,
                                            std::string_view why);

/// The numbers of a space that belong to each unit, and the blocks between two spaces.
struct UnitPlaces {
  std::vector<std::vector<int>> numbers;  ///< By unit.
};

/// Where i stands among numbers, or how many there are.
BUNRAKU_API std::size_t index_in(std::span<const int> numbers, int i);
/// Those of all stretches that have links in a range.
BUNRAKU_API std::span<const Stretch> stretches(std::span<const Stretch> all, int begin, int end);

/// Where a value is, and what has to be done for it before its loop.
struct SlotLayout {
  std::size_t begin = 0;         ///< Among all numbers.
  std::size_t rest = 0;          ///< Likewise, of filter and smoother: ε or r.
  bool has_rest = false;         ///< Whether there is one.
  bool of_rest = false;          ///< Its numbers are the rest of its operand.
  int size = 0;                  ///< Numbers.
  bool adds_up = false;          ///< Begins at zero before its loop.
  bool is_begun = false;         ///< Has something to do before its loop.
  int extra = -1;                ///< Of riccati, variables: which.
  std::vector<int> begins = {};  ///< Of blocks: where each unit's begins.
  std::vector<int> run = {};     ///< Of blocks and matrices: the values to run for each unit vector.
  int body = -1;                 ///< Of inject and extract.
  int first = 0;                 ///< Likewise: where its numbers begin.
};

/// A Riccati recursion of a plan.
struct FamilyLayout {
  int value = no_value;    ///< The plan's.
  bool whole_D = false;    ///< Whether D itself is asked for, not only its factors.
  bool of_bodies = false;  ///< Whether it is that of the bodies' inertias and rotors.
};

/// See above. Immutable, but for the values of variables that functions give.
struct BUNRAKU_API EvaluatorLayout {
  /// O(N). Throws OperatorError where the model gives the plan no meaning.
  EvaluatorLayout(std::shared_ptr<const Plan> of, std::shared_ptr<const Folded> over,
                  std::shared_ptr<const Attachments> with);
  ~EvaluatorLayout();
  EvaluatorLayout(const EvaluatorLayout&) = delete;
  EvaluatorLayout& operator=(const EvaluatorLayout&) = delete;

  /// Numbers in a space or in a part of it.
  int dimension(const Space& space) const;
  /// Numbers of a space that belong to a unit.
  int unit_size(SpaceKind kind, int unit) const {
    return static_cast<int>(places[static_cast<std::size_t>(kind)].numbers[static_cast<std::size_t>(unit)].size());
  }

  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Folded> folded;
  std::shared_ptr<const Attachments> attached;
  std::vector<NodePlace> nodes;                ///< Where the attached ones are.
  std::array<UnitPlaces, space_kinds> places;  ///< By kind of space; closures are on no unit.
  std::vector<int> bar;                        ///< By unit: the first of its H̄; one more than there are units.
  std::vector<SlotLayout> slots;               ///< Of each value of the plan.
  std::vector<FamilyLayout> families;          ///< In the order of the plan.
  std::vector<int> riccatis;                   ///< Their values.
  std::size_t room = 0;                        ///< Numbers of all values.
  std::size_t largest_cluster = 0;             ///< Links of the largest unit …
  std::size_t largest_coordinates = 0;         ///< … and coordinates.
  int rows = 0;                                ///< Numbers in the result.
  int cols = 0;                                ///< Numbers in the vector applied to; 1 for a stacked vector.

 private:
  void make_places();
  void make_slots();
};

/// For each velocity of all hinges, of a cluster's at its leaders': a D above it is positive. O(N).
template <class T>
std::vector<T> doubts_of(const Folded& folded);

/// Whether every step of a plan can be done for several states side by side: not matrices that are inverted by Eigen or
/// have roots, nor closures, nor what functions of the user give.
BUNRAKU_API bool runs_in_lanes(const EvaluatorLayout& layout);

}  // namespace bunraku::operators
