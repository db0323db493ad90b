/// @file
/// Lumps of a flexible body: those that do not turn and carry nothing count by sums over them alone, however many they
/// are. A lump of mass m and first moment h is at r = p + Σ g_i η_i in the frame of the link that all hang on. With
///
///   T_i(η) = Σ (m r + h) g_i* = T_i(0) + Σ η_l Σ m g_l g_i*,
///
/// all that elimination takes from them follows: C_i = Σ (m r + h) × g_i from T_i's antisymmetric part, the inertia
/// from the second moments Σ η_i (T_i(η) + T_i*(0)), and what velocities do from T_i and ω~ω~.
#pragma once

#include "bunraku/kernels/modal_rows.hpp"
#include "bunraku/kernels/turns.hpp"

namespace bunraku::kernels {

/// Σ x × y of a matrix Σ x y*.
template <class S>
BUNRAKU_INLINE Vec3<S> axial(const Mat3<S>& T) {
  return {T(1, 2) - T(2, 1), T(2, 0) - T(0, 2), T(0, 1) - T(1, 0)};
}

/// The numbers of several modes from one place of LumpNumbers on.
template <class S>
BUNRAKU_INLINE Column<S> constants_at(const NumberOf<S>* x) {
  if constexpr (columns_per_register<S> == 1) {
    return Column<S>(*x);
  } else {
    return Column<S>::load(x);
  }
}
/// Likewise nine of them, `stride` apart.
template <class S>
BUNRAKU_INLINE Mat3<Column<S>> matrices_at(const NumberOf<S>* x, std::ptrdiff_t stride) {
  Mat3<Column<S>> out;
#pragma GCC unroll 9
  for (int e = 0; e < 9; ++e) {
    out.m[e / 3][e % 3] = constants_at<S>(x + e * stride);
  }
  return out;
}

/// What the lumps have for their parent: sums over all modes, of several side by side.
template <class C>
struct LumpTotals {
  Vec3<C> moment{};    ///< Σ m g η.
  Vec3<C> momentum{};  ///< Σ m ṙ.
  Vec3<C> coriolis{};  ///< Σ (m r + h) × (ω × ṙ).
  Sym3<C> second{};    ///< Σ η (T + T*(0)), of the elements beside the diagonal twice the symmetric part.
};

/// The part of the modes from number i on, a register of them, in their rows and in the totals.
template <bool forces, class S>
BUNRAKU_INLINE void add_modes(const LumpNumbers<S>& lumps, const ModalRows<S>& rows, int i, const Turning<S>& up,
                              const S* torque, LumpTotals<Column<S>>& totals) {
  using C = Column<S>;
  const std::ptrdiff_t stride = lumps.stride;
  const S* eta = rows.vector(0);
  const S* rate = rows.vector(1);
  const Mat3<C> rest = matrices_at<S>(lumps.at_rest() + i, stride);
  Mat3<C> T = rest;
  Vec3<C> turns = Vec3<C>::zero();  // Σ m ṙ × g
  for (int l = 0; l < lumps.modes; ++l) {
    const Mat3<C> change = matrices_at<S>(lumps.change(l) + i, stride);
    T += change * C(eta[l]);
    if constexpr (forces) {
      turns += axial(change) * C(rate[l]);
    }
  }
  const Vec3<C> g{constants_at<S>(lumps.moved() + i), constants_at<S>(lumps.moved() + stride + i),
                  constants_at<S>(lumps.moved() + 2 * stride + i)};
  const C bent = load_column<S>(eta + i);
  const Vec3<C> arm = axial(T);
  const Vec3<C> sides{T(0, 1) + T(1, 0), T(0, 2) + T(2, 0), T(1, 2) + T(2, 1)};
  totals.moment += g * bent;
  totals.second += Sym3<C>{T(0, 0) + rest(0, 0),
                           T(1, 1) + rest(1, 1),
                           T(2, 2) + rest(2, 2),
                           sides.x + (rest(0, 1) + rest(1, 0)),
                           sides.y + (rest(0, 2) + rest(2, 0)),
                           sides.z + (rest(1, 2) + rest(2, 1))} *
                   bent;
  S numbers[7][ModalRows<S>::lanes] = {};
  store_column<S>(arm.x, numbers[0]);
  store_column<S>(arm.y, numbers[1]);
  store_column<S>(arm.z, numbers[2]);
  store_column<S>(g.x, numbers[3]);
  store_column<S>(g.y, numbers[4]);
  store_column<S>(g.z, numbers[5]);
  if constexpr (forces) {
    const Sym3<S>& W = up.W;
    const Vec3<C> w{C(up.w.x), C(up.w.y), C(up.w.z)};
    const C speed = load_column<S>(rate + i);
    store_column<S>(T(0, 0) * C(W.xx) + T(1, 1) * C(W.yy) + T(2, 2) * C(W.zz) + sides.x * C(W.xy) + sides.y * C(W.xz) +
                        sides.z * C(W.yz) + C(2) * dot(w, turns),
                    numbers[6]);
    totals.momentum += g * speed;
    totals.coriolis += (w * (T(0, 0) + T(1, 1) + T(2, 2)) - transpose_times(T, w)) * speed;
  }
  for (int lane = 0; lane < ModalRows<S>::lanes && i + lane < lumps.modes; ++lane) {
    S* U = rows.U(i + lane);
    for (int x = 0; x < 6; ++x) {
      U[x] = numbers[x][lane];
    }
    if constexpr (forces) {
      U[6] = torque[i + lane] - numbers[6][lane];
    }
    for (int x = forces ? 7 : 6; x < ModalRows<S>::tail; ++x) {
      U[x] = S(0);
    }
  }
}

/// The inertia that lumps hand over with the modes locked, and the forces; see hand_over.
template <bool forces, class S>
void hand_over_lumps(Workspace<S>& ws, int parent, const LumpSums& lumps, const LumpTotals<Column<S>>& totals) {
  const S half(0.5);
  const S mass(lumps.mass);
  const Vec3<S> moment = cast<S>(lumps.moment) + total<S>(totals.moment);
  const Mat3<double>& rest = lumps.second;
  const Sym3<S> Q{S(rest(0, 0)) + total<S>(totals.second.xx),
                  S(rest(1, 1)) + total<S>(totals.second.yy),
                  S(rest(2, 2)) + total<S>(totals.second.zz),
                  half * (S(rest(0, 1) + rest(1, 0)) + total<S>(totals.second.xy)),
                  half * (S(rest(0, 2) + rest(2, 0)) + total<S>(totals.second.xz)),
                  half * (S(rest(1, 2) + rest(2, 1)) + total<S>(totals.second.yz))};
  const Sym3<S> J{Q.yy + Q.zz, Q.xx + Q.zz, Q.xx + Q.yy, -Q.xy, -Q.xz, -Q.yz};
  const ArticulatedInertia<S> P{J, skew(moment), {mass, mass, mass, S(0), S(0), S(0)}};
  ArticulatedInertia<S>& sum = ws.P[at(parent)];
  if (lumps.opens_parent) {
    put(P, sum);
  } else {
    sum += P;
  }
  if constexpr (forces) {
    const Turning<S>& up = ws.turning[at(parent + 1)];
    const Vec3<S> coriolis = total<S>(totals.coriolis);
    const Vec3<S> momentum = total<S>(totals.momentum);
    ws.force[at(parent)] +=
        Force<S>{coriolis + coriolis - cross(up.w, Q * up.w), up.W * moment + cross(up.w, momentum + momentum)};
  }
}

/// Begins the rows of the modes with the lumps' part; the parent gets what the lumps have with the modes locked.
template <bool forces, class S>
void begin_rows(Workspace<S>& ws, const CoupledLinks& c, const ModalRows<S>& rows, const S* torque) {
  const LumpSums& sums = ws.tree->lumps[at(c.lumps)];
  const LumpNumbers<S>& lumps = ws.constants->lumps[ws.constants->lumps_of[at(c.lumps)]];
  const int v = c.coordinates.front();
  fill_vector(ws.q + sums.q, lumps.modes, rows.width, rows.vector(0));
  if constexpr (forces) {
    fill_vector(ws.v + v, lumps.modes, rows.width, rows.vector(1));
  }
  LumpTotals<Column<S>> totals;
  for (int i = 0; i < rows.width; i += ModalRows<S>::lanes) {
    add_modes<forces>(lumps, rows, i, ws.turning[at(c.parent + 1)], forces ? torque + v : nullptr, totals);
    for (int j = i; j < lumps.modes; ++j) {
      store_column<S>(constants_at<S>(lumps.mass(j) + i), rows.D(j) + i);
    }
  }
  if (c.parent >= 0) {
    hand_over_lumps<forces>(ws, c.parent, sums, totals);
  }
}

}  // namespace bunraku::kernels
