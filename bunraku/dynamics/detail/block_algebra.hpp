/// @file
/// One body's share of the operators H, H*, D⁻¹, ψ, ψ*, K, K*: what a sweep does at each body.
#pragma once

#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/blocks.hpp"

namespace bunraku::kernels {

/// The share of body k in an array over the velocities of all hinges.
template <class T>
HingeVector<T> hinge_part(const Blocks<T>& blocks, int k, const T* all) {
  HingeVector<T> out{};
  std::copy_n(all + blocks.first(k), blocks.nv(k), out.x.begin());
  return out;
}

/// Writes the share of body k to an array over the velocities of all hinges.
template <class T>
void set_hinge_part(const Blocks<T>& blocks, int k, const HingeVector<T>& part, T* all) {
  std::copy_n(part.x.begin(), blocks.nv(k), all + blocks.first(k));
}

/// H(k) f. Needs positions.
template <class T>
BUNRAKU_INLINE HingeVector<T> h_times(const Blocks<T>& blocks, int k, const Force<T>& f) {
  HingeVector<T> out{};
  for (int j = 0; j < blocks.nv(k); ++j) {
    out[j] = dot(blocks.H(blocks.first(k) + j), f);
  }
  return out;
}

/// H*(k) x. Needs positions.
template <class T>
BUNRAKU_INLINE Motion<T> h_adjoint_times(const Blocks<T>& blocks, int k, const HingeVector<T>& x) {
  Motion<T> out = Motion<T>::zero();
  for (int j = 0; j < blocks.nv(k); ++j) {
    out += blocks.H(blocks.first(k) + j) * x[j];
  }
  return out;
}

/// D⁻¹(k) x. Needs articulated.
template <class T>
BUNRAKU_INLINE HingeVector<T> d_inverse_times(const Blocks<T>& blocks, int k, const HingeVector<T>& x) {
  const HingeFactors<T> factors = blocks.factors(k);
  if (factors.n == 1) {
    HingeVector<T> out{};
    out[0] = x[0] * factors.L[0];
    return out;
  }
  return factors.d_inverse_times(x);
}

/// G(k) x. Needs articulated.
template <class T>
BUNRAKU_INLINE Force<T> gain_times(const Blocks<T>& blocks, int k, const HingeVector<T>& x) {
  const Joint& joint = blocks.joint(k);
  if (joint.nv == 1) [[likely]] {
    return blocks.G(joint.first) * x[0];
  }
  return blocks.factors(k).gain_times(x);
}

/// G*(k) m. Needs articulated.
template <class T>
BUNRAKU_INLINE HingeVector<T> gain_adjoint_times(const Blocks<T>& blocks, int k, const Motion<T>& m) {
  const Joint& joint = blocks.joint(k);
  if (joint.nv == 1) {
    HingeVector<T> out{};
    out[0] = dot(blocks.G(joint.first), m);
    return out;
  }
  return blocks.factors(k).gain_adjoint_times(m);
}

/// [I − G(k)H(k)] f. Needs articulated.
template <class T>
Force<T> tau_times(const Blocks<T>& blocks, int k, const Force<T>& f) {
  return f - gain_times(blocks, k, h_times(blocks, k, f));
}

/// [I − G(k)H(k)]* m. Needs articulated.
template <class T>
Motion<T> tau_adjoint_times(const Blocks<T>& blocks, int k, const Motion<T>& m) {
  return m - h_adjoint_times(blocks, k, gain_adjoint_times(blocks, k, m));
}

/// φ(p,k) f to the parent p. Needs positions.
template <class T>
Force<T> phi_times(const Blocks<T>& blocks, int k, const Force<T>& f) {
  return blocks.X_PB(k) * f;
}

/// φ*(p,k) m from the parent p. Needs positions.
template <class T>
Motion<T> phi_adjoint_times(const Blocks<T>& blocks, int k, const Motion<T>& m) {
  return inverse_times(blocks.X_PB(k), m);
}

/// ψ(p,k) f = φ(p,k)[I − G(k)H(k)] f. Needs articulated.
template <class T>
Force<T> psi_times(const Blocks<T>& blocks, int k, const Force<T>& f) {
  return phi_times(blocks, k, tau_times(blocks, k, f));
}

/// ψ*(p,k) m. Needs articulated.
template <class T>
Motion<T> psi_adjoint_times(const Blocks<T>& blocks, int k, const Motion<T>& m) {
  return tau_adjoint_times(blocks, k, phi_adjoint_times(blocks, k, m));
}

/// K(p,k) x = φ(p,k)G(k) x. Needs articulated.
template <class T>
Force<T> shifted_gain_times(const Blocks<T>& blocks, int k, const HingeVector<T>& x) {
  return phi_times(blocks, k, gain_times(blocks, k, x));
}

/// K*(p,k) m. Needs articulated.
template <class T>
HingeVector<T> shifted_gain_adjoint_times(const Blocks<T>& blocks, int k, const Motion<T>& m) {
  return gain_adjoint_times(blocks, k, phi_adjoint_times(blocks, k, m));
}

/// Six forces: the columns of a matrix that gives forces.
template <class T>
using SixForces = std::array<Force<T>, 6>;

/// The unit forces at the origin of a frame: the columns of X, which takes them to where it is posed.
template <class T>
SixForces<T> unit_forces(const Transform<T>& X) {
  SixForces<T> out{};
  for (int i = 0; i < 6; ++i) {
    Force<T> unit = Force<T>::zero();
    unit[i] = T(1);
    out[static_cast<std::size_t>(i)] = X * unit;
  }
  return out;
}

/// ψ(i,j) times forces on body j, for an ancestor i of it. Needs articulated. O(d).
template <class T>
SixForces<T> psi_times(const Blocks<T>& blocks, int i, int j, SixForces<T> forces) {
  for (int k = j; k != i; k = blocks.parent(k)) {
    for (Force<T>& f : forces) {
      f = psi_times(blocks, k, f);
    }
  }
  return forces;
}

}  // namespace bunraku::kernels
