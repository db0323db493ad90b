/// @file
/// A tree's constants in scalar S: the same for all states, or lanes of a pack where they differ from state to state.
#pragma once

#include <vector>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// A tree's constants in scalar S.
template <class S>
struct Constants {
  /// O(N).
  explicit Constants(const Tree& tree);

  std::vector<Link<S>> links;      ///< Of the tree, in its order.
  std::vector<S> armature;         ///< Of each velocity of all hinges.
  std::vector<S> doubt;            ///< Likewise: a D above it is certainly positive; see singular.hpp.
  std::vector<Transform<S>> X_LB;  ///< Of each body of the model: where it is in its link.
  std::vector<S> damping;          ///< Of each velocity of all hinges.
  std::vector<S> friction;         ///< Likewise.
  std::vector<S> stiffness;        ///< Likewise.
  Vec3<S> base_acceleration{};     ///< Of the world: gravity, turned.
  S world_mass{};                  ///< Of the bodies that are fixed to the world.
  Vec3<S> world_moment{};          ///< Their first moment about its origin, in its axes.
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
Constants<S>::Constants(const Tree& tree)
    : base_acceleration(-cast<S>(tree.world_turn.inverse_times(tree.model.gravity()))) {
  links.reserve(tree.links.size());
  for (const Link<double>& l : tree.links) {
    links.push_back(cast<S>(l));
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
