#include "bunraku/dynamics/detail/blocks.hpp"

#include <array>
#include <cmath>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/kernels/cast.hpp"

namespace bunraku::kernels {

template <class T>
Blocks<T>::Blocks(const Model& model, const Coordinates<T>& coordinates) : model_(model), coordinates_(coordinates) {
  const std::size_t n = model.bodies().size();
  const std::size_t nv = at(coordinates.nv);
  const std::size_t nd = at(coordinates.nd);
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
  P_.resize(n);
  U_.resize(nv);
  G_.resize(nv);
  D_.resize(nd);
  L_.resize(nd);
  doubt_ = doubtful_inertias<T>(model);
  carried_.resize(n);
  for (int k = 0; k < size(); ++k) {
    prepare(k);
  }
}

template <class T>
void Blocks<T>::prepare(int k) {
  const Body& body = model_.bodies()[at(k)];
  OneAxis& out = one_axis_[at(k)];
  out.turns = body.hinge.type == HingeType::revolute || body.hinge.type == HingeType::continuous;
  out.slides = body.hinge.type == HingeType::prismatic;
  if (!out.turns && !out.slides) {
    return;
  }
  const Vec3<double>& axis = body.hinge.axis;
  Motion<double> column{};
  hinge_joint_map(body.hinge, nullptr, &column);  // the same at every q
  H_[at(first(k))] = cast<T>(inverse_times(body.X_MB, column));
  // Of R(q) = a a* + cos q (I − a a*) + sin q ã each part between X_PF and X_MB.
  const Mat3<double> along = out.turns ? outer(axis, axis) : Mat3<double>::identity();
  const std::array<Mat3<double>, 3> parts = {along, Mat3<double>::identity() - along,
                                             out.turns ? skew(axis) : Mat3<double>::zero()};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Mat3<double> turned = body.X_PF.rotation.matrix() * parts[i];
    out.rotation[i] = turned * body.X_MB.rotation.matrix();
    out.translation[i] = turned * body.X_MB.translation;
  }
  out.translation[0] += body.X_PF.translation;
  if (out.slides) {
    out.translation[2] = body.X_PF.rotation * axis;
  }
}

template <class T>
void Blocks<T>::place(int k) {
  const HingeSlot& slot = coordinates_.slots[at(k)];
  if (const OneAxis& one = one_axis_[at(k)]; one.turns || one.slides) {
    const auto q = static_cast<double>(q_[slot.q]);
    const double c = one.turns ? std::cos(q) : 0;
    const double s = one.turns ? std::sin(q) : q;
    const Vec3<double> translation = one.translation[0] + one.translation[1] * c + one.translation[2] * s;
    const Mat3<double> rotation =
        one.turns ? one.rotation[0] + one.rotation[1] * c + one.rotation[2] * s : one.rotation[0];
    X_PB_[at(k)] = {Rotation<T>(cast<T>(rotation)), cast<T>(translation)};
    return;
  }
  const Body& body = model_.bodies()[at(k)];
  std::array<double, max_hinge_positions> q{};
  std::copy_n(q_ + slot.q, slot.nq, q.begin());
  std::array<Motion<double>, max_hinge_velocities> columns{};
  hinge_joint_map(body.hinge, q.data(), columns.data());
  for (int j = 0; j < slot.nv; ++j) {
    H_[at(slot.v + j)] = cast<T>(inverse_times(body.X_MB, columns[at(j)]));
  }
  X_PB_[at(k)] = cast<T>(body.X_PF * hinge_pose(body.hinge, q.data()) * body.X_MB);
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
    for (int j = slot.v; j < slot.v + slot.nv; ++j) {
      r += H(j) * v_[j];
    }
    std::array<double, max_hinge_positions> q{};
    std::array<double, max_hinge_velocities> v{};
    std::copy_n(q_ + slot.q, slot.nq, q.begin());
    std::copy_n(v_ + slot.v, slot.nv, v.begin());
    const Motion<T> rate = cast<T>(inverse_times(body.X_MB, hinge_bias(body.hinge, q.data(), v.data())));
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

/// R(k) − M(k) = Σ φ(k,j)R(j)φ*(k,j), inward.
template <class T>
void Blocks<T>::need_carried() {
  if (composites_) {
    return;
  }
  std::fill(carried_.begin(), carried_.end(), RigidInertia<T>::zero());
  for (int k = size() - 1; k >= 0; --k) {
    if (parent(k) != world) {
      carried_[at(parent(k))] += X_PB(k) * (M(k) + carried_[at(k)]);
    }
  }
  composites_ = true;
}

template <class T>
void Blocks<T>::eliminate(int k, Force<T>* U, T* L, T* D, ArticulatedInertia<T>& P, std::string_view also) {
  const Joint& j = joint(k);
  const T* armature = armatures(k).data();
  if (kernels::eliminate(j.type, columns(k), armature, doubt_.data() + j.first, U, L, D, P)) [[likely]] {
    return;
  }
  need_carried();
  std::array<T, max_hinge_velocities> inverses{};
  for (int i = 0; i < j.nv; ++i) {
    inverses[at(i)] = L[i * j.nv + i];
  }
  const HingeDoubt<T> doubt{columns(k), {U, at(j.nv)}, {inverses.data(), at(j.nv)}, also};
  check_positive(model_.bodies()[at(k)].hinge, doubt, M(k), carried_[at(k)]);
}

template <class T>
void Blocks<T>::need_articulated() {
  need_positions();
  if (articulated_) {
    return;
  }
  for (int k = 0; k < size(); ++k) {
    P_[at(k)] = ArticulatedInertia<T>::from_rigid(M(k));
  }
  for (int k = size() - 1; k >= 0; --k) {
    const HingeSlot& slot = coordinates_.slots[at(k)];
    ArticulatedInertia<T> rest = P(k);
    eliminate(k, U_.data() + slot.v, L_.data() + slot.d, D_.data() + slot.d, rest);
    if (slot.nv == 1) {
      G_[at(slot.v)] = U_[at(slot.v)] * L_[at(slot.d)];
    } else {
      factors(k).gain(G_.data() + slot.v);
      factors(k).multiply(D_.data() + slot.d);
    }
    if (parent(k) != world) {
      P_[at(parent(k))] += X_PB(k) * rest;
    }
  }
  articulated_ = true;
}

template class Blocks<double>;
template class Blocks<float>;

}  // namespace bunraku::kernels
