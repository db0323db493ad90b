/// @file
/// A tree's constants in scalar S: the same for all states, or lanes of a pack where they differ from state to state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/columns.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// The sums over the lumps of a body as sweeps read them: each number of all modes side by side in whole registers,
/// zeros after the last.
template <class S>
struct LumpNumbers {
  using T = NumberOf<S>;  ///< Of a lane.

  /// O(modes²).
  explicit LumpNumbers(const LumpSums& sums);

  /// Elements of Σ m g_l g_i* of a given l for all i, row by row, `stride` apart.
  BUNRAKU_INLINE const T* change(int l) const { return of_mode(l); }
  /// Σ m g_l·g_i likewise.
  BUNRAKU_INLINE const T* mass(int l) const { return of_mode(l) + 9 * stride; }
  /// Elements of T_i(0) for all i, as change().
  BUNRAKU_INLINE const T* at_rest() const { return of_mode(modes); }
  /// Components of Σ m g_i for all i.
  BUNRAKU_INLINE const T* moved() const { return of_mode(modes) + 9 * stride; }
  /// Whether all numbers are the same, as those of equal bodies in equal places are.
  friend bool operator==(const LumpNumbers&, const LumpNumbers&) = default;

  int modes;              ///< n.
  std::ptrdiff_t stride;  ///< From one number to the next.

 private:
  struct alignas(64) Line {
    T x[64 / sizeof(T)] = {};
    friend bool operator==(const Line&, const Line&) = default;
  };
  BUNRAKU_INLINE const T* of_mode(int l) const { return &lines_.data()->x[0] + l * 10 * stride; }

  std::vector<Line> lines_;
};

/// With so many different ones before it a body is compared, so that it takes O(N).
inline constexpr std::ptrdiff_t most_compared = 16;

/// A tree's constants in scalar S.
template <class S>
struct Constants {
  /// O(N).
  explicit Constants(const Tree& tree);

  std::vector<Link<S>> links;         ///< Of the tree, in its order.
  std::vector<S> armature;            ///< Of each velocity of all hinges.
  std::vector<S> doubt;               ///< Likewise: a D above it is certainly positive; see singular.hpp.
  std::vector<Transform<S>> X_LB;     ///< Of each body of the model: where it is in its link.
  std::vector<S> damping;             ///< Of each velocity of all hinges.
  std::vector<S> friction;            ///< Likewise.
  std::vector<S> stiffness;           ///< Likewise.
  std::vector<LumpNumbers<S>> lumps;  ///< Of the tree's sums; those that are alike once …
  std::vector<std::size_t> lumps_of;  ///< … and where the numbers of each of them are.
  Vec3<S> base_acceleration{};        ///< Of the world: gravity, turned.
  S world_mass{};                     ///< Of the bodies that are fixed to the world.
  Vec3<S> world_moment{};             ///< Their first moment about its origin, in its axes.
};

/// A link's constants in another scalar.
template <class S>
Link<S> cast(const Link<double>& l) {
  Link<S> out;
  out.parent = l.parent;
  out.kind = l.kind;
  out.geared = l.geared;
  out.leaf = l.leaf;
  out.opens_parent = l.opens_parent;
  out.body = l.body;
  out.q = l.q;
  out.v = l.v;
  out.rate = l.rate;
  out.nv = l.nv;
  out.special = l.special;
  out.turn_c = S(l.turn_c);
  out.turn_s = S(l.turn_s);
  out.turn = cast<S>(l.turn);
  out.p = cast<S>(l.p);
  out.inertia = cast<S>(l.inertia);
  out.difference = cast<S>(l.difference);
  out.armature = S(l.armature);
  return out;
}

template <class S>
LumpNumbers<S>::LumpNumbers(const LumpSums& sums)
    : modes(sums.modes),
      stride((modes + columns_per_register<S> - 1) / columns_per_register<S> * columns_per_register<S>) {
  constexpr std::size_t in_line = 64 / sizeof(T);
  lines_.resize((static_cast<std::size_t>((10 * modes + 12) * stride) + in_line - 1) / in_line);
  const auto put = [&](int row, int i, double x) {
    const auto place = static_cast<std::size_t>(row * stride + i);
    lines_[place / in_line].x[place % in_line] = T(x);
  };
  for (int i = 0; i < modes; ++i) {
    const auto mode = static_cast<std::size_t>(i);
    for (int e = 0; e < 9; ++e) {
      for (int l = 0; l < modes; ++l) {
        put(10 * l + e, i, sums.change[mode * sums.moved.size() + static_cast<std::size_t>(l)](e / 3, e % 3));
      }
      put(10 * modes + e, i, sums.at_rest[mode](e / 3, e % 3));
    }
    for (int l = 0; l < modes; ++l) {
      put(10 * l + 9, i, sums.mass_matrix[mode * sums.moved.size() + static_cast<std::size_t>(l)]);
    }
    for (int e = 0; e < 3; ++e) {
      put(10 * modes + 9 + e, i, sums.moved[mode][e]);
    }
  }
}

template <class S>
Constants<S>::Constants(const Tree& tree)
    : base_acceleration(-cast<S>(tree.world_turn.inverse_times(tree.model.gravity()))) {
  links.reserve(tree.links.size());
  for (const Link<double>& l : tree.links) {
    links.push_back(cast<S>(l));
  }
  for (const LumpSums& each : tree.lumps) {
    LumpNumbers<S> numbers(each);
    const auto first = std::ssize(lumps) < most_compared ? lumps.begin() : lumps.end() - most_compared;
    const auto alike = std::find(first, lumps.end(), numbers);
    lumps_of.push_back(static_cast<std::size_t>(alike - lumps.begin()));
    if (alike == lumps.end()) {
      lumps.push_back(std::move(numbers));
    }
  }
  for (const double each : tree.coordinates.armature) {
    armature.push_back(S(each));
  }
  for (const double each : sizeof(NumberOf<S>) == sizeof(float) ? tree.doubt_float : tree.doubt) {
    doubt.push_back(S(each));
  }
  for (std::size_t b = 0; b < tree.bodies.size(); ++b) {
    const Body& body = tree.model.bodies()[b];
    X_LB.push_back(cast<S>(tree.bodies[b].X_LB));
    for (const HingeDof& dof : body.hinge.dofs) {
      damping.push_back(S(dof.damping));
      friction.push_back(S(dof.friction));
      stiffness.push_back(S(dof.stiffness));
    }
    if (tree.bodies[b].link < 0) {
      const RigidInertia<S> there = X_LB.back() * cast<S>(body.inertia);
      world_mass += there.mass;
      world_moment += there.first_moment;
    }
  }
}

}  // namespace bunraku::kernels
