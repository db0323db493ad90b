/// @file
/// What an articulated body gathers from those that hang on it, and hands over to its parent.
#pragma once

#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// P(k): the link's own inertia and what its children have handed over, nothing for a leaf. Number by number: a copy of
/// all at once would wait for the children's numbers to reach memory.
template <class S>
BUNRAKU_INLINE ArticulatedInertia<S> gathered(const Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  const Sym3<S>& i = l.inertia.inertia;
  const Vec3<S>& h = l.inertia.first_moment;
  const S& m = l.inertia.mass;
  const Sym3<S>& J = ws.P[at(k)].rotational;
  const Mat3<S>& C = ws.P[at(k)].coupling;
  const Sym3<S>& L = ws.P[at(k)].linear;
  return {{i.xx + J.xx, i.yy + J.yy, i.zz + J.zz, i.xy + J.xy, i.xz + J.xz, i.yz + J.yz},
          {{{C(0, 0), C(0, 1) - h.z, C(0, 2) + h.y},
            {C(1, 0) + h.z, C(1, 1), C(1, 2) - h.x},
            {C(2, 0) - h.y, C(2, 1) + h.x, C(2, 2)}}},
          {m + L.xx, m + L.yy, m + L.zz, L.xy, L.xz, L.yz}};
}

/// Adds φ(p) P φ*(p) to what the parent of a link has gathered: the first to arrive sets it. Returns the coupling block
/// of what was added.
template <class S>
BUNRAKU_INLINE Mat3<S> hand_over(Workspace<S>& ws, const Link<S>& l, const Vec3<S>& p, const ArticulatedInertia<S>& P) {
  const ArticulatedInertia<S> moved = shifted(P, p);
  ArticulatedInertia<S>& sum = ws.P[at(l.parent)];
  if (l.opens_parent) {
    put(moved, sum);
  } else {
    sum += moved;
  }
  return moved.coupling;
}

}  // namespace bunraku::kernels
