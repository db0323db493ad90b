/// @file
/// On what the statements are tried: random chains and trees, and robots, each at one random state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "bunraku/model/flexible.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "papers/dense.hpp"
#include "papers/table.hpp"

namespace bunraku::cli::papers {

/// Numbers that are the same on every machine.
class Random {
 public:
  /// The sequence of a seed.
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform.
  double uniform(double low, double high);
  /// Uniform, both ends included.
  int integer(int low, int high);
  /// Normal, of mean 0 and variance 1.
  double normal();
  /// Uniform in (−1, 1).
  Eigen::VectorXd vector(int size);
  /// A seed for another sequence.
  std::uint64_t seed() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

/// The numbers of a vector.
inline std::span<const double> as_span(const Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// A system at a state, for the operators and for the references.
class Sample {
 public:
  /// At a random state with random accelerations, two nodes (mobile4: one), and random values of x, y, w, u, A, C.
  Sample(std::string name, const Model& model, std::uint64_t seed, bool robot = false);

  const std::string& name() const { return name_; }  ///< For messages.
  bool robot() const { return robot_; }              ///< Not a random system.
  bool serial() const { return serial_; }            ///< No body carries two.
  const Dense& dense() const { return dense_; }      ///< The references.
  System& system() { return system_; }               ///< For the operators.
  const Eigen::VectorXd& x() const { return x_; }    ///< The hinge vector x.
  const Eigen::VectorXd& y() const { return y_; }    ///< The node vector y.
  const Eigen::VectorXd& w() const { return w_; }    ///< The body vector w.
  const Eigen::MatrixXd& mass();                     ///< Dense::mass_matrix.
  const Factors& factors();                          ///< Of that.
  const Articulated& articulated();                  ///< Of the dense P.
  /// What an expression, as it is written and without any identity, makes of some vectors.
  Eigen::MatrixXd apply(const Operator& expression, const Eigen::MatrixXd& vectors) const;
  /// The same for text, as a matrix.
  Eigen::MatrixXd matrix(const char* text) const;
  /// Vectors to compare operators with: all unit vectors, or random ones where those would be too many.
  Eigen::MatrixXd probes(Eigen::Index size) const;

 private:
  std::string name_;
  bool robot_;
  bool serial_ = true;
  Dense dense_;
  System system_;
  Eigen::VectorXd x_;
  Eigen::VectorXd y_;
  Eigen::VectorXd w_;
  std::optional<Eigen::MatrixXd> mass_;
  std::optional<Factors> factors_;
  std::optional<Articulated> articulated_;
};

/// What a statement may name besides the symbols: random vectors x (hinges), y (nodes), w and u (bodies), random
/// memoryless operators A and C, and of known value `swap` (exchanges the halves), h = (dH*/dt)θ̇, and V0, alpha0, a0 of
/// the nodes.
const Variables& variables();

/// max|left − right| / max(|left|, |right|); 0 where they are equal, infinite where a number is not finite.
double residual(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right);

/// The random system number `index` of a kind, 0 … 49. Of `any`, every second one is a chain.
Sample random_sample(Systems systems, int index);

/// Arms of so many revolute hinges each, with a node on the tip of each.
Model random_arms(int arms, int links, Random& random);

/// Four to six bodies, at least two of them flexible, with one to five modes that turn and shift their nodes and, on
/// every second, draw them in; nodes, lumps and children are anywhere. Modes have springs and dampers.
Model random_flexible_tree(Random& random);

/// Three flexible links, the next one near the first node of each. Their nodes but the one at the hinge have six modes
/// of their own, which turn and shift them along the axes of the link: η is the papers' u. Node j of link k is the body
/// `linkK.nJ`, both counted from 0.
Model random_nodal_chain(Random& random);

/// A body of some named nodes and many nameless ones, most of them points, with three modes.
FlexibleBody random_many_lumps(Random& random);

/// A robot as the papers have them: without armature, each hinge with its own coordinate, loops open.
Model plain(const Model& model);

}  // namespace bunraku::cli::papers
