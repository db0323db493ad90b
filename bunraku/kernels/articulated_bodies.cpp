/// Forward dynamics by articulated bodies (RK92 34–41, §VII): ω outward; P, D, U and ε inward; θ̈ outward.
#include "bunraku/kernels/hand_over.hpp"
#include "bunraku/kernels/singular.hpp"

namespace bunraku::kernels {

/// From ω of link k: ω~ω~ and the bias force b.
template <class T>
BUNRAKU_INLINE void Sweeps<T>::settle(int k, const Vec3<T>& w) {
  const Link<T>& l = tree_.links[at(k)];
  const Sym3<T> ww = Sym3<T>::outer_square(w);  // ωω*
  const Sym3<T> W{-(ww.yy + ww.zz), -(ww.xx + ww.zz), -(ww.xx + ww.yy), ww.xy, ww.xz, ww.yz};
  const Sym3<T>& i = l.inertia.inertia;
  const Vec3<T> turning{i.xz * ww.xy - i.xy * ww.xz + i.yz * (ww.yy - ww.zz) + l.difference.x * ww.yz,
                        i.xy * ww.yz - i.yz * ww.xy + i.xz * (ww.zz - ww.xx) + l.difference.y * ww.xz,
                        i.yz * ww.xz - i.xz * ww.yz + i.xy * (ww.xx - ww.yy) + l.difference.z * ww.xy};
  force_[at(k)] = {turning, W * l.inertia.first_moment};
  turning_[at(k + 1)] = {w, W};
}

template <class T>
template <Kind kind>
void Sweeps<T>::spin_revolute(int begin, int end) {
  for (int k = begin; k < end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    const Turning<T>& up = turning_[at(l.parent + 1)];
    Vec3<T> w = spin_[at(k)].back(unturned<kind>(l, up.w));
    w.z += v_[l.v];
    arm_acceleration_[at(k)] = up.W * l.p;
    settle(k, w);
  }
}

template <class T>
void Sweeps<T>::spin_other(int k) {
  const Link<T>& l = tree_.links[at(k)];
  const Turning<T>& up = turning_[at(l.parent + 1)];
  if (l.kind == Kind::prismatic) {
    arm_acceleration_[at(k)] = up.W * slid(l);
    settle(k, transpose_times(l.turn, up.w));
    return;
  }
  if (l.kind == Kind::floating) {
    const T* v = v_ + l.v;
    const Vec3<T> w{v[0], v[1], v[2]};
    special_bias_[at(l.special)] = {Vec3<T>::zero(), cross(w, Vec3<T>{v[3], v[4], v[5]})};
    settle(k, w);
    return;
  }
  Motion<T> relative = Motion<T>::zero();
  for (int j = l.v; j < l.v + l.nv; ++j) {
    relative += H_[at(j)] * v_[j];
  }
  const Vec3<T> w = placed(l).rotation.inverse_times(up.w);
  special_bias_[at(l.special)] =
      joint_map_rate(l, v_) + Motion<T>{cross(w, relative.angular), cross(w + w + relative.angular, relative.linear)};
  arm_acceleration_[at(k)] = up.W * placed(l).translation;
  settle(k, w + relative.angular);
}

/// a of a link that is not revolute, but for the arm's part.
template <class T>
Motion<T> Sweeps<T>::hinge_bias_of(int k) const {
  const Link<T>& l = tree_.links[at(k)];
  if (l.kind != Kind::prismatic) {
    return special_bias_[at(l.special)];
  }
  const Vec3<T>& w = turning_[at(k + 1)].w;
  const T twice = T(2) * v_[l.v];
  return {Vec3<T>::zero(), {w.y * twice, -w.x * twice, T(0)}};  // 2 ω × z q̇
}

template <class T>
template <bool forces, Kind kind, bool geared, bool careful>
[[gnu::noinline]] bool Sweeps<T>::eliminate_revolute(int begin, int end, Factors<T>& factors, const T* torque) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const ArticulatedInertia<T> P = gathered(k);
    Sym3<T> J = P.rotational;
    Mat3<T> C = P.coupling;
    Sym3<T> L = P.linear;
    const Force<T> U{{J.xz, J.yz, J.zz}, C.row(2)};
    const T D = geared ? J.zz + l.armature : J.zz;
    if constexpr (!careful) {
      if (!(D > doubt_[at(l.v)])) [[unlikely]] {
        return false;
      }
    }
    const T inverse = careful ? factors.inverse(D, doubt_[at(l.v)]) : T(1) / D;
    Force<T> z{};
    T epsilon{};
    if constexpr (forces) {
      z = force_[at(k)];
      epsilon = torque[l.v] - z.moment.z;
    }
    // kept only when P⁺ is known: the compiler would copy P before, for fear that this changes it
    const auto keep = [&] {
      factors.U[at(l.v)] = U;
      factors.D_inverse[at(l.v)] = inverse;
      if constexpr (forces) {
        epsilon_[at(l.v)] = epsilon;
      }
    };
    if (l.parent < 0) {
      keep();
      continue;
    }
    // P⁺ = P − U D⁻¹ U*; without armature what couples to the hinge's axis vanishes
    const Force<T> G = U * inverse;
    J.xx -= G.moment.x * U.moment.x;
    J.yy -= G.moment.y * U.moment.y;
    J.xy -= G.moment.x * U.moment.y;
    C.m[0][0] -= G.moment.x * U.force.x;
    C.m[0][1] -= G.moment.x * U.force.y;
    C.m[0][2] -= G.moment.x * U.force.z;
    C.m[1][0] -= G.moment.y * U.force.x;
    C.m[1][1] -= G.moment.y * U.force.y;
    C.m[1][2] -= G.moment.y * U.force.z;
    L.xx -= G.force.x * U.force.x;
    L.yy -= G.force.y * U.force.y;
    L.zz -= G.force.z * U.force.z;
    L.xy -= G.force.x * U.force.y;
    L.xz -= G.force.x * U.force.z;
    L.yz -= G.force.y * U.force.z;
    const T left = geared ? l.armature * inverse : T(0);
    J.xz = geared ? J.xz * left : T(0);
    J.yz = geared ? J.yz * left : T(0);
    J.zz = geared ? J.zz * left : T(0);
    C.m[2][0] = geared ? C.m[2][0] * left : T(0);
    C.m[2][1] = geared ? C.m[2][1] * left : T(0);
    C.m[2][2] = geared ? C.m[2][2] * left : T(0);
    keep();
    if constexpr (forces) {  // z⁺ = z + G ε + P⁺ a, with a = ω × H*θ̇ here; the arm's part comes below
      const T rate = v_[l.v];
      const T x = turning_[at(k + 1)].w.y * rate;
      const T y = -turning_[at(k + 1)].w.x * rate;
      z += G * epsilon;
      z.moment.x += J.xx * x + J.xy * y;
      z.moment.y += J.xy * x + J.yy * y;
      if constexpr (geared) {
        z.moment.z += J.xz * x + J.yz * y;
      }
      z.force.x += C(0, 0) * x + C(1, 0) * y;
      z.force.y += C(0, 1) * x + C(1, 1) * y;
      z.force.z += C(0, 2) * x + C(1, 2) * y;
    }
    const Spin<T> spin = spin_[at(k)];
    const DoubleSpin<T> twice(spin.c, spin.s);
    L = turned<kind>(l, about_z(spin, twice, L));
    const Mat3<T> moved =
        hand_over(l, l.p, {turned<kind>(l, about_z(spin, twice, J)), turned<kind>(l, about_z(spin, twice, C)), L});
    if constexpr (forces) {
      const Vec3<T>& arm = arm_acceleration_[at(k)];
      const Vec3<T> force = turned<kind>(l, spin.forth(z.force));
      Force<T>& up = force_[at(l.parent)];
      up.moment += turned<kind>(l, spin.forth(z.moment)) + cross(l.p, force) + moved * arm;
      up.force += force + L * arm;
    }
  }
  return true;
}

/// A free body against the world: H = I, so that U(j) is a column of what is left of P, without anything beyond j.
template <class T>
template <bool forces>
void Sweeps<T>::eliminate_floating(int k, Factors<T>& factors, const T* torque) {
  const Link<T>& l = tree_.links[at(k)];
  const ArticulatedInertia<T> P = gathered(k);
  const Sym3<T>& J = P.rotational;
  const Mat3<T>& C = P.coupling;
  const Sym3<T>& L = P.linear;
  T p[6][6] = {{J.xx, J.xy, J.xz, C(0, 0), C(0, 1), C(0, 2)}, {J.xy, J.yy, J.yz, C(1, 0), C(1, 1), C(1, 2)},
               {J.xz, J.yz, J.zz, C(2, 0), C(2, 1), C(2, 2)}, {C(0, 0), C(1, 0), C(2, 0), L.xx, L.xy, L.xz},
               {C(0, 1), C(1, 1), C(2, 1), L.xy, L.yy, L.yz}, {C(0, 2), C(1, 2), C(2, 2), L.xz, L.yz, L.zz}};
  T z[6] = {};
  if constexpr (forces) {
    const Force<T>& f = force_[at(k)];
    z[0] = f.moment.x;
    z[1] = f.moment.y;
    z[2] = f.moment.z;
    z[3] = f.force.x;
    z[4] = f.force.y;
    z[5] = f.force.z;
  }
#pragma GCC unroll 6
  for (int j = 5; j >= 0; --j) {
    const T inverse = factors.inverse(p[j][j], doubt_[at(l.v + j)]);
    T u[6] = {};
#pragma GCC unroll 6
    for (int i = 0; i <= j; ++i) {
      u[i] = p[i][j];
    }
    factors.U[at(l.v + j)] = {{u[0], u[1], u[2]}, {u[3], u[4], u[5]}};
    factors.D_inverse[at(l.v + j)] = inverse;
    T epsilon{};
    if constexpr (forces) {
      epsilon = torque[l.v + j] - z[j];
      epsilon_[at(l.v + j)] = epsilon;
    }
#pragma GCC unroll 6
    for (int i = 0; i < j; ++i) {
      const T g = u[i] * inverse;
      z[i] += g * epsilon;
#pragma GCC unroll 6
      for (int m = 0; m <= i; ++m) {
        p[m][i] -= g * u[m];
      }
    }
  }
}

template <class T>
template <bool forces>
void Sweeps<T>::eliminate_other(int k, Factors<T>& factors, const T* torque) {
  const Link<T>& l = tree_.links[at(k)];
  ArticulatedInertia<T> P = gathered(k);
  Force<T> z = forces ? force_[at(k)] : Force<T>::zero();
  for (int j = l.v + l.nv - 1; j >= l.v; --j) {
    const Motion<T>& H = column(j);
    const Force<T> U = P * H;
    const T inverse = factors.inverse(dot(H, U) + coordinates_.armature[at(j)], doubt_[at(j)]);
    factors.U[at(j)] = U;
    factors.D_inverse[at(j)] = inverse;
    if constexpr (forces) {
      const T epsilon = torque[j] - dot(H, z);
      epsilon_[at(j)] = epsilon;
      z += U * (inverse * epsilon);
    }
    P -= scaled_outer(U, inverse);
  }
  if (l.parent < 0) {
    return;
  }
  forget_rounding(model_.bodies()[at(l.body)].hinge.type, l.geared, P);
  const Transform<T> X = pose(l);
  if constexpr (forces) {
    z += P * hinge_bias_of(k);
  }
  P = X.rotation * P;
  const Mat3<T> moved = hand_over(l, X.translation, P);
  if constexpr (forces) {
    const Vec3<T>& arm = arm_acceleration_[at(k)];
    force_[at(l.parent)] += X * z + Force<T>{moved * arm, P.linear * arm};
  }
}

template <class T>
template <bool forces, bool careful>
bool Sweeps<T>::eliminate(Factors<T>& factors, const T* torque) {
  factors.doubtful = false;
  for (std::size_t r = tree_.stages.size(); r-- > 0;) {
    const Run& run = tree_.stages[r];
    bool certain = true;
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      if constexpr (careful) {  // which is rare: for all kinds alike
        eliminate_revolute<forces, Kind::revolute_full, true, true>(begin, end, factors, torque);
      } else {
        certain = run.geared ? eliminate_revolute<forces, kind, true, false>(begin, end, factors, torque)
                             : eliminate_revolute<forces, kind, false, false>(begin, end, factors, torque);
      }
    };
    if (if_revolute(run, revolute)) {
      if (!certain) [[unlikely]] {
        return false;
      }
    } else if (run.cluster >= 0) {
      eliminate_cluster<forces>(run, factors, torque);
    } else {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::floating ? eliminate_floating<forces>(k, factors, torque)
                                   : eliminate_other<forces>(k, factors, torque);
      }
    }
  }
  if (factors.doubtful) [[unlikely]] {
    settle_doubts(factors);
  }
  return true;
}

template <class T>
void Sweeps<T>::eliminate(Factors<T>& factors) {
  if (!eliminate<false, false>(factors, nullptr)) [[unlikely]] {
    eliminate<false, true>(factors, nullptr);
  }
}

template <class T>
template <Kind kind>
void Sweeps<T>::accelerate_revolute(int begin, int end, T* acceleration) {
  for (int k = begin; k < end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    const Motion<T>& up = alpha_[at(l.parent + 1)];
    const Spin<T> spin = spin_[at(k)];
    const T rate = v_[l.v];
    Vec3<T> angular = spin.back(unturned<kind>(l, up.angular));
    const Vec3<T> linear = spin.back(unturned<kind>(l, up.linear + cross(up.angular, l.p) + arm_acceleration_[at(k)]));
    angular.x += turning_[at(k + 1)].w.y * rate;
    angular.y -= turning_[at(k + 1)].w.x * rate;
    const Force<T>& U = of_forward_.U[at(l.v)];
    const T wanted =
        of_forward_.D_inverse[at(l.v)] * (epsilon_[at(l.v)] - (dot(U.moment, angular) + dot(U.force, linear)));
    acceleration[l.v] = wanted;
    angular.z += wanted;
    alpha_[at(k + 1)] = {angular, linear};
  }
}

template <class T>
void Sweeps<T>::accelerate_other(int k, T* acceleration) {
  const Link<T>& l = tree_.links[at(k)];
  Motion<T> alpha = alpha_[at(l.parent + 1)];
  if (l.parent >= 0) {
    alpha.linear += arm_acceleration_[at(k)];
  }
  alpha = inverse_times(pose(l), alpha) + hinge_bias_of(k);
  for (int j = l.v; j < l.v + l.nv; ++j) {
    const T wanted = of_forward_.D_inverse[at(j)] * (epsilon_[at(j)] - dot(of_forward_.U[at(j)], alpha));
    acceleration[j] = wanted;
    alpha += column(j) * wanted;
  }
  alpha_[at(k + 1)] = alpha;
}

/// ω of all links, and their bias forces.
template <class T>
void Sweeps<T>::turn_all() {
  for (const Run& run : tree_.runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { spin_revolute<kind>(begin, end); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        spin_other(k);
      }
    }
  }
}

template <class T>
void Sweeps<T>::forward(const T* torque, T* acceleration) {
  need_positions();
  alpha_[0].linear = base_acceleration_;
  turn_all();
  if (!eliminate<true, false>(of_forward_, torque)) [[unlikely]] {
    turn_all();
    eliminate<true, true>(of_forward_, torque);
  }
  for (const Run& run : tree_.stages) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { accelerate_revolute<kind>(begin, end, acceleration); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      smooth_cluster<true>(run, of_forward_, acceleration);
    } else {
      for (int k = run.begin; k < run.end; ++k) {
        accelerate_other(k, acceleration);
      }
    }
  }
}

template void Sweeps<double>::eliminate(Factors<double>&);
template Motion<double> Sweeps<double>::hinge_bias_of(int) const;
template void Sweeps<double>::forward(const double*, double*);
template void Sweeps<float>::eliminate(Factors<float>&);
template Motion<float> Sweeps<float>::hinge_bias_of(int) const;
template void Sweeps<float>::forward(const float*, float*);

}  // namespace bunraku::kernels
