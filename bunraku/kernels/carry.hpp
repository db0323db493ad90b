/// @file
/// Moving columns of forces, register by register, from a link's frame to its parent's: φ(p,k) on many columns.
#pragma once

#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// φ(p) after a rotation, which turn(v) does to one component.
template <class F, class S>
BUNRAKU_INLINE void carry(Workspace<S>& ws, const Vec3<S>& p, Span span, F&& turn) {
  for (int r = span.begin; r < span.end; ++r) {
    Columns<S>& c = ws.columns[at(r)];
    const Vec3<Column<S>> n = turn(c.moment);
    const Vec3<Column<S>> f = turn(c.force);
    c.moment.x = n.x + (p.y * f.z - p.z * f.y);
    c.moment.y = n.y + (p.z * f.x - p.x * f.z);
    c.moment.z = n.z + (p.x * f.y - p.y * f.x);
    c.force.x = f.x;  // one by one: the compiler copies the three through memory
    c.force.y = f.y;
    c.force.z = f.z;
  }
}

template <Kind kind, class S>
BUNRAKU_INLINE void carry(Workspace<S>& ws, const Link<S>& l, const Spin<S>& spin, Span span) {
  carry(ws, l.p, span, [&](const Vec3<Column<S>>& v) { return turned<kind>(l, spin.forth(v)); });
}

template <class S>
BUNRAKU_INLINE void carry(Workspace<S>& ws, const Transform<S>& X, Span span) {
  carry(ws, X.translation, span, [&](const Vec3<Column<S>>& v) { return product(X.rotation.matrix(), v); });
}

/// H times each column.
template <class S>
BUNRAKU_INLINE Column<S> along(const Motion<S>& H, const Columns<S>& c) {
  return H.angular.x * c.moment.x + H.angular.y * c.moment.y + H.angular.z * c.moment.z + H.linear.x * c.force.x +
         H.linear.y * c.force.y + H.linear.z * c.force.z;
}

/// Puts f into coordinate e's column.
template <class S>
BUNRAKU_INLINE void insert(Workspace<S>& ws, const ColumnLayout& layout, int e, const Force<S>& f) {
  const int lane = layout.slot[at(e)] % columns_per_register<S>;
  Columns<S>& c = ws.columns[at(layout.slot[at(e)] / columns_per_register<S>)];
  c.moment.x = blended<S>(c.moment.x, lane, f.moment.x);
  c.moment.y = blended<S>(c.moment.y, lane, f.moment.y);
  c.moment.z = blended<S>(c.moment.z, lane, f.moment.z);
  c.force.x = blended<S>(c.force.x, lane, f.force.x);
  c.force.y = blended<S>(c.force.y, lane, f.force.y);
  c.force.z = blended<S>(c.force.z, lane, f.force.z);
}

}  // namespace bunraku::kernels
