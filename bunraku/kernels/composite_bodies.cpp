/// 𝓜 by composite bodies (RK92 28–33): inward, R(k) = Σ φRφ* + M(k); the force R(k)H*(k) of a unit acceleration goes on
/// inward, and its part along each hinge on the way is an element of 𝓜.
#include <algorithm>

#include "bunraku/kernels/carry.hpp"

namespace bunraku::kernels {

namespace {

/// Writes part of the row of coordinate e to both triangles. `cells` has the coordinates in their cells.
template <class T>
BUNRAKU_INLINE void store(const ColumnLayout& layout, int e, int begin, int end, const T* cells, T* out) {
  const auto i = static_cast<std::size_t>(e);
  T* across = out + layout.row[i];
  T* down = out + layout.user[i];
  for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c) {
    const T value = cells[layout.cell[c]];
    across[layout.user[c]] = value;
    down[layout.row[c]] = value;
  }
}

}  // namespace

/// R(k): the link's own inertia and what its children have handed over, nothing for a leaf.
template <class T>
BUNRAKU_INLINE RigidInertia<T> Sweeps<T>::composed(int k) const {
  const RigidInertia<T>& own = tree_.links[at(k)].inertia;
  const RigidInertia<T>& more = composite_[at(k)];
  return {own.mass + more.mass,
          own.first_moment + more.first_moment,
          {own.inertia.xx + more.inertia.xx, own.inertia.yy + more.inertia.yy, own.inertia.zz + more.inertia.zz,
           own.inertia.xy + more.inertia.xy, own.inertia.xz + more.inertia.xz, own.inertia.yz + more.inertia.yz}};
}

/// Adds φ(p) R φ*(p) to what the parent of a link has gathered: the first to arrive sets it.
template <class T>
BUNRAKU_INLINE void Sweeps<T>::hand_over(const Link<T>& l, const Vec3<T>& p, const RigidInertia<T>& R) {
  const RigidInertia<T> moved = shifted(R, p);
  RigidInertia<T>& sum = composite_[at(l.parent)];
  if (l.opens_parent) {
    put(moved, sum);
  } else {
    sum += moved;
  }
}

template <class T>
template <Kind kind>
void Sweeps<T>::compose_revolute(int begin, int end, T* out) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const RigidInertia<T> R = composed(k);
    const int e = composite_layout_.first[at(k)];
    insert(composite_layout_, e,
           {{R.inertia.xz, R.inertia.yz, R.inertia.zz}, {-R.first_moment.y, R.first_moment.x, T(0)}});
    out[composite_layout_.row[at(e)] + l.v] = R.inertia.zz + l.armature;
    store(composite_layout_, e, e + 1, composite_layout_.coordinate_end[at(e)], cells() + 2 * lane_count<T>, out);
    if (l.parent >= 0) {
      const Spin<T> spin = spin_[at(k)];
      hand_over(l, l.p,
                {R.mass, turned<kind>(l, spin.forth(R.first_moment)),
                 turned<kind>(l, about_z(spin, DoubleSpin<T>(spin.c, spin.s), R.inertia))});
      carry<kind>(l, spin, registers(composite_layout_, k));
    }
  }
}

/// A free body against the world: H = I, so that the rows are the components.
template <class T>
void Sweeps<T>::compose_floating(int k, T* out) {
  const Link<T>& l = tree_.links[at(k)];
  const RigidInertia<T> R = composed(k);
  const Vec3<T>& h = R.first_moment;
  const Sym3<T>& i = R.inertia;
  const T& m = R.mass;
  const T own[6][6] = {{i.xx, i.xy, i.xz, T(0), -h.z, h.y}, {i.xy, i.yy, i.yz, h.z, T(0), -h.x},
                       {i.xz, i.yz, i.zz, -h.y, h.x, T(0)}, {T(0), h.z, -h.y, m, T(0), T(0)},
                       {-h.z, T(0), h.x, T(0), m, T(0)},    {h.y, -h.x, T(0), T(0), T(0), m}};
  const auto n = static_cast<std::ptrdiff_t>(composite_layout_.user.size());
  const int e = composite_layout_.first[at(k)];
  T* rows = out + composite_layout_.row[at(e)];
  for (int j = 0; j < 6; ++j) {
    for (int c = 0; c < 6; ++c) {
      rows[j * n + l.v + c] = own[j][c];
    }
  }
  for (int c = e + 6; c < composite_layout_.coordinate_end[at(e)]; ++c) {
    const T* cell = cells() + composite_layout_.cell[at(c)];
    T* across = rows + composite_layout_.user[at(c)];
    T* down = out + composite_layout_.row[at(c)] + l.v;
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      across[j * n] = down[j] = cell[j * lane_count<T>];
    }
  }
}

template <class T>
void Sweeps<T>::compose_other(int k, T* out) {
  const Link<T>& l = tree_.links[at(k)];
  const RigidInertia<T> R = composed(k);
  const int e = composite_layout_.first[at(k)];
  const int end = composite_layout_.coordinate_end[at(e)];
  const Span span = registers(composite_layout_, k);
  for (int j = 0; j < l.nv; ++j) {
    const Motion<T>& H = column(l.v + j);
    const Force<T> f = R * H;
    insert(composite_layout_, e + j, f);
    out[composite_layout_.row[at(e + j)] + l.v + j] = dot(H, f) + coordinates_.armature[at(l.v + j)];
  }
  for (int j = 0; j < l.nv; ++j) {
    const Motion<T>& H = column(l.v + j);
    for (int r = span.begin; r < span.end; ++r) {
      rows_[at(r)].moment.x = along(H, columns_[at(r)]);
    }
    store(composite_layout_, e + j, e + j + 1, end, reinterpret_cast<const T*>(rows_.data()), out);
  }
  if (l.parent >= 0) {
    const Transform<T> X = pose(l);
    hand_over(l, X.translation, X.rotation * R);
    carry(X, span);
  }
}

template <class T>
void Sweeps<T>::mass_matrix(T* out) {
  need_positions();
  const std::size_t n = composite_layout_.user.size();
  if (composite_layout_.branches) {  // hinges on different branches do not feel each other
    std::fill_n(out, n * n, T(0));
  }
  for (std::size_t r = tree_.runs.size(); r-- > 0;) {
    const Run& run = tree_.runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { compose_revolute<kind>(begin, end, out); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::floating ? compose_floating(k, out) : compose_other(k, out);
      }
    }
  }
}

template void Sweeps<double>::mass_matrix(double*);
template void Sweeps<float>::mass_matrix(float*);

}  // namespace bunraku::kernels
