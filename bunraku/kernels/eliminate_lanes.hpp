/// @file
/// A revolute link's step of the Riccati recursion for several states at once: the arithmetic of eliminate_revolute,
/// with every number a variable of its own. Gathered in matrices, packs would go through memory at every turn; and
/// without armature a third of P⁺ is zero, which here is left out.
#pragma once

#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// Turns a symmetric matrix by F, number by number.
template <Kind kind, class S>
BUNRAKU_INLINE void turn_tensor(const Link<S>& l, S& xx, S& yy, S& zz, S& xy, S& xz, S& yz) {
  if constexpr (kind == Kind::revolute_quarter) {
    const S z = yy;
    const S x = xz;
    yy = zz;
    zz = z;
    xz = xy;
    xy = -x;
    yz = -yz;
  } else if constexpr (kind == Kind::revolute_x) {
    DoubleSpin<S>(l.turn_c, l.turn_s).turn(yy, zz, yz);
    turn_pair(l.turn_c, l.turn_s, xy, xz);
  } else if constexpr (kind == Kind::revolute_full) {
    const Mat3<S>& f = l.turn;
    const S a0 = f(0, 0) * xx + f(0, 1) * xy + f(0, 2) * xz;
    const S a1 = f(0, 0) * xy + f(0, 1) * yy + f(0, 2) * yz;
    const S a2 = f(0, 0) * xz + f(0, 1) * yz + f(0, 2) * zz;
    const S b0 = f(1, 0) * xx + f(1, 1) * xy + f(1, 2) * xz;
    const S b1 = f(1, 0) * xy + f(1, 1) * yy + f(1, 2) * yz;
    const S b2 = f(1, 0) * xz + f(1, 1) * yz + f(1, 2) * zz;
    const S c0 = f(2, 0) * xx + f(2, 1) * xy + f(2, 2) * xz;
    const S c1 = f(2, 0) * xy + f(2, 1) * yy + f(2, 2) * yz;
    const S c2 = f(2, 0) * xz + f(2, 1) * yz + f(2, 2) * zz;
    xx = a0 * f(0, 0) + a1 * f(0, 1) + a2 * f(0, 2);
    xy = a0 * f(1, 0) + a1 * f(1, 1) + a2 * f(1, 2);
    xz = a0 * f(2, 0) + a1 * f(2, 1) + a2 * f(2, 2);
    yy = b0 * f(1, 0) + b1 * f(1, 1) + b2 * f(1, 2);
    yz = b0 * f(2, 0) + b1 * f(2, 1) + b2 * f(2, 2);
    zz = c0 * f(2, 0) + c1 * f(2, 1) + c2 * f(2, 2);
  }
}

/// The same of a symmetric matrix with nothing along z, of which xx, yy and xy come in.
template <Kind kind, class S>
BUNRAKU_INLINE void turn_flat(const Link<S>& l, S& xx, S& yy, S& zz, S& xy, S& xz, S& yz) {
  if constexpr (kind == Kind::revolute_none) {
    zz = xz = yz = S(0);
  } else if constexpr (kind == Kind::revolute_quarter) {
    zz = yy;
    xz = xy;
    yy = xy = yz = S(0);
  } else if constexpr (kind == Kind::revolute_x) {
    const S y = l.turn_c * yy;
    const S z = l.turn_s * yy;
    yz = l.turn_s * y;
    yy = l.turn_c * y;
    zz = l.turn_s * z;
    xz = l.turn_s * xy;
    xy = l.turn_c * xy;
  } else {
    const Mat3<S>& f = l.turn;
    const S x0 = f(0, 0) * xx + f(0, 1) * xy;
    const S y0 = f(0, 0) * xy + f(0, 1) * yy;
    const S x1 = f(1, 0) * xx + f(1, 1) * xy;
    const S y1 = f(1, 0) * xy + f(1, 1) * yy;
    const S x2 = f(2, 0) * xx + f(2, 1) * xy;
    const S y2 = f(2, 0) * xy + f(2, 1) * yy;
    xx = x0 * f(0, 0) + y0 * f(0, 1);
    yy = x1 * f(1, 0) + y1 * f(1, 1);
    zz = x2 * f(2, 0) + y2 * f(2, 1);
    xy = x0 * f(1, 0) + y0 * f(1, 1);
    xz = x0 * f(2, 0) + y0 * f(2, 1);
    yz = x1 * f(2, 0) + y1 * f(2, 1);
  }
}

/// F C F* of a matrix without a third row.
template <Kind kind, class S>
BUNRAKU_INLINE void turn_rows(const Link<S>& l, S& c00, S& c01, S& c02, S& c10, S& c11, S& c12, S& c20, S& c21,
                              S& c22) {
  if constexpr (kind == Kind::revolute_none) {
    c20 = c21 = c22 = S(0);
  } else if constexpr (kind == Kind::revolute_quarter) {
    const S a = c01;
    c20 = c10;
    c21 = -c12;
    c22 = c11;
    c01 = -c02;
    c02 = a;
    c10 = c11 = c12 = S(0);
  } else if constexpr (kind == Kind::revolute_x) {
    turn_pair(l.turn_c, l.turn_s, c01, c02);
    const S y = l.turn_c * c11 - l.turn_s * c12;
    const S z = l.turn_s * c11 + l.turn_c * c12;
    c20 = l.turn_s * c10;
    c21 = l.turn_s * y;
    c22 = l.turn_s * z;
    c10 = l.turn_c * c10;
    c11 = l.turn_c * y;
    c12 = l.turn_c * z;
  } else {
    const Mat3<S>& f = l.turn;
    const S a0 = c00 * f(0, 0) + c01 * f(0, 1) + c02 * f(0, 2);
    const S a1 = c00 * f(1, 0) + c01 * f(1, 1) + c02 * f(1, 2);
    const S a2 = c00 * f(2, 0) + c01 * f(2, 1) + c02 * f(2, 2);
    const S b0 = c10 * f(0, 0) + c11 * f(0, 1) + c12 * f(0, 2);
    const S b1 = c10 * f(1, 0) + c11 * f(1, 1) + c12 * f(1, 2);
    const S b2 = c10 * f(2, 0) + c11 * f(2, 1) + c12 * f(2, 2);
    c00 = f(0, 0) * a0 + f(0, 1) * b0;
    c01 = f(0, 0) * a1 + f(0, 1) * b1;
    c02 = f(0, 0) * a2 + f(0, 1) * b2;
    c10 = f(1, 0) * a0 + f(1, 1) * b0;
    c11 = f(1, 0) * a1 + f(1, 1) * b1;
    c12 = f(1, 0) * a2 + f(1, 1) * b2;
    c20 = f(2, 0) * a0 + f(2, 1) * b0;
    c21 = f(2, 0) * a1 + f(2, 1) * b1;
    c22 = f(2, 0) * a2 + f(2, 1) * b2;
  }
}

/// F Rz of one vector, number by number.
template <Kind kind, class S>
BUNRAKU_INLINE void turn_vector(const Link<S>& l, const Spin<S>& spin, S& x, S& y, S& z) {
  const S a = spin.c * x - spin.s * y;
  const S b = spin.s * x + spin.c * y;
  x = a;
  if constexpr (kind == Kind::revolute_none) {
    y = b;
  } else if constexpr (kind == Kind::revolute_quarter) {
    y = -z;
    z = b;
  } else if constexpr (kind == Kind::revolute_x) {
    const S c = z;
    y = l.turn_c * b - l.turn_s * c;
    z = l.turn_s * b + l.turn_c * c;
  } else {
    const S c = z;
    x = l.turn(0, 0) * a + l.turn(0, 1) * b + l.turn(0, 2) * c;
    y = l.turn(1, 0) * a + l.turn(1, 1) * b + l.turn(1, 2) * c;
    z = l.turn(2, 0) * a + l.turn(2, 1) * b + l.turn(2, 2) * c;
  }
}

/// v = t + F Rz v, number by number; t is ready before v is.
template <Kind kind, class S>
BUNRAKU_INLINE void turn_onto(const Link<S>& l, const Spin<S>& spin, const Vec3<S>& t, S& x, S& y, S& z) {
  if constexpr (kind == Kind::revolute_none || kind == Kind::revolute_quarter) {
    constexpr bool quarter = kind == Kind::revolute_quarter;
    const S b = ((quarter ? t.z : t.y) + spin.s * x) + spin.c * y;
    x = (t.x - spin.s * y) + spin.c * x;
    y = quarter ? t.y - z : b;
    z = quarter ? b : t.z + z;
  } else if constexpr (kind == Kind::revolute_x) {
    const S b = spin.s * x + spin.c * y;
    const S c = z;
    x = (t.x - spin.s * y) + spin.c * x;
    y = (t.y - l.turn_s * c) + l.turn_c * b;
    z = (t.z + l.turn_c * c) + l.turn_s * b;
  } else {
    const S a = spin.c * x - spin.s * y;
    const S b = spin.s * x + spin.c * y;
    const S c = z;
    x = ((t.x + l.turn(0, 2) * c) + l.turn(0, 0) * a) + l.turn(0, 1) * b;
    y = ((t.y + l.turn(1, 2) * c) + l.turn(1, 0) * a) + l.turn(1, 1) * b;
    z = ((t.z + l.turn(2, 2) * c) + l.turn(2, 0) * a) + l.turn(2, 1) * b;
  }
}

/// A force's numbers, each a variable of its own: gathered in vectors, packs of several states would go through memory.
template <class S>
struct Numbers {
  S nx, ny, nz, fx, fy, fz;
};

/// A force from a revolute link's frame to its parent's.
template <Kind kind, class S>
BUNRAKU_INLINE void climb(const Link<S>& l, const Spin<S>& turn, Numbers<S>& f) {
  Spin<S> spin = turn;
  hold(spin.c);
  hold(spin.s);
  Vec3<S> p = l.p;
  hold(p.x);
  hold(p.y);
  hold(p.z);
  turn_vector<kind>(l, spin, f.fx, f.fy, f.fz);
  const Vec3<S> arm{p.y * f.fz - p.z * f.fy, p.z * f.fx - p.x * f.fz, p.x * f.fy - p.y * f.fx};
  turn_onto<kind>(l, spin, arm, f.nx, f.ny, f.nz);
}

/// P⁺ of a revolute link without armature goes to its parent, with the force z⁺ where there are forces; U, D⁻¹ and ε
/// are kept. See articulated_bodies.hpp. Room and Kept are Workspace and Factors, or what has their members of these
/// names that are used without forces.
template <bool forces, Kind kind, class S, template <class> class Room, template <class> class Kept>
[[gnu::noinline]] void eliminate_lanes(Room<S>& ws, int begin, int end, Kept<S>& factors, const S* torque) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const Sym3<S>& i = l.inertia.inertia;
    const Vec3<S>& h = l.inertia.first_moment;
    const Sym3<S>& J = ws.P[at(k)].rotational;
    const Mat3<S>& C = ws.P[at(k)].coupling;
    const Sym3<S>& L = ws.P[at(k)].linear;
    const S ux = i.xz + J.xz;
    const S uy = i.yz + J.yz;
    const S D = i.zz + J.zz;
    const S vx = C(2, 0) - h.y;
    const S vy = C(2, 1) + h.x;
    const S vz = C(2, 2);
    const S inverse = factors.inverse(D, ws.doubt[l.v]);
    Force<S>& U = factors.U[at(l.v)];
    U.moment.x = ux;
    U.moment.y = uy;
    U.moment.z = D;
    U.force.x = vx;
    U.force.y = vy;
    U.force.z = vz;
    factors.D_inverse[at(l.v)] = inverse;
    S epsilon(0);
    if constexpr (forces) {
      epsilon = torque[l.v] - ws.force[at(k)].moment.z;
      ws.epsilon[at(l.v)] = epsilon;
    }
    if (l.parent < 0) {
      continue;
    }
    const Spin<S>& spin = ws.spin[at(k)];
    const DoubleSpin<S> twice(spin.c, spin.s);
    const S gx = ux * inverse;
    const S gy = uy * inverse;
    S jxx = (i.xx + J.xx) - gx * ux;
    S jyy = (i.yy + J.yy) - gy * uy;
    S jxy = (i.xy + J.xy) - gx * uy;
    S c00 = C(0, 0) - gx * vx;
    S c01 = (C(0, 1) - h.z) - gx * vy;
    S c02 = (C(0, 2) + h.y) - gx * vz;
    S c10 = (C(1, 0) + h.z) - gy * vx;
    S c11 = C(1, 1) - gy * vy;
    S c12 = (C(1, 2) - h.x) - gy * vz;
    const S px = vx * inverse;
    const S py = vy * inverse;
    const S pz = vz * inverse;
    S nx(0);
    S ny(0);
    S nz(0);
    S fx(0);
    S fy(0);
    S fz(0);
    if constexpr (forces) {  // z⁺ = z + G ε + P⁺ a, with a = ω × H*θ̇ here; the arm's part comes below
      const Force<S>& z = ws.force[at(k)];
      const S rate = ws.v[l.v];
      const S x = ws.turning[at(k + 1)].w.y * rate;
      const S y = ws.turning[at(k + 1)].w.x * rate;
      nx = z.moment.x + gx * epsilon + (jxx * x - jxy * y);
      ny = z.moment.y + gy * epsilon + (jxy * x - jyy * y);
      nz = z.moment.z + epsilon;
      fx = z.force.x + px * epsilon + (c00 * x - c10 * y);
      fy = z.force.y + py * epsilon + (c01 * x - c11 * y);
      fz = z.force.z + pz * epsilon + (c02 * x - c12 * y);
    }
    const S& m = l.inertia.mass;
    S lxx = (m + L.xx) - px * vx;
    S lyy = (m + L.yy) - py * vy;
    S lzz = (m + L.zz) - pz * vz;
    S lxy = L.xy - px * vy;
    S lxz = L.xz - px * vz;
    S lyz = L.yz - py * vz;
    twice.turn(lxx, lyy, lxy);
    turn_pair(spin.c, spin.s, lxz, lyz);
    turn_tensor<kind>(l, lxx, lyy, lzz, lxy, lxz, lyz);
    twice.turn(c00, c11, c01, c10);
    turn_pair(spin.c, spin.s, c02, c12);
    S c20;
    S c21;
    S c22;
    turn_rows<kind>(l, c00, c01, c02, c10, c11, c12, c20, c21, c22);
    const Vec3<S>& p = l.p;
    const S m00 = c00 + (p.y * lxz - p.z * lxy);  // C' = C + p̃L
    const S m01 = c01 + (p.y * lyz - p.z * lyy);
    const S m02 = c02 + (p.y * lzz - p.z * lyz);
    const S m10 = c10 + (p.z * lxx - p.x * lxz);
    const S m11 = c11 + (p.z * lxy - p.x * lyz);
    const S m12 = c12 + (p.z * lxz - p.x * lzz);
    const S m20 = c20 + (p.x * lxy - p.y * lxx);
    const S m21 = c21 + (p.x * lyy - p.y * lxy);
    const S m22 = c22 + (p.x * lyz - p.y * lxz);
    ArticulatedInertia<S>& sum = ws.P[at(l.parent)];
    const auto give = [&]<bool first>() BUNRAKU_INLINE_LAMBDA {
      const auto put = [](const S& x, S& to) BUNRAKU_INLINE_LAMBDA { to = first ? x : to + x; };
      put(lxx, sum.linear.xx);
      put(lyy, sum.linear.yy);
      put(lzz, sum.linear.zz);
      put(lxy, sum.linear.xy);
      put(lxz, sum.linear.xz);
      put(lyz, sum.linear.yz);
      put(m00, sum.coupling.m[0][0]);
      put(m01, sum.coupling.m[0][1]);
      put(m02, sum.coupling.m[0][2]);
      put(m10, sum.coupling.m[1][0]);
      put(m11, sum.coupling.m[1][1]);
      put(m12, sum.coupling.m[1][2]);
      put(m20, sum.coupling.m[2][0]);
      put(m21, sum.coupling.m[2][1]);
      put(m22, sum.coupling.m[2][2]);
      twice.turn(jxx, jyy, jxy);
      S jzz;
      S jxz;
      S jyz;
      turn_flat<kind>(l, jxx, jyy, jzz, jxy, jxz, jyz);
      put(jxx + (p.y * (c02 + m02) - p.z * (c01 + m01)), sum.rotational.xx);  // J' = J + p̃C* + C'p̃*
      put(jyy + (p.z * (c10 + m10) - p.x * (c12 + m12)), sum.rotational.yy);
      put(jzz + (p.x * (c21 + m21) - p.y * (c20 + m20)), sum.rotational.zz);
      put(jxy + (p.y * c12 + p.z * (m00 - c11) - p.x * m02), sum.rotational.xy);
      put(jxz + (p.y * (c22 - m00) - p.z * c21 + p.x * m01), sum.rotational.xz);
      put(jyz + (p.z * c20 + p.x * (m11 - c22) - p.y * m10), sum.rotational.yz);
    };
    if constexpr (forces) {
      const Vec3<S>& arm = ws.arm_acceleration[at(k)];
      Force<S>& up = ws.force[at(l.parent)];
      turn_vector<kind>(l, spin, fx, fy, fz);
      turn_vector<kind>(l, spin, nx, ny, nz);
      up.moment.x += nx + (p.y * fz - p.z * fy) + (m00 * arm.x + m01 * arm.y + m02 * arm.z);
      up.moment.y += ny + (p.z * fx - p.x * fz) + (m10 * arm.x + m11 * arm.y + m12 * arm.z);
      up.moment.z += nz + (p.x * fy - p.y * fx) + (m20 * arm.x + m21 * arm.y + m22 * arm.z);
      up.force.x += fx + (lxx * arm.x + lxy * arm.y + lxz * arm.z);
      up.force.y += fy + (lxy * arm.x + lyy * arm.y + lyz * arm.z);
      up.force.z += fz + (lxz * arm.x + lyz * arm.y + lzz * arm.z);
    }
    l.opens_parent ? give.template operator()<true>() : give.template operator()<false>();
  }
}

}  // namespace bunraku::kernels
