#include "bunraku/dynamics/detail/blocks.hpp"

#include <array>
#include <cmath>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/room.hpp"

namespace bunraku::kernels {

template <class T>
Blocks<T>::Blocks(const Model& model, const Coordinates<T>& coordinates) : model_(model), coordinates_(coordinates) {
  const std::size_t n = model.bodies().size();
  const std::size_t nv = at(coordinates.nv);
  M_.reserve(n);
  joints_.reserve(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Body& body = model.bodies()[k];
    const HingeSlot& slot = coordinates.slots[k];
    M_.push_back(cast<T>(body.inertia));
    joints_.push_back({.parent = body.parent, .first = slot.v, .nv = slot.nv, .type = body.hinge.type});
  }
  one_axis_.resize(n);
  X_PB_.resize(n);
  X_WB_.resize(n + 1);
  H_.resize(nv);
  V_.resize(n + 1);
  relative_.resize(n);
  map_rate_.resize(n);
  a_.resize(n);
  for (int k = 0; k < size(); ++k) {
    const Body& body = model_.bodies()[at(k)];
    if (OneAxis::has(body.hinge.type)) {
      one_axis_[at(k)] = OneAxis::of(body);
      H_[at(first(k))] = cast<T>(one_axis_[at(k)].column);  // the same at every q
    }
  }
}

template <class T>
void Blocks<T>::place(int k) {
  const HingeSlot& slot = coordinates_.slots[at(k)];
  if (OneAxis::has(joints_[at(k)].type)) {
    X_PB_[at(k)] = cast<T>(one_axis_[at(k)].pose(static_cast<double>(q_[slot.q])));
    return;
  }
  const Body& body = model_.bodies()[at(k)];
  with_room(slot.nv, [&]<int most>() {
    std::array<double, most + 1> q{};
    std::copy_n(q_ + slot.q, slot.nq, q.begin());
    std::array<Motion<double>, most> columns{};
    hinge_joint_map(body.hinge, q.data(), columns.data());
    for (int j = 0; j < slot.nv; ++j) {
      H_[at(slot.v + j)] = cast<T>(inverse_times(body.X_MB, columns[at(j)]));
    }
    X_PB_[at(k)] = cast<T>(body.X_PF * hinge_pose(body.hinge, q.data()) * body.X_MB);
  });
}

template <class T>
Motion<T> Blocks<T>::bias(int k) const {
  const HingeSlot& slot = coordinates_.slots[at(k)];
  const Body& body = model_.bodies()[at(k)];
  Motion<double> out = Motion<double>::zero();
  with_room(slot.nv, [&]<int most>() {
    std::array<double, most + 1> q{};
    std::array<double, most> v{};
    std::copy_n(q_ + slot.q, slot.nq, q.begin());
    std::copy_n(v_ + slot.rate, slot.nv, v.begin());
    out = hinge_bias(body.hinge, q.data(), v.data());
  });
  return cast<T>(inverse_times(body.X_MB, out));
}

template <class T>
void Blocks<T>::need_positions() {
  if (!positions_) {
    for (int k = 0; k < size(); ++k) {
      place(k);
    }
    positions_ = true;
  }
}

template <class T>
void Blocks<T>::need_world() {
  need_positions();
  if (!world_poses_) {
    for (int k = 0; k < size(); ++k) {
      X_WB_[at(k + 1)] = X_WB(parent(k)) * X_PB(k);
    }
    world_poses_ = true;
  }
}

template <class T>
void Blocks<T>::need_velocities() {
  need_positions();
  if (velocities_) {
    return;
  }
  for (int k = 0; k < size(); ++k) {
    const Body& body = model_.bodies()[at(k)];
    const HingeSlot& slot = coordinates_.slots[at(k)];
    Motion<T> r = Motion<T>::zero();
    for (int j = 0; j < slot.nv; ++j) {
      r += H(slot.v + j) * v_[slot.rate + j];
    }
    const Motion<T> rate = bias(k);
    // the parent's ω and the arm from its origin, in this body's axes
    const Vec3<T> w = X_PB(k).rotation.inverse_times(V(body.parent).angular);
    const Vec3<T> l = X_PB(k).rotation.inverse_times(X_PB(k).translation);
    a_[at(k)] = {cross(w, r.angular) + rate.angular,
                 cross(w, cross(w, l) + r.linear * T(2)) + cross(r.angular, r.linear) + rate.linear};
    relative_[at(k)] = r;
    map_rate_[at(k)] = rate;
    V_[at(k + 1)] = inverse_times(X_PB(k), V(body.parent)) + r;
  }
  velocities_ = true;
}

template class Blocks<double>;
template class Blocks<float>;

}  // namespace bunraku::kernels
