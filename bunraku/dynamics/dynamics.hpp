/// @file
/// Dynamics of open chains and trees, in O(N) sweeps.
#pragma once

#include <memory>
#include <span>

#include "bunraku/dynamics/dynamics_forms.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku {

/// Which of a hinge's own forces count.
enum class PassiveForces {
  included,  ///< Damping, Coulomb friction and springs act.
  left_out,  ///< Ideal hinges. Armature stays.
};

/// The forward-dynamics algorithms of RK88 and RK92 §VII. They give one result; `articulated` is the fastest. Of the
/// sweeps the first is outward, then inward and outward take turns, but for two inward ones in a row in fd1 and fd2.
enum class ForwardAlgorithm {
  articulated,  ///< Three sweeps: V outward; P, D, G and ε inward with the bias forces; θ̈ outward.
  fd1,          ///< RK92 47–54, four sweeps: φ*a; bias torques off T; innovations of what is left; θ̈.
  fd2,          ///< RK92 55–59, four sweeps: as fd1, with the accelerations of the bodies in the last one.
  fd3,          ///< RK92 60–65, three sweeps: Mφ*a + b; innovations of T and it; θ̈.
  fd4,          ///< RK92 66–73, three sweeps: V alone; innovations of T, Pa and b; θ̈ and the bodies' accelerations.
};

/// A force from outside on a body, at a node.
template <class T>
struct AppliedForce {
  int body = world;                                        ///< The body it acts on.
  Transform<double> X_BN = Transform<double>::identity();  ///< The node's pose on the body.
  Force<T> force = Force<T>::zero();                       ///< Moment over force.
  ReferenceFrame frame = ReferenceFrame::node;             ///< The point of the moment, and the axes of both.

  /// Nothing.
  AppliedForce() = default;
  /// `f` at a node of a model, as `in` says.
  AppliedForce(const Node& node, const Force<T>& f, ReferenceFrame in)
      : body(node.body), X_BN(node.X_BN), force(f), frame(in) {}
};

/// Dynamics of a model at a state, loops cut open, in scalar T: `float` or `double`. There is no order of calls to
/// know: what a call needs and is stale is computed, what is fresh is reused. Nothing allocates after the constructor
/// but the Eigen forms for their results. One Model may be shared between threads; each thread has its own Dynamics.
///
/// Every function throws ArgumentError for an argument of the wrong size or with a number that is not finite, before
/// anything is computed, and leaves the state as it was. Those that invert the mass matrix throw Error, naming the
/// hinge, where a hinge moves nothing that has mass.
///
/// N is the number of bodies, n that of velocity coordinates, d the depth of a node. Matrices are column by column.
/// A mimic hinge has no coordinate of its own: everything here is in the coordinates that are left, exactly; what is
/// O(N) with an inverse of 𝓜 in it is then O(N² + n³), N counting mimic hinges too.
template <class T>
class BUNRAKU_API BasicDynamics : public DynamicsForms<BasicDynamics<T>, T> {
  using Forms = DynamicsForms<BasicDynamics<T>, T>;

 public:
  /// Forces from outside, as an argument.
  using Forces = std::span<const AppliedForce<T>>;

  /// At the neutral configuration, at rest. O(N) memory; models with mimic hinges O(N²).
  explicit BasicDynamics(Model model, PassiveForces passive = PassiveForces::included);
  ~BasicDynamics();
  BasicDynamics(const BasicDynamics&) = delete;
  BasicDynamics& operator=(const BasicDynamics&) = delete;
  BasicDynamics(BasicDynamics&&) noexcept;             ///< Takes over the other's state; the other is then of no use.
  BasicDynamics& operator=(BasicDynamics&&) noexcept;  ///< Takes over the other's state.

  /// The model.
  const Model& model() const;
  /// Sets configuration and velocity; quaternions must have unit norm to 1e-6 (`float`: 1e-4). O(N).
  void set_state(std::span<const T> q, std::span<const T> v);

  /// @name Forces and accelerations
  /// @{

  /// T = 𝓜θ̈ + 𝓒 + passive forces − J*f, with 𝓜 = HφMφ*H* + armature, 𝓒 = Hφ(Mφ*a + b), gravity included. O(N).
  void inverse(std::span<const T> acceleration, std::span<T> torque, Forces forces = {});
  /// θ̈ = 𝓜⁻¹(T − 𝓒 − passive forces + J*f). O(N).
  void forward(std::span<const T> torque, std::span<T> acceleration, Forces forces = {});
  /// The same by one of the papers' algorithms. O(N). With mimic hinges only `articulated` is there: Error. `links`,
  /// unless empty, gets α(k) of each body as `accelerations` has it; fd2 and fd4 alone have it, others: ArgumentError.
  void forward_by(ForwardAlgorithm algorithm, std::span<const T> torque, std::span<T> acceleration, Forces forces = {},
                  std::span<Motion<T>> links = {});
  /// Some hinges move as prescribed, the rest is free: for body k with prescribed[k] the accelerations of its hinge
  /// are given and its torques wanted, for the others the torques are given and the accelerations wanted. Fills in
  /// what is wanted in both arrays; what is there before is not read. O(N). A mimic hinge is as its leader is.
  void hybrid(std::span<const bool> prescribed, std::span<T> acceleration, std::span<T> torque, Forces forces = {});
  /// 𝓒 = Hφ(Mφ*a + b), gravity included. O(N).
  void bias(std::span<T> torque);
  /// The torques that hold the model still: 𝓒 at θ̇ = 0. O(N).
  void gravity_torques(std::span<T> torque);
  /// f(k) for each body: what its parent exerts on it through the hinge, moment about the body's origin, in the body's
  /// axes; T(k) = H(k)f(k) but for armature and passive forces. f = φ(Mα + b) − φBf. N of them. O(N).
  void reactions(std::span<const T> acceleration, std::span<Force<T>> out, Forces forces = {});
  /// Y with 𝓜θ̈ + 𝓒 = Y π, armature aside: π has ten parameters a body, (m, m·c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about
  /// the body's origin in its axes. n×10N. O(N d).
  void regressor(std::span<const T> acceleration, std::span<T> out);

  /// @}
  /// @name Mass matrix and its factors
  /// @{

  /// 𝓜 = HφMφ*H* + armature, n×n, both triangles. O(N n).
  void mass_matrix(std::span<T> out);
  /// C with Cθ̇ = Hφ(Mφ*a + b) but for gravity, and 𝓜̇ − 2C skew; n×n. O(N n).
  void coriolis_matrix(std::span<T> out);
  /// 𝓜⁻¹ = [I − HψK]*D⁻¹[I − HψK], n×n, both triangles. O(N n).
  void inverse_mass_matrix(std::span<T> out);
  /// 𝓜⁻¹x for one x of n numbers, or for several, or none, column by column. O(N) each.
  void solve(std::span<const T> x, std::span<T> out);
  /// 𝓜^½x = (I + HφK)D^½x, a square root in the sense 𝓜^½(𝓜^½)* = 𝓜; with mimic hinges Cholesky's. O(N).
  void square_root_times(std::span<const T> x, std::span<T> out);
  /// 𝓜^−½x = D^−½(I − HψK)x, the inverse of square_root_times. O(N).
  void inverse_square_root_times(std::span<const T> x, std::span<T> out);
  /// ln det 𝓜 = Σ ln det D. O(N).
  T log_determinant();

  /// P(k) of body k, about its origin in its axes (RK92 34–41): P(k) = Σψ(k,j)P(j)φ*(k,j) + M(k). O(1) once a state's
  /// factors are there, O(N) for the first. These five throw Error for models with mimic hinges, where D is not block
  /// diagonal, and ArgumentError when there is no such body.
  ArticulatedInertia<T> articulated_inertia(int body);
  /// D(k) = H(k)P(k)H*(k) + armature of body k's hinge, square, as many rows as it has velocities.
  void hinge_inertia(int body, std::span<T> out);
  /// G(k) = P(k)H*(k)D⁻¹(k), 6 × velocities of the hinge, at body k's origin in its axes.
  void kalman_gain(int body, std::span<T> out);
  /// K(p,k) = φ(p,k)G(k) for the parent p, at p's origin in its axes.
  void shifted_gain(int body, std::span<T> out);
  /// ψ(i,j) = φ(i,i+1)[I−GH](i+1) … φ(·,j)[I−GH](j) from body j to its ancestor i (`world` is one); the identity for
  /// i = j, zero where i is no ancestor of j. O(d).
  Mat6<T> articulated_transition(int i, int j);

  /// @}
  /// @name Kinematics
  /// @{

  /// J = B*φ*H* of a node, 6×n, angular over linear. O(d + n).
  void jacobian(const Node& node, ReferenceFrame frame, std::span<T> out);
  /// J̇, the derivative in time of each element of that matrix. O(d + n).
  void jacobian_rate(const Node& node, ReferenceFrame frame, std::span<T> out);
  /// J̇θ̇ = B*φ*a + a(0) for `aligned`: the node's acceleration at θ̈ = 0. O(N).
  Motion<T> jacobian_bias(const Node& node, ReferenceFrame frame);
  /// α(k) = φ*(H*θ̈ + a) for each body: the inertial derivative of V(k), at the body's origin in its axes. True
  /// accelerations, without gravity's pseudo-acceleration. N of them. O(N).
  void accelerations(std::span<const T> acceleration, std::span<Motion<T>> out);
  /// The same at θ̈ = 0: φ*a. O(N).
  void bias_accelerations(std::span<Motion<T>> out);

  /// @}
  /// @name The system as a whole
  /// @{

  /// ½θ̇*𝓜θ̇, in joules, armature included. O(N).
  T kinetic_energy();
  /// Of gravity, zero at the world's origin, and of the springs unless left out, ½Σ stiffness · stretch², in joules.
  /// On planar and free hinges, and spherical ones of unequal stiffness, the springs' torques, −stiffness · stretch,
  /// are not its gradient. O(N).
  T potential_energy();
  /// The centre of mass in the world, of all bodies. O(N).
  Vec3<T> center_of_mass();
  /// Momentum of all bodies, angular about the centre of mass, in the world's axes. O(N).
  Force<T> momentum();
  /// The velocity of the centre of mass is this times θ̇; 3×n, in the world's axes. O(N).
  void center_of_mass_jacobian(std::span<T> out);
  /// A with momentum = Aθ̇, 6×n: angular about the centre of mass, over linear, in the world's axes. O(N).
  void centroidal_momentum_matrix(std::span<T> out);
  /// Ȧ, 6×n: momentum' = Aθ̈ + Ȧθ̇. O(N).
  void centroidal_momentum_matrix_rate(std::span<T> out);

  /// @}
  /// @name Operational space
  /// Of m nodes, on any branches. Blocks of six, each in its node's own axes at its origin.
  /// @{

  /// Λ⁻¹ = J𝓜⁻¹J* = B*ΩB, 6m×6m; Ω(i,j) = ψ*(c,i)Υ(c)ψ(c,j) with c the closest common ancestor. O(N + m²d).
  void operational_space_inverse(std::span<const Node> nodes, std::span<T> out);
  /// Λ, symmetric to the last bit. Throws Error where J has not full rank, with its rows and rank; what is in
  /// `out` is then of no use. O(N + m²d + m³).
  void operational_space_inertia(std::span<const Node> nodes, std::span<T> out);
  /// J̄ = 𝓜⁻¹J*Λ, n×6m: JJ̄ = I with the least kinetic energy. Throws as operational_space_inertia. O(mN + m²n).
  void dynamically_consistent_inverse(std::span<const Node> nodes, std::span<T> out);
  /// Δθ̈ = (I−HψK)*D⁻¹HψBf: how the accelerations change under forces from outside (RJK91 17–18; the papers' f(0) is
  /// the force on the environment, hence their minus). O(N).
  void force_correction(Forces forces, std::span<T> out);

  /// @}

  using Forms::accelerations;
  using Forms::bias;
  using Forms::bias_accelerations;
  using Forms::center_of_mass_jacobian;
  using Forms::centroidal_momentum_matrix;
  using Forms::centroidal_momentum_matrix_rate;
  using Forms::coriolis_matrix;
  using Forms::dynamically_consistent_inverse;
  using Forms::force_correction;
  using Forms::forward;
  using Forms::forward_by;
  using Forms::gravity_torques;
  using Forms::hinge_inertia;
  using Forms::inverse;
  using Forms::inverse_mass_matrix;
  using Forms::inverse_square_root_times;
  using Forms::jacobian;
  using Forms::jacobian_bias;
  using Forms::jacobian_rate;
  using Forms::kalman_gain;
  using Forms::mass_matrix;
  using Forms::operational_space_inertia;
  using Forms::operational_space_inverse;
  using Forms::reactions;
  using Forms::regressor;
  using Forms::set_state;
  using Forms::shifted_gain;
  using Forms::solve;
  using Forms::square_root_times;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class BasicDynamics<double>;
extern template class BasicDynamics<float>;

/// Dynamics in double precision.
using Dynamics = BasicDynamics<double>;

}  // namespace bunraku
