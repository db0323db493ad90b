/// @file
/// A model as the sweeps see it: flat arrays, one-axis hinges turned to z, constants folded. Users never see these
/// frames.
#pragma once

#include <vector>

#include "bunraku/dynamics/detail/cast.hpp"
#include "bunraku/dynamics/detail/coordinates.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku::kernels {

/// How a hinge moves, as far as the arithmetic cares.
enum class Stroke {
  none,       ///< No coordinates.
  revolute,   ///< About z.
  prismatic,  ///< Along z.
  general,    ///< Anything else: the joint map is an array of columns.
};

/// One body. C is its frame in the sweeps: the hinge's moving frame M, turned so that a single axis is z.
template <class T>
struct TreeBody {
  int parent = world;         ///< Index, or `world`.
  Stroke stroke{};            ///< Which arithmetic.
  int nv = 0;                 ///< Velocity coordinates of the hinge, its own or a mimic's.
  int q_index = 0;            ///< Where its positions start among those of all hinges.
  int v_index = 0;            ///< Where its velocities start among those of all hinges.
  int d_index = 0;            ///< Where its nv×nv block starts among those of all hinges.
  Transform<T> X_PF{};        ///< The hinge's frame, turned, in the parent's frame C.
  RigidInertia<T> inertia{};  ///< About C's origin, in C's axes.
  Transform<T> X_CB{};        ///< The user's body frame in C.
};

/// A model, folded for scalar T.
template <class T>
struct Tree {
  /// O(N).
  explicit Tree(const Model& model);

  std::vector<TreeBody<T>> bodies;      ///< Parent before child.
  std::vector<Follower<T>> velocities;  ///< One for each velocity coordinate of all hinges.
  std::vector<T> armature;              ///< Likewise.
  int nq = 0;                           ///< Positions of all hinges.
  int nv = 0;                           ///< Velocities of all hinges.
  int nd = 0;                           ///< Numbers in the nv×nv blocks of all hinges.
  bool has_mimics = false;              ///< Whether `velocities` is more than the identity.
};

extern template struct Tree<double>;
extern template struct Tree<float>;

}  // namespace bunraku::kernels
