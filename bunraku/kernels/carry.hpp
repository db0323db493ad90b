/// @file
/// Moving columns of forces, register by register, from a link's frame to its parent's: φ(p,k) on many columns.
#pragma once

#include "bunraku/kernels/sweeps.hpp"

namespace bunraku::kernels {

/// φ(p) after a rotation, which turn(v) does to one component.
template <class T>
template <class F>
BUNRAKU_INLINE void Sweeps<T>::carry(const Vec3<T>& p, Span span, F&& turn) {
  for (int r = span.begin; r < span.end; ++r) {
    Columns<T>& c = columns_[at(r)];
    const Vec3<Lanes<T>> n = turn(c.moment);
    const Vec3<Lanes<T>> f = turn(c.force);
    c.moment.x = n.x + (p.y * f.z - p.z * f.y);
    c.moment.y = n.y + (p.z * f.x - p.x * f.z);
    c.moment.z = n.z + (p.x * f.y - p.y * f.x);
    c.force.x = f.x;  // one by one: the compiler copies the three through memory
    c.force.y = f.y;
    c.force.z = f.z;
  }
}

template <class T>
template <Kind kind>
BUNRAKU_INLINE void Sweeps<T>::carry(const Link<T>& l, const Spin<T>& spin, Span span) {
  carry(l.p, span, [&](const Vec3<Lanes<T>>& v) { return turned<kind>(l, spin.forth(v)); });
}

template <class T>
BUNRAKU_INLINE void Sweeps<T>::carry(const Transform<T>& X, Span span) {
  carry(X.translation, span, [&](const Vec3<Lanes<T>>& v) { return product(X.rotation.matrix(), v); });
}

/// H times each column.
template <class T>
BUNRAKU_INLINE Lanes<T> along(const Motion<T>& H, const Columns<T>& c) {
  return H.angular.x * c.moment.x + H.angular.y * c.moment.y + H.angular.z * c.moment.z + H.linear.x * c.force.x +
         H.linear.y * c.force.y + H.linear.z * c.force.z;
}

/// Puts f into coordinate e's column.
template <class T>
BUNRAKU_INLINE void Sweeps<T>::insert(const ColumnLayout& layout, int e, const Force<T>& f) {
  T* cells = reinterpret_cast<T*>(columns_.data()) + layout.cell[at(e)];
  const auto lane = static_cast<std::size_t>(layout.slot[at(e)]) % static_cast<std::size_t>(lane_count<T>);
  Columns<T>& c = *reinterpret_cast<Columns<T>*>(cells - lane);
  const auto mask = *reinterpret_cast<const Loose<typename LaneMask<T>::Bits>*>(lane_masks<T>.bits[lane]);
  c.moment.x = blended(c.moment.x, mask, f.moment.x);
  c.moment.y = blended(c.moment.y, mask, f.moment.y);
  c.moment.z = blended(c.moment.z, mask, f.moment.z);
  c.force.x = blended(c.force.x, mask, f.force.x);
  c.force.y = blended(c.force.y, mask, f.force.y);
  c.force.z = blended(c.force.z, mask, f.force.z);
}

}  // namespace bunraku::kernels
