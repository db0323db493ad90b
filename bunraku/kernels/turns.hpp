/// @file
/// Rotations between a link's frame and its parent's, with no more arithmetic than their kind needs. A revolute hinge
/// turns by Rz(q), then comes the constant rotation F: R = F Rz.
#pragma once

#include "bunraku/kernels/tree.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku::kernels {

/// Cosine and sine of a revolute hinge's angle.
template <class T>
struct Spin {
  T c{};  ///< Cosine.
  T s{};  ///< Sine.

  /// Rz v.
  template <class S>
  BUNRAKU_INLINE Vec3<S> forth(const Vec3<S>& v) const {
    return {c * v.x - s * v.y, s * v.x + c * v.y, v.z};
  }
  /// Rz* v.
  template <class S>
  BUNRAKU_INLINE Vec3<S> back(const Vec3<S>& v) const {
    return {c * v.x + s * v.y, c * v.y - s * v.x, v.z};
  }
};

/// Products of cosine and sine that turn second-order tensors about one axis: for a symmetric 2×2 block [a h; h b],
/// with d = a − b and w = ss d + 2cs h, the turned one is [a − w, cs d + cc h; ·, b + w].
template <class T>
struct DoubleSpin {
  T cs{};  ///< c s.
  T ss{};  ///< s².
  T cc{};  ///< c² − s².

  /// From cosine and sine.
  BUNRAKU_INLINE DoubleSpin(T c, T s) : cs(c * s), ss(s * s), cc(T(1) - T(2) * ss) {}
  /// Turns a symmetric 2×2 block in place.
  BUNRAKU_INLINE void turn(T& a, T& b, T& h) const {
    const T d = a - b;
    const T w = ss * d + T(2) * cs * h;
    a -= w;
    b += w;
    h = cs * d + cc * h;
  }
  /// Turns any 2×2 block [a f; g b] in place: its skew part stays.
  BUNRAKU_INLINE void turn(T& a, T& b, T& f, T& g) const {
    T h = T(0.5) * (f + g);
    const T skew = T(0.5) * (f - g);
    turn(a, b, h);
    f = h + skew;
    g = h - skew;
  }
};

/// Turns a pair in place: (x, y) to (c x − s y, s x + c y).
template <class T>
BUNRAKU_INLINE void turn_pair(T c, T s, T& x, T& y) {
  const T moved = c * x - s * y;
  y = s * x + c * y;
  x = moved;
}

/// Rz S Rz*.
template <class T>
BUNRAKU_INLINE Sym3<T> about_z(const Spin<T>& spin, const DoubleSpin<T>& twice, Sym3<T> m) {
  twice.turn(m.xx, m.yy, m.xy);
  turn_pair(spin.c, spin.s, m.xz, m.yz);
  return m;
}
/// Rz C Rz*.
template <class T>
BUNRAKU_INLINE Mat3<T> about_z(const Spin<T>& spin, const DoubleSpin<T>& twice, Mat3<T> m) {
  twice.turn(m.m[0][0], m.m[1][1], m.m[0][1], m.m[1][0]);
  turn_pair(spin.c, spin.s, m.m[0][2], m.m[1][2]);
  turn_pair(spin.c, spin.s, m.m[2][0], m.m[2][1]);
  return m;
}

/// A v, where v may have many numbers in each component.
template <class T, class S>
BUNRAKU_INLINE Vec3<S> product(const Mat3<T>& a, const Vec3<S>& v) {
  return {a(0, 0) * v.x + a(0, 1) * v.y + a(0, 2) * v.z, a(1, 0) * v.x + a(1, 1) * v.y + a(1, 2) * v.z,
          a(2, 0) * v.x + a(2, 1) * v.y + a(2, 2) * v.z};
}

/// F v for a revolute link of that kind.
template <Kind kind, class T, class S>
BUNRAKU_INLINE Vec3<S> turned(const Link<T>& l, const Vec3<S>& v) {
  if constexpr (kind == Kind::revolute_none) {
    return v;
  } else if constexpr (kind == Kind::revolute_quarter) {
    return {v.x, -v.z, v.y};
  } else if constexpr (kind == Kind::revolute_x) {
    return {v.x, l.turn_c * v.y - l.turn_s * v.z, l.turn_s * v.y + l.turn_c * v.z};
  } else {
    return product(l.turn, v);
  }
}
/// F* v.
template <Kind kind, class T>
BUNRAKU_INLINE Vec3<T> unturned(const Link<T>& l, const Vec3<T>& v) {
  if constexpr (kind == Kind::revolute_none) {
    return v;
  } else if constexpr (kind == Kind::revolute_quarter) {
    return {v.x, v.z, -v.y};
  } else if constexpr (kind == Kind::revolute_x) {
    return {v.x, l.turn_c * v.y + l.turn_s * v.z, l.turn_c * v.z - l.turn_s * v.y};
  } else {
    return transpose_times(l.turn, v);
  }
}
/// F S F*.
template <Kind kind, class T>
BUNRAKU_INLINE Sym3<T> turned(const Link<T>& l, const Sym3<T>& m) {
  if constexpr (kind == Kind::revolute_none) {
    return m;
  } else if constexpr (kind == Kind::revolute_quarter) {
    return {m.xx, m.zz, m.yy, -m.xz, m.xy, -m.yz};
  } else if constexpr (kind == Kind::revolute_x) {
    Sym3<T> out = m;
    DoubleSpin<T>(l.turn_c, l.turn_s).turn(out.yy, out.zz, out.yz);
    turn_pair(l.turn_c, l.turn_s, out.xy, out.xz);
    return out;
  } else {
    return congruence(l.turn, m);
  }
}
/// F C F*.
template <Kind kind, class T>
BUNRAKU_INLINE Mat3<T> turned(const Link<T>& l, const Mat3<T>& m) {
  if constexpr (kind == Kind::revolute_none) {
    return m;
  } else if constexpr (kind == Kind::revolute_quarter) {
    return {{{m(0, 0), -m(0, 2), m(0, 1)}, {-m(2, 0), m(2, 2), -m(2, 1)}, {m(1, 0), -m(1, 2), m(1, 1)}}};
  } else if constexpr (kind == Kind::revolute_x) {
    Mat3<T> out = m;
    DoubleSpin<T>(l.turn_c, l.turn_s).turn(out.m[1][1], out.m[2][2], out.m[1][2], out.m[2][1]);
    turn_pair(l.turn_c, l.turn_s, out.m[0][1], out.m[0][2]);
    turn_pair(l.turn_c, l.turn_s, out.m[1][0], out.m[2][0]);
    return out;
  } else {
    return l.turn * m * l.turn.transpose();
  }
}

/// Writes number by number: the compiler would gather the whole in one place and copy that in wide registers, which
/// must wait until the numbers have reached memory.
template <class T>
BUNRAKU_INLINE void put(const Vec3<T>& from, Vec3<T>& to) {
  to.x = from.x;
  to.y = from.y;
  to.z = from.z;
}
/// See above.
template <class T>
BUNRAKU_INLINE void put(const Sym3<T>& from, Sym3<T>& to) {
  to.xx = from.xx;
  to.yy = from.yy;
  to.zz = from.zz;
  to.xy = from.xy;
  to.xz = from.xz;
  to.yz = from.yz;
}
/// See above.
template <class T>
BUNRAKU_INLINE void put(const Mat3<T>& from, Mat3<T>& to) {
  for (int i = 0; i < 3; ++i) {
    to.m[i][0] = from.m[i][0];
    to.m[i][1] = from.m[i][1];
    to.m[i][2] = from.m[i][2];
  }
}
/// See above.
template <class T>
BUNRAKU_INLINE void put(const RigidInertia<T>& from, RigidInertia<T>& to) {
  to.mass = from.mass;
  put(from.first_moment, to.first_moment);
  put(from.inertia, to.inertia);
}
/// See above.
template <class T>
BUNRAKU_INLINE void put(const ArticulatedInertia<T>& from, ArticulatedInertia<T>& to) {
  put(from.rotational, to.rotational);
  put(from.coupling, to.coupling);
  put(from.linear, to.linear);
}

/// Calls f.template operator()<kind>(begin, end) for a run of revolute links, and says whether it was one.
template <class F>
BUNRAKU_INLINE bool if_revolute(const Run& run, F&& f) {
  switch (run.kind) {
    case Kind::revolute_none:
      f.template operator()<Kind::revolute_none>(run.begin, run.end);
      return true;
    case Kind::revolute_quarter:
      f.template operator()<Kind::revolute_quarter>(run.begin, run.end);
      return true;
    case Kind::revolute_x:
      f.template operator()<Kind::revolute_x>(run.begin, run.end);
      return true;
    case Kind::revolute_full:
      f.template operator()<Kind::revolute_full>(run.begin, run.end);
      return true;
    case Kind::prismatic:
    case Kind::floating:
    case Kind::general:
    case Kind::lump:
    case Kind::siblings:
    case Kind::modal:
    case Kind::coupled:
    case Kind::embedded:
      break;
  }
  return false;
}

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
template <Kind kind, class S>
struct Axes {
  const Link<S>& l;
  const Spin<S>& spin;

  BUNRAKU_INLINE Vec3<S> forth(const Vec3<S>& v) const {
    if constexpr (kind == Kind::prismatic) {
      return product(l.turn, v);
    } else {
      return turned<kind>(l, spin.forth(v));
    }
  }
  BUNRAKU_INLINE Vec3<S> back(const Vec3<S>& v) const {
    if constexpr (kind == Kind::prismatic) {
      return transpose_times(l.turn, v);
    } else {
      return spin.back(unturned<kind>(l, v));
    }
  }
  BUNRAKU_INLINE ArticulatedInertia<S> forth(const ArticulatedInertia<S>& P) const {
    if constexpr (kind == Kind::prismatic) {
      return Rotation<S>(l.turn) * P;
    } else {
      const DoubleSpin<S> twice(spin.c, spin.s);
      return {turned<kind>(l, about_z(spin, twice, P.rotational)), turned<kind>(l, about_z(spin, twice, P.coupling)),
              turned<kind>(l, about_z(spin, twice, P.linear))};
    }
  }
};

}  // namespace bunraku::kernels
