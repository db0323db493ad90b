/// @file
/// The innovations factors by articulated bodies (RK92 34–41): P, D, U and, for forward dynamics, ε, inward.
#pragma once

#include <cmath>

#include "bunraku/kernels/eliminate_lanes.hpp"
#include "bunraku/kernels/embedded.hpp"
#include "bunraku/kernels/singular.hpp"

namespace bunraku::kernels {

/// Throws Error where a D of a single state is rounding of zero; of other scalars nobody asks.
template <class S>
void settle_doubts(Workspace<S>&, const Factors<S>&) {}

/// See above. Rare, so that it may copy what it needs out of the variant's own types.
template <class T>
void settle_doubts(Workspace<Pack<T, 1>>& ws, const Factors<Pack<T, 1>>& factors) {
  need_positions(ws);
  Doubts<T>& doubts = ws.doubts;
  for (std::size_t j = 0; j < ws.H.size(); ++j) {
    doubts.H[j] = cast<T>(ws.H[j]);
    doubts.U[j] = {cast<T>(factors.U[j].moment), cast<T>(factors.U[j].force)};
    doubts.D_inverse[j] = factors.D_inverse[j].r;
    doubts.armature[j] = ws.armature[j].r;
  }
  for (std::size_t i = 0; i < factors.L.size(); ++i) {
    doubts.L[i] = factors.L[i].r;
  }
  for (const CoupledLinks& c : ws.tree->clusters) {
    if (c.embedded >= 0) {
      copy_basis(ws, c, doubts.basis.data() + c.basis);
    }
  }
  doubts.independent = ws.embedded.independent;
  for (std::size_t k = 0; k < doubts.pose.size(); ++k) {
    doubts.inertia[k] = cast<T>(ws.links[k].inertia);
    doubts.pose[k] = cast<T>(pose_of(ws, static_cast<int>(k)));
  }
  doubts.settle();
}

template <bool forces, Kind kind, bool geared, bool careful, class S>
[[gnu::noinline]] bool eliminate_revolute(Workspace<S>& ws, int begin, int end, Factors<S>& factors, const S* torque) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const ArticulatedInertia<S> P = gathered(ws, k);
    Sym3<S> J = P.rotational;
    Mat3<S> C = P.coupling;
    Sym3<S> L = P.linear;
    const Force<S> U{{J.xz, J.yz, J.zz}, C.row(2)};
    const S D = geared ? J.zz + l.armature : J.zz;
    if constexpr (!careful && !is_wide<S>) {
      if (!(D > ws.doubt[at(l.v)])) [[unlikely]] {
        return false;
      }
    }
    const S inverse = careful || is_wide<S> ? factors.inverse(D, ws.doubt[at(l.v)]) : S(1) / D;
    Force<S> z{};
    S epsilon{};
    if constexpr (forces) {
      z = ws.force[at(k)];
      epsilon = torque[l.v] - z.moment.z;
    }
    // kept only when P⁺ is known: the compiler would copy P before, for fear that this changes it
    const auto keep = [&] {
      factors.U[at(l.v)] = U;
      factors.D_inverse[at(l.v)] = inverse;
      if constexpr (forces) {
        ws.epsilon[at(l.v)] = epsilon;
      }
    };
    if (l.parent < 0) {
      keep();
      continue;
    }
    // P⁺ = P − U D⁻¹ U*; without armature what couples to the hinge's axis vanishes
    const Force<S> G = U * inverse;
    J.xx -= G.moment.x * U.moment.x;
    J.yy -= G.moment.y * U.moment.y;
    J.xy -= G.moment.x * U.moment.y;
    C.m[0][0] -= G.moment.x * U.force.x;
    C.m[0][1] -= G.moment.x * U.force.y;
    C.m[0][2] -= G.moment.x * U.force.z;
    C.m[1][0] -= G.moment.y * U.force.x;
    C.m[1][1] -= G.moment.y * U.force.y;
    C.m[1][2] -= G.moment.y * U.force.z;
    L.xx -= G.force.x * U.force.x;
    L.yy -= G.force.y * U.force.y;
    L.zz -= G.force.z * U.force.z;
    L.xy -= G.force.x * U.force.y;
    L.xz -= G.force.x * U.force.z;
    L.yz -= G.force.y * U.force.z;
    const S left = geared ? l.armature * inverse : S(0);
    J.xz = geared ? J.xz * left : S(0);
    J.yz = geared ? J.yz * left : S(0);
    J.zz = geared ? J.zz * left : S(0);
    C.m[2][0] = geared ? C.m[2][0] * left : S(0);
    C.m[2][1] = geared ? C.m[2][1] * left : S(0);
    C.m[2][2] = geared ? C.m[2][2] * left : S(0);
    keep();
    if constexpr (forces) {  // z⁺ = z + G ε + P⁺ a, with a = ω × H*θ̇ here; the arm's part comes below
      const S rate = ws.v[l.v];
      const S x = ws.turning[at(k + 1)].w.y * rate;
      const S y = -ws.turning[at(k + 1)].w.x * rate;
      z += G * epsilon;
      z.moment.x += J.xx * x + J.xy * y;
      z.moment.y += J.xy * x + J.yy * y;
      if constexpr (geared) {
        z.moment.z += J.xz * x + J.yz * y;
      }
      z.force.x += C(0, 0) * x + C(1, 0) * y;
      z.force.y += C(0, 1) * x + C(1, 1) * y;
      z.force.z += C(0, 2) * x + C(1, 2) * y;
    }
    const Spin<S> spin = ws.spin[at(k)];
    const DoubleSpin<S> twice(spin.c, spin.s);
    L = turned<kind>(l, about_z(spin, twice, L));
    const Mat3<S> moved =
        hand_over(ws, l, l.p, {turned<kind>(l, about_z(spin, twice, J)), turned<kind>(l, about_z(spin, twice, C)), L});
    if constexpr (forces) {
      const Vec3<S>& arm = ws.arm_acceleration[at(k)];
      const Vec3<S> force = turned<kind>(l, spin.forth(z.force));
      Force<S>& up = ws.force[at(l.parent)];
      up.moment += turned<kind>(l, spin.forth(z.moment)) + cross(l.p, force) + moved * arm;
      up.force += force + L * arm;
    }
  }
  return true;
}

/// A free body against the world: H = I, so that U(j) is a column of what is left of P, without anything beyond j.
template <bool forces, class S>
void eliminate_floating(Workspace<S>& ws, int k, Factors<S>& factors, const S* torque) {
  const Link<S>& l = ws.link(k);
  const ArticulatedInertia<S> P = gathered(ws, k);
  const Sym3<S>& J = P.rotational;
  const Mat3<S>& C = P.coupling;
  const Sym3<S>& L = P.linear;
  S p[6][6] = {{J.xx, J.xy, J.xz, C(0, 0), C(0, 1), C(0, 2)}, {J.xy, J.yy, J.yz, C(1, 0), C(1, 1), C(1, 2)},
               {J.xz, J.yz, J.zz, C(2, 0), C(2, 1), C(2, 2)}, {C(0, 0), C(1, 0), C(2, 0), L.xx, L.xy, L.xz},
               {C(0, 1), C(1, 1), C(2, 1), L.xy, L.yy, L.yz}, {C(0, 2), C(1, 2), C(2, 2), L.xz, L.yz, L.zz}};
  S z[6] = {};
  if constexpr (forces) {
    const Force<S>& f = ws.force[at(k)];
    z[0] = f.moment.x;
    z[1] = f.moment.y;
    z[2] = f.moment.z;
    z[3] = f.force.x;
    z[4] = f.force.y;
    z[5] = f.force.z;
  }
#pragma GCC unroll 6
  for (int j = 5; j >= 0; --j) {
    const S inverse = factors.inverse(p[j][j], ws.doubt[at(l.v + j)]);
    S u[6] = {};
#pragma GCC unroll 6
    for (int i = 0; i <= j; ++i) {
      u[i] = p[i][j];
    }
    factors.U[at(l.v + j)] = {{u[0], u[1], u[2]}, {u[3], u[4], u[5]}};
    factors.D_inverse[at(l.v + j)] = inverse;
    S epsilon{};
    if constexpr (forces) {
      epsilon = torque[l.v + j] - z[j];
      ws.epsilon[at(l.v + j)] = epsilon;
    }
#pragma GCC unroll 6
    for (int i = 0; i < j; ++i) {
      const S g = u[i] * inverse;
      z[i] += g * epsilon;
#pragma GCC unroll 6
      for (int m = 0; m <= i; ++m) {
        p[m][i] -= g * u[m];
      }
    }
  }
}

template <bool forces, class S>
[[gnu::flatten]] void eliminate_other(Workspace<S>& ws, int k, Factors<S>& factors, const S* torque) {
  const Link<S>& l = ws.link(k);
  ArticulatedInertia<S> P = gathered(ws, k);
  Force<S> z = forces ? ws.force[at(k)] : Force<S>::zero();
  for (int j = l.v + l.nv - 1; j >= l.v; --j) {
    const Motion<S>& H = column(ws, j);
    const Force<S> U =
        l.kind == Kind::prismatic ? Force<S>{P.coupling.column(2), {P.linear.xz, P.linear.yz, P.linear.zz}} : P * H;
    const S inverse = factors.inverse(dot(H, U) + ws.armature[at(j)], ws.doubt[at(j)]);
    factors.U[at(j)] = U;
    factors.D_inverse[at(j)] = inverse;
    if constexpr (forces) {
      const S epsilon = torque[j] - dot(H, z);
      ws.epsilon[at(j)] = epsilon;
      z += U * (inverse * epsilon);
    }
    P -= scaled_outer(U, inverse);
  }
  if (l.parent < 0) {
    return;
  }
  forget_rounding(ws.tree->hinge(k).type, l.geared, P);
  const Transform<S> X = pose(ws, l);
  if constexpr (forces) {
    z += P * hinge_bias_of(ws, k);
  }
  P = X.rotation * P;
  const Mat3<S> moved = hand_over(ws, l, X.translation, P);
  if constexpr (forces) {
    const Vec3<S>& arm = ws.arm_acceleration[at(k)];
    ws.force[at(l.parent)] += X * z + Force<S>{moved * arm, P.linear * arm};
  }
}

template <bool forces, bool careful, class S>
bool eliminate(Workspace<S>& ws, Factors<S>& factors, const S* torque) {
  factors.doubtful = {};
  for (std::size_t r = ws.tree->stages.size(); r-- > 0;) {
    const Run& run = ws.tree->stages[r];
    bool certain = true;
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      if constexpr (careful) {  // which is rare: for all kinds alike
        eliminate_revolute<forces, Kind::revolute_full, true, true>(ws, begin, end, factors, torque);
      } else if (is_wide<S> && !run.geared) {
        eliminate_lanes<forces, kind>(ws, begin, end, factors, torque);
      } else {
        certain = run.geared ? eliminate_revolute<forces, kind, true, false>(ws, begin, end, factors, torque)
                             : eliminate_revolute<forces, kind, false, false>(ws, begin, end, factors, torque);
      }
    };
    if (if_revolute(run, revolute)) {
      if (!certain) [[unlikely]] {
        return false;
      }
    } else if (run.cluster >= 0) {
      eliminate_cluster<forces>(ws, run, factors, torque);
    } else {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::floating ? eliminate_floating<forces>(ws, k, factors, torque)
                                   : eliminate_other<forces>(ws, k, factors, torque);
      }
    }
  }
  if constexpr (!is_wide<S>) {
    if (factors.doubtful) [[unlikely]] {
      settle_doubts(ws, factors);
    }
  }
  return true;
}

/// The factors of the state, for all that inverts 𝓜.
template <class S>
void need_articulated(Workspace<S>& ws) {
  need_carriers(ws);
  if (ws.has_articulated) {
    return;
  }
  const S* none = nullptr;
  if constexpr (is_wide<S>) {
    eliminate<false, false>(ws, ws.of_state, none);
  } else if (!eliminate<false, false>(ws, ws.of_state, none)) [[unlikely]] {
    eliminate<false, true>(ws, ws.of_state, none);
  }
  ws.has_articulated = true;
}

/// ln det 𝓜 = Σ ln D.
template <class S>
S log_determinant(Workspace<S>& ws) {
  using std::log;
  need_articulated(ws);
  S sum{};
  for (const S& inverse : ws.of_state.D_inverse) {
    sum -= log(inverse);
  }
  return sum;
}

}  // namespace bunraku::kernels
