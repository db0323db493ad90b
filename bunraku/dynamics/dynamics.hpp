/// @file
/// Dynamics of open chains and trees, in O(N) sweeps.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"

namespace bunraku {

/// Which of a hinge's own forces count.
enum class PassiveForces {
  included,  ///< Damping, Coulomb friction and springs act.
  left_out,  ///< Ideal hinges. Armature stays.
};

/// The axes and the point of a node's Jacobian.
enum class JacobianFrame {
  node,          ///< At the node, in the node's axes.
  aligned,       ///< At the node, in the world's axes.
  world_origin,  ///< Of the body's point at the world's origin, in the world's axes.
};

/// Dynamics of a model at a state, loops cut open. There is no order of calls to know: what a call needs and is stale
/// is computed, what is fresh is reused. Nothing allocates after the constructor but the Eigen forms for their results.
/// One Model may be shared between threads; each thread has its own Dynamics.
///
/// Every function throws ArgumentError for an argument of the wrong size or with a number that is not finite, before
/// anything is computed, and leaves the state as it was. Those that invert the mass matrix throw Error, naming the
/// hinge, where a hinge moves nothing that has mass. N is the number of bodies, n that of velocity coordinates.
class BUNRAKU_API Dynamics {
 public:
  /// At the neutral configuration, at rest. O(N) memory; models with mimic hinges O(n²).
  explicit Dynamics(Model model, PassiveForces passive = PassiveForces::included);
  ~Dynamics();
  Dynamics(const Dynamics&) = delete;
  Dynamics& operator=(const Dynamics&) = delete;
  Dynamics(Dynamics&&) noexcept;             ///< Takes over the other's state.
  Dynamics& operator=(Dynamics&&) noexcept;  ///< Takes over the other's state.

  /// The model.
  const Model& model() const;
  /// Sets configuration and velocity; quaternions must have unit norm to 1e-6. O(N).
  void set_state(std::span<const double> q, std::span<const double> v);

  /// T = 𝓜θ̈ + 𝓒 + passive forces, with 𝓜 = HφMφ*H* + armature and 𝓒 = Hφ(Mφ*a + b), gravity included. O(N).
  void inverse(std::span<const double> acceleration, std::span<double> torque);
  /// θ̈ = 𝓜⁻¹(T − 𝓒 − passive forces). O(N); with mimic hinges O(N + n³).
  void forward(std::span<const double> torque, std::span<double> acceleration);
  /// 𝓒 = Hφ(Mφ*a + b), gravity included. O(N).
  void bias(std::span<double> torque);
  /// The torques that hold the model still: 𝓒 at θ̇ = 0. O(N).
  void gravity_torques(std::span<double> torque);
  /// 𝓜 = HφMφ*H* + armature, n×n, both triangles. O(N n).
  void mass_matrix(std::span<double> out);
  /// 𝓜⁻¹ = [I − HψK]*D⁻¹[I − HψK], n×n, both triangles. O(N n); with mimic hinges O(n³).
  void inverse_mass_matrix(std::span<double> out);
  /// 𝓜⁻¹x in two sweeps. O(N); with mimic hinges O(n³).
  void solve(std::span<const double> x, std::span<double> out);
  /// ln det 𝓜 = Σ ln det D. O(N); with mimic hinges O(n³).
  double log_determinant();
  /// J = B*φ*H* of a node, 6×n column by column, angular over linear. O(depth + n).
  void jacobian(const Node& node, JacobianFrame frame, std::span<double> out);
  /// ½θ̇*𝓜θ̇, in joules, armature included. O(N).
  double kinetic_energy();
  /// Of gravity, zero at the world's origin, and of the springs unless left out, in joules. O(N).
  double potential_energy();
  /// The centre of mass in the world, of all bodies. O(N).
  Vec3<double> center_of_mass();
  /// Momentum of all bodies, angular about the centre of mass, in the world's axes. O(N).
  Force<double> momentum();

  /// See the span form.
  BUNRAKU_INLINE void set_state(const Eigen::Ref<const Eigen::VectorXd>& q,
                                const Eigen::Ref<const Eigen::VectorXd>& v) {
    set_state(detail::as_span(q), detail::as_span(v));
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::VectorXd inverse(const Eigen::Ref<const Eigen::VectorXd>& acceleration) {
    Eigen::VectorXd out(model().nv());
    inverse(detail::as_span(acceleration), detail::as_span(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::VectorXd forward(const Eigen::Ref<const Eigen::VectorXd>& torque) {
    Eigen::VectorXd out(model().nv());
    forward(detail::as_span(torque), detail::as_span(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::VectorXd bias() {
    Eigen::VectorXd out(model().nv());
    bias(detail::as_span(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::VectorXd gravity_torques() {
    Eigen::VectorXd out(model().nv());
    gravity_torques(detail::as_span(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::MatrixXd mass_matrix() {
    Eigen::MatrixXd out(model().nv(), model().nv());
    mass_matrix({out.data(), static_cast<std::size_t>(out.size())});
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::MatrixXd inverse_mass_matrix() {
    Eigen::MatrixXd out(model().nv(), model().nv());
    inverse_mass_matrix({out.data(), static_cast<std::size_t>(out.size())});
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Eigen::VectorXd solve(const Eigen::Ref<const Eigen::VectorXd>& x) {
    Eigen::VectorXd out(model().nv());
    solve(detail::as_span(x), detail::as_span(out));
    return out;
  }
  /// Of the node or body of that name: see the span form.
  BUNRAKU_INLINE Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian(std::string_view node, JacobianFrame frame) {
    Eigen::Matrix<double, 6, Eigen::Dynamic> out(6, model().nv());
    jacobian(model().node(node), frame, {out.data(), static_cast<std::size_t>(out.size())});
    return out;
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bunraku
