/// @file
/// Sweeps of products with the derivatives of inverse dynamics, for any scalar: plain numbers give the products, dual
/// numbers their derivatives.
#pragma once

#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/derivative_data.hpp"
#include "bunraku/dynamics/detail/map_rates.hpp"

namespace bunraku::detail {

/// An index as the containers have it.
constexpr std::size_t place_of(int i) {
  return static_cast<std::size_t>(i);
}

/// A state as the sweeps read it. One of dual numbers has the same members.
template <class T>
struct PlainTree {
  using Scalar = T;
  using Body = typename DerivativeData<T>::BodyRates;
  using Load = typename DerivativeData<T>::Load;

  StateData<T>& s;
  DerivativeData<T>& d;

  int size() const { return s.blocks.size(); }
  int parent(int k) const { return s.blocks.parent(k); }
  int nv(int k) const { return s.blocks.nv(k); }
  int first(int k) const { return s.blocks.first(k); }
  const Transform<T>& X_PB(int k) const { return s.blocks.X_PB(k); }
  const Motion<T>& H(int j) const { return s.blocks.H(j); }
  const Motion<T>& V(int k) const { return s.blocks.V(k); }
  const Motion<T>& relative(int k) const { return s.blocks.relative(k); }
  const Motion<T>& map_rate(int k) const { return s.blocks.map_rate(k); }
  const RigidInertia<T>& M(int k) const { return s.blocks.M(k); }
  MapRates<T> map(int k) const { return MapRates<T>(s, k); }
  const T* v() const { return s.v().data(); }
  T armature(int j) const { return s.coordinates.armature[place_of(j)]; }
  Vec3<T> gravity() const { return s.gravity(); }
  const Load& load(int k) const { return d.load(k); }
  Body& body(int k) const { return d.bodies[place_of(k)]; }
};

/// H*x of body k, x over its own velocities.
template <class Tree, class T>
Motion<T> joint_motion(const Tree& tree, int k, const T* x) {
  Motion<T> out = Motion<T>::zero();
  for (int j = 0; j < tree.nv(k); ++j) {
    out += tree.H(tree.first(k) + j) * x[j];
  }
  return out;
}

/// A of every body and f of it alone, forces from outside taken off, outward: all that products need of the state.
template <class Tree, class T = typename Tree::Scalar>
void sweep_motions(const Tree& tree, const T* acceleration) {
  for (int k = 0; k < tree.size(); ++k) {
    const Motion<T> up =
        tree.parent(k) == world ? Motion<T>{Vec3<T>::zero(), -tree.gravity()} : tree.body(tree.parent(k)).A;
    auto& body = tree.body(k);
    const Motion<T>& V = tree.V(k);
    body.relative_rate = joint_motion(tree, k, acceleration + tree.first(k)) + tree.map_rate(k);
    body.A = inverse_times(tree.X_PB(k), up) + body.relative_rate + cross(V, tree.relative(k));
    body.momentum = tree.M(k) * V;
    body.f = tree.M(k) * body.A + cross(V, body.momentum) - tree.load(k).all;
  }
}

/// (∂T/∂q)*λ, (∂T/∂θ̇)*λ and (∂T/∂θ̈)*λ over all hinges, after sweep_motions: one sweep outward, Λ = φ*H*λ, and one
/// inward for what meets ∇A, ∇V and U of a body. ∇ is the derivative seen from a frame that stands still where the
/// body's is, U = φ*H*u for a direction u. At the end by_U of a body is what meets a motion of it and of all outside
/// it, its hinge's axes included.
template <class Tree, class T = typename Tree::Scalar>
void pull_back(const Tree& tree, const T* acceleration, const T* weight, T* dq, T* dv, T* da) {
  for (int k = 0; k < tree.size(); ++k) {
    auto& body = tree.body(k);
    const RigidInertia<T>& M = tree.M(k);
    const Motion<T>& V = tree.V(k);
    Motion<T> W = joint_motion(tree, k, weight + tree.first(k));
    if (const int p = tree.parent(k); p != world) {
      W += inverse_times(tree.X_PB(k), tree.body(p).U);
    }
    body.U = W;
    const auto& load = tree.load(k);
    const Force<T> MW = M * W;
    const Motion<T> VW = cross(V, W);
    const Force<T> M_VW = M * VW;
    body.by_A = MW;
    body.by_V = -cross(W, body.momentum) - M_VW;
    body.by_U = cross(VW, body.momentum) + cross(V, M_VW) - cross(W, M * body.A) - cross(body.A, MW) +
                cross(W, load.all - load.in_world) + adjoint_times(load.held, W);
    body.total = body.f;
  }
  for (int k = tree.size() - 1; k >= 0; --k) {
    auto& body = tree.body(k);
    const auto& map = tree.map(k);
    const int v = tree.first(k);
    const Motion<T>& V = tree.V(k);
    const Motion<T>& relative = tree.relative(k);
    const T* rate = tree.v() + v;
    body.by_V += cross(relative, body.by_A);
    const Force<T> by_own = body.by_V - cross(V, body.by_A);  // what meets ∇(H*θ̇)
    body.by_U += cross(joint_motion(tree, k, weight + v), body.total) + cross(body.relative_rate, body.by_A) +
                 cross(relative, by_own);
    for (int j = 0; j < tree.nv(k); ++j) {
      const Motion<T>& H = tree.H(v + j);
      dq[v + j] = dot(H, body.by_U);
      dv[v + j] = dot(H, by_own);
      da[v + j] = dot(H, body.by_A) + tree.armature(v + j) * weight[v + j];
      if (map.changes()) {
        const Motion<T> change = map.along(j, rate);
        dq[v + j] += dot(map.along(j, weight + v), body.total) +
                     dot(map.along(j, acceleration + v) + map.bias_rate(j), body.by_A) + dot(change, by_own);
        dv[v + j] += dot(change + map.column(rate, j), body.by_A);
      }
    }
    if (const int p = tree.parent(k); p != world) {
      auto& up = tree.body(p);
      const Transform<T>& X_PB = tree.X_PB(k);
      up.total += X_PB * body.total;
      up.by_A += X_PB * body.by_A;
      up.by_V += X_PB * body.by_V;
      up.by_U += X_PB * body.by_U;
    }
  }
}

}  // namespace bunraku::detail
