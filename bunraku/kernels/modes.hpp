/// @file
/// The modes of a flexible body, whose nodes hang on one link by hinges with the same coordinates η. They are a cluster
/// as those of coupled.hpp, in which nothing lies between a node and the parent, so that whole rows
///
///   [D Ū ε]
///
/// with one mode each are made and eliminated a register at a time: of D the part up to the diagonal counts.
#pragma once

#include "bunraku/kernels/coupled.hpp"
#include "bunraku/kernels/lumps.hpp"
#include "bunraku/kernels/turning.hpp"

namespace bunraku::kernels {

/// D = L d L*, one mode after the other; the parent gets what moving modes take off.
template <bool forces, class S>
void factor_modes(Workspace<S>& ws, const CoupledLinks& c, const ModalRows<S>& rows, Factors<S>& factors) {
  constexpr int lanes = ModalRows<S>::lanes;
  constexpr int count = ModalRows<S>::tail_registers;
  const int n = static_cast<int>(c.coordinates.size());
  const std::size_t v = at(c.coordinates.front());
  S* L = factors.L.data() + c.factor;
  Column<S> taken[6][count] = {};  // Ū d⁻¹ [Ū* ε] of all modes
  for (int j = n - 1; j >= 0; --j) {
    const S* D = rows.D(j);
    const S* U = rows.U(j);
    const S inverse = factors.inverse(D[j], ws.doubt[v + at(j)]);
    for (int i = 0; i < j; ++i) {
      const S part = D[i] * inverse;
      L[i * n + j] = part;
      subtract_row(rows.D(i), part, D, i);
      subtract_row(rows.U(i), part, U, ModalRows<S>::tail - 1);
    }
    factors.D_inverse[v + at(j)] = inverse;
    factors.U[v + at(j)] = {{U[0], U[1], U[2]}, {U[3], U[4], U[5]}};
    if constexpr (forces) {
      ws.epsilon[v + at(j)] = U[6];
    }
    if (c.parent < 0) {
      continue;
    }
    if constexpr (lanes == 1) {
      ws.P[at(c.parent)] -= scaled_outer(factors.U[v + at(j)], inverse);
      if constexpr (forces) {
        ws.force[at(c.parent)] += factors.U[v + at(j)] * (inverse * U[6]);
      }
    } else {
      Column<S> whole[count];
      for (int r = 0; r < count; ++r) {
        whole[r] = load_column<S>(U + r * lanes);
      }
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) {
        const Column<S> gain(U[i] * inverse);
        for (int r = 0; r < count; ++r) {
          taken[i][r] += gain * whole[r];
        }
      }
    }
  }
  if constexpr (lanes > 1) {
    if (c.parent < 0) {
      return;
    }
    S x[6][ModalRows<S>::tail];
    for (int i = 0; i < 6; ++i) {
      for (int r = 0; r < count; ++r) {
        store_column<S>(taken[i][r], x[i] + r * lanes);
      }
    }
    ws.P[at(c.parent)] -=
        ArticulatedInertia<S>{{x[0][0], x[1][1], x[2][2], x[0][1], x[0][2], x[1][2]},
                              {{{x[0][3], x[0][4], x[0][5]}, {x[1][3], x[1][4], x[1][5]}, {x[2][3], x[2][4], x[2][5]}}},
                              {x[3][3], x[4][4], x[5][5], x[3][4], x[3][5], x[4][5]}};
    if constexpr (forces) {
      ws.force[at(c.parent)] += Force<S>{{x[0][6], x[1][6], x[2][6]}, {x[3][6], x[4][6], x[5][6]}};
    }
  }
}

/// The rows of modes that no lump has a part in, but for what acts on them.
template <bool forces, class S>
void clear_rows(const CoupledLinks& c, const ModalRows<S>& rows, const S* torque) {
  const int n = static_cast<int>(c.coordinates.size());
  for (int j = 0; j < n; ++j) {
    std::fill_n(rows.D(j), rows.stride, S(0));
    if constexpr (forces) {
      rows.U(j)[6] = torque[c.coordinates[at(j)]];
    }
  }
}

/// A node's part of the rows, by f = PH* of all modes: its hinge is the modes' to the parent. What is between its P and
/// the parent's acceleration, without the modes, is the force y = z + P a.
template <bool forces, class S>
void join_node(Workspace<S>& ws, int k, const ModalRows<S>& rows) {
  using C = Column<S>;
  const Link<S>& l = ws.link(k);
  const ArticulatedInertia<S> P = gathered(ws, k);
  const Transform<S>& X = ws.placed[at(l.special)];
  Force<S> y{};
  if constexpr (forces) {
    const Motion<S>& bias = ws.special_bias[at(l.special)];
    y = ws.force[at(k)] +
        P * Motion<S>{bias.angular, bias.linear + X.rotation.inverse_times(ws.arm_acceleration[at(k)])};
  }
  S* const H[6] = {rows.vector(0), rows.vector(1), rows.vector(2), rows.vector(3), rows.vector(4), rows.vector(5)};
  const Motion<S>* columns = ws.H.data() + l.v;
  for (int i = 0; i < rows.width; ++i) {
    const Motion<S> column = i < l.nv ? columns[i] : Motion<S>::zero();
    for (int x = 0; x < 6; ++x) {
      H[x][i] = column[x];
    }
  }
  const Mat3<S>& R = X.rotation.matrix();
  const Vec3<C> p{C(X.translation.x), C(X.translation.y), C(X.translation.z)};
  for (int i = 0; i < rows.width; i += ModalRows<S>::lanes) {
    const Vec3<C> angular{load_column<S>(H[0] + i), load_column<S>(H[1] + i), load_column<S>(H[2] + i)};
    const Vec3<C> linear{load_column<S>(H[3] + i), load_column<S>(H[4] + i), load_column<S>(H[5] + i)};
    const Vec3<C> moment = product(P.rotational.full(), angular) + product(P.coupling, linear);
    const Vec3<C> force = product(P.coupling.transpose(), angular) + product(P.linear.full(), linear);
    for (int j = i; j < l.nv; ++j) {
      S* D = rows.D(j) + i;
      const C own = moment.x * C(H[0][j]) + moment.y * C(H[1][j]) + moment.z * C(H[2][j]) + force.x * C(H[3][j]) +
                    force.y * C(H[4][j]) + force.z * C(H[5][j]);
      store_column<S>(load_column<S>(D) + own, D);
    }
    const Vec3<C> there = product(R, force);
    const Vec3<C> turned = product(R, moment) + cross(p, there);
    S numbers[7][ModalRows<S>::lanes];
    store_column<S>(turned.x, numbers[0]);
    store_column<S>(turned.y, numbers[1]);
    store_column<S>(turned.z, numbers[2]);
    store_column<S>(there.x, numbers[3]);
    store_column<S>(there.y, numbers[4]);
    store_column<S>(there.z, numbers[5]);
    if constexpr (forces) {
      store_column<S>(C(S(0)) - (angular.x * C(y.moment.x) + angular.y * C(y.moment.y) + angular.z * C(y.moment.z) +
                                 linear.x * C(y.force.x) + linear.y * C(y.force.y) + linear.z * C(y.force.z)),
                      numbers[6]);
    }
    for (int lane = 0; lane < ModalRows<S>::lanes && i + lane < l.nv; ++lane) {
      S* U = rows.U(i + lane);
      for (int x = 0; x < (forces ? 7 : 6); ++x) {
        U[x] += numbers[x][lane];
      }
    }
  }
  for (int j = 0; j < l.nv; ++j) {
    rows.D(j)[j] += ws.armature[at(l.v + j)];
  }
  if (l.parent < 0) {
    return;
  }
  hand_over(ws, l, X.translation, X.rotation * P);
  if constexpr (forces) {
    ws.force[at(l.parent)] += X * y;
  }
}

/// D, Ū and ε of the modes, and what the parent gets.
template <bool forces, class S>
void eliminate_modes(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  const ModalRows<S> rows(ws, static_cast<int>(c.coordinates.size()));
  if (c.lumps >= 0) {
    begin_rows<forces>(ws, c, rows, torque);
  } else {
    clear_rows<forces>(c, rows, torque);
  }
  for (int k = c.lumps_begin - 1; k >= c.begin; --k) {
    join_node<forces>(ws, k, rows);
  }
  factor_modes<forces>(ws, c, rows, factors);
}

/// See smooth_coupled.
template <bool biased, class S>
void smooth_modes(Workspace<S>& ws, const CoupledLinks& c, const Factors<S>& factors, S* out) {
  const int n = static_cast<int>(c.coordinates.size());
  const std::size_t v = at(c.coordinates.front());
  const Motion<S>& up = ws.alpha[at(c.parent + 1)];
  S* x = out + v;
  for (int j = 0; j < n; ++j) {
    x[j] = factors.D_inverse[v + at(j)] * (ws.epsilon[v + at(j)] - dot(factors.U[v + at(j)], up));
  }
  const S* row = factors.L.data() + c.factor;
  for (int i = 0; i < n; ++i, row += n) {
    const S own = x[i];
    int j = i + 1;
    for (; j + columns_per_register<S> <= n; j += columns_per_register<S>) {
      store_column<S>(load_column<S>(x + j) - load_column<S>(row + j) * Column<S>(own), x + j);
    }
    for (; j < n; ++j) {
      x[j] -= row[j] * own;
    }
  }
  move_links<biased>(ws, c, out);
}

}  // namespace bunraku::kernels
