/// @file
/// What the symbols stand for at a state of a model: the blocks of all bodies, hinges and nodes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "bunraku/dynamics/detail/blocks.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/detail/clusters.hpp"
#include "bunraku/operators/language/operator.hpp"

namespace bunraku::operators {

using Matrix = Eigen::MatrixXd;

/// Bodies whose hinges are eliminated together, and what is attached to them.
struct Cluster : detail::Cluster {
  std::vector<int> nodes = {};  ///< Nodes on its members.
};

/// A block of a user's variable: what one body's or node's numbers contribute.
struct VariableBlock {
  int cluster = 0;             ///< Whose step applies it.
  std::vector<int> rows = {};  ///< Numbers of the range.
  std::vector<int> cols = {};  ///< Numbers of the domain.
  Matrix values = {};          ///< The block.
};

/// The values of a user's variable: one block a body, or a node where it acts from or to node space.
struct VariableBlocks {
  Operator variable = Operator::identity();  ///< Its name and spaces.
  std::vector<VariableBlock> blocks = {};    ///< In the order of bodies or nodes.
  /// The blocks of each cluster.
  std::vector<std::vector<const VariableBlock*>> by_cluster = {};
};

/// The state of a System, and the blocks at it. What is asked for by need() is computed once for a state.
class Bindings {
 public:
  Bindings(Model model, PassiveForces passive);
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;
  ~Bindings() = default;

  void set_state(std::span<const double> q, std::span<const double> v);
  void set_accelerations(std::span<const double> a);
  void set_torques(std::span<const double> tau);
  void set_nodes(std::vector<Node> nodes);
  /// A variable with blocks of zeros.
  VariableBlocks blocks_for(const Operator& variable) const;
  void bind(VariableBlocks values);

  const Model& model() const { return model_; }
  PassiveForces passive_forces() const { return passive_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Those on body k.
  const std::vector<int>& nodes_at(int k) const { return nodes_at_[static_cast<std::size_t>(k)]; }
  const kernels::Blocks<double>& blocks() const { return blocks_; }
  const std::vector<Cluster>& clusters() const { return clusters_; }
  /// Whether some hinges are coupled, so that clusters have several bodies.
  bool coupled() const { return coordinates_.has_mimics; }
  /// Whether some hinge has armature.
  bool geared() const { return geared_; }
  /// Changes with whatever the blocks depend on.
  std::uint64_t version() const { return version_; }
  /// The velocity of the user that velocity j of all hinges follows, and its ratio.
  const kernels::Follower<double>& follower(int j) const {
    return coordinates_.velocities[static_cast<std::size_t>(j)];
  }
  /// The number of all values in a space, or in a part of it.
  int dimension(const Space& space) const;
  /// The body that a part names, by name or number. Throws OperatorError.
  int part(const Space& space) const;

  /// Throws OperatorError where the model gives the symbol no meaning.
  void check(Symbol symbol) const;
  /// Makes the blocks of a symbol available. Throws OperatorError where a vector has no value; Error where D is
  /// singular.
  void need(Symbol symbol);

  /// The stacked vector of a symbol. After need().
  std::span<const double> vector(Symbol symbol) const;
  /// The blocks of a variable. Throws OperatorError where it has no values.
  const VariableBlocks& variable(const Operator& x) const;
  /// R(k). After need().
  const RigidInertia<double>& R(int k) const { return R_[static_cast<std::size_t>(k)]; }
  /// Υ(k). After need().
  const Mat6<double>& upsilon(int k) const { return upsilon_[static_cast<std::size_t>(k)]; }
  /// With couplings: D and D⁻¹ of a cluster, and K = 6×n of it. After need().
  const Matrix& D(int cluster) const { return D_[static_cast<std::size_t>(cluster)]; }
  const Matrix& D_inverse(int cluster) const { return D_inverse_[static_cast<std::size_t>(cluster)]; }
  const Matrix& K(int cluster) const { return K_[static_cast<std::size_t>(cluster)]; }
  /// With couplings: the rotor inertia of a velocity of the user, its followers' included.
  double armature(int coordinate) const { return armature_[static_cast<std::size_t>(coordinate)]; }

  /// What simplify makes of an expression, found once.
  template <class Simplify>
  const Operator& simplified(const Operator& x, const Simplify& simplify) {
    for (const auto& [from, to] : simplified_) {
      if (from == x) {
        return to;
      }
    }
    return simplified_.emplace_back(x, simplify(x)).second;
  }

 private:
  void make_clusters();
  void place_nodes();
  void sweep_clusters();
  void fill_vector(Symbol symbol);
  void fill_accelerations();
  void fill_forces();
  void fill_torques();
  /// The dynamics at the state.
  State& dynamics();
  std::vector<double>& stored(Symbol symbol);

  Model model_;
  kernels::Coordinates<double> coordinates_;
  std::vector<double> q_;
  std::vector<double> v_;
  kernels::Blocks<double> blocks_;
  PassiveForces passive_;
  std::unique_ptr<State> dynamics_;  // for what is the same there: θ̈ from given torques, passive torques
  std::vector<Cluster> clusters_;
  std::vector<int> cluster_of_;  // by body
  std::vector<Node> nodes_;
  std::vector<std::vector<int>> nodes_at_;  // by body; none without nodes
  std::deque<VariableBlocks> variables_;    // by_cluster points into them
  std::optional<std::vector<double>> given_accelerations_;
  std::optional<std::vector<double>> given_torques_;
  std::vector<double> next_q_;
  std::vector<double> user_q_;
  std::vector<double> user_v_;
  bool geared_ = false;
  std::uint64_t version_ = 1;
  std::deque<std::pair<Operator, Operator>> simplified_;

  /// Something for each symbol.
  template <class T>
  struct BySymbol : std::array<T, static_cast<std::size_t>(Symbol::T_p) + 1> {
    T& operator[](Symbol s) { return this->at(static_cast<std::size_t>(s)); }
    const T& operator[](Symbol s) const { return this->at(static_cast<std::size_t>(s)); }
  };
  BySymbol<std::uint64_t> fresh_{};  // the version that a symbol's blocks were computed for
  BySymbol<std::vector<double>> vectors_;
  std::vector<RigidInertia<double>> R_;
  std::vector<Mat6<double>> upsilon_;
  std::vector<Matrix> D_;
  std::vector<Matrix> D_inverse_;
  std::vector<Matrix> K_;
  std::vector<double> armature_;
};

}  // namespace bunraku::operators
