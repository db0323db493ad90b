/// @file
/// The state of a model: what every function of the dynamics takes.
#pragma once

#include <memory>

#include "bunraku/arguments.hpp"
#include "bunraku/model/model.hpp"
#include "bunraku/model/passive_forces.hpp"

namespace bunraku {

namespace detail {
template <class T>
struct StateData;
}  // namespace detail

/// A model at a configuration q and a velocity v, in scalar T: `float` or `double`, with all scratch that the functions
/// of the dynamics need. There is no order of calls to know: what a function needs and is stale is computed, what is
/// fresh is reused. Nothing allocates after the constructor but results that are returned, arguments that Eigen must
/// evaluate first, and, at their first use, blocks of larger matrices as results and what runs as the program of an
/// expression, which says so. One Model may be shared between threads; each thread has a state of its own. A copy is a
/// copy: nothing is shared but the model.
///
/// The functions throw ArgumentError for an argument of the wrong size or with a number that is not finite, before
/// anything is computed, and leave the state as it was. Those that invert the mass matrix throw Error, naming the
/// hinge, where a hinge moves nothing that has mass. Loops are cut open everywhere.
///
/// In their documentation N is the number of bodies, n that of velocity coordinates, d the depth of a node. Matrices
/// are column by column. A mimic hinge has no coordinate of its own: everything is in the coordinates that are left,
/// exactly. Coupled bodies and those between are then eliminated as one, of c coordinates, with a term c³ for each.
template <class T>
class BUNRAKU_API BasicState {
 public:
  /// n numbers of the state, to be read in place.
  using Numbers = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

  /// At the neutral configuration, at rest. O(N) memory; see above for models with mimic hinges.
  explicit BasicState(Model model, PassiveForces passive = PassiveForces::included);
  ~BasicState();
  BasicState(const BasicState& other);                 ///< The same model, q and v; nothing else is shared. O(N).
  BasicState& operator=(const BasicState& other);      ///< The same model, q and v; nothing else is shared. O(N).
  BasicState(BasicState&& other) noexcept;             ///< Takes all over; the other is then of no use.
  BasicState& operator=(BasicState&& other) noexcept;  ///< Takes all over; the other is then of no use.

  /// The model.
  const Model& model() const;
  /// Whether damping, friction and springs act.
  PassiveForces passive_forces() const;

  /// Sets configuration and velocity. Quaternions must have unit norm to 1e-6 (`float`: 1e-4; see normalize) and are
  /// brought to it exactly. O(N). Throws ArgumentError, and then leaves the state as it was.
  void set(const Input<T>& q, const Input<T>& v);
  /// Sets the configuration, at rest: enough for all that depends on q alone.
  void set(const Input<T>& q);

  /// The configuration, its quaternions of unit norm; there until the next set(). O(1).
  BUNRAKU_INLINE Numbers q() const { return Numbers(positions(), model().nq()); }
  /// The velocity; there until the next set(). O(1).
  BUNRAKU_INLINE Numbers v() const { return Numbers(velocities(), model().nv()); }

  /// For the library's own sources.
  detail::StateData<T>& data() { return *data_; }

 private:
  const T* positions() const;
  const T* velocities() const;

  std::unique_ptr<detail::StateData<T>> data_;
};

extern template class BasicState<double>;
extern template class BasicState<float>;

/// A state in double precision.
using State = BasicState<double>;

}  // namespace bunraku
