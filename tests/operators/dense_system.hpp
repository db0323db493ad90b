/// @file
/// What operator expressions come to, in dense matrices: from poses and joint maps alone, term by term.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "bunraku/operators/system.hpp"
#include "support/dense_blocks.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// The dense matrices of all symbols, velocities being the user's.
class DenseSystem {
 public:
  using Matrix = Eigen::MatrixXd;

  DenseSystem(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
              std::vector<Node> nodes = {});

  const Matrix& get(Symbol symbol) const;
  /// With couplings τ, τ̄ and Υ are left out, the stiffness of springs that are not linear always.
  bool has(Symbol symbol) const {
    return symbols_.contains(symbol) || symbol == Symbol::Omega || (symbol == Symbol::Upsilon && !coupled);
  }

  /// The value of a variable.
  void bind(const Operator& variable, const Matrix& value) {
    variables_[variable.term().name] = value;
    moved_.clear();
  }

  /// The matrix of an expression.
  Matrix operator()(const Operator& x) const;
  /// The derivative of the matrix of an expression by differences of tenth order, with the configuration moving along u
  /// and the velocities along w: of what is of moderate size good to about 1e-12.
  Matrix slope(const Operator& x, const Eigen::VectorXd& u, const Eigen::VectorXd& w) const;
  /// That matrix times vectors, without forming products.
  Matrix times(const Operator& x, const Matrix& vectors) const;

  int dimension(const Space& space) const;
  /// First number and count of a part of a space.
  std::pair<int, int> place(const Space& space) const;

  DenseBlocks blocks;
  int N = 0;
  int nv = 0;
  bool coupled = false;
  Matrix mass;                             ///< HφMφ*H* + 𝒜.
  std::vector<std::vector<int>> clusters;  ///< Bodies that are eliminated together, by their first.

 private:
  void put(Symbol symbol, const Matrix& value) const { symbols_[symbol] = value; }
  Matrix diagonal(const Matrix& all) const;
  void put_shifts();
  void put_nodes();
  /// The finest sets of bodies that hold each follower with its leader and have one parent each.
  void find_clusters();
  /// P, D, G and K for an inertia and an armature.
  struct Family {
    Matrix P;
    Matrix D;
    Matrix G;
    Matrix K;
  };
  /// Cluster by cluster, each as one body: H̄ = H φ_b, Ē = E_out φ_b, of its rows and columns alone.
  Family family_of(const Matrix& X, const Matrix& A) const;
  Matrix of_family(const Term& t) const;
  Matrix gathered(const Matrix& E, const Matrix& x) const;
  Matrix spread_out(const Matrix& E, const Matrix& x) const;
  void eliminate();
  void put_vectors(const Eigen::VectorXd& v, const Eigen::VectorXd& acceleration);
  /// Damping, Coulomb friction and springs, hinge by hinge; those of followers act on their leaders.
  void put_passive(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  Matrix cross_of(const Matrix& z) const;
  Matrix force_cross_of(const Matrix& f) const;
  Matrix carried(const Matrix& E, const Matrix& x) const;
  /// As it is where the state has moved by t along u and w. Kept.
  const DenseSystem& moved(double t, const Eigen::VectorXd& u, const Eigen::VectorXd& w) const;
  /// The derivative of H along vectors, the last one first.
  Matrix joint_rate(std::vector<Matrix> along) const;

  Eigen::VectorXd q_;
  Eigen::VectorXd v_;
  Eigen::VectorXd a_;
  std::vector<Node> nodes_;
  mutable std::map<Symbol, Matrix> symbols_;  // Ω and Υ when they are asked for
  std::map<std::string, Matrix> variables_;
  struct Moved {
    double t = 0;
    Eigen::VectorXd u;
    Eigen::VectorXd w;
    std::shared_ptr<const DenseSystem> there;
  };
  mutable std::vector<Moved> moved_;
};

/// The largest difference of two matrices, as a part of the largest element of both.
double relative_difference(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right);

/// A system at a random state with nodes on several bodies, and the dense one beside it.
struct SystemAndDense {
  SystemAndDense(const Model& of, unsigned seed);

  /// Made when asked for: differences of velocities take their time.
  DenseSystem dense() const { return {model, q, v, a, nodes}; }

  Random random;
  Model model;
  System system;
  Eigen::VectorXd q;
  Eigen::VectorXd v;
  Eigen::VectorXd a;
  std::vector<Node> nodes;
};

}  // namespace bunraku::test
