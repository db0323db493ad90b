/// @file
/// Coupled hinges: the links of a cluster are eliminated together, as one body of larger dimension. With φ_c within the
/// cluster, r = S the ratios and X the steps to the parent, H̄ = S*Hφ_c and
///
///   D = H̄PH̄* + S*𝒜S,  Ū = XPH̄*,  P(parent) += XPX* − ŪD⁻¹Ū*,
///
/// as for a hinge of a single body; Ū is in the parent's frame. D = L d L* with L unit upper triangular, d⁻¹ and ŪL⁻*
/// are kept at the velocities that the cluster's hinges follow, so that nothing else needs to know of clusters.
#pragma once

#include <algorithm>

#include "bunraku/kernels/hand_over.hpp"
#include "bunraku/kernels/turning.hpp"

namespace bunraku::kernels {

/// The part of a force along a one-axis hinge.
template <Kind kind, class S>
BUNRAKU_INLINE const S& along(const Force<S>& f) {
  return kind == Kind::prismatic ? f.force.z : f.moment.z;
}

// ---------------------------------------------------------------------------------------------------------------------
// One-axis hinges on one parent that follow one velocity, such as the fingers of a gripper

/// Adds a link to D, Ū and ε of its siblings, and hands over its inertia as if its hinge were locked.
template <bool forces, Kind kind, class S>
void join_sibling(Workspace<S>& ws, int k, Sibling<S>& sum) {
  const Link<S>& l = ws.link(k);
  const S ratio = ws.tree->within[at(l.v)].ratio;
  const ArticulatedInertia<S> P = gathered(ws, k);
  const Sym3<S>& J = P.rotational;
  const Mat3<S>& C = P.coupling;
  const Sym3<S>& L = P.linear;
  const Force<S> U =
      kind == Kind::prismatic ? Force<S>{C.column(2), {L.xz, L.yz, L.zz}} : Force<S>{{J.xz, J.yz, J.zz}, C.row(2)};
  sum.D += ratio * ratio * (along<kind>(U) + l.armature);
  const Axes<kind, S> axes{l, ws.spin[at(k)]};
  const Vec3<S> p = kind == Kind::prismatic ? slid(ws, l) : l.p;
  const Vec3<S> pull = axes.forth(U.force) * ratio;
  sum.U += Force<S>{axes.forth(U.moment) * ratio + cross(p, pull), pull};
  Force<S> z{};
  if constexpr (forces) {  // z + P a; the arm's part comes below
    z = ws.force[at(k)];
    const S rate = kind == Kind::prismatic ? S(2) * ws.v[l.v] : ws.v[l.v];
    const S x = ws.turning[at(k + 1)].w.y * rate;
    const S y = -ws.turning[at(k + 1)].w.x * rate;
    if constexpr (kind == Kind::prismatic) {
      z.moment += C.column(0) * x + C.column(1) * y;
      z.force += Vec3<S>{L.xx * x + L.xy * y, L.xy * x + L.yy * y, L.xz * x + L.yz * y};
    } else {
      z.moment += Vec3<S>{J.xx * x + J.xy * y, J.xy * x + J.yy * y, J.xz * x + J.yz * y};
      z.force += C.row(0) * x + C.row(1) * y;
    }
    sum.epsilon -= ratio * along<kind>(z) + dot(pull, ws.arm_acceleration[at(k)]);
  }
  if (l.parent < 0) {
    return;
  }
  const ArticulatedInertia<S> there = axes.forth(P);
  const Mat3<S> moved = hand_over(ws, l, p, there);
  if constexpr (forces) {
    const Vec3<S>& arm = ws.arm_acceleration[at(k)];
    const Vec3<S> force = axes.forth(z.force);
    Force<S>& up = ws.force[at(l.parent)];
    up.moment += axes.forth(z.moment) + cross(p, force) + moved * arm;
    up.force += force + there.linear * arm;
  }
}

template <bool forces, class S>
void eliminate_siblings(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  const std::size_t v = at(c.coordinates.front());
  Sibling<S> sum;
  if constexpr (forces) {
    sum.epsilon = torque[v];
  }
  for (int k = c.end - 1; k >= c.begin; --k) {
    with_kind(ws.link(k).kind, [&]<Kind kind>() { join_sibling<forces, kind>(ws, k, sum); });
  }
  const S inverse = factors.inverse(sum.D, ws.doubt[v]);
  factors.U[v] = sum.U;
  factors.D_inverse[v] = inverse;
  if constexpr (forces) {
    ws.epsilon[v] = sum.epsilon;
  }
  if (c.parent >= 0) {
    ws.P[at(c.parent)] -= scaled_outer(sum.U, inverse);
    if constexpr (forces) {
      ws.force[at(c.parent)] += sum.U * (inverse * sum.epsilon);
    }
  }
}

template <class S>
void filter_siblings(Workspace<S>& ws, const CoupledLinks& c, const S* x) {
  S epsilon = x[c.coordinates.front()];
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<S>& l = ws.link(k);
    const S ratio = ws.tree->within[at(l.v)].ratio;
    if (l.leaf) {
      if (l.parent >= 0 && l.opens_parent) {
        ws.force[at(l.parent)] = Force<S>::zero();
      }
      continue;
    }
    with_kind(l.kind, [&]<Kind kind>() {
      const Force<S>& z = ws.force[at(k)];
      epsilon -= ratio * along<kind>(z);
      if (l.parent >= 0) {
        const Axes<kind, S> axes{l, ws.spin[at(k)]};
        const Vec3<S> force = axes.forth(z.force);
        const Force<S> moved{axes.forth(z.moment) + cross(kind == Kind::prismatic ? slid(ws, l) : l.p, force), force};
        Force<S>& up = ws.force[at(l.parent)];
        up = l.opens_parent ? moved : up + moved;
      }
    });
  }
  const std::size_t v = at(c.coordinates.front());
  ws.epsilon[v] = epsilon;
  if (c.parent >= 0) {
    ws.force[at(c.parent)] += ws.of_state.U[v] * (ws.of_state.D_inverse[v] * epsilon);
  }
}

/// What moves the siblings; with `biased` accelerations of a state with velocities, without them 𝓜⁻¹x.
template <bool biased, class S>
void smooth_siblings(Workspace<S>& ws, const CoupledLinks& c, const Factors<S>& factors, S* out) {
  const std::size_t v = at(c.coordinates.front());
  const Motion<S>& up = ws.alpha[at(c.parent + 1)];
  const S wanted = factors.D_inverse[v] * (ws.epsilon[v] - dot(factors.U[v], up));
  for (int k = c.begin; k < c.end; ++k) {
    const Link<S>& l = ws.link(k);
    const S own = ws.tree->within[at(l.v)].ratio * wanted;
    out[l.v] = own;
    if (l.leaf) {
      continue;
    }
    with_kind(l.kind, [&]<Kind kind>() {
      const Axes<kind, S> axes{l, ws.spin[at(k)]};
      Vec3<S> linear = up.linear + cross(up.angular, kind == Kind::prismatic ? slid(ws, l) : l.p);
      if constexpr (biased) {
        linear += ws.arm_acceleration[at(k)];
      }
      Motion<S> alpha{axes.back(up.angular), axes.back(linear)};
      (kind == Kind::prismatic ? alpha.linear.z : alpha.angular.z) += own;
      if constexpr (biased) {
        alpha += bias_of(ws, k);
      }
      ws.alpha[at(k + 1)] = alpha;
    });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Any other cluster

/// The axes of a link that is neither revolute nor prismatic, as Axes has those of one that is.
template <class S>
struct PlacedAxes {
  const Rotation<S>& R;

  BUNRAKU_INLINE Vec3<S> forth(const Vec3<S>& v) const { return R * v; }
  BUNRAKU_INLINE Vec3<S> back(const Vec3<S>& v) const { return R.inverse_times(v); }
  BUNRAKU_INLINE ArticulatedInertia<S> forth(const ArticulatedInertia<S>& P) const { return R * P; }
};

/// Calls f(axes, p) with how link k is turned against its parent, and where it is there.
template <class S, class F>
BUNRAKU_INLINE void with_axes(const Workspace<S>& ws, int k, F&& f) {
  const Link<S>& l = ws.link(k);
  if (l.kind > Kind::prismatic) {
    const Transform<S>& X = placed(ws, l);
    return f(PlacedAxes<S>{X.rotation}, X.translation);
  }
  with_kind(l.kind,
            [&]<Kind kind>() { f(Axes<kind, S>{l, ws.spin[at(k)]}, kind == Kind::prismatic ? slid(ws, l) : l.p); });
}

/// H f of coordinate j of a link.
template <class S>
BUNRAKU_INLINE S along(const Workspace<S>& ws, const Link<S>& l, int j, const Force<S>& f) {
  if (l.kind <= Kind::prismatic) {
    return l.kind == Kind::prismatic ? f.force.z : f.moment.z;
  }
  return dot(column(ws, j), f);
}

/// P H* of coordinate j of a link.
template <class S>
BUNRAKU_INLINE Force<S> force_of(const Workspace<S>& ws, const Link<S>& l, int j, const ArticulatedInertia<S>& P) {
  if (l.kind <= Kind::revolute_full) {
    return {{P.rotational.xz, P.rotational.yz, P.rotational.zz}, P.coupling.row(2)};
  }
  return l.kind == Kind::prismatic ? Force<S>{P.coupling.column(2), {P.linear.xz, P.linear.yz, P.linear.zz}}
                                   : P * column(ws, j);
}

/// P a of link k, but for the arm's part.
template <class S>
BUNRAKU_INLINE Force<S> force_of_bias(Workspace<S>& ws, int k, const ArticulatedInertia<S>& P) {
  const Link<S>& l = ws.link(k);
  if (l.kind > Kind::revolute_full) {
    return P * hinge_bias_of(ws, k);
  }
  const S x = ws.turning[at(k + 1)].w.y * ws.v[l.v];
  const S y = -ws.turning[at(k + 1)].w.x * ws.v[l.v];
  const Sym3<S>& J = P.rotational;
  return {{J.xx * x + J.xy * y, J.xy * x + J.yy * y, J.xz * x + J.yz * y},
          P.coupling.row(0) * x + P.coupling.row(1) * y};
}

/// f*a of link k, likewise.
template <class S>
BUNRAKU_INLINE S power_of_bias(Workspace<S>& ws, int k, const Force<S>& f) {
  const Link<S>& l = ws.link(k);
  if (l.kind > Kind::revolute_full) {
    return dot(f, hinge_bias_of(ws, k));
  }
  const Vec3<S>& w = ws.turning[at(k + 1)].w;
  return (w.y * f.moment.x - w.x * f.moment.y) * ws.v[l.v];
}

/// D and Ū as for a mass matrix, by composite bodies: what a unit of velocity e takes at its link goes inward, and its
/// part along each hinge on the way is an element of D. Accelerations on the way that are not the hinges' own do their
/// part in ε.
template <bool forces, class S>
void join_coupled(Workspace<S>& ws, int k, const CoupledLinks& c, const ArticulatedInertia<S>& P, Factors<S>& factors) {
  const Link<S>& own = ws.link(k);
  const std::size_t m = c.coordinates.size();
  S* D = factors.L.data() + c.factor;
  for (int e = own.v; e < own.v + own.nv; ++e) {
    const Follower<double>& follower = ws.tree->within[at(e)];
    const std::size_t j = at(follower.own);
    const std::size_t v = at(c.coordinates[j]);
    Force<S> f = force_of(ws, own, e, P) * follower.ratio;
    D[j * m + j] += follower.ratio * (along(ws, own, e, f) + follower.ratio * ws.armature[at(e)]);
    const auto pair = [&](const Link<S>& l, int end) {
      for (int i = l.v; i < end; ++i) {
        const S value = ws.tree->within[at(i)].ratio * along(ws, l, i, f);
        const std::size_t other = at(ws.tree->within[at(i)].own);
        D[other * m + j] += value;
        D[j * m + other] += value;
      }
    };
    pair(own, e);
    if constexpr (forces) {
      ws.epsilon[v] -= follower.ratio * along(ws, own, e, ws.force[at(k)]);
    }
    for (int here = k; here >= c.begin;) {
      if constexpr (forces) {
        ws.epsilon[v] -= power_of_bias(ws, here, f);
      }
      with_axes(ws, here, [&](const auto& axes, const Vec3<S>& p) BUNRAKU_INLINE_LAMBDA {
        put(axes.forth(f.force), f.force);
        put(axes.forth(f.moment) + cross(p, f.force), f.moment);
      });
      if constexpr (forces) {
        ws.epsilon[v] -= dot(f.force, ws.arm_acceleration[at(here)]);
      }
      here = ws.link(here).parent;
      if (here >= c.begin) {
        pair(ws.link(here), ws.link(here).v + ws.link(here).nv);
      }
    }
    factors.U[v] += f;
  }
}

/// D, Ū and ε of the cluster's coordinates; its parent gets what all of it has with the hinges locked.
template <bool forces, class S>
void gather_coupled(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  const std::size_t m = c.coordinates.size();
  S* D = factors.L.data() + c.factor;
  std::fill_n(D, m * m, S(0));
  for (const int v : c.coordinates) {
    factors.U[at(v)] = Force<S>::zero();
    ws.epsilon[at(v)] = forces ? torque[v] : S(0);
  }
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<S>& l = ws.link(k);
    const ArticulatedInertia<S> P = gathered(ws, k);
    join_coupled<forces>(ws, k, c, P, factors);
    if (l.parent < 0) {
      continue;
    }
    Force<S> z{};
    if constexpr (forces) {
      z = ws.force[at(k)] + force_of_bias(ws, k, P);
    }
    with_axes(ws, k, [&](const auto& axes, const Vec3<S>& p) BUNRAKU_INLINE_LAMBDA {
      const ArticulatedInertia<S> there = axes.forth(P);
      const Mat3<S> moved = hand_over(ws, l, p, there);
      if constexpr (forces) {
        const Vec3<S>& arm = ws.arm_acceleration[at(k)];
        const Vec3<S> force = axes.forth(z.force);
        Force<S>& up = ws.force[at(l.parent)];
        up.moment += axes.forth(z.moment) + cross(p, force) + moved * arm;
        up.force += force + there.linear * arm;
      }
    });
  }
}

/// D = L d L* of the first `count` coordinates, one after the other; the parent gets what moving hinges take off.
template <bool forces, class S>
void factor_coupled(Workspace<S>& ws, const CoupledLinks& c, std::size_t count, Factors<S>& factors) {
  const std::size_t m = c.coordinates.size();
  S* D = factors.L.data() + c.factor;
  for (std::size_t j = count; j-- > 0;) {
    const std::size_t v = at(c.coordinates[j]);
    const Force<S>& U = factors.U[v];
    const S inverse = factors.inverse(D[j * m + j], ws.doubt[v]);
    factors.D_inverse[v] = inverse;
    for (std::size_t i = 0; i < j; ++i) {
      const S part = D[i * m + j] * inverse;
      for (std::size_t n = 0; n <= i; ++n) {
        D[n * m + i] -= part * D[n * m + j];
      }
      factors.U[at(c.coordinates[i])] -= U * part;
      if constexpr (forces) {
        ws.epsilon[at(c.coordinates[i])] -= part * ws.epsilon[v];
      }
    }
    for (std::size_t i = 0; i < j; ++i) {
      D[i * m + j] *= inverse;
    }
    if (c.parent >= 0) {
      ws.P[at(c.parent)] -= scaled_outer(U, inverse);
      if constexpr (forces) {
        ws.force[at(c.parent)] += U * (inverse * ws.epsilon[v]);
      }
    }
  }
}

template <bool forces, class S>
void eliminate_coupled(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  gather_coupled<forces>(ws, c, factors, torque);
  factor_coupled<forces>(ws, c, c.coordinates.size(), factors);
}

/// ε of the cluster's coordinates, each by itself.
template <class S>
void gather_innovations(Workspace<S>& ws, const CoupledLinks& c, const S* x) {
  for (const int v : c.coordinates) {
    ws.epsilon[at(v)] = x[v];
  }
  if (c.lumps >= 0 && c.parent >= 0 && ws.tree->lumps[at(c.lumps)].opens_parent) {
    ws.force[at(c.parent)] = Force<S>::zero();
  }
  for (int k = c.lumps_begin - 1; k >= c.begin; --k) {
    const Link<S>& l = ws.link(k);
    const Force<S> z = l.leaf ? Force<S>::zero() : ws.force[at(k)];
    for (int e = l.v; e < l.v + l.nv; ++e) {
      ws.epsilon[at(c.coordinates[at(ws.tree->within[at(e)].own)])] -=
          ws.tree->within[at(e)].ratio * dot(column(ws, e), z);
    }
    if (l.parent >= 0) {
      const Force<S> moved = pose_of(ws, k) * z;
      Force<S>& up = ws.force[at(l.parent)];
      up = l.opens_parent ? moved : up + moved;
    }
  }
}

/// ε of the first `count` coordinates, one after the other.
template <class S>
void settle_innovations(Workspace<S>& ws, const CoupledLinks& c, std::size_t count) {
  const std::size_t m = c.coordinates.size();
  const S* L = ws.of_state.L.data() + c.factor;
  for (std::size_t j = count; j-- > 0;) {
    const std::size_t v = at(c.coordinates[j]);
    for (std::size_t i = 0; i < j; ++i) {
      ws.epsilon[at(c.coordinates[i])] -= L[i * m + j] * ws.epsilon[v];
    }
    if (c.parent >= 0) {
      ws.force[at(c.parent)] += ws.of_state.U[v] * (ws.of_state.D_inverse[v] * ws.epsilon[v]);
    }
  }
}

template <class S>
void filter_coupled(Workspace<S>& ws, const CoupledLinks& c, const S* x) {
  gather_innovations(ws, c, x);
  settle_innovations(ws, c, c.coordinates.size());
}

/// What moves the first `count` coordinates.
template <class S>
void move_coordinates(Workspace<S>& ws, const CoupledLinks& c, std::size_t count, const Factors<S>& factors, S* out) {
  const std::size_t m = c.coordinates.size();
  const S* L = factors.L.data() + c.factor;
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t v = at(c.coordinates[j]);
    out[v] = factors.D_inverse[v] * (ws.epsilon[v] - dot(factors.U[v], ws.alpha[at(c.parent + 1)]));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      out[c.coordinates[j]] -= L[i * m + j] * out[c.coordinates[i]];
    }
  }
}

/// How link k moves, from the accelerations of its hinge's velocities.
template <bool biased, class S>
BUNRAKU_INLINE void move_link(Workspace<S>& ws, int k, const S* out) {
  const Link<S>& l = ws.link(k);
  const Motion<S>& up = ws.alpha[at(l.parent + 1)];
  Motion<S> alpha;
  with_axes(ws, k, [&](const auto& axes, const Vec3<S>& p) BUNRAKU_INLINE_LAMBDA {
    Vec3<S> linear = up.linear + cross(up.angular, p);
    if constexpr (biased) {
      linear += ws.arm_acceleration[at(k)];
    }
    put(axes.back(up.angular), alpha.angular);
    put(axes.back(linear), alpha.linear);
  });
  if constexpr (biased) {
    alpha += bias_of(ws, k);
  }
  for (int e = l.v; e < l.v + l.nv; ++e) {
    alpha += column(ws, e) * out[e];
  }
  put(alpha.angular, ws.alpha[at(k + 1)].angular);
  put(alpha.linear, ws.alpha[at(k + 1)].linear);
}

/// What moves the hinges of link k, from what moves the coordinates.
template <class S>
BUNRAKU_INLINE void move_hinge(Workspace<S>& ws, const CoupledLinks& c, int k, S* out) {
  const Link<S>& l = ws.link(k);
  for (int e = l.v; e < l.v + l.nv; ++e) {
    out[e] = ws.tree->within[at(e)].ratio * out[c.coordinates[at(ws.tree->within[at(e)].own)]];
  }
}

/// What moves all hinges but lumps', and with them the links, from what moves the coordinates; see smooth_siblings.
template <bool biased, class S>
void move_links(Workspace<S>& ws, const CoupledLinks& c, S* out) {
  for (int k = c.begin; k < c.lumps_begin; ++k) {
    move_hinge(ws, c, k, out);
    move_link<biased>(ws, k, out);
  }
}

template <bool biased, class S>
void smooth_coupled(Workspace<S>& ws, const CoupledLinks& c, const Factors<S>& factors, S* out) {
  move_coordinates(ws, c, c.coordinates.size(), factors, out);
  move_links<biased>(ws, c, out);
}

}  // namespace bunraku::kernels
