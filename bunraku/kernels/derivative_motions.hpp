/// @file
/// Where links are and how they move, seen from the frame of their tree: what derivatives of inverse dynamics start
/// from, outward.
#pragma once

#include "bunraku/kernels/derivative_scratch.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"
#include "bunraku/kernels/positions.hpp"
#include "bunraku/kernels/room.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::kernels {

/// Where a link is and how it moves, seen from its tree's frame.
template <class S>
struct LinkMotion {
  Transform<S> X = Transform<S>::identity();  ///< Its frame.
  Motion<S> V = Motion<S>::zero();            ///< V.
  Motion<S> A = Motion<S>::zero();            ///< A.
};

/// Of a link that another hangs on, from the scratch.
template <class S>
LinkMotion<S> motion_of(const DerivativeScratch<S>& d, int k) {
  using D = DerivativeScratch<S>;
  const int e = d.link_lane(k);
  return {d.links().frame(e).pose(), d.links().motion(D::velocity, e), d.links().motion(D::acceleration, e)};
}
/// Of the world, for a link whose frame is that of the tree.
template <class S>
LinkMotion<S> motion_of_world(const Workspace<S>& ws, int k) {
  LinkMotion<S> out;
  out.X = pose_of(ws, k).inverse();
  out.A.linear = out.X.rotation * ws.base_acceleration;
  return out;
}

/// Puts a link's own frame and motion in the scratch.
template <class S>
BUNRAKU_INLINE void put_motion(DerivativeScratch<S>& d, int k, const LinkFrame<S>& frame, const Motion<S>& V,
                               const Motion<S>& A) {
  using D = DerivativeScratch<S>;
  const int e = d.link_lane(k);
  d.links().put_frame(e, frame);
  d.links().put(D::velocity, e, V);
  d.links().put(D::acceleration, e, A);
}

/// Frame and motion of revolute links that hang on others.
template <Kind kind, class S>
void move_frame(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  const typename D::Lanes& links = d.links();
  const int up = d.link_lane(l.parent);
  const LinkFrame<S> frame = frame_on<kind>(links.frame(up), l, ws.spin[at(k)]);
  const Motion<S> V = links.motion(D::velocity, up);
  const Motion<S> H{frame.z, cross(frame.p, frame.z)};
  put_motion(d, k, frame, V + H * velocity[l.v],
             links.motion(D::acceleration, up) + H * acceleration[l.v] + cross(V, H) * velocity[l.v]);
}

/// Columns of any link and their derivatives, from what its parent does; see map_rates_at. There is room for `most`.
template <class S, int most>
struct LinkColumns {
  Motion<S> H[most];                ///< S.
  Motion<S> change[most] = {};      ///< (∂H*)θ̇.
  Motion<S> rate[most] = {};        ///< Ḣ*.
  Motion<S> further[most] = {};     ///< (∂H*)θ̈ + ∂(Ḣ*)θ̇.
  Motion<S> V = Motion<S>::zero();  ///< Of the link.
};

template <int most, class S>
LinkColumns<S, most> columns_of(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const Transform<S>& X,
                                const Motion<S>& V, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const Hinge& hinge = ws.tree->hinge(k);
  LinkColumns<S, most> out;
  out.V = V;
  for (int j = 0; j < l.nv; ++j) {
    out.H[j] = X * column(ws, l.v + j);
    out.V += out.H[j] * velocity[l.v + j];
  }
  if (has_changing_map(hinge)) {
    Motion<S>* rates = d.map_rates.data() + d.layout.map_begin[at(k)];
    map_rates_at(hinge, ws.q + l.q, velocity + l.v, rates, out.further);
    for (int i = 0; i < l.nv * l.nv; ++i) {
      rates[i] = X * rates[i];
    }
    for (int j = 0; j < l.nv; ++j) {
      out.further[j] = X * out.further[j];
      for (int c = 0; c < l.nv; ++c) {
        out.change[j] += rates[j * l.nv + c] * velocity[l.v + c];
        out.rate[j] += rates[c * l.nv + j] * velocity[l.v + c];
        out.further[j] += rates[j * l.nv + c] * acceleration[l.v + c];
      }
    }
  }
  return out;
}

/// Frame and motion of any link; the frame of one that hangs on the world is that of its tree.
template <int most, class S>
void move_other(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const LinkMotion<S> up = l.parent < 0 ? motion_of_world(ws, k) : motion_of(d, l.parent);
  const Transform<S> X = l.parent < 0 ? Transform<S>::identity() : up.X * pose_of(ws, k);
  const LinkColumns<S, most> columns = columns_of<most>(ws, d, k, X, up.V, velocity, acceleration);
  Motion<S> A = up.A;
  for (int j = 0; j < l.nv; ++j) {
    A += columns.H[j] * acceleration[l.v + j] + (cross(columns.V, columns.H[j]) + columns.rate[j]) * velocity[l.v + j];
  }
  put_motion(d, k, LinkFrame<S>::of(X), columns.V, A);
}

/// A free body against the world: H = I, and its frame is that of its tree.
template <class S>
void move_floating(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const S* v = velocity + l.v;
  const S* a = acceleration + l.v;
  const Vec3<S> up = placed(ws, l).rotation.inverse_times(ws.base_acceleration);
  put_motion(d, k, LinkFrame<S>{}, Motion<S>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}},
             Motion<S>{{a[0], a[1], a[2]}, {up.x + a[3], up.y + a[4], up.z + a[5]}});
}

/// A revolute link against the world, likewise.
template <class S>
void move_first(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const S zero(0);
  put_motion(
      d, k, LinkFrame<S>{}, Motion<S>{{zero, zero, velocity[l.v]}, Vec3<S>::zero()},
      Motion<S>{{zero, zero, acceleration[l.v]}, ws.spin[at(k)].back(transpose_times(l.turn, ws.base_acceleration))});
}

/// A prismatic link, likewise, or on another.
template <class S>
void move_prismatic(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  if (l.parent < 0) {
    const Vec3<S> z = Vec3<S>::unit_z();
    put_motion(d, k, LinkFrame<S>{}, Motion<S>{Vec3<S>::zero(), z * velocity[l.v]},
               Motion<S>{Vec3<S>::zero(), transpose_times(l.turn, ws.base_acceleration) + z * acceleration[l.v]});
    return;
  }
  const int up = d.link_lane(l.parent);
  const LinkFrame<S> there = d.links().frame(up);
  const auto turned = [&](int j) { return there.x * l.turn(0, j) + there.y * l.turn(1, j) + there.z * l.turn(2, j); };
  const Vec3<S> axis = turned(2);
  const Motion<S> V = d.links().motion(D::velocity, up);
  const Motion<S> A = d.links().motion(D::acceleration, up);
  const Vec3<S> p = there.p + there.x * l.p.x + there.y * l.p.y + there.z * l.p.z + axis * ws.q[l.q];
  put_motion(d, k, LinkFrame<S>{turned(0), turned(1), axis, p}, Motion<S>{V.angular, V.linear + axis * velocity[l.v]},
             Motion<S>{A.angular, A.linear + axis * acceleration[l.v] + cross(V.angular, axis) * velocity[l.v]});
}

/// Frames and motions of the links of a run.
template <class S>
void move_frames(Workspace<S>& ws, DerivativeScratch<S>& d, const Run& run, const S* velocity, const S* acceleration) {
  const auto revolute = [&]<Kind kind>(int begin, int end) {
    for (int k = begin; k < end; ++k) {
      ws.link(k).parent < 0 ? move_first(ws, d, k, velocity, acceleration)
                            : move_frame<kind>(ws, d, k, velocity, acceleration);
    }
  };
  if (!if_revolute(run, revolute)) {
    for (int k = run.begin; k < run.end; ++k) {
      if (run.kind == Kind::floating) {
        move_floating(ws, d, k, velocity, acceleration);
      } else if (run.kind == Kind::prismatic) {
        move_prismatic(ws, d, k, velocity, acceleration);
      } else {
        with_room(ws.link(k).nv, [&]<int most>() { move_other<most>(ws, d, k, velocity, acceleration); });
      }
    }
  }
}

}  // namespace bunraku::kernels
