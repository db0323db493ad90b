#include "bunraku/dynamics/detail/state_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/passive.hpp"
#include "bunraku/model/detail/nodes.hpp"

namespace bunraku::detail {

namespace {

/// With mimics and at most so many velocities the dense scratch is there from the beginning; with more, from its first
/// use, since most who have such models never need it.
constexpr int most_dense_at_once = 256;

}  // namespace

template <class T>
StateData<T>::StateData(Model m, PassiveForces p)
    : model(std::move(m)),
      passive(p),
      coordinates(model),
      q(static_cast<std::size_t>(coordinates.nq)),
      spread_v(static_cast<std::size_t>(coordinates.nv)),
      blocks(model, coordinates),
      sweeps(kernels::make_sweeps<T>(std::make_shared<const kernels::Tree>(model))),
      full(static_cast<std::size_t>(coordinates.nv)),
      torques(static_cast<std::size_t>(coordinates.nv)),
      unit(static_cast<std::size_t>(model.nv())),
      force(model.bodies().size()),
      motion(model.bodies().size()),
      composite(model.bodies().size()),
      composite_rate(model.bodies().size()),
      column_rate(static_cast<std::size_t>(coordinates.nv)) {
  for (const Body& body : model.bodies()) {
    for (const HingeDof& dof : body.hinge.dofs) {
      has_passive = has_passive || (passive == PassiveForces::included &&
                                    (dof.damping != 0 || dof.friction != 0 || dof.stiffness != 0));
    }
  }
  if (coordinates.has_mimics && coordinates.nv <= most_dense_at_once) {
    full_mass.resize(full.size() * full.size());
  }
  at_rest.resize(static_cast<std::size_t>(model.nv()));
  if (coordinates.has_mimics) {
    own_v.resize(static_cast<std::size_t>(model.nv()));
    spread_x.resize(spread_v.size());
    spread_solution.resize(spread_v.size());
  }
  may_refuse = has_own_q() || !coordinates.scaled.empty() || !coordinates.customs.empty();
  if (may_refuse) {
    next_q.resize(q.size());
    next_v.resize(spread_v.size());
  }
  if (has_own_q()) {
    own_q.resize(static_cast<std::size_t>(model.nq()));
  }
}

template <class T>
void StateData<T>::set_checked(std::span<const T> new_q, std::span<const T> new_v) {
  coordinates.spread_positions(new_q, next_q);
  coordinates.spread_rates(new_v, next_v);
  check_argument(std::span<const T>(next_q), coordinates.nq, "q of all hinges");
  check_argument(std::span<const T>(next_v), coordinates.nv, "v of all hinges");
  q.swap(next_q);
  spread_v.swap(next_v);
  if (has_own_q()) {
    for (const kernels::CopySlot& c : coordinates.copies) {
      std::copy_n(q.begin() + c.full, c.count, own_q.begin() + c.user);
    }
  }
  if (has_mimics()) {
    std::copy(new_v.begin(), new_v.end(), own_v.begin());
  }
}

template <class T>
void StateData<T>::copy(const StateData& other) {
  q = other.q;
  spread_v = other.spread_v;
  own_q = other.own_q;
  own_v = other.own_v;
  spoil();
}

template <class T>
void StateData<T>::solve(std::span<const T> x, std::span<T> out) {
  solve_by(&kernels::Sweeps<T>::solve, x, out);
}

template <class T>
void StateData<T>::solve_by_factors_of_forward(std::span<const T> x, std::span<T> out) {
  solve_by(&kernels::Sweeps<T>::solve_of_forward, x, out);
}

template <class T>
void StateData<T>::solve_by(void (kernels::Sweeps<T>::*how)(const T*, T*), std::span<const T> x, std::span<T> out) {
  if (!has_mimics()) {
    (*sweeps.*how)(x.data(), out.data());
    return;
  }
  coordinates.place(x, spread_x);
  (*sweeps.*how)(spread_x.data(), spread_solution.data());
  coordinates.pick(spread_solution, out);
}

template <class T>
Vec3<T> StateData<T>::gravity() const {
  return kernels::cast<T>(model.gravity());
}

template <class T>
void StateData<T>::fold_mass(T* out) {
  full_mass.resize(full.size() * full.size());
  sweeps->mass_matrix(full_mass.data());
  const auto n = static_cast<std::size_t>(nv());
  const auto column_of = [&](int j) { return full_mass.data() + static_cast<std::size_t>(j) * full.size(); };
  for (std::size_t j = 0; j < n; ++j) {
    const T* from = column_of(coordinates.leaders[j]);
    T* to = out + j * n;
    for (const kernels::CopySlot& c : coordinates.own_velocities) {
      std::copy_n(from + c.full, c.count, to + c.user);
    }
    for (const int i : coordinates.followers) {  // and the transpose of what followers' columns get below
      const kernels::Follower<T>& row = coordinates.velocities[static_cast<std::size_t>(i)];
      to[row.own] += row.ratio * from[i];
    }
  }
  for (const int j : coordinates.followers) {
    const kernels::Follower<T>& column = coordinates.velocities[static_cast<std::size_t>(j)];
    const T* from = column_of(j);
    T* to = out + static_cast<std::size_t>(column.own) * n;
    for (const kernels::CopySlot& c : coordinates.own_velocities) {
      for (int i = 0; i < c.count; ++i) {
        to[c.user + i] += column.ratio * from[c.full + i];
      }
    }
    for (const int i : coordinates.followers) {
      const kernels::Follower<T>& row = coordinates.velocities[static_cast<std::size_t>(i)];
      to[row.own] += column.ratio * row.ratio * from[i];
    }
  }
}

template <class T>
void StateData<T>::add_springs_and_friction(std::span<T> torque) const {
  kernels::for_each_passive_dof(model, coordinates, q.data(), [&](const HingeDof& dof, std::size_t at, double stretch) {
    const kernels::Follower<T>& follower = coordinates.velocities[at];
    const T rate = follower.ratio * user_v()[static_cast<std::size_t>(follower.own)];
    torque[at] += static_cast<T>(kernels::passive_torque(dof, rate, stretch));
  });
}

template <class T>
void StateData<T>::subtract_springs_and_friction(std::span<T> torque) const {
  kernels::for_each_passive_dof(model, coordinates, q.data(), [&](const HingeDof& dof, std::size_t at, double stretch) {
    const kernels::Follower<T>& follower = coordinates.velocities[at];
    const auto leader = static_cast<std::size_t>(coordinates.leaders[static_cast<std::size_t>(follower.own)]);
    torque[leader] -=
        follower.ratio * static_cast<T>(kernels::passive_torque(dof, follower.ratio * spread_v[leader], stretch));
  });
}

template <class T>
T StateData<T>::spring_energy() const {
  double energy = 0;
  if (has_passive) {
    kernels::for_each_passive_dof(model, coordinates, q.data(), [&](const HingeDof& dof, std::size_t, double stretch) {
      energy += 0.5 * dof.stiffness * stretch * stretch;
    });
  }
  return static_cast<T>(energy);
}

template <class T>
void StateData<T>::check_each(Forces<T> forces) const {
  for (std::size_t i = 0; i < forces.size(); ++i) {
    kernels::check_place(model, forces[i].body, forces[i].X_BN, "the node of forces", std::to_string(i));
    for (int j = 0; j < 6; ++j) {
      if (!std::isfinite(forces[i].force[j])) {
        throw ArgumentError(
            fmt::format("component {} of forces[{}] is {}, not a finite number", j, i, forces[i].force[j]));
      }
    }
  }
}

template <class T>
Force<T> StateData<T>::at_body(const AppliedForce<T>& applied) const {
  if (applied.body == world) {
    return Force<T>::zero();
  }
  const Transform<T> X_BN = kernels::cast<T>(applied.X_BN);
  const Rotation<T>& R_WB = blocks.X_WB(applied.body).rotation;
  switch (applied.frame) {
    case Frame::node:
      return X_BN * applied.force;
    case Frame::aligned:
      return Phi<T>(X_BN.translation) *
             Force<T>{R_WB.inverse_times(applied.force.moment), R_WB.inverse_times(applied.force.force)};
    case Frame::world:
      break;
  }
  return inverse_times(blocks.X_WB(applied.body), applied.force);
}

template <class T>
void StateData<T>::subtract_each(Forces<T> forces, std::span<T> torque) {
  blocks.need_world();
  std::fill(force.begin(), force.end(), Force<T>::zero());
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body != world) {
      force[static_cast<std::size_t>(applied.body)] += at_body(applied);
    }
  }
  for (int k = blocks.size() - 1; k >= 0; --k) {  // HφBf, inward
    const Force<T>& f = force[static_cast<std::size_t>(k)];
    for (int j = blocks.first(k); j < blocks.first(k) + blocks.nv(k); ++j) {
      const kernels::Follower<T>& follower = coordinates.velocities[static_cast<std::size_t>(j)];
      torque[static_cast<std::size_t>(follower.own)] -= follower.ratio * dot(blocks.H(j), f);
    }
    if (blocks.parent(k) != world) {
      force[static_cast<std::size_t>(blocks.parent(k))] += blocks.X_PB(k) * f;
    }
  }
}

template struct StateData<double>;
template struct StateData<float>;

}  // namespace bunraku::detail
