/// @file
/// Systems with loops by constraint embedding: a loop counts as one body of the tree that moves by the velocities ξ
/// which its closures leave free, so that the innovations factorization holds for closed systems, too.
///
/// θ̇ = Xξ and θ̈ = Xξ̇ + θ̈_b, where Y X = 0 and Y θ̈_b = U for the closures' equations Yθ̇ = 0, Yθ̈ = U. X and θ̈_b are
/// found loop by loop, in the coordinates of its own hinges. Embed small loops, such as four-bars; a loop of m
/// coordinates costs m³, so that parallel robots, grasps, and closures to the world, whose loops reach down to it, are
/// better cut open.
///
/// The equations of a closure are those of kernels' closure space: of `nodes` N(V_b − φ*V_a) = 0 in node a's axes at
/// node b, of couplings q̇_a − p′q̇_b = 0, and so on, as many as model.hpp says.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

namespace detail {
template <class T>
struct EmbeddedData;
}  // namespace detail

/// Which loops are closed, and how well a state must close them.
struct EmbeddingOptions {
  std::optional<std::vector<std::string>> closures = {};  ///< Names; nothing: all of the model's.
  PassiveForces passive = PassiveForces::included;        ///< As in BasicState.
  /// The most that a loop may be open, as part of its size or in rad, and that Yθ̇ may be as part of what it could be at
  /// that speed and 1 rad/s more. Nothing: 1e-6, `float` 1e-5.
  std::optional<double> tolerance = {};
};

/// A model with closed loops at a configuration q and a velocity v that fit them, in scalar T, `float` or `double`. As
/// with BasicState there is no order of calls to know, nothing allocates after the constructor but what says so, and
/// each thread has a state of its own. The loops that are not embedded stay open.
///
/// Clusters: the bodies on the paths from a closure's nodes to the closest one that carries both, without that one; of
/// a coupling of hinges those of both hinges, too; of general rows all down to the world. Clusters that share a body,
/// or a mimic coupling, are one. A direction counts as free where what is left of the equations is below 1e-9 of what
/// they could be, or below a hundred times what the loops are open, if that is more. So redundant equations do no harm.
/// At a singular pose more is free than nearby, and the accelerations of the system do not follow from its equations.
template <class T>
class BUNRAKU_API BasicEmbeddedState {
 public:
  /// At the neutral configuration, at rest, whether or not that closes the loops. O(N + Σm²) memory. Throws
  /// ArgumentError for a closure that there is not, naming the nearest, or that is named twice.
  explicit BasicEmbeddedState(const Model& model, const EmbeddingOptions& options = {});
  ~BasicEmbeddedState();
  BasicEmbeddedState(const BasicEmbeddedState& other);                 ///< The same loops, q and v. O(N + Σm²).
  BasicEmbeddedState& operator=(const BasicEmbeddedState& other);      ///< The same loops, q and v. O(N + Σm²).
  BasicEmbeddedState(BasicEmbeddedState&& other) noexcept;             ///< Takes all over; the other is of no use then.
  BasicEmbeddedState& operator=(BasicEmbeddedState&& other) noexcept;  ///< Takes all over; the other is of no use then.

  /// The model.
  const Model& model() const;
  /// Sets configuration and velocity, as BasicState does, and X and θ̈_b. O(N + Σm³). Throws ArgumentError where q does
  /// not close the loops or v does not fit them to the tolerance, naming the closure and by how much, or where at a
  /// singular pose v leads where the closures cannot follow; then leaves the state as it was.
  void set(const Input<T>& q, const Input<T>& v);
  /// The same at rest.
  void set(const Input<T>& q);
  /// The same tree with all loops open, for whatever does not ask for them: kinematics, energies, 𝓜, 𝓒. Where its state
  /// is set the loops are checked at the next call here.
  BasicState<T>& open();
  /// The indices of the closures that are embedded, in the order in which they were named.
  std::span<const int> closures() const;
  /// Where the equations of each of them start among those of all, and their number at last.
  std::span<const int> rows() const;

  /// For the library's own sources.
  detail::EmbeddedData<T>& data() { return *data_; }

 private:
  std::unique_ptr<detail::EmbeddedData<T>> data_;
};

extern template class BasicEmbeddedState<double>;
extern template class BasicEmbeddedState<float>;

/// A state with loops in double precision.
using EmbeddedState = BasicEmbeddedState<double>;

/// @name Functions over such a state
/// n is the number of velocities of the model, r that of ξ. All throw ArgumentError as set() does where the state of
/// the open tree was set to what does not fit, and for arguments of the wrong size or with a number that is not finite;
/// those that invert X*𝓜X throw Error, naming a hinge, where something moves that has no mass. The first at a state
/// that gives X, θ̈_b, X*𝓜X or closure forces may find X once more, O(Σm³): forward dynamics takes another basis.
/// @{

/// The degrees of freedom r = n − rank Y at this state. O(n).
template <class T>
BUNRAKU_API int degrees_of_freedom(BasicEmbeddedState<T>& state);
/// X, n × r, its columns orthonormal in the numbers of v. A hinge outside of all loops has columns of its own, a
/// cluster has its columns where the first of its velocities stands. O(nr).
template <class T>
BUNRAKU_API void embedded_basis(BasicEmbeddedState<T>& state, MatrixOut<T> out);
/// θ̈_b, the smallest with Yθ̈_b = U; zero outside of loops. rad/s², m/s². O(n).
template <class T>
BUNRAKU_API void embedded_bias(BasicEmbeddedState<T>& state, Out<T> out);
/// θ̈ = X(X*𝓜X)⁻¹X*(T − 𝓒 − 𝓜θ̈_b + T_p + J*f) + θ̈_b of all hinges, by the innovations factorization of the clusters,
/// D = X*(HPH* + 𝒜)X. O(N + Σm³).
template <class T>
BUNRAKU_API void embedded_forward_dynamics(BasicEmbeddedState<T>& state, In<T> torque, Out<T> acceleration,
                                           std::type_identity_t<Forces<T>> forces = {});
/// M_C x = X(X*𝓜X)⁻¹X*x, for a vector or for the columns of a matrix; `out` may be x. O(N + Σm²) each, once the factors
/// are there.
template <class T>
BUNRAKU_API void embedded_solve(BasicEmbeddedState<T>& state, MatrixIn<T> x, MatrixOut<T> out);
/// X*𝓜X, r × r, the mass matrix of ξ. O(n²). The first call on a state makes room.
template <class T>
BUNRAKU_API void embedded_mass_matrix(BasicEmbeddedState<T>& state, MatrixOut<T> out);
/// ln det X*𝓜X = Σ ln D. O(N + Σm³).
template <class T>
BUNRAKU_API T embedded_log_det_mass(BasicEmbeddedState<T>& state);
/// f̃ with Y*f̃ = T − 𝓒 − 𝓜θ̈ + T_p + J*f, over the equations of all embedded closures (see rows()), θ̈ being what
/// embedded_forward_dynamics gives for T: what node b exerts on node a, in a's axes at b's point; of a coupling the
/// torque that it takes off q_a. Where equations are redundant the smallest, each in its own scale: then the sum
/// counts. N·m, N. O(N + Σm³).
template <class T>
BUNRAKU_API void embedded_closure_forces(BasicEmbeddedState<T>& state, In<T> torque, In<T> acceleration, Out<T> out,
                                         std::type_identity_t<Forces<T>> forces = {});

/// @}

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE MatrixX<T> embedded_basis(BasicEmbeddedState<T>& state) {
  MatrixX<T> out(state.model().nv(), degrees_of_freedom(state));
  embedded_basis(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> embedded_bias(BasicEmbeddedState<T>& state) {
  VectorX<T> out(state.model().nv());
  embedded_bias(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> embedded_forward_dynamics(BasicEmbeddedState<T>& state, In<T> torque,
                                                    std::type_identity_t<Forces<T>> forces = {}) {
  VectorX<T> out(state.model().nv());
  embedded_forward_dynamics(state, torque, out, forces);
  return out;
}
template <class T, class Derived>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> embedded_solve(
    BasicEmbeddedState<T>& state, const Eigen::MatrixBase<Derived>& x) {
  Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> out(x.rows(), x.cols());
  embedded_solve(state, x, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> embedded_mass_matrix(BasicEmbeddedState<T>& state) {
  const int r = degrees_of_freedom(state);
  MatrixX<T> out(r, r);
  embedded_mass_matrix(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> embedded_closure_forces(BasicEmbeddedState<T>& state, In<T> torque, In<T> acceleration,
                                                  std::type_identity_t<Forces<T>> forces = {}) {
  VectorX<T> out(state.rows().back());
  embedded_closure_forces(state, torque, acceleration, out, forces);
  return out;
}
/// @}

}  // namespace bunraku
