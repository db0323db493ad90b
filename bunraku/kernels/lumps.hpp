/// @file
/// Lumps of a flexible body: those that do not turn and carry nothing count by sums over them alone, however many they
/// are. A lump of mass m and first moment h is at r = p + Σ g_i η_i in the frame of the link that all hang on. With
///
///   T_i(η) = Σ (m r + h) g_i* = T_i(0) + Σ η_l Σ m g_l g_i*,
///
/// all that elimination takes from them follows: C_i = Σ (m r + h) × g_i from T_i's antisymmetric part, the inertia
/// from the second moments Σ η_i (T_i(η) + T_i*(0)), and what velocities do from T_i and ω~ω~.
#pragma once

#include "bunraku/kernels/hand_over.hpp"
#include "bunraku/kernels/turning.hpp"

namespace bunraku::kernels {

/// Σ x × y of a matrix Σ x y*.
template <class S>
BUNRAKU_INLINE Vec3<S> axial(const Mat3<S>& T) {
  return {T(1, 2) - T(2, 1), T(2, 0) - T(0, 2), T(0, 1) - T(1, 0)};
}

/// How the mass of the lumps of one body is distributed about their parent's origin.
template <class S>
struct LockedLumps {
  Vec3<S> moment{};  ///< Σ m r + h.
  Mat3<S> second{};  ///< Second moments, of which the symmetric part counts.
};

/// Hands their inertia over; see hand_over.
template <class S>
void hand_over_lumps(Workspace<S>& ws, const CoupledLinks& c, const LumpSums& lumps, const LockedLumps<S>& locked) {
  const Mat3<S>& Q = locked.second;
  const S half(0.5);
  const S mass(lumps.mass);
  const Sym3<S> J{Q(1, 1) + Q(2, 2),           Q(0, 0) + Q(2, 2),           Q(0, 0) + Q(1, 1),
                  -half * (Q(0, 1) + Q(1, 0)), -half * (Q(0, 2) + Q(2, 0)), -half * (Q(1, 2) + Q(2, 1))};
  const ArticulatedInertia<S> P{J, skew(locked.moment), {mass, mass, mass, S(0), S(0), S(0)}};
  ArticulatedInertia<S>& sum = ws.P[at(c.parent)];
  if (lumps.opens_parent) {
    put(P, sum);
  } else {
    sum += P;
  }
}

/// D, Ū and ε of the modes; the parent gets what the lumps have with the modes locked.
template <bool forces, class S>
void gather_lumps(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  const LumpSums& lumps = ws.tree->lumps[at(c.lumps)];
  const int n = lumps.modes;
  const S* eta = ws.q + lumps.q;
  const S* rate = ws.v + lumps.v;
  const Vec3<double>* moved = lumps.moved.data();
  const Mat3<double>* at_rest = lumps.at_rest.data();
  const Mat3<double>* change = lumps.change.data();
  const double* mass = lumps.mass_matrix.data();
  const Turning<S>& up = ws.turning[at(c.parent + 1)];
  LockedLumps<S> locked{cast<S>(lumps.moment), cast<S>(lumps.second)};
  Mat3<S> Y = Mat3<S>::zero();         // Σ (m r + h) ṙ*
  Vec3<S> momentum = Vec3<S>::zero();  // Σ m ṙ
  S* D = factors.L.data() + c.factor;
  for (int i = 0; i < n; ++i) {
    const Mat3<S> rest = cast<S>(at_rest[i]);
    Mat3<S> T = rest;
    for (int l = 0; l < n; ++l) {
      T += cast<S>(change[i * n + l]) * eta[l];
      D[i * n + l] += S(mass[i * n + l]);
    }
    const Vec3<S> g = cast<S>(moved[i]);
    const std::size_t v = at(c.coordinates[at(i)]);
    factors.U[v] += Force<S>{axial(T), g};
    locked.moment += g * eta[i];
    locked.second += (T + rest.transpose()) * eta[i];
    if constexpr (forces) {
      Vec3<S> turns = Vec3<S>::zero();  // Σ m ṙ × g
      for (int l = 0; l < n; ++l) {
        turns += cast<S>(lumps.axes.data()[i * n + l]) * rate[l];
      }
      const Sym3<S>& W = up.W;
      ws.epsilon[v] -= W.xx * T(0, 0) + W.yy * T(1, 1) + W.zz * T(2, 2) + W.xy * (T(0, 1) + T(1, 0)) +
                       W.xz * (T(0, 2) + T(2, 0)) + W.yz * (T(1, 2) + T(2, 1)) + S(2) * dot(up.w, turns);
      Y += T * rate[i];
      momentum += g * rate[i];
    }
  }
  if constexpr (forces) {
    for (const int k : lumps.links) {
      const int first = ws.link(k).v;
      for (int i = 0; i < n; ++i) {
        ws.epsilon[at(c.coordinates[at(i)])] += torque[first + i];
      }
    }
  }
  if (c.parent < 0) {
    return;
  }
  hand_over_lumps(ws, c, lumps, locked);
  if constexpr (forces) {
    const Vec3<S>& w = up.w;
    const Mat3<S>& Q = locked.second;
    const Vec3<S> Qw = (Q * w + transpose_times(Q, w)) * S(0.5);
    const Vec3<S> coriolis = w * (Y(0, 0) + Y(1, 1) + Y(2, 2)) - transpose_times(Y, w);
    ws.force[at(c.parent)] +=
        Force<S>{coriolis + coriolis - cross(w, Qw), up.W * locked.moment + cross(w, momentum + momentum)};
  }
}

}  // namespace bunraku::kernels
