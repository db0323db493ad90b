/// @file
/// One hinge taken out of an articulated inertia: a step of the Riccati recursion.
#pragma once

#include <array>
#include <span>

#include "bunraku/dynamics/detail/small_matrix.hpp"

namespace bunraku::kernels {

/// Where the factors of a hinge with n velocities go.
template <class T>
struct HingeFactors {
  Force<T>* U = nullptr;   ///< PH* = GD, n columns.
  Force<T>* G = nullptr;   ///< PH*D⁻¹, n columns.
  T* D = nullptr;          ///< HPH* + armature, n×n.
  T* D_inverse = nullptr;  ///< n×n.
};

/// Takes a hinge with one velocity, as most are, out of P: as below.
template <class T>
bool eliminate(const Motion<T>& H, const T& armature, const HingeFactors<T>& out, ArticulatedInertia<T>& P) {
  const Force<T> U = P * H;
  const T D = dot(H, U) + armature;
  if (!(D > vanishing<T> * neighbours(P, H))) {
    return false;
  }
  *out.U = U;
  *out.D = D;
  *out.D_inverse = T(1) / D;
  *out.G = U * *out.D_inverse;
  P -= scaled_outer(U, *out.D_inverse);
  return true;
}

/// Takes a hinge with the columns H* out of P (RK92 35–38): its factors go to `out`, and P − GDG*, what the hinge lets
/// through, is left in P. False, and P as it was, where the hinge moves nothing that has mass.
template <class T>
bool eliminate(HingeType type, std::span<const Motion<T>> H, std::span<const T> armature, const HingeFactors<T>& out,
               ArticulatedInertia<T>& P) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int n = static_cast<int>(H.size());
  if (n == 1) {
    return eliminate(H[0], armature[0], out, P);
  }
  std::array<T, max_hinge_velocities> floors{};
  bool geared = false;
  for (int i = 0; i < n; ++i) {
    out.U[i] = P * H[at(i)];
    for (int j = 0; j <= i; ++j) {
      const T d = dot(H[at(j)], out.U[i]) + (i == j ? armature[at(i)] : T(0));
      out.D[i * n + j] = out.D[j * n + i] = out.D_inverse[i * n + j] = out.D_inverse[j * n + i] = d;
    }
    floors[at(i)] = vanishing<T> * neighbours(P, H[at(i)]);
    geared = geared || armature[at(i)] != T(0);
  }
  if (!invert_positive(out.D_inverse, n, floors.data())) {
    return false;
  }
  for (int i = 0; i < n; ++i) {
    Force<T> g = Force<T>::zero();
    for (int j = 0; j < n; ++j) {
      g += out.U[j] * out.D_inverse[j * n + i];
    }
    out.G[i] = g;
    const Force<T>& u = out.U[i];  // P − G D G* = P − G U*
    P.rotational -= Sym3<T>::symmetric_part(outer(g.moment, u.moment));
    P.coupling -= outer(g.moment, u.force);
    P.linear -= Sym3<T>::symmetric_part(outer(g.force, u.force));
  }
  forget_rounding(type, geared, P);
  return true;
}

}  // namespace bunraku::kernels
