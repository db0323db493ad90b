/// 𝓜⁻¹x = [I − HψK]* D⁻¹ [I − HψK] x: the innovations filter inward, its adjoint outward.
#include "bunraku/kernels/sweeps.hpp"

namespace bunraku::kernels {

template <class T>
template <Kind kind>
void Sweeps<T>::filter_revolute(int begin, int end, const T* x) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    Force<T> z = l.leaf ? Force<T>::zero() : force_[at(k)];
    const T epsilon = x[l.v] - z.moment.z;
    epsilon_[at(l.v)] = epsilon;
    if (l.parent < 0) {
      continue;
    }
    z += of_state_.U[at(l.v)] * (of_state_.D_inverse[at(l.v)] * epsilon);
    const Spin<T> spin = spin_[at(k)];
    const Vec3<T> force = turned<kind>(l, spin.forth(z.force));
    const Force<T> moved{turned<kind>(l, spin.forth(z.moment)) + cross(l.p, force), force};
    Force<T>& up = force_[at(l.parent)];
    up = l.opens_parent ? moved : up + moved;
  }
}

template <class T>
void Sweeps<T>::filter_other(int k, const T* x) {
  const Link<T>& l = tree_.links[at(k)];
  Force<T> z = l.leaf ? Force<T>::zero() : force_[at(k)];
  for (int j = l.v + l.nv - 1; j >= l.v; --j) {
    const T epsilon = x[j] - dot(column(j), z);
    epsilon_[at(j)] = epsilon;
    z += of_state_.U[at(j)] * (of_state_.D_inverse[at(j)] * epsilon);
  }
  if (l.parent >= 0) {
    const Force<T> moved = pose(l) * z;
    Force<T>& up = force_[at(l.parent)];
    up = l.opens_parent ? moved : up + moved;
  }
}

template <class T>
template <Kind kind>
void Sweeps<T>::smooth_revolute(int begin, int end, T* out) {
  for (int k = begin; k < end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    const Motion<T>& up = alpha_[at(l.parent + 1)];
    const Spin<T> spin = spin_[at(k)];
    Vec3<T> angular = spin.back(unturned<kind>(l, up.angular));
    const Vec3<T> linear = spin.back(unturned<kind>(l, up.linear + cross(up.angular, l.p)));
    const Force<T>& U = of_state_.U[at(l.v)];
    const T wanted =
        of_state_.D_inverse[at(l.v)] * (epsilon_[at(l.v)] - (dot(U.moment, angular) + dot(U.force, linear)));
    out[l.v] = wanted;
    angular.z += wanted;
    alpha_[at(k + 1)] = {angular, linear};
  }
}

template <class T>
void Sweeps<T>::smooth_other(int k, T* out) {
  const Link<T>& l = tree_.links[at(k)];
  Motion<T> alpha = inverse_times(pose(l), alpha_[at(l.parent + 1)]);
  for (int j = l.v; j < l.v + l.nv; ++j) {
    const T wanted = of_state_.D_inverse[at(j)] * (epsilon_[at(j)] - dot(of_state_.U[at(j)], alpha));
    out[j] = wanted;
    alpha += column(j) * wanted;
  }
  alpha_[at(k + 1)] = alpha;
}

template <class T>
void Sweeps<T>::solve(const T* x, T* out) {
  need_articulated();
  for (std::size_t r = tree_.stages.size(); r-- > 0;) {
    const Run& run = tree_.stages[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { filter_revolute<kind>(begin, end, x); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      filter_cluster(run, x);
    } else {
      for (int k = run.end - 1; k >= run.begin; --k) {
        filter_other(k, x);
      }
    }
  }
  alpha_[0] = Motion<T>::zero();
  for (const Run& run : tree_.stages) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { smooth_revolute<kind>(begin, end, out); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      smooth_cluster<false>(run, of_state_, out);
    } else {
      for (int k = run.begin; k < run.end; ++k) {
        smooth_other(k, out);
      }
    }
  }
}

/// 𝓜⁻¹ of the unit vector j of the user's coordinates.
template <class T>
void Sweeps<T>::solve_unit(int j, T* out) {
  T& one = unit_[at(coordinates_.leaders[at(j)])];
  one = T(1);
  solve(unit_.data(), coordinates_.has_mimics ? solved_.data() : out);
  one = T(0);
  if (coordinates_.has_mimics) {
    coordinates_.pick(solved_, {out, coordinates_.leaders.size()});
  }
}

template void Sweeps<double>::solve_unit(int, double*);
template void Sweeps<float>::solve_unit(int, float*);
template void Sweeps<double>::solve(const double*, double*);
template void Sweeps<float>::solve(const float*, float*);

}  // namespace bunraku::kernels
