// The four forward-dynamics algorithms of RK88 (FD1–FD4) = RK92 §VII, sweep by sweep, on trees, for hinges of any
// number of velocities. Where the papers go from body k−1 to body k, the sum over the bodies j that hang on k is meant
// (RJK89 appendix A). The papers' f(0) is the force on the environment: Bf(0) is minus the applied forces here.
#include <algorithm>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

namespace kernels {

/// The sweeps, over arrays that the caller lends: one entry a body, or one number a velocity.
template <class T>
struct PrintedSweeps {
  const Blocks<T>& blocks;
  Vec3<T> gravity;
  std::vector<Force<T>>& force;     ///< Bf(0) before, then z of an inward sweep.
  std::vector<Motion<T>>& lambda;   ///< λ of the last outward sweep.
  std::vector<Motion<T>>& zeta;     ///< φ*a.
  std::vector<T>& torque;           ///< T before, T' after the bias torques are out.
  std::vector<T>& residual;         ///< ν = D⁻¹ε.
  std::span<T> acceleration;        ///< θ̈.

  static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }

  /// An outward array at the parent of k: zero for the world (RK92 52, 58).
  Motion<T> inner(const std::vector<Motion<T>>& array, int k) const {
    return blocks.parent(k) == world ? Motion<T>::zero() : array[at(blocks.parent(k))];
  }
  /// a(k), gravity as the pseudo-acceleration of the base (RK88 3.21). Needs velocities.
  Motion<T> a(int k) const {
    const Motion<T> base{Vec3<T>::zero(), -gravity};
    return blocks.parent(k) == world ? blocks.a(k) + phi_adjoint_times(blocks, k, base) : blocks.a(k);
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
      pass_inward(k, psi_times(blocks, k, force[at(k)]) +
                         shifted_gain_times(blocks, k, hinge_part(blocks, k, torque.data())));
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
  void smooth() {
    for (int k = 0; k < blocks.size(); ++k) {
      const HingeVector<T> v = hinge_part(blocks, k, residual.data());
      const Motion<T> before = inner(lambda, k);
      lambda[at(k)] = psi_adjoint_times(blocks, k, before) + h_adjoint_times(blocks, k, v);
      set_hinge_part(blocks, k, v - shifted_gain_adjoint_times(blocks, k, before), acceleration.data());
    }
  }
  /// Outward, as smooth(), and with it ζ(k) = φ*(p,k)ζ(p) + a(k), α(k) = λ(k) + ζ(k) (RK92 58, RK88 4.21b). α stays
  /// in λ's place once the bodies that hang on k no longer need λ: at the end.
  void smooth_with_accelerations() {
    smooth();
    bias_accelerations();
    for (int k = 0; k < blocks.size(); ++k) {
      lambda[at(k)] += zeta[at(k)];
    }
  }
  /// Outward: λ(k) = ψ*(p,k)λ(p) + H*(k)ν(k) + [I − G(k)H(k)]*a(k), θ̈(k) = ν(k) − G*(k)φ*(p,k)λ(p) − G*(k)a(k)
  /// (RK92 72–73, RK88 5.17). λ is α here: λ = ψ*(H*(ν − G*a) + a) = φ*(H*θ̈ + a).
  void smooth_with_bias() {
    for (int k = 0; k < blocks.size(); ++k) {
      const HingeVector<T> v = hinge_part(blocks, k, residual.data());
      const Motion<T> before = inner(lambda, k);
      lambda[at(k)] = psi_adjoint_times(blocks, k, before) + h_adjoint_times(blocks, k, v) +
                      tau_adjoint_times(blocks, k, a(k));
      set_hinge_part(blocks, k,
                     v - shifted_gain_adjoint_times(blocks, k, before) - gain_adjoint_times(blocks, k, a(k)),
                     acceleration.data());
    }
  }
};

}  // namespace kernels
