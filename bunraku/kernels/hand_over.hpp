/// @file
/// What an articulated body gathers from those that hang on it, and hands over to its parent.
#pragma once

#include "bunraku/kernels/sweeps.hpp"

namespace bunraku::kernels {

/// P(k): the link's own inertia and what its children have handed over, nothing for a leaf. Number by number: a copy of
/// all at once would wait for the children's numbers to reach memory.
template <class T>
BUNRAKU_INLINE ArticulatedInertia<T> Sweeps<T>::gathered(int k) const {
  const Link<T>& l = tree_.links[at(k)];
  const Sym3<T>& i = l.inertia.inertia;
  const Vec3<T>& h = l.inertia.first_moment;
  const T& m = l.inertia.mass;
  const Sym3<T>& J = P_[at(k)].rotational;
  const Mat3<T>& C = P_[at(k)].coupling;
  const Sym3<T>& L = P_[at(k)].linear;
  return {{i.xx + J.xx, i.yy + J.yy, i.zz + J.zz, i.xy + J.xy, i.xz + J.xz, i.yz + J.yz},
          {{{C(0, 0), C(0, 1) - h.z, C(0, 2) + h.y},
            {C(1, 0) + h.z, C(1, 1), C(1, 2) - h.x},
            {C(2, 0) - h.y, C(2, 1) + h.x, C(2, 2)}}},
          {m + L.xx, m + L.yy, m + L.zz, L.xy, L.xz, L.yz}};
}

/// Adds φ(p) P φ*(p) to what the parent of a link has gathered: the first to arrive sets it. Returns the coupling block
/// of what was added.
template <class T>
BUNRAKU_INLINE Mat3<T> Sweeps<T>::hand_over(const Link<T>& l, const Vec3<T>& p, const ArticulatedInertia<T>& P) {
  const ArticulatedInertia<T> moved = shifted(P, p);
  ArticulatedInertia<T>& sum = P_[at(l.parent)];
  if (l.opens_parent) {
    put(moved, sum);
  } else {
    sum += moved;
  }
  return moved.coupling;
}

}  // namespace bunraku::kernels
