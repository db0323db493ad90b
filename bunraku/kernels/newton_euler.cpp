/// Inverse dynamics by the recursive Newton–Euler equations (RK92 6–12): motions outward, forces inward.
#include "bunraku/kernels/sweeps.hpp"

namespace bunraku::kernels {

/// From ω, ω̇ and a of link k: A, and the force f = Mα + b of the link alone.
template <class T>
BUNRAKU_INLINE void Sweeps<T>::settle(int k, const Vec3<T>& w, const Vec3<T>& wd, const Vec3<T>& a) {
  const Link<T>& l = tree_.links[at(k)];
  const Sym3<T> ww = Sym3<T>::outer_square(w);  // ωω*
  const Mat3<T> A{{{-(ww.yy + ww.zz), ww.xy - wd.z, ww.xz + wd.y},
                   {ww.xy + wd.z, -(ww.xx + ww.zz), ww.yz - wd.x},
                   {ww.xz - wd.y, ww.yz + wd.x, -(ww.xx + ww.yy)}}};
  const Vec3<T>& h = l.inertia.first_moment;
  const Sym3<T>& i = l.inertia.inertia;
  // 𝒥ω̇ + ω × 𝒥ω in the elements of A: five products a component
  const Vec3<T> turning{
      i.xx * wd.x - i.xy * A(2, 0) + i.xz * A(1, 0) + i.yz * (ww.yy - ww.zz) + l.difference.x * ww.yz,
      i.yy * wd.y - i.yz * A(0, 1) + i.xy * A(2, 1) + i.xz * (ww.zz - ww.xx) + l.difference.y * ww.xz,
      i.zz * wd.z - i.xz * A(1, 2) + i.yz * A(0, 2) + i.xy * (ww.xx - ww.yy) + l.difference.z * ww.xy};
  force_[at(k)] = {turning + cross(h, a), a * l.inertia.mass + A * h};
  moving_[at(k + 1)] = {w, wd, a, A};
}

template <class T>
template <Kind kind>
void Sweeps<T>::move_revolute(int begin, int end, const T* velocity, const T* acceleration) {
  for (int k = begin; k < end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    const Moving<T>& up = moving_[at(l.parent + 1)];
    const Spin<T> spin = spin_[at(k)];
    const T rate = velocity[l.v];
    Vec3<T> w = spin.back(unturned<kind>(l, up.w));
    Vec3<T> wd = spin.back(unturned<kind>(l, up.wd));
    const Vec3<T> a = spin.back(unturned<kind>(l, up.a + up.A * l.p));
    wd.x += w.y * rate;
    wd.y -= w.x * rate;
    wd.z += acceleration[l.v];
    w.z += rate;
    settle(k, w, wd, a);
  }
}

template <class T>
void Sweeps<T>::move_prismatic(int k, const T* velocity, const T* acceleration) {
  const Link<T>& l = tree_.links[at(k)];
  const Moving<T>& up = moving_[at(l.parent + 1)];
  const T twice = T(2) * velocity[l.v];
  const Vec3<T> w = transpose_times(l.turn, up.w);
  Vec3<T> a = transpose_times(l.turn, up.a + up.A * slid(l));
  a.x += w.y * twice;  // 2 ω × z q̇
  a.y -= w.x * twice;
  a.z += acceleration[l.v];
  settle(k, w, transpose_times(l.turn, up.wd), a);
}

template <class T>
void Sweeps<T>::move_special(int k, const T* velocity, const T* acceleration) {
  const Link<T>& l = tree_.links[at(k)];
  const Moving<T>& up = moving_[at(l.parent + 1)];
  const Rotation<T>& R = placed(l).rotation;
  if (l.kind == Kind::floating) {
    const T* v = velocity + l.v;
    const T* vd = acceleration + l.v;
    const Vec3<T> w{v[0], v[1], v[2]};
    settle(k, w, {vd[0], vd[1], vd[2]},
           R.inverse_times(up.a) + cross(w, Vec3<T>{v[3], v[4], v[5]}) + Vec3<T>{vd[3], vd[4], vd[5]});
    return;
  }
  Motion<T> relative = Motion<T>::zero();
  Motion<T> rate = joint_map_rate(l, velocity);
  for (int j = l.v; j < l.v + l.nv; ++j) {
    relative += H_[at(j)] * velocity[j];
    rate += H_[at(j)] * acceleration[j];
  }
  const Vec3<T> w = R.inverse_times(up.w);
  settle(k, w + relative.angular, R.inverse_times(up.wd) + cross(w, relative.angular) + rate.angular,
         R.inverse_times(up.a + up.A * placed(l).translation) + cross(w + w + relative.angular, relative.linear) +
             rate.linear);
}

template <class T>
template <Kind kind>
void Sweeps<T>::push_revolute(int begin, int end, const T* acceleration, T* torque) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const Force<T>& f = force_[at(k)];
    torque[l.v] = f.moment.z + l.armature * acceleration[l.v];
    if (l.parent >= 0) {
      const Spin<T> spin = spin_[at(k)];
      const Vec3<T> force = turned<kind>(l, spin.forth(f.force));
      Force<T>& up = force_[at(l.parent)];
      up.moment += turned<kind>(l, spin.forth(f.moment)) + cross(l.p, force);
      up.force += force;
    }
  }
}

template <class T>
void Sweeps<T>::push_other(int k, const T* acceleration, T* torque) {
  const Link<T>& l = tree_.links[at(k)];
  const Force<T>& f = force_[at(k)];
  switch (l.kind) {
    case Kind::prismatic:
      torque[l.v] = f.force.z + l.armature * acceleration[l.v];
      if (l.parent >= 0) {
        force_[at(l.parent)] += Transform<T>{Rotation<T>(l.turn), slid(l)} * f;
      }
      return;
    case Kind::floating:
      for (int j = 0; j < 6; ++j) {
        torque[l.v + j] = f[j] + coordinates_.armature[at(l.v + j)] * acceleration[l.v + j];
      }
      return;
    default:
      for (int j = l.v; j < l.v + l.nv; ++j) {
        torque[j] = dot(H_[at(j)], f) + coordinates_.armature[at(j)] * acceleration[j];
      }
      if (l.parent >= 0) {
        force_[at(l.parent)] += placed(l) * f;
      }
  }
}

template <class T>
void Sweeps<T>::inverse(const T* velocity, const T* acceleration, T* torque) {
  need_positions();
  for (const Run& run : tree_.runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      move_revolute<kind>(begin, end, velocity, acceleration);
    };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        run.kind == Kind::prismatic ? move_prismatic(k, velocity, acceleration)
                                    : move_special(k, velocity, acceleration);
      }
    }
  }
  for (std::size_t r = tree_.runs.size(); r-- > 0;) {
    const Run& run = tree_.runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { push_revolute<kind>(begin, end, acceleration, torque); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.end - 1; k >= run.begin; --k) {
        push_other(k, acceleration, torque);
      }
    }
  }
}

template void Sweeps<double>::inverse(const double*, const double*, double*);
template void Sweeps<float>::inverse(const float*, const float*, float*);

}  // namespace bunraku::kernels
