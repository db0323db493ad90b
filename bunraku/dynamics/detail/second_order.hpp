/// @file
/// A state in dual numbers: what the sweeps of product_sweeps.hpp read to give derivatives of their products.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "bunraku/dynamics/detail/dual.hpp"
#include "bunraku/dynamics/detail/product_sweeps.hpp"

namespace bunraku::detail {

/// How derivatives of a hinge's joint map change, in its body's frame: number i of each is the derivative along the
/// hinge's i-th coordinate.
template <class T>
struct MapSecondRates {
  /// Of a body's hinge with so many velocities.
  MapSecondRates(int of, int nv) : body(of), rates(place_of(nv)), bias_by_q(place_of(nv)), bias_by_v(place_of(nv)) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      rates[i].resize(rates.size() * rates.size());
      bias_by_q[i].resize(rates.size());
      bias_by_v[i].resize(rates.size());
    }
    for (std::vector<double>& each : room_) {
      each.resize(std::size_t{6} * rates.size() * rates.size());
    }
  }

  int body = 0;
  std::vector<std::vector<Motion<T>>> rates;      ///< Of ∂H*/∂q, in q.
  std::vector<std::vector<Motion<T>>> bias_by_q;  ///< Of ∂(Ḣ*θ̇)/∂q, in q.
  std::vector<std::vector<Motion<T>>> bias_by_v;  ///< Of ∂(Ḣ*θ̇)/∂q, in θ̇.

  /// At the state. Of modal and custom hinges by differences.
  void set(const StateData<T>& s);

 private:
  std::array<std::vector<double>, 3> room_;  // for numbers of the hinge, so that nothing allocates
};

/// The blocks of a state in dual numbers along `lanes` directions at once.
template <class T>
struct SecondOrder {
  static constexpr int lanes = 4;
  using Scalar = Dual<T, lanes>;
  using Rates = std::array<T, lanes>;
  using Body = typename DerivativeData<Scalar>::BodyRates;
  using Load = typename DerivativeData<Scalar>::Load;

  /// O(N + n²) memory.
  explicit SecondOrder(const StateData<T>& state);

  /// Takes what all directions have in common of the state.
  void begin();
  /// Takes directions, which are in way_q and way_v, and forces from outside: all blocks and loads.
  void set_directions(Forces<T> forces);

  /// @name What the sweeps read
  /// @{
  int size() const { return state_.blocks.size(); }
  int parent(int k) const { return state_.blocks.parent(k); }
  int nv(int k) const { return state_.blocks.nv(k); }
  int first(int k) const { return state_.blocks.first(k); }
  const Transform<Scalar>& X_PB(int k) const { return X_PB_[place_of(k)]; }
  const Motion<Scalar>& H(int j) const { return H_[place_of(j)]; }
  const Motion<Scalar>& V(int k) const { return V_[place_of(k)]; }
  const Motion<Scalar>& relative(int k) const { return relative_[place_of(k)]; }
  const Motion<Scalar>& map_rate(int k) const { return map_rate_[place_of(k)]; }
  const RigidInertia<Scalar>& M(int k) const { return M_[place_of(k)]; }
  const MapRates<Scalar>& map(int k) const { return maps_[map_at_[place_of(k)]]; }
  const Scalar* v() const { return v_.data(); }
  Scalar armature(int j) const { return state_.coordinates.armature[place_of(j)]; }
  Vec3<Scalar> gravity() const { return kernels::cast<Scalar>(state_.gravity()); }
  const Load& load(int k) const { return loads_[place_of(k)]; }
  Body& body(int k) const { return bodies_[place_of(k)]; }
  /// @}

  std::vector<Scalar> way_q;                   ///< Directions in q, full: the derivatives of zeros.
  std::vector<Scalar> way_v;                   ///< Directions in θ̇, likewise.
  std::array<std::vector<Scalar>, 5> vectors;  ///< Scratch, full: θ̈, λ, and what the sweeps write.
  std::array<std::vector<T>, 4> squares;       ///< Scratch, n×n: from the first forward dynamics on.

 private:
  void place(int k);
  void set_loads(Forces<T> forces);

  const StateData<T>& state_;
  std::vector<std::size_t> map_at_;  // number 0 is that of hinges whose map does not change
  std::vector<MapSecondRates<T>> second_rates_;
  std::vector<MapRates<T>> plain_maps_;  // beside second_rates_
  std::vector<MapRates<Scalar>> maps_;   // one more than these
  std::vector<Transform<Scalar>> X_PB_;
  std::vector<Motion<Scalar>> H_;
  std::vector<Motion<Scalar>> U_;  // φ*H* of the directions
  std::vector<Motion<Scalar>> V_;
  std::vector<Motion<Scalar>> relative_;
  std::vector<Motion<Scalar>> map_rate_;
  std::vector<RigidInertia<Scalar>> M_;
  std::vector<Scalar> v_;
  std::vector<Load> loads_;
  mutable std::vector<Body> bodies_;
};

}  // namespace bunraku::detail
