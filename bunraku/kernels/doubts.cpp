#include "bunraku/kernels/doubts.hpp"

#include <algorithm>
#include <cmath>

#include "bunraku/kernels/index.hpp"

namespace bunraku::kernels {

namespace {}  // namespace

template <class T>
Doubts<T>::Doubts(const Tree& t)
    : H(at(t.coordinates.nv)),
      U(H.size()),
      D_inverse(H.size()),
      L(t.factor_numbers),
      armature(H.size()),
      inertia(t.links.size()),
      pose(t.links.size()),
      basis(t.basis_numbers),
      tree_(&t),
      composite_(t.links.size()),
      square_(t.largest_cluster * t.largest_cluster),
      rounding_(t.largest_cluster),
      reduced_(t.largest_cluster),
      pivots_(t.largest_cluster) {}

template <class T>
Doubts<T>::~Doubts() = default;

/// The hinge of a coordinate, or of what its loops leave free the one that it moves most.
template <class T>
const Hinge& Doubts<T>::hinge_of(const CoupledLinks& c, std::size_t j) const {
  const std::size_t m = c.coordinates.size();
  if (c.embedded >= 0) {
    const T* X = basis.data() + c.basis;
    std::size_t most = 0;
    for (std::size_t i = 1; i < m; ++i) {
      most = std::abs(X[i * m + j]) > std::abs(X[most * m + j]) ? i : most;
    }
    j = most;
  }
  const int v = c.coordinates[j];
  int owner = c.begin;
  while (v < tree_->links[at(owner)].v || v >= tree_->links[at(owner)].v + tree_->links[at(owner)].nv) {
    ++owner;
  }
  return tree_->hinge(owner);
}

/// How many coordinates D is of, with what of them is rounding.
template <class T>
std::size_t Doubts<T>::reduce(const CoupledLinks& c) {
  const std::size_t m = c.coordinates.size();
  if (c.embedded < 0) {
    return m;
  }
  const std::size_t r = at(independent[c.embedded]);
  for (std::size_t j = 0; j < r; ++j) {
    reduced_[j] = T(0);
    for (std::size_t i = 0; i < m; ++i) {
      reduced_[j] += std::abs(basis[c.basis + i * m + j]) * rounding_[i];
    }
  }
  std::copy_n(reduced_.begin(), r, rounding_.begin());
  return r;
}

/// The question for a cluster: D = L d L*, and what of it is rounding, as in the tree's doubts.
template <class T>
void Doubts<T>::settle_cluster(const CoupledLinks& c) {
  const Tree& tree = *tree_;
  const std::size_t m = c.coordinates.size();
  std::fill_n(rounding_.begin(), m, T(0));
  for (int k = c.begin; k < c.end; ++k) {
    const Link<double>& l = tree.links[at(k)];
    for (int i = l.v; i < l.v + l.nv; ++i) {
      const Follower<double>& follower = tree.within[at(i)];
      rounding_[at(follower.own)] +=
          static_cast<T>(std::abs(follower.ratio)) *
          std::sqrt(rounding_of(H[at(i)], armature[at(i)], inertia[at(k)], composite_[at(k)]));
    }
  }
  const std::size_t r = reduce(c);
  std::fill_n(square_.begin(), r * r, T(0));
  const T* factor = m == 1 ? nullptr : L.data() + c.factor;
  for (std::size_t j = 0; j < r; ++j) {
    const T inverse = D_inverse[at(c.coordinates[j])];
    for (std::size_t i = 0; i <= j && inverse > T(0); ++i) {  // D is not positive where the inverse is not
      const T part = (i == j ? T(1) : factor[i * m + j]) / inverse;
      for (std::size_t n = 0; n <= i; ++n) {
        square_[i * r + n] = square_[n * r + i] += part * (n == j ? T(1) : factor[n * m + j]);
      }
    }
  }
  check_coupled(square_.data(), static_cast<int>(r), rounding_.data(), pivots_.data(),
                [&](int j) -> const Hinge& { return hinge_of(c, at(j)); });
}

/// Inward, with the composite bodies of singular.hpp.
template <class T>
void Doubts<T>::settle() {
  std::fill(composite_.begin(), composite_.end(), RigidInertia<T>::zero());
  for (int k = static_cast<int>(inertia.size()) - 1; k >= 0; --k) {
    const Link<double>& l = tree_->links[at(k)];
    const int cluster = tree_->cluster_of[at(k)];
    if (cluster < 0) {
      const HingeDoubt<T> doubt{{H.data() + l.v, at(l.nv)},
                                {U.data() + l.v, at(l.nv)},
                                {D_inverse.data() + l.v, at(l.nv)},
                                {armature.data() + l.v, at(l.nv)}};
      check_positive(tree_->hinge(k), doubt, inertia[at(k)], composite_[at(k)]);
    } else if (k == tree_->clusters[at(cluster)].begin) {
      settle_cluster(tree_->clusters[at(cluster)]);
    }
    if (l.parent >= 0) {
      composite_[at(l.parent)] += pose[at(k)] * (inertia[at(k)] + composite_[at(k)]);
    }
  }
}

template struct Doubts<double>;
template struct Doubts<float>;

}  // namespace bunraku::kernels
