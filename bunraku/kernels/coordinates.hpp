/// @file
/// The coordinates of all hinges, mimics counted, and how they follow from the user's.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "bunraku/model/model.hpp"

namespace bunraku::kernels {

/// Where a body's hinge has its coordinates among those of all hinges. One that follows another as it is has its
/// leader's positions, not places of its own: so have the nodes of a flexible body.
struct HingeSlot {
  int q = 0;     ///< First position.
  int v = 0;     ///< First velocity.
  int d = 0;     ///< First number of its nv×nv block.
  int nq = 0;    ///< Positions, its own or a mimic's.
  int nv = 0;    ///< Velocities, likewise.
  int rate = 0;  ///< Where its velocities are to be read: as `v`, or of nodes of a flexible body the leader's place.
};

/// A velocity coordinate of all hinges by the user's: a mimic hinge takes its leader's.
template <class T>
struct Follower {
  int own = 0;  ///< Index among the user's velocity coordinates.
  T ratio{1};   ///< 1, or the mimic's.
};

/// A quaternion among the positions.
struct QuaternionSlot {
  int user = 0;  ///< Its first number among the user's positions.
  int full = 0;  ///< Its first number among those of all hinges.
  int body = 0;  ///< Whose hinge has it.
};

/// Positions of a hinge that the user defines.
struct CustomSlot {
  std::shared_ptr<const CustomHinge> hinge;  ///< What puts them back on their manifold.
  int full = 0;                              ///< The first, among those of all hinges.
  int count = 0;                             ///< How many.
  int body = 0;                              ///< Whose hinge it is.
};

/// The position of a mimic hinge with one coordinate: ratio · leader's + offset.
struct MimicSlot {
  int user = 0;       ///< The leader's, among the user's positions.
  int full = 0;       ///< Its own, among those of all hinges.
  double ratio = 1;   ///< Factor.
  double offset = 0;  ///< Added.
};

/// A stretch of positions, or velocities, that are the same among the user's and those of all hinges.
struct CopySlot {
  int user = 0;   ///< Its first among the user's.
  int full = 0;   ///< Its first among those of all hinges.
  int count = 0;  ///< How many.
};

/// All hinges' coordinates ("full") by the user's: θ̇_full = S θ̇, so that torques add up by S*.
template <class T>
struct Coordinates {
  /// O(N).
  explicit Coordinates(const Model& model) {
    slots.reserve(model.bodies().size());
    for (const Body& body : model.bodies()) {
      const int n = body.hinge.velocity_size();
      const bool follows = body.leader != world;
      const bool shares = follows && body.leader_ratio == 1 && body.hinge.type == HingeType::modal;
      slots.push_back({nq, nv, nd, body.hinge.configuration_size(), n, nv});
      if (shares) {
        slots.back().rate = slots[static_cast<std::size_t>(body.leader)].rate;
      }
      add_positions(body);
      has_mimics = has_mimics || follows;
      for (int j = 0; j < n; ++j) {
        add_velocity(body.v_index + j, follows, shares);
        velocities.push_back({body.v_index + j, static_cast<T>(follows ? body.leader_ratio : 1.0)});
        armature.push_back(static_cast<T>(body.hinge.dofs[static_cast<std::size_t>(j)].armature));
      }
      if (std::any_of(body.hinge.dofs.begin(), body.hinge.dofs.end(), [](const HingeDof& dof) {
            return dof.damping != 0 || dof.friction != 0 || dof.stiffness != 0;
          })) {
        passive.push_back(static_cast<int>(slots.size()) - 1);
      }
      nv += n;
      nd += n * n;
    }
  }

  /// A mimic's position from the user's.
  static T followed(const MimicSlot& m, std::span<const T> q) {
    return static_cast<T>(m.ratio * static_cast<double>(q[static_cast<std::size_t>(m.user)]) + m.offset);
  }
  /// All hinges' positions from the user's, which are finite and have quaternions of about unit norm.
  void spread_positions(std::span<const T> q, std::span<T> out) const {
    for (const CopySlot& c : copies) {
      std::copy_n(q.data() + c.user, c.count, out.data() + c.full);
    }
    for (const MimicSlot& m : mimics) {
      out[static_cast<std::size_t>(m.full)] = followed(m, q);
    }
    for (const QuaternionSlot& slot : quaternions) {
      T* x = out.data() + slot.full;
      // 1/√(1 + d) in powers of d, which is small: exact to the last digit for what is taken for a unit quaternion
      const T d = (x[0] * x[0] + x[1] * x[1]) + (x[2] * x[2] + x[3] * x[3]) - T(1);
      const T scale = T(1) - d * (T(0.5) - d * (T(0.375) - d * T(0.3125)));
      x[0] *= scale;
      x[1] *= scale;
      x[2] *= scale;
      x[3] *= scale;
    }
    for (const CustomSlot& slot : customs) {
      std::array<double, max_hinge_positions> x{};
      std::copy_n(out.begin() + slot.full, slot.count, x.begin());
      slot.hinge->normalize(x.data());
      std::transform(x.begin(), x.begin() + slot.count, out.begin() + slot.full,
                     [](double number) { return static_cast<T>(number); });
    }
  }
  /// S x.
  void spread(std::span<const T> x, std::span<T> out) const {
    spread_rates(x, out);
    spread_shared(x, out);
  }
  /// S x where rates are read, at HingeSlot::rate.
  void spread_rates(std::span<const T> x, std::span<T> out) const {
    for (const CopySlot& c : own_velocities) {
      std::copy_n(x.data() + c.user, c.count, out.data() + c.full);
    }
    for (const int i : scaled) {
      const Follower<T>& follower = velocities[static_cast<std::size_t>(i)];
      out[static_cast<std::size_t>(i)] = follower.ratio * x[static_cast<std::size_t>(follower.own)];
    }
  }
  /// S x where they are not.
  void spread_shared(std::span<const T> x, std::span<T> out) const {
    for (const CopySlot& c : shared_velocities) {
      std::copy_n(x.data() + c.user, c.count, out.data() + c.full);
    }
  }
  /// Of all hinges' numbers those of the hinges that follow none, which are the user's.
  void pick(std::span<const T> x, std::span<T> out) const {
    for (std::size_t i = 0; i < leaders.size(); ++i) {
      out[i] = x[static_cast<std::size_t>(leaders[i])];
    }
  }
  /// The user's numbers at those hinges; the others' places stay as they are.
  void place(std::span<const T> x, std::span<T> out) const {
    for (std::size_t i = 0; i < leaders.size(); ++i) {
      out[static_cast<std::size_t>(leaders[i])] = x[i];
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

  std::vector<HingeSlot> slots;             ///< One for each body.
  std::vector<CopySlot> copies;             ///< Positions of all hinges but mimics.
  std::vector<MimicSlot> mimics;            ///< Positions of mimics, but for those that are their leaders' as they are.
  std::vector<QuaternionSlot> quaternions;  ///< Quaternions among the positions.
  std::vector<CustomSlot> customs;          ///< Positions of hinges that the user defines.
  std::vector<Follower<T>> velocities;      ///< One for each velocity of all hinges.
  std::vector<T> armature;                  ///< Likewise.
  std::vector<int> leaders;                 ///< Where each of the user's velocities is among those of all hinges.
  std::vector<int> followers;               ///< The other velocities of all hinges.
  std::vector<CopySlot> own_velocities;     ///< Stretches of the leaders.
  std::vector<CopySlot> shared_velocities;  ///< Stretches of followers whose rates are read from their leaders' places.
  std::vector<int> scaled;                  ///< The followers that are not among them.
  std::vector<int> passive;                 ///< Bodies whose hinges have damping, friction or springs.
  int nq = 0;                               ///< Positions of all hinges.
  int nv = 0;                               ///< Velocities of all hinges.
  int nd = 0;                               ///< Numbers in the nv×nv blocks of all hinges.
  bool has_mimics = false;                  ///< Whether S is more than the identity.

 private:
  static void add_copy(std::vector<CopySlot>& slots, int user, int full, int count) {
    if (!slots.empty() && slots.back().user + slots.back().count == user &&
        slots.back().full + slots.back().count == full) {
      slots.back().count += count;
    } else {
      slots.push_back({user, full, count});
    }
  }
  void add_velocity(int user, bool follows, bool shares) {
    const int full = static_cast<int>(velocities.size());
    if (follows) {
      followers.push_back(full);
      if (shares) {
        add_copy(shared_velocities, user, full, 1);
      } else {
        scaled.push_back(full);
      }
    } else {
      leaders.push_back(full);
      add_copy(own_velocities, user, full, 1);
    }
  }
  void add_positions(const Body& body) {
    const int count = slots.back().nq;
    if (count == 0) {
      return;
    }
    if (body.leader != world) {
      if (body.leader_ratio == 1 && body.leader_offset == 0) {
        slots.back().q = slots[static_cast<std::size_t>(body.leader)].q;
        return;
      }
      mimics.push_back({body.q_index, nq, body.leader_ratio, body.leader_offset});
      nq += count;
      return;
    }
    add_copy(copies, body.q_index, nq, count);
    if (body.hinge.type == HingeType::spherical || body.hinge.type == HingeType::free) {
      quaternions.push_back({body.q_index, nq, static_cast<int>(slots.size()) - 1});
    }
    if (body.hinge.type == HingeType::custom) {
      customs.push_back({body.hinge.custom, nq, count, static_cast<int>(slots.size()) - 1});
    }
    nq += count;
  }
};

}  // namespace bunraku::kernels
