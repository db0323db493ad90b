/// @file
/// An operator expression as a function of the state, beside those of the library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/model/nodes.hpp"
#include "bunraku/operators/system.hpp"

namespace bunraku {

namespace detail {
struct ProgramData;
}  // namespace detail

/// An expression made ready for a model: rewritten and planned once, in the constructor. Immutable, cheap to copy, and
/// may be shared by threads; what a thread changes is its state. Applied to a state that it has been applied to before,
/// it allocates nothing. Body-space blocks are in each body's own axes at its own origin, node blocks in the node's.
class BUNRAKU_API Program {
 public:
  /// `nodes` are those that B refers to, by name. Throws OperatorError where an inverse has no rule, or where a symbol
  /// has no meaning here: T, θ̈ and what follows from them have values in a System, not in a State.
  Program(const Model& model, const Operator& x, const std::vector<std::string>& nodes = {});

  /// What is evaluated: the expression after rewriting.
  const Operator& expression() const;
  /// The model that it was made for.
  const Model& model() const;
  /// Numbers in the result.
  int rows() const;
  /// Numbers in the vector applied to; 1 for a stacked vector.
  int cols() const;
  /// The sweeps, and what they cost.
  PlanReport plan() const;

  /// out = expression · x for a vector, or for the columns of a matrix; x is the number 1 for a stacked vector. `out`
  /// may not be x. O(N) a column: at a new state by the plan's fused sweeps, else by those of the vector. Throws
  /// ArgumentError for a state of another model, wrong sizes or numbers that are not finite; Error naming the hinge
  /// where D is singular; OperatorError where a block has no inverse.
  template <class T>
  void apply(BasicState<T>& state, const MatrixInput<T>& x, const MatrixOutput<T>& out) const;

  /// The same, returned.
  template <class T, class Derived>
  BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> operator()(
      BasicState<T>& state, const Eigen::MatrixBase<Derived>& x) const {
    Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> out(rows(), x.cols());
    apply<T>(state, x, out);
    return out;
  }
  /// A stacked vector's numbers at a state.
  template <class T>
  BUNRAKU_INLINE VectorX<T> operator()(BasicState<T>& state) const {
    VectorX<T> out(rows());
    apply<T>(state, VectorX<T>::Ones(1), out);
    return out;
  }

  /// For the library's own sources.
  const std::shared_ptr<const detail::ProgramData>& data() const { return data_; }

 private:
  std::shared_ptr<const detail::ProgramData> data_;
};

extern template void Program::apply(BasicState<double>&, const MatrixInput<double>&, const MatrixOutput<double>&) const;
extern template void Program::apply(BasicState<float>&, const MatrixInput<float>&, const MatrixOutput<float>&) const;

}  // namespace bunraku
