/// @file
/// The coordinates of all hinges, mimics counted, and how they follow from the user's.
#pragma once

#include <span>
#include <vector>

#include "bunraku/model/model.hpp"

namespace bunraku::kernels {

/// Where a body's hinge has its coordinates among those of all hinges.
struct HingeSlot {
  int q = 0;   ///< First position.
  int v = 0;   ///< First velocity.
  int d = 0;   ///< First number of its nv×nv block.
  int nq = 0;  ///< Positions, its own or a mimic's.
  int nv = 0;  ///< Velocities, likewise.
};

/// A velocity coordinate of all hinges by the user's: a mimic hinge takes its leader's.
template <class T>
struct Follower {
  int own = 0;  ///< Index among the user's velocity coordinates.
  T ratio{1};   ///< 1, or the mimic's.
};

/// All hinges' coordinates ("full") by the user's: θ̇_full = S θ̇, so that torques add up by S*.
template <class T>
struct Coordinates {
  /// O(N).
  explicit Coordinates(const Model& model) {
    slots.reserve(model.bodies().size());
    for (const Body& body : model.bodies()) {
      const int n = body.hinge.velocity_size();
      slots.push_back({nq, nv, nd, body.hinge.configuration_size(), n});
      const bool follows = body.leader != world;
      has_mimics = has_mimics || follows;
      for (int j = 0; j < n; ++j) {
        velocities.push_back({body.v_index + (follows ? 0 : j), static_cast<T>(follows ? body.leader_ratio : 1.0)});
        armature.push_back(static_cast<T>(body.hinge.dofs[static_cast<std::size_t>(j)].armature));
      }
      nq += slots.back().nq;
      nv += n;
      nd += n * n;
    }
  }

  /// S x.
  void spread(std::span<const T> x, std::span<T> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = velocities[i].ratio * x[static_cast<std::size_t>(velocities[i].own)];
    }
  }
  /// S*x.
  void gather(std::span<const T> x, std::span<T> out) const {
    for (T& each : out) {
      each = T(0);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[static_cast<std::size_t>(velocities[i].own)] += velocities[i].ratio * x[i];
    }
  }

  std::vector<HingeSlot> slots;         ///< One for each body.
  std::vector<Follower<T>> velocities;  ///< One for each velocity of all hinges.
  std::vector<T> armature;              ///< Likewise.
  int nq = 0;                           ///< Positions of all hinges.
  int nv = 0;                           ///< Velocities of all hinges.
  int nd = 0;                           ///< Numbers in the nv×nv blocks of all hinges.
  bool has_mimics = false;              ///< Whether S is more than the identity.
};

}  // namespace bunraku::kernels
