/// @file
/// Parameters that differ from state to state, folded into a tree's constants: what Tree does once for the model's own.
///
/// A block's folded numbers are packs, in this order: with inertial or placement the ten numbers of each link and mass
/// and first moment of what is fixed to the world; with placement also turn and p of each link and X_LB of each body;
/// with armature, damping, friction, stiffness the numbers of the velocities of all hinges; with gravity three.
#pragma once

#include "bunraku/kernels/rows.hpp"
#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// Whether links' inertias differ: a placement moves what is fixed to a link.
constexpr bool varies_inertia(const Varied& varied) {
  return varied.inertial || varied.placement;
}

/// Packs of a block.
inline std::size_t folded_packs(const Tree& tree, const Varied& varied) {
  const std::size_t links = tree.links.size();
  const auto nv = static_cast<std::size_t>(tree.coordinates.nv);
  return (varies_inertia(varied) ? 10 * links + 4 : 0) + (varied.placement ? 12 * links + 12 * tree.bodies.size() : 0) +
         (varied.armature ? nv : 0) + (varied.damping ? nv : 0) + (varied.friction ? nv : 0) +
         (varied.stiffness ? nv : 0) + (varied.gravity ? 3 : 0);
}

/// Calls f(number) for each number of a pose, a rotation row by row before its translation.
template <class S, class F>
void for_numbers(Transform<S>& X, F&& f) {
  Mat3<S> turn = X.rotation.matrix();
  for (int i = 0; i < 9; ++i) {
    f(turn(i / 3, i % 3));
  }
  X.rotation = Rotation<S>(turn);
  for (int i = 0; i < 3; ++i) {
    f(X.translation[i]);
  }
}

/// Calls f(number) for every number of the constants that differs, in the order of the block.
template <class S, class F>
BUNRAKU_INLINE void for_varied(const Tree& tree, const Varied& varied, Constants<S>& c, F&& f) {
  if (varies_inertia(varied)) {
    for (Link<S>& l : c.links) {
      RigidInertia<S>& M = l.inertia;
      for (S* each : {&M.mass, &M.first_moment.x, &M.first_moment.y, &M.first_moment.z, &M.inertia.xx, &M.inertia.yy,
                      &M.inertia.zz, &M.inertia.xy, &M.inertia.xz, &M.inertia.yz}) {
        f(*each);
      }
    }
    for (S* each : {&c.world_mass, &c.world_moment.x, &c.world_moment.y, &c.world_moment.z}) {
      f(*each);
    }
  }
  if (varied.placement) {
    for (Link<S>& l : c.links) {
      for (int i = 0; i < 9; ++i) {
        f(l.turn(i / 3, i % 3));
      }
      for (int i = 0; i < 3; ++i) {
        f(l.p[i]);
      }
    }
    for (Transform<S>& X : c.X_LB) {
      for_numbers(X, f);
    }
  }
  const auto all = [&](bool differs, S* x) {
    for (int j = 0; differs && j < tree.coordinates.nv; ++j) {
      f(x[j]);
    }
  };
  all(varied.armature, c.armature.data());
  all(varied.damping, c.damping.data());
  all(varied.friction, c.friction.data());
  all(varied.stiffness, c.stiffness.data());
  if (varied.gravity) {
    for (int i = 0; i < 3; ++i) {
      f(c.base_acceleration[i]);
    }
  }
}

/// What follows from the others.
template <class S>
void complete(const Varied& varied, Constants<S>& c) {
  for (Link<S>& l : c.links) {
    const Sym3<S>& i = l.inertia.inertia;
    l.difference = {i.zz - i.yy, i.xx - i.zz, i.yy - i.xx};
    if (varied.armature && l.nv > 0) {
      l.armature = c.armature[at(l.v)];
    }
  }
}

/// X_PF of a body from (w, x, y, z, px, py, pz), its quaternion of about unit norm.
template <class S>
Transform<S> placement_of(const S* x) {
  using std::sqrt;
  const S scale = S(1) / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
  return {Rotation<S>(Quaternion<S>{x[0] * scale, x[1] * scale, x[2] * scale, x[3] * scale}), {x[4], x[5], x[6]}};
}

/// Parameters in scalar S; null where they are the model's own.
template <class S>
struct FoldInput {
  const S* inertial = nullptr;   ///< 10 a body.
  const S* placement = nullptr;  ///< 7 a body.
  const S* armature = nullptr;   ///< The user's nv.
  const S* damping = nullptr;    ///< Likewise.
  const S* friction = nullptr;   ///< Likewise.
  const S* stiffness = nullptr;  ///< Likewise.
  const S* gravity = nullptr;    ///< 3.
};

/// Folds parameters into the constants, which are the model's own before.
template <class S>
void fold(const Tree& tree, const FoldInput<S>& in, Constants<S>& c) {
  if (in.inertial != nullptr || in.placement != nullptr) {
    for (Link<S>& l : c.links) {
      l.inertia = RigidInertia<S>::zero();
    }
    c.world_mass = S(0);
    c.world_moment = Vec3<S>::zero();
    const Transform<S> X_TW = Transform<S>::rotate(Rotation<S>(cast<S>(tree.world_turn.inverse().matrix())));
    for (int b = 0; b < static_cast<int>(tree.bodies.size()); ++b) {
      const Body& body = tree.model.bodies()[at(b)];
      const int link = tree.bodies[at(b)].link;
      if (in.placement != nullptr) {
        const int parent_link = body.parent == world ? -1 : tree.bodies[at(body.parent)].link;
        // what is fixed to the world is kept in the user's world, and links hang on the turned one
        const Transform<S> X_PB = body.parent == world ? Transform<S>::identity() : c.X_LB[at(body.parent)];
        const Transform<S> X_LF = X_PB * placement_of(in.placement + 7 * b);
        if (body.hinge.type == HingeType::fixed) {
          c.X_LB[at(b)] = X_LF * cast<S>(body.X_MB);
        } else {
          const Transform<S> there = parent_link < 0 ? X_TW * X_LF : X_LF;
          Link<S>& l = c.links[at(link)];
          l.turn = (there.rotation * Rotation<S>(cast<S>(tree.R_FT[at(link)].matrix()))).matrix();
          l.p = there.translation;
        }
      }
      const RigidInertia<S> own =
          in.inertial != nullptr ? RigidInertia<S>::from_parameters(in.inertial + 10 * b) : cast<S>(body.inertia);
      const RigidInertia<S> moved = c.X_LB[at(b)] * own;
      if (link < 0) {
        c.world_mass += moved.mass;
        c.world_moment += moved.first_moment;
      } else {
        c.links[at(link)].inertia += moved;
      }
    }
  }
  const auto own = [&](const S* x, S* out) {
    for (std::size_t i = 0; x != nullptr && i < tree.coordinates.leaders.size(); ++i) {
      out[tree.coordinates.leaders[i]] = x[i];
    }
  };
  own(in.armature, c.armature.data());
  own(in.damping, c.damping.data());
  own(in.friction, c.friction.data());
  own(in.stiffness, c.stiffness.data());
  if (in.gravity != nullptr) {
    const Rotation<S> turn(cast<S>(tree.world_turn.matrix()));
    c.base_acceleration = -turn.inverse_times(Vec3<S>{in.gravity[0], in.gravity[1], in.gravity[2]});
  }
}

}  // namespace bunraku::kernels
