/// @file
/// An e-graph of operator expressions: classes of terms that the identities make equal, with proofs.
///
/// A term has an id of its own, whose operands are ids; equal ids share a class. Products and sums are binary here.
/// Adjoints stand at symbols only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bunraku/operators/rewriting/identities.hpp"

namespace bunraku::operators {

/// What a term of the e-graph is.
enum class ENodeType : std::uint8_t { leaf, identity, zero, product, sum, scale, inverse };

/// A term: its operands are ids of terms.
struct ENode {
  ENodeType type = ENodeType::leaf;
  int a = -1;         ///< First operand, or the leaf's index.
  int b = -1;         ///< Second operand.
  double number = 1;  ///< For scale.

  friend bool operator==(const ENode&, const ENode&) = default;
};

/// Hash of a term.
struct ENodeHash {
  std::size_t operator()(const ENode& n) const;
};

/// Why two terms are equal.
struct Reason {
  enum class Type : std::uint8_t { congruence, algebra, identity } type = Type::congruence;
  int identity = -1;       ///< Index of the identity.
  bool backwards = false;  ///< From its right to its left.
};

/// See the file's description.
class EGraph {
 public:
  /// The identities that hold, and their adjoints.
  EGraph(std::span<const Identity> identities, const Conditions& conditions);

  /// Adds an expression, whose adjoints stand at symbols. The id of its term.
  int add(const Operator& x);
  /// Adds a term of terms that are there, and finds out what that makes equal.
  int insert(const ENode& n);
  /// Applies identities and the laws of algebra until nothing new is found or there are more than so many terms.
  void saturate(int max_nodes);

  /// The class of a term, as the id of one of its terms.
  int find(int id) const;
  /// Number of terms.
  int size() const { return static_cast<int>(nodes_.size()); }
  /// A term.
  const ENode& node(int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// The leaf of a term.
  const Operator& leaf(const ENode& n) const { return leaves_[static_cast<std::size_t>(n.a)]; }
  /// Where a term's values are, and what it acts on.
  const Space& range(int id) const { return ranges_[static_cast<std::size_t>(id)]; }
  const Space& domain(int id) const { return domains_[static_cast<std::size_t>(id)]; }
  /// One term of each class that differs from the others in more than the ids of equal operands.
  std::vector<std::vector<int>> distinct_terms() const;

  /// The term as an expression.
  Operator expression(int id) const;
  /// One step of a proof: the whole expression after it.
  struct ProofStep {
    Operator expression;
    Reason reason;
  };
  /// How one term becomes another of the same class.
  std::vector<ProofStep> prove(int from, int to) const;

 private:
  struct GroundRule {
    Operator left;
    Operator right;
    Reason reason;
  };

  int add(const ENode& n);
  int add_leaf(const Operator& x);
  int product(int a, int b) { return add(ENode{ENodeType::product, a, b}); }
  int sum(int a, int b) { return add(ENode{ENodeType::sum, a, b}); }
  int scaled(double number, int a) { return add(ENode{ENodeType::scale, a, -1, number}); }
  int identity(const Space& space);
  /// Zero between the spaces of another term.
  int zero(int like);
  /// The term of an expression where it is there already, or −1.
  int lookup(const Operator& x) const;
  int lookup(const ENode& n) const;
  ENode canonical(const ENode& n) const;
  void unite(int x, int y, const Reason& reason);
  void rebuild();
  void apply_identities();
  void apply_algebra(int id);
  void product_laws(int id);
  void sum_laws(int id);
  void scale_laws(int id);
  void inverse_laws(int id);
  /// The terms of the class of `id` at the start of the round, of one type.
  template <class Visit>
  void each_term(int id, ENodeType type, const Visit& visit);
  template <class Visit>
  void each_multiple(int id, const Visit& visit);
  /// Says that two terms are equal by a law.
  void equal(int x, int y) { unite(x, y, {Reason::Type::algebra}); }
  /// Whether a pair has not been looked at yet.
  bool first_time(int law, int x, int y, double c = 1, double d = 1);
  bool full() const { return size() > max_nodes_; }
  /// The way from a term to the root of its proof tree.
  std::vector<int> way_up(int id) const;
  void prove_edge(int from, int to, const Reason& reason, std::vector<ProofStep>& out) const;

  std::vector<ENode> nodes_;
  std::vector<Space> ranges_;
  std::vector<Space> domains_;
  std::vector<Operator> leaves_;
  std::vector<Operator> zeros_;      // 0 · x for some x between the spaces in question
  mutable std::vector<int> parent_;  // union-find
  std::vector<int> proof_parent_;    // proof forest
  std::vector<Reason> proof_reason_;
  std::vector<std::vector<int>> members_;  // by class
  std::vector<ENodeType> plain_;           // by class: identity or zero where it holds one, else leaf
  std::vector<std::vector<int>> uses_;     // by class: terms that have it as an operand
  std::vector<int> dirty_;
  std::unordered_map<ENode, int, ENodeHash> exact_;
  std::unordered_map<ENode, int, ENodeHash> canonical_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<GroundRule> rules_;
  std::vector<std::vector<int>> round_;  // distinct terms of each class at the start of a round
  int max_nodes_ = 0;
};

}  // namespace bunraku::operators
