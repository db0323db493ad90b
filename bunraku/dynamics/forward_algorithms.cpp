// The four forward-dynamics algorithms of RK88 (FD1–FD4) = RK92 §VII, sweep by sweep, on trees, for hinges of any
// number of velocities. Where the papers go from body k−1 to body k, the sum over the bodies j that hang on k is meant
// (RJK89 appendix A). The papers' f(0) is the force on the environment: Bf(0) is minus the applied forces here.
#include <algorithm>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"

namespace bunraku {

namespace {

using namespace kernels;

/// The sweeps, over arrays that the caller lends: one entry a body, or one number a velocity.
template <class T>
struct PrintedSweeps {
  const Blocks<T>& blocks;
  Vec3<T> gravity;
  std::span<Force<T>> force;    ///< Bf(0) before, then f or z of an inward sweep.
  std::span<Motion<T>> lambda;  ///< λ of the last outward sweep.
  std::span<Motion<T>> zeta;    ///< φ*a.
  std::span<T> torque;          ///< T before, T' once the bias torques are out.
  std::span<T> residual;        ///< ν = D⁻¹ε.
  std::span<T> acceleration;    ///< θ̈.
  std::span<Motion<T>> links;   ///< α without gravity's share, or empty.

  static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }

  /// An outward array at the parent of k: zero for the world (RK92 52, 58).
  Motion<T> inner(std::span<const Motion<T>> array, int k) const {
    return blocks.parent(k) == world ? Motion<T>::zero() : array[at(blocks.parent(k))];
  }
  /// a(k), gravity as the pseudo-acceleration of the base (RK88 3.21). Needs velocities.
  Motion<T> a(int k) const {
    const Motion<T> base{Vec3<T>::zero(), -gravity};
    return blocks.parent(k) == world ? blocks.a(k) + phi_adjoint_times(blocks, k, base) : blocks.a(k);
  }
  /// Hands out α(k), if it is wanted: gravity's pseudo-acceleration of the base is taken out. Needs world poses.
  void set_link(int k, const Motion<T>& alpha) {
    if (!links.empty()) {
      links[at(k)] = {alpha.angular, alpha.linear + blocks.X_WB(k).rotation.inverse_times(gravity)};
    }
  }
  /// Adds what leaves body k to its parent in an inward sweep.
  void pass_inward(int k, const Force<T>& f) {
    if (blocks.parent(k) != world) {
      force[at(blocks.parent(k))] += f;
    }
  }

  /// Outward: ζ(k) = φ*(p,k)ζ(p) + a(k), that is ζ = φ*a (RK88 5.8; inside RK92 47, 60). Needs velocities.
  void bias_accelerations() {
    for (int k = 0; k < blocks.size(); ++k) {
      zeta[at(k)] = phi_adjoint_times(blocks, k, inner(zeta, k)) + a(k);
    }
  }
  /// Inward: f(k) = Σ φ(k,j)f(j) + M(k)ζ(k) + b(k) + Bf(0); T'(k) = T(k) − H(k)f(k) (RK92 47, RK88 4.17). Needs ζ.
  void remove_bias_torques() {
    for (int k = blocks.size() - 1; k >= 0; --k) {
      Force<T>& f = force[at(k)];
      f += blocks.M(k) * zeta[at(k)] + blocks.b(k);
      const HingeVector<T> left = hinge_part(blocks, k, torque.data()) - h_times(blocks, k, f);
      set_hinge_part(blocks, k, left, torque.data());
      pass_inward(k, phi_times(blocks, k, f));
    }
  }
  /// Outward part of FD3: ζ(k) = M(k)(φ*a)(k) + b(k) + Bf(0) (RK92 60), kept where z starts: z + ζ occur together.
  void bias_forces() {
    for (int k = 0; k < blocks.size(); ++k) {
      force[at(k)] += blocks.M(k) * zeta[at(k)] + blocks.b(k);
    }
  }
  /// ε(k) = T(k) − H(k)z(k), ν(k) = D⁻¹(k)ε(k) (RK92 51, 65, 71).
  void innovate(int k) {
    const HingeVector<T> innovation = hinge_part(blocks, k, torque.data()) - h_times(blocks, k, force[at(k)]);
    set_hinge_part(blocks, k, d_inverse_times(blocks, k, innovation), residual.data());
  }
  /// Inward: z(k) = Σ ψ(k,j)z(j) + φ(k,j)G(j)T(j) (RK92 49–51, RK88 4.19–4.20), from z = 0 for FD1 and FD2. For FD3
  /// z stands for z + ζ: Σ ψ(k,j)[z(j) + ζ(j)] + φ(k,j)G(j)T(j), ε = T − H(z + ζ) (RK92 63–65, with the erratum).
  /// Needs P, D, G.
  void filter() {
    for (int k = blocks.size() - 1; k >= 0; --k) {
      innovate(k);
      pass_inward(
          k, psi_times(blocks, k, force[at(k)]) + shifted_gain_times(blocks, k, hinge_part(blocks, k, torque.data())));
    }
  }
  /// Inward: z(k) = Σ ψ(k,j)[z(j) + P(j)a(j)] + φ(k,j)G(j)T(j) + b(k) + Bf(0) (RK92 69–71, RK88 5.16). Needs V, a, P,
  /// D, G.
  void filter_with_bias() {
    for (int k = blocks.size() - 1; k >= 0; --k) {
      Force<T>& z = force[at(k)];
      z += blocks.b(k);
      innovate(k);
      pass_inward(k, psi_times(blocks, k, z + blocks.P(k) * a(k)) +
                         shifted_gain_times(blocks, k, hinge_part(blocks, k, torque.data())));
    }
  }
  /// Outward: λ(k) = ψ*(p,k)λ(p) + H*(k)ν(k), θ̈(k) = ν(k) − G*(k)φ*(p,k)λ(p) (RK92 52–54, RK88 4.21–4.22).
  void smooth(int k) {
    const HingeVector<T> v = hinge_part(blocks, k, residual.data());
    const Motion<T> before = inner(lambda, k);
    lambda[at(k)] = psi_adjoint_times(blocks, k, before) + h_adjoint_times(blocks, k, v);
    set_hinge_part(blocks, k, v - shifted_gain_adjoint_times(blocks, k, before), acceleration.data());
  }
  void smooth() {
    for (int k = 0; k < blocks.size(); ++k) {
      smooth(k);
    }
  }
  /// Outward, as smooth(), and on the way ζ(k) = φ*(p,k)ζ(p) + a(k), α(k) = λ(k) + ζ(k) (RK92 58, RK88 4.21b).
  void smooth_with_accelerations() {
    for (int k = 0; k < blocks.size(); ++k) {
      smooth(k);
      zeta[at(k)] = phi_adjoint_times(blocks, k, inner(zeta, k)) + a(k);
      set_link(k, lambda[at(k)] + zeta[at(k)]);
    }
  }
  /// Outward: λ(k) = ψ*(p,k)λ(p) + H*(k)ν(k) + [I − G(k)H(k)]*a(k), θ̈(k) = ν(k) − G*(k)φ*(p,k)λ(p) − G*(k)a(k)
  /// (RK92 72–73, RK88 5.17). λ is α here: λ = ψ*(H*(ν − G*a) + a) = φ*(H*θ̈ + a).
  void smooth_with_bias() {
    for (int k = 0; k < blocks.size(); ++k) {
      const HingeVector<T> v = hinge_part(blocks, k, residual.data());
      const Motion<T> before = inner(lambda, k);
      lambda[at(k)] =
          psi_adjoint_times(blocks, k, before) + h_adjoint_times(blocks, k, v) + tau_adjoint_times(blocks, k, a(k));
      set_hinge_part(blocks, k, v - shifted_gain_adjoint_times(blocks, k, before) - gain_adjoint_times(blocks, k, a(k)),
                     acceleration.data());
      set_link(k, lambda[at(k)]);
    }
  }
};

}  // namespace

template <class T>
void forward_dynamics_by(ForwardAlgorithm algorithm, BasicState<T>& state, In<T> torques, Out<T> accelerations,
                         std::type_identity_t<Forces<T>> forces, std::type_identity_t<std::span<Motion<T>>> links) {
  const bool has_links = algorithm == ForwardAlgorithm::fd2 || algorithm == ForwardAlgorithm::fd4;
  if (!links.empty() && !has_links) {
    throw ArgumentError("only fd2 and fd4 have the accelerations of the bodies on the way: leave `links` empty");
  }
  if (algorithm == ForwardAlgorithm::articulated) {
    forward_dynamics(state, torques, accelerations, forces);
    return;
  }
  detail::StateData<T>& s = state.data();
  const std::span<const T> torque = detail::given(torques, s.nv(), "torque");
  const std::span<T> acceleration = detail::wanted(accelerations, s.nv(), "acceleration");
  check_size(links.size(), links.empty() ? 0 : s.blocks.size(), "links");
  s.check_forces(forces);
  s.require_block_diagonal();
  s.blocks.need_world();
  s.blocks.need_velocities();
  s.blocks.need_articulated();
  std::fill(s.torques.begin(), s.torques.end(), T(0));
  s.add_passive(s.torques);
  for (std::size_t i = 0; i < torque.size(); ++i) {
    s.torques[i] = torque[i] - s.torques[i];
  }
  std::fill(s.force.begin(), s.force.end(), Force<T>::zero());
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body != world) {
      s.force[static_cast<std::size_t>(applied.body)] -= s.at_body(applied);
    }
  }
  PrintedSweeps<T> sweeps{s.blocks, s.gravity(), s.force, s.motion, s.zeta, s.torques, s.full, acceleration, links};
  if (algorithm == ForwardAlgorithm::fd4) {  // outward for V, then inward, outward
    sweeps.filter_with_bias();
    sweeps.smooth_with_bias();
    return;
  }
  sweeps.bias_accelerations();  // outward, V and a on the way
  if (algorithm == ForwardAlgorithm::fd3) {
    sweeps.bias_forces();  // within the same sweep
  } else {
    sweeps.remove_bias_torques();                                 // inward
    std::fill(s.force.begin(), s.force.end(), Force<T>::zero());  // z(0) = 0
  }
  sweeps.filter();  // inward, P, D and G on the way
  if (algorithm == ForwardAlgorithm::fd2) {
    sweeps.smooth_with_accelerations();  // outward
  } else {
    sweeps.smooth();  // outward
  }
}

template void forward_dynamics_by(ForwardAlgorithm, BasicState<double>&, In<double>, Out<double>, Forces<double>,
                                  std::span<Motion<double>>);
template void forward_dynamics_by(ForwardAlgorithm, BasicState<float>&, In<float>, Out<float>, Forces<float>,
                                  std::span<Motion<float>>);

}  // namespace bunraku
