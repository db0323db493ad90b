/// @file
/// A model at a state, and what operator expressions come to there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/arguments.hpp"
#include "bunraku/model/model.hpp"
#include "bunraku/model/passive_forces.hpp"
#include "bunraku/operators/language/operator.hpp"
#include "bunraku/spatial/eigen.hpp"

namespace bunraku {

namespace operators {
class SystemData;
class Execution;
}  // namespace operators

/// In which order matrices show bodies and hinges.
enum class Order {
  file,   ///< Base to tips, as the model has them.
  paper,  ///< Tips to base, as the papers number them.
};

/// One loop over the bodies.
struct Sweep {
  std::string direction;        ///< `inward`, `outward`, `local` where nothing is carried between bodies, or `whole`
                                ///< for a dense matrix.
  std::string text;             ///< The recursion, in the papers' style, one step a line.
  bool once_per_state = false;  ///< Depends on the state alone, not on the vector applied to.
};

/// How an expression is evaluated.
struct PlanReport {
  std::string expression;     ///< What is evaluated: the expression after rewriting; `0` where it vanishes.
  std::vector<Sweep> sweeps;  ///< From q to the result: first what the state is enough for, then the application.
  int fused = 0;              ///< Sweeps that run where state and vector are both new: what can run together does.
  double flops = 0;           ///< Floating-point operations of one application at a new state, counted.
  double bytes = 0;           ///< Bytes read and written by it.
  bool symmetric = false;     ///< It is its own adjoint: where there are two halves, the second is that of the first.
  std::vector<std::string> notes;  ///< What of the model changes the recursions.
};
/// The report as text for people.
BUNRAKU_API std::string to_string(const PlanReport& plan);

/// An expression ready to be applied at the system's state, whatever that is at the time of the call.
/// Use a system and its evaluations from one thread at a time; a copy of the system is another system.
class BUNRAKU_API Evaluation {
 public:
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  Evaluation(Evaluation&&) noexcept;             ///< Takes over.
  Evaluation& operator=(Evaluation&&) noexcept;  ///< Takes over.
  ~Evaluation();

  /// What is evaluated: the expression after rewriting.
  const Operator& expression() const;
  /// Numbers in the result.
  int rows() const;
  /// Numbers in the vector applied to; 1 for a stacked vector.
  int cols() const;
  /// The nodes of its node space, in order: see System::set_nodes.
  std::span<const Node> nodes() const;
  /// y = expression · x, by the sweeps of plan(); never through a matrix, but for dense_inv. For a vector, or for the
  /// columns of a matrix; y may be x. O(N) time and memory for each; allocates nothing once applied at a state. Throws
  /// ArgumentError for wrong sizes or numbers that are not finite, OperatorError where a symbol has no value, Error
  /// where D is singular.
  void apply(const MatrixInput<double>& x, const MatrixOutput<double>& y);
  /// The matrix, column by column: out has rows() · cols() numbers, in column-major order. O(N cols()).
  void dense(std::span<double> out, Order order = Order::file);
  /// Block (i,j): what body j contributes to body i; nodes or closures where the space is theirs. Column-major, in a
  /// vector of its own. Throws ArgumentError for a body that does not exist.
  std::vector<double> block(int i, int j);
  /// The sweeps, and what they cost.
  PlanReport plan() const;

  /// See apply().
  BUNRAKU_INLINE Eigen::MatrixXd operator*(const Eigen::Ref<const Eigen::MatrixXd>& x) {
    Eigen::MatrixXd y(rows(), x.cols());
    apply(x, y);
    return y;
  }
  /// The matrix, returned.
  BUNRAKU_INLINE Eigen::MatrixXd dense(Order order = Order::file) {
    Eigen::MatrixXd out(rows(), cols());
    dense(std::span<double>(out.data(), static_cast<std::size_t>(out.size())), order);
    return out;
  }

 private:
  friend class System;
  explicit Evaluation(std::unique_ptr<operators::Execution> execution);

  std::unique_ptr<operators::Execution> execution_;
};

/// Gives the symbols their meaning: a model, a state, nodes, and the values of variables.
///
/// Body-space blocks are in each body's own axes at its own origin, node blocks in the node's; hinge space is in the
/// order of v. A copy is a system of its own, at the same state.
class BUNRAKU_API System {
 public:
  /// At the neutral configuration, at rest. T_p is zero where passive forces are left out.
  explicit System(const Model& model, PassiveForces passive = PassiveForces::included);
  /// At a state. Throws as set_state.
  System(const Model& model, const Input<double>& q, const Input<double>& v,
         PassiveForces passive = PassiveForces::included);

  System(const System& other);             ///< A system of its own.
  System& operator=(const System& other);  ///< A system of its own; evaluations of the former state stay with that.
  System(System&&) noexcept;               ///< Takes over.
  System& operator=(System&&) noexcept;    ///< Takes over.
  ~System();

  /// The model.
  const Model& model() const;
  /// Sets configuration and velocity. Throws ArgumentError for wrong sizes, numbers that are not finite, quaternions
  /// that are not of unit norm; the state stays then.
  void set_state(const Input<double>& q, const Input<double>& v);
  /// Gives θ̈, from which α, f and T = H f + 𝒜 θ̈ − T_p follow, as inverse_dynamics has them. Throws ArgumentError.
  void set_accelerations(const Input<double>& a);
  /// Gives T, from which θ̈ follows as forward_dynamics has it, with damping, friction (sign(θ̇): a resting hinge does
  /// not stick) and springs T_p, and α and f from that. Throws ArgumentError.
  void set_torques(const Input<double>& tau);
  /// The nodes that B refers to, in this order; without any, those of the model's closures, a and b of each. They also
  /// come first, before the given ones, in expressions that name A, a_n, U or M_C. Variables of node space lose their
  /// values, and with another number of nodes expressions must be prepared again. Throws ArgumentError for a body that
  /// does not exist or a pose with a number that is not finite.
  void set_nodes(std::vector<Node> nodes);
  /// The same by name.
  void set_nodes(const std::vector<std::string>& names);
  /// Gives a variable its numbers: a stacked vector's numbers, or the diagonal blocks of an operator body by body (of a
  /// node-space one node by node), each row by row. Throws ArgumentError for a wrong number of them.
  void bind(const Operator& variable, const Input<double>& numbers);
  /// Gives a variable random values, uniform in (−1, 1).
  void bind_random(const Operator& variable, std::uint64_t seed);

  /// Prepares an expression: the cheapest one equal to it that the identities give. Throws OperatorError where an
  /// inverse has no rule or a symbol has no meaning for this model.
  Evaluation operator()(const Operator& x) const;
  /// Prepares an expression as it is written: no identities; inverses by dense matrices, block by block where they are
  /// memoryless.
  Evaluation literal(const Operator& x) const;

 private:
  std::shared_ptr<operators::SystemData> data_;
};

}  // namespace bunraku
