/// @file
/// What closures add to forward dynamics, so that RJK89's steps A–F are three sweeps: after the factors and ε have gone
/// inward, columns x = ψBA* of unit closure forces follow, on the links of their support alone, with e = Hx (and A_h*
/// of the hinges that a closure names itself); a small solve gives the closure forces f̃; ε − e f̃ goes outward. With
///
///   Λ = e*D⁻¹e,   Λ f̃ = (e*D⁻¹ε + x*a + …) − what the closures ask of accelerations.
///
/// In clusters x is φBA* within and filtered at the end, as their elimination is.
#pragma once

#include "bunraku/kernels/closure_support.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"

namespace bunraku::kernels {

/// sum += factor · x, row by row.
template <class T>
BUNRAKU_INLINE void add_scaled(RowNumbers<T>& sum, T factor, const RowNumbers<T>& x) {
  for (int r = 0; r < closure_lanes; ++r) {
    sum.x[r] += factor * x.x[r];
  }
}

/// The power of each row's force in one motion, added to `sum`.
template <class T>
BUNRAKU_INLINE void add_dot(RowNumbers<T>& sum, const Motion<T>& V, const RowForces<T>& f) {
  for (int r = 0; r < closure_lanes; ++r) {
    sum.x[r] += V.angular.x * f[0].x[r] + V.angular.y * f[1].x[r] + V.angular.z * f[2].x[r] + V.linear.x * f[3].x[r] +
                V.linear.y * f[4].x[r] + V.linear.z * f[5].x[r];
  }
}

/// Each row's force less U times a number of the row's.
template <class T>
BUNRAKU_INLINE void subtract_outer(RowForces<T>& f, const Force<T>& U, T factor, const RowNumbers<T>& e) {
  for (int i = 0; i < 6; ++i) {
    add_scaled(f[static_cast<std::size_t>(i)], -factor * U[i], e);
  }
}

/// What e*D⁻¹e is beside: |N||ω| and |F||v| in place of their products.
template <class T>
BUNRAKU_INLINE void add_scale(RowNumbers<T>& scale, const Motion<T>& H, const RowSizes<T>& size, T D_inverse) {
  add_scaled(scale, squared_norm(H.angular) * D_inverse, size.moment);
  add_scaled(scale, squared_norm(H.linear) * D_inverse, size.force);
}

/// What of a link's size cancelled in x.
template <class T>
BUNRAKU_INLINE RowSizes<T> cancelled(const RowSizes<T>& size, const RowForces<T>& x) {
  RowSizes<T> left{};
  left.add(x);
  for (int r = 0; r < closure_lanes; ++r) {
    left.moment.x[r] = size.moment.x[r] > left.moment.x[r] ? size.moment.x[r] - left.moment.x[r] : T(0);
    left.force.x[r] = size.force.x[r] > left.force.x[r] ? size.force.x[r] - left.force.x[r] : T(0);
  }
  return left;
}

/// φ(p,k)x, added to what the parent has; `arm` is its part of the acceleration in the parent's axes. Sizes of what is
/// added, and of what cancelled before, go along.
template <class T>
BUNRAKU_INLINE void pass_on(const Transform<T>& X, const Vec3<T>& arm, const RowForces<T>& f, RowForces<T>& up,
                            const RowSizes<T>& lost, RowSizes<T>& up_size, RowNumbers<T>& acceleration) {
  const Mat3<T>& R = X.rotation.matrix();
  const Vec3<T>& p = X.translation;
  for (int r = 0; r < closure_lanes; ++r) {
    const Vec3<T> moment = R * Vec3<T>{f[0].x[r], f[1].x[r], f[2].x[r]};
    const Vec3<T> force = R * Vec3<T>{f[3].x[r], f[4].x[r], f[5].x[r]};
    acceleration.x[r] += force.x * arm.x + force.y * arm.y + force.z * arm.z;
    const Vec3<T> moved = moment + cross(p, force);
    up_size.moment.x[r] += squared_norm(moved) + lost.moment.x[r];
    up_size.force.x[r] += squared_norm(force) + lost.force.x[r];
    up[0].x[r] += moved.x;
    up[1].x[r] += moved.y;
    up[2].x[r] += moved.z;
    up[3].x[r] += force.x;
    up[4].x[r] += force.y;
    up[5].x[r] += force.z;
  }
}

/// The columns of one closure on their way inward.
template <class T>
class ClosureSweep {
 public:
  using S = Pack<T, 1>;  ///< The scalar of a single state.

  ClosureSweep(Workspace<S>& ws, const Factors<S>& factors, bool biased, ClosureColumns<T>& columns)
      : ws_(ws), factors_(factors), biased_(biased), c_(columns) {}

  void run() {
    c_.x = c_.force;
    c_.size = c_.force_size;
    std::fill(c_.e.begin(), c_.e.end(), RowNumbers<T>{});
    c_.world = {};
    c_.acceleration = c_.scale = {};
    for (std::size_t i = 0; i < c_.hinges.size(); ++i) {
      put_hinge(i);
    }
    for (std::size_t i = 0; i < c_.links.size(); ++i) {
      const int cluster = ws_.tree->cluster_of[at(c_.links[i])];
      if (cluster < 0) {
        filter(i);
        continue;
      }
      join(i);
      if (i + 1 == c_.links.size() || ws_.tree->cluster_of[at(c_.links[i + 1])] != cluster) {
        filter_cluster(i, ws_.tree->clusters[at(cluster)]);
      }
    }
    if (biased_) {
      const Vec3<T> up = cast<T>(ws_.base_acceleration);
      for (int r = 0; r < closure_lanes; ++r) {
        c_.acceleration.x[r] += c_.world[3].x[r] * up.x + c_.world[4].x[r] * up.y + c_.world[5].x[r] * up.z;
      }
    }
  }

 private:
  static T number(const S& x) { return x.r; }

  /// Where velocity j of all hinges, or what it follows in its cluster, is among the coordinates.
  int coordinate_of(int j) const {
    for (std::size_t i = 0; i < c_.links.size(); ++i) {
      const Link<S>& l = ws_.link(c_.links[i]);
      if (j >= l.v && j < l.v + l.nv) {
        return c_.first[i] + (ws_.tree->cluster_of[at(c_.links[i])] < 0 ? j - l.v : ws_.tree->within[at(j)].own);
      }
    }
    return 0;
  }
  /// A_h* of a hinge that the closure names.
  void put_hinge(std::size_t i) {
    const int j = c_.hinges[i];
    const int k = coordinate_of(j);
    const bool clustered = ws_.tree->cluster_of[at(link_of(j))] >= 0;
    const T ratio = clustered ? static_cast<T>(ws_.tree->within[at(j)].ratio) : T(1);
    add_scaled(c_.e[at(k)], ratio, c_.of_hinges[i]);
    const T D_inverse = number(factors_.D_inverse[at(c_.coordinates[at(k)])]);
    for (int r = 0; r < closure_lanes; ++r) {
      c_.scale.x[r] += ratio * ratio * D_inverse * c_.of_hinges[i].x[r] * c_.of_hinges[i].x[r];
    }
  }
  int link_of(int j) const {
    for (const int k : c_.links) {
      if (j >= ws_.link(k).v && j < ws_.link(k).v + ws_.link(k).nv) {
        return k;
      }
    }
    return 0;
  }

  RowForces<T>& parent(std::size_t i) { return c_.up[i] < 0 ? c_.world : c_.x[at(c_.up[i])]; }
  void hand_on(std::size_t i, const RowSizes<T>& lost) {
    const int k = c_.links[i];
    Vec3<T> arm{};
    if (biased_) {
      add_dot(c_.acceleration, cast<T>(bias_of(ws_, k)), c_.x[i]);
      if (ws_.link(k).parent >= 0) {
        arm = cast<T>(ws_.arm_acceleration[at(k)]);
      }
    }
    RowSizes<T> nowhere;
    pass_on(cast<T>(pose_of(ws_, k)), arm, c_.x[i], parent(i), lost, c_.up[i] < 0 ? nowhere : c_.size[at(c_.up[i])],
            c_.acceleration);
  }

  /// e = Hx and x⁺ = x − UD⁻¹e of a link by itself, the last coordinate first.
  void filter(std::size_t i) {
    const Link<S>& l = ws_.link(c_.links[i]);
    RowForces<T>& x = c_.x[i];
    const RowSizes<T> lost = cancelled(c_.size[i], x);
    for (int j = l.nv - 1; j >= 0; --j) {
      const std::size_t v = at(l.v + j);
      const Motion<T> H = cast<T>(ws_.H[v]);
      const T D_inverse = number(factors_.D_inverse[v]);
      RowNumbers<T>& e = c_.e[at(c_.first[i] + j)];
      add_dot(e, H, x);
      add_scale(c_.scale, H, c_.size[i], D_inverse);
      add_scaled(c_.acceleration, D_inverse * number(ws_.epsilon[v]), e);
      subtract_outer(x, Force<T>{cast<T>(factors_.U[v].moment), cast<T>(factors_.U[v].force)}, D_inverse, e);
    }
    hand_on(i, lost);
  }

  /// A link's part of its cluster.
  void join(std::size_t i) {
    const Link<S>& l = ws_.link(c_.links[i]);
    for (int j = l.v; j < l.v + l.nv; ++j) {
      const Follower<double>& follower = ws_.tree->within[at(j)];
      const Motion<T> H = cast<T>(ws_.H[at(j)]) * static_cast<T>(follower.ratio);
      const std::size_t k = at(c_.first[i] + follower.own);
      add_dot(c_.e[k], H, c_.x[i]);
      add_scale(c_.scale, H, c_.size[i], number(factors_.D_inverse[at(c_.coordinates[k])]));
    }
    hand_on(i, cancelled(c_.size[i], c_.x[i]));
  }

  void filter_cluster(std::size_t last, const CoupledLinks& cluster) {
    const std::size_t m = cluster.coordinates.size();
    RowNumbers<T>* e = c_.e.data() + c_.first[last];
    RowForces<T>& up = cluster.parent < 0 ? c_.world : c_.x[at(c_.find(cluster.parent))];
    for (std::size_t j = m; j-- > 0;) {
      const std::size_t v = at(cluster.coordinates[j]);
      const T D_inverse = number(factors_.D_inverse[v]);
      for (std::size_t n = 0; n < j; ++n) {
        add_scaled(e[n], -number(factors_.L[cluster.factor + n * m + j]), e[j]);
      }
      add_scaled(c_.acceleration, D_inverse * number(ws_.epsilon[v]), e[j]);
      subtract_outer(up, Force<T>{cast<T>(factors_.U[v].moment), cast<T>(factors_.U[v].force)}, D_inverse, e[j]);
    }
  }

  Workspace<S>& ws_;
  const Factors<S>& factors_;
  bool biased_;
  ClosureColumns<T>& c_;
};

/// x, e, the acceleration and the scale of a closure whose forces are set. `biased`: of a state with velocities and
/// gravity, as forward dynamics; else as 𝓜⁻¹x. O(support).
template <class T>
void closure_columns(Workspace<Pack<T, 1>>& ws, const Factors<Pack<T, 1>>& factors, bool biased,
                     ClosureColumns<T>& columns) {
  ClosureSweep<T>(ws, factors, biased, columns).run();
}

/// ε ← ε − e f̃.
template <class T>
void correct_innovations(Workspace<Pack<T, 1>>& ws, const ClosureColumns<T>& columns, const T* force) {
  for (std::size_t i = 0; i < columns.coordinates.size(); ++i) {
    T sum{};
    for (int r = 0; r < columns.rows; ++r) {
      sum += columns.e[i].x[r] * force[r];
    }
    ws.epsilon[at(columns.coordinates[i])] -= Pack<T, 1>(sum);
  }
}

}  // namespace bunraku::kernels
