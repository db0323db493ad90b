/// Coupled hinges: the links of a cluster are eliminated together, as one body of larger dimension. With φ_c within the
/// cluster, r = S the ratios and X the steps to the parent, H̄ = S*Hφ_c and
///
///   D = H̄PH̄* + S*𝒜S,  Ū = XPH̄*,  P(parent) += XPX* − ŪD⁻¹Ū*,
///
/// as for a hinge of a single body; Ū is in the parent's frame. D = L d L* with L unit upper triangular, d⁻¹ and ŪL⁻*
/// are kept at the velocities that the cluster's hinges follow, so that nothing else needs to know of clusters.
#include <algorithm>

#include "bunraku/kernels/hand_over.hpp"

namespace bunraku::kernels {

namespace {

/// Calls f.template operator()<kind>() with the kind of a one-axis link.
template <class F>
BUNRAKU_INLINE void with_kind(Kind kind, F&& f) {
  switch (kind) {
    case Kind::revolute_none:
      return f.template operator()<Kind::revolute_none>();
    case Kind::revolute_quarter:
      return f.template operator()<Kind::revolute_quarter>();
    case Kind::revolute_x:
      return f.template operator()<Kind::revolute_x>();
    case Kind::revolute_full:
      return f.template operator()<Kind::revolute_full>();
    default:
      return f.template operator()<Kind::prismatic>();
  }
}

/// From a one-axis link's axes to its parent's.
template <Kind kind, class T>
struct Axes {
  const Link<T>& l;
  const Spin<T>& spin;

  BUNRAKU_INLINE Vec3<T> forth(const Vec3<T>& v) const {
    if constexpr (kind == Kind::prismatic) {
      return product(l.turn, v);
    } else {
      return turned<kind>(l, spin.forth(v));
    }
  }
  BUNRAKU_INLINE Vec3<T> back(const Vec3<T>& v) const {
    if constexpr (kind == Kind::prismatic) {
      return transpose_times(l.turn, v);
    } else {
      return spin.back(unturned<kind>(l, v));
    }
  }
  BUNRAKU_INLINE ArticulatedInertia<T> forth(const ArticulatedInertia<T>& P) const {
    if constexpr (kind == Kind::prismatic) {
      return Rotation<T>(l.turn) * P;
    } else {
      const DoubleSpin<T> twice(spin.c, spin.s);
      return {turned<kind>(l, about_z(spin, twice, P.rotational)), turned<kind>(l, about_z(spin, twice, P.coupling)),
              turned<kind>(l, about_z(spin, twice, P.linear))};
    }
  }
};

/// The part of a force along a one-axis hinge.
template <Kind kind, class T>
BUNRAKU_INLINE const T& along(const Force<T>& f) {
  return kind == Kind::prismatic ? f.force.z : f.moment.z;
}

}  // namespace

/// a of any link but for the arm's part.
template <class T>
Motion<T> Sweeps<T>::bias_of(int k) const {
  const Link<T>& l = tree_.links[at(k)];
  if (l.kind > Kind::revolute_full) {
    return hinge_bias_of(k);
  }
  const Vec3<T>& w = turning_[at(k + 1)].w;
  return {{w.y * v_[l.v], -w.x * v_[l.v], T(0)}, Vec3<T>::zero()};
}

// ---------------------------------------------------------------------------------------------------------------------
// One-axis hinges on one parent that follow one velocity, such as the fingers of a gripper

/// Adds a link to D, Ū and ε of its siblings, and hands over its inertia as if its hinge were locked.
template <class T>
template <bool forces, Kind kind>
void Sweeps<T>::join_sibling(int k, const T* torque, Sibling<T>& sum) {
  const Link<T>& l = tree_.links[at(k)];
  const T ratio = tree_.within[at(l.v)].ratio;
  const ArticulatedInertia<T> P = gathered(k);
  const Sym3<T>& J = P.rotational;
  const Mat3<T>& C = P.coupling;
  const Sym3<T>& L = P.linear;
  const Force<T> U =
      kind == Kind::prismatic ? Force<T>{C.column(2), {L.xz, L.yz, L.zz}} : Force<T>{{J.xz, J.yz, J.zz}, C.row(2)};
  sum.D += ratio * ratio * (along<kind>(U) + l.armature);
  const Axes<kind, T> axes{l, spin_[at(k)]};
  const Vec3<T> p = kind == Kind::prismatic ? slid(l) : l.p;
  const Vec3<T> pull = axes.forth(U.force) * ratio;
  sum.U += Force<T>{axes.forth(U.moment) * ratio + cross(p, pull), pull};
  Force<T> z{};
  if constexpr (forces) {  // z + P a; the arm's part comes below
    z = force_[at(k)];
    const T rate = kind == Kind::prismatic ? T(2) * v_[l.v] : v_[l.v];
    const T x = turning_[at(k + 1)].w.y * rate;
    const T y = -turning_[at(k + 1)].w.x * rate;
    if constexpr (kind == Kind::prismatic) {
      z.moment += C.column(0) * x + C.column(1) * y;
      z.force += Vec3<T>{L.xx * x + L.xy * y, L.xy * x + L.yy * y, L.xz * x + L.yz * y};
    } else {
      z.moment += Vec3<T>{J.xx * x + J.xy * y, J.xy * x + J.yy * y, J.xz * x + J.yz * y};
      z.force += C.row(0) * x + C.row(1) * y;
    }
    sum.epsilon += ratio * (torque[l.v] - along<kind>(z)) - dot(pull, arm_acceleration_[at(k)]);
  }
  if (l.parent < 0) {
    return;
  }
  const ArticulatedInertia<T> there = axes.forth(P);
  const Mat3<T> moved = hand_over(l, p, there);
  if constexpr (forces) {
    const Vec3<T>& arm = arm_acceleration_[at(k)];
    const Vec3<T> force = axes.forth(z.force);
    Force<T>& up = force_[at(l.parent)];
    up.moment += axes.forth(z.moment) + cross(p, force) + moved * arm;
    up.force += force + there.linear * arm;
  }
}

template <class T>
template <bool forces>
void Sweeps<T>::eliminate_siblings(const CoupledLinks& c, Factors<T>& factors, const T* torque) {
  Sibling<T> sum;
  for (int k = c.end - 1; k >= c.begin; --k) {
    with_kind(tree_.links[at(k)].kind, [&]<Kind kind>() { join_sibling<forces, kind>(k, torque, sum); });
  }
  const std::size_t v = at(c.coordinates.front());
  const T inverse = factors.inverse(sum.D, doubt_[v]);
  factors.U[v] = sum.U;
  factors.D_inverse[v] = inverse;
  if constexpr (forces) {
    epsilon_[v] = sum.epsilon;
  }
  if (c.parent >= 0) {
    P_[at(c.parent)] -= scaled_outer(sum.U, inverse);
    if constexpr (forces) {
      force_[at(c.parent)] += sum.U * (inverse * sum.epsilon);
    }
  }
}

template <class T>
void Sweeps<T>::filter_siblings(const CoupledLinks& c, const T* x) {
  T epsilon{};
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const T ratio = tree_.within[at(l.v)].ratio;
    epsilon += ratio * x[l.v];
    if (l.leaf) {
      if (l.parent >= 0 && l.opens_parent) {
        force_[at(l.parent)] = Force<T>::zero();
      }
      continue;
    }
    with_kind(l.kind, [&]<Kind kind>() {
      const Force<T>& z = force_[at(k)];
      epsilon -= ratio * along<kind>(z);
      if (l.parent >= 0) {
        const Axes<kind, T> axes{l, spin_[at(k)]};
        const Vec3<T> force = axes.forth(z.force);
        const Force<T> moved{axes.forth(z.moment) + cross(kind == Kind::prismatic ? slid(l) : l.p, force), force};
        Force<T>& up = force_[at(l.parent)];
        up = l.opens_parent ? moved : up + moved;
      }
    });
  }
  const std::size_t v = at(c.coordinates.front());
  epsilon_[v] = epsilon;
  if (c.parent >= 0) {
    force_[at(c.parent)] += of_state_.U[v] * (of_state_.D_inverse[v] * epsilon);
  }
}

/// What moves the siblings; with `biased` accelerations of a state with velocities, without them 𝓜⁻¹x.
template <class T>
template <bool biased>
void Sweeps<T>::smooth_siblings(const CoupledLinks& c, const Factors<T>& factors, T* out) {
  const std::size_t v = at(c.coordinates.front());
  const Motion<T>& up = alpha_[at(c.parent + 1)];
  const T wanted = factors.D_inverse[v] * (epsilon_[v] - dot(factors.U[v], up));
  for (int k = c.begin; k < c.end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    const T own = tree_.within[at(l.v)].ratio * wanted;
    out[l.v] = own;
    if (l.leaf) {
      continue;
    }
    with_kind(l.kind, [&]<Kind kind>() {
      const Axes<kind, T> axes{l, spin_[at(k)]};
      Vec3<T> linear = up.linear + cross(up.angular, kind == Kind::prismatic ? slid(l) : l.p);
      if constexpr (biased) {
        linear += arm_acceleration_[at(k)];
      }
      Motion<T> alpha{axes.back(up.angular), axes.back(linear)};
      (kind == Kind::prismatic ? alpha.linear.z : alpha.angular.z) += own;
      if constexpr (biased) {
        alpha += bias_of(k);
      }
      alpha_[at(k + 1)] = alpha;
    });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Any other cluster

/// D and Ū as for a mass matrix, by composite bodies: what a unit of velocity e takes at its link goes inward, and its
/// part along each hinge on the way is an element of D. Accelerations on the way that are not the hinges' own do their
/// part in ε.
template <class T>
template <bool forces>
void Sweeps<T>::join_coupled(int k, const CoupledLinks& c, const ArticulatedInertia<T>& P, Factors<T>& factors,
                             const T* torque) {
  const Link<T>& own = tree_.links[at(k)];
  const std::size_t m = c.coordinates.size();
  T* D = factors.L.data() + c.factor;
  for (int e = own.v; e < own.v + own.nv; ++e) {
    const Follower<T>& follower = tree_.within[at(e)];
    const std::size_t j = at(follower.own);
    const std::size_t v = at(c.coordinates[j]);
    Force<T> f = P * column(e) * follower.ratio;
    D[j * m + j] += follower.ratio * (dot(column(e), f) + follower.ratio * coordinates_.armature[at(e)]);
    const auto pair = [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        const T value = tree_.within[at(i)].ratio * dot(column(i), f);
        const std::size_t other = at(tree_.within[at(i)].own);
        D[other * m + j] += value;
        D[j * m + other] += value;
      }
    };
    pair(own.v, e);
    if constexpr (forces) {
      epsilon_[v] += follower.ratio * (torque[e] - dot(column(e), force_[at(k)]));
    }
    for (int here = k; here >= c.begin;) {
      const Link<T>& l = tree_.links[at(here)];
      const Transform<T> X = pose_of(here);
      if constexpr (forces) {
        epsilon_[v] -= dot(f, bias_of(here));
      }
      f = {X.rotation * f.moment, X.rotation * f.force};
      if constexpr (forces) {
        epsilon_[v] -= dot(f.force, arm_acceleration_[at(here)]);
      }
      f.moment += cross(X.translation, f.force);
      here = l.parent;
      if (here >= c.begin) {
        pair(tree_.links[at(here)].v, tree_.links[at(here)].v + tree_.links[at(here)].nv);
      }
    }
    factors.U[v] += f;
  }
}

template <class T>
template <bool forces>
void Sweeps<T>::eliminate_coupled(const CoupledLinks& c, Factors<T>& factors, const T* torque) {
  const std::size_t m = c.coordinates.size();
  T* D = factors.L.data() + c.factor;
  std::fill_n(D, m * m, T(0));
  for (const int v : c.coordinates) {
    factors.U[at(v)] = Force<T>::zero();
    epsilon_[at(v)] = T(0);
  }
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    ArticulatedInertia<T> P = gathered(k);
    join_coupled<forces>(k, c, P, factors, torque);
    if (l.parent < 0) {
      continue;
    }
    const Transform<T> X = pose_of(k);
    Force<T> z{};
    if constexpr (forces) {
      z = force_[at(k)] + P * bias_of(k);
    }
    P = X.rotation * P;
    const Mat3<T> moved = hand_over(l, X.translation, P);
    if constexpr (forces) {
      const Vec3<T>& arm = arm_acceleration_[at(k)];
      force_[at(l.parent)] += X * z + Force<T>{moved * arm, P.linear * arm};
    }
  }
  for (std::size_t j = m; j-- > 0;) {
    const std::size_t v = at(c.coordinates[j]);
    const Force<T>& U = factors.U[v];
    const T inverse = factors.inverse(D[j * m + j], doubt_[v]);
    factors.D_inverse[v] = inverse;
    for (std::size_t i = 0; i < j; ++i) {
      const T part = D[i * m + j] * inverse;
      for (std::size_t n = 0; n <= i; ++n) {
        D[n * m + i] -= part * D[n * m + j];
      }
      factors.U[at(c.coordinates[i])] -= U * part;
      if constexpr (forces) {
        epsilon_[at(c.coordinates[i])] -= part * epsilon_[v];
      }
    }
    for (std::size_t i = 0; i < j; ++i) {
      D[i * m + j] *= inverse;
    }
    if (c.parent >= 0) {
      P_[at(c.parent)] -= scaled_outer(U, inverse);
      if constexpr (forces) {
        force_[at(c.parent)] += U * (inverse * epsilon_[v]);
      }
    }
  }
}

template <class T>
void Sweeps<T>::filter_coupled(const CoupledLinks& c, const T* x) {
  for (const int v : c.coordinates) {
    epsilon_[at(v)] = T(0);
  }
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const Force<T> z = l.leaf ? Force<T>::zero() : force_[at(k)];
    for (int e = l.v; e < l.v + l.nv; ++e) {
      epsilon_[at(c.coordinates[at(tree_.within[at(e)].own)])] +=
          tree_.within[at(e)].ratio * (x[e] - dot(column(e), z));
    }
    if (l.parent >= 0) {
      const Force<T> moved = pose_of(k) * z;
      Force<T>& up = force_[at(l.parent)];
      up = l.opens_parent ? moved : up + moved;
    }
  }
  const std::size_t m = c.coordinates.size();
  const T* L = of_state_.L.data() + c.factor;
  for (std::size_t j = m; j-- > 0;) {
    const std::size_t v = at(c.coordinates[j]);
    for (std::size_t i = 0; i < j; ++i) {
      epsilon_[at(c.coordinates[i])] -= L[i * m + j] * epsilon_[v];
    }
    if (c.parent >= 0) {
      force_[at(c.parent)] += of_state_.U[v] * (of_state_.D_inverse[v] * epsilon_[v]);
    }
  }
}

/// See smooth_siblings.
template <class T>
template <bool biased>
void Sweeps<T>::smooth_coupled(const CoupledLinks& c, const Factors<T>& factors, T* out) {
  const std::size_t m = c.coordinates.size();
  const T* L = factors.L.data() + c.factor;
  for (const int v : c.coordinates) {
    out[v] = factors.D_inverse[at(v)] * (epsilon_[at(v)] - dot(factors.U[at(v)], alpha_[at(c.parent + 1)]));
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i + 1; j < m; ++j) {
      out[c.coordinates[j]] -= L[i * m + j] * out[c.coordinates[i]];
    }
  }
  for (int k = c.begin; k < c.end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    Motion<T> alpha = alpha_[at(l.parent + 1)];
    if constexpr (biased) {
      alpha.linear += arm_acceleration_[at(k)];
    }
    alpha = inverse_times(pose_of(k), alpha);
    if constexpr (biased) {
      alpha += bias_of(k);
    }
    for (int e = l.v; e < l.v + l.nv; ++e) {
      out[e] = tree_.within[at(e)].ratio * out[c.coordinates[at(tree_.within[at(e)].own)]];
      alpha += column(e) * out[e];
    }
    alpha_[at(k + 1)] = alpha;
  }
}

// ---------------------------------------------------------------------------------------------------------------------

template <class T>
template <bool forces>
void Sweeps<T>::eliminate_cluster(const Run& run, Factors<T>& factors, const T* torque) {
  const CoupledLinks& c = tree_.clusters[at(run.cluster)];
  run.kind == Kind::siblings ? eliminate_siblings<forces>(c, factors, torque)
                             : eliminate_coupled<forces>(c, factors, torque);
}

template <class T>
void Sweeps<T>::filter_cluster(const Run& run, const T* x) {
  const CoupledLinks& c = tree_.clusters[at(run.cluster)];
  run.kind == Kind::siblings ? filter_siblings(c, x) : filter_coupled(c, x);
}

template <class T>
template <bool biased>
void Sweeps<T>::smooth_cluster(const Run& run, const Factors<T>& factors, T* out) {
  const CoupledLinks& c = tree_.clusters[at(run.cluster)];
  run.kind == Kind::siblings ? smooth_siblings<biased>(c, factors, out) : smooth_coupled<biased>(c, factors, out);
}

template void Sweeps<double>::eliminate_cluster<false>(const Run&, Factors<double>&, const double*);
template void Sweeps<double>::eliminate_cluster<true>(const Run&, Factors<double>&, const double*);
template void Sweeps<double>::filter_cluster(const Run&, const double*);
template void Sweeps<double>::smooth_cluster<false>(const Run&, const Factors<double>&, double*);
template void Sweeps<double>::smooth_cluster<true>(const Run&, const Factors<double>&, double*);
template void Sweeps<float>::eliminate_cluster<false>(const Run&, Factors<float>&, const float*);
template void Sweeps<float>::eliminate_cluster<true>(const Run&, Factors<float>&, const float*);
template void Sweeps<float>::filter_cluster(const Run&, const float*);
template void Sweeps<float>::smooth_cluster<false>(const Run&, const Factors<float>&, float*);
template void Sweeps<float>::smooth_cluster<true>(const Run&, const Factors<float>&, float*);

}  // namespace bunraku::kernels
