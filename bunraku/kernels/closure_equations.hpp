/// @file
/// The equations of one closure (RJK89 2.15–2.17): rows of A, how far it is open, and what its second derivative asks.
///
/// A closure between nodes a and b is about their relative velocity in a's axes at b's point,
/// V_r = R_a*(V_b − φ*(l)V_a). A hinge that it lets move has V_r = H_c*w; its rows are N with N H_c* = 0, so that
/// A = N[−φ*(l), R_ab] with node blocks in each node's own axes. The reaction f̃ of Y*f̃ is what b exerts on a.
#pragma once

#include <array>

#include "bunraku/model/model.hpp"

namespace bunraku::kernels {

/// The most equations of one closure.
inline constexpr int max_closure_rows = static_cast<int>(most_closure_rows);

/// The relative motion of the two nodes of a closure.
template <class T>
struct ClosureMotion {
  Transform<T> X_AB{};  ///< Node b in node a.
  Motion<T> V_A{};      ///< Of node a in its own axes.
  Motion<T> V_B{};      ///< Of node b in its own axes.
};

/// What a closure between nodes says at a state.
template <class T>
struct ClosureEquations {
  int rows = 0;        ///< Equations.
  bool keeps = false;  ///< Whether N is kept where it is the same at any pose: not where these are of several closures.
  bool constant = false;                                ///< Whether such an N is here.
  std::array<Force<T>, max_closure_rows> on_a{};        ///< Columns of A* at node a, in its axes.
  std::array<Force<T>, max_closure_rows> on_b{};        ///< Columns of A* at node b, in its axes.
  std::array<T, max_closure_rows> gap{};                ///< How far it is open; its rate is A V to first order.
  std::array<T, max_closure_rows> rate{};               ///< A α = rate, α the inertial derivatives of V in own axes.
  std::array<Force<T>, max_closure_rows> directions{};  ///< N, in a's axes at b's point; not of general rows.
};

/// A*, N and the gap from the pose. Not for closures of hinge coordinates. Of another closure than before, `constant`
/// must be false.
template <class T>
void closure_positions(const Closure& closure, const Transform<T>& X_AB, ClosureEquations<T>& out);
/// A*, N, the gap and the rate from the motion; for closures with general rows without dŨ/dt.
template <class T>
void closure_velocities(const Closure& closure, const ClosureMotion<T>& motion, ClosureEquations<T>& out);

/// N and the rate alone; of closures with general rows A*, too.
template <class T>
void closure_rates(const Closure& closure, const ClosureMotion<T>& motion, ClosureEquations<T>& out);

/// The equation that ties two hinge coordinates: q̇_a − slope q̇_b = 0 and its rate.
template <class T>
struct CouplingEquation {
  T gap{};    ///< q_a − q_a0 − p(q_b − q_b0).
  T slope{};  ///< p′.
  T rate{};   ///< q̈_a − slope q̈_b = rate = p″ q̇_b².
};

/// Of a closure of hinge coordinates. Without hinge b: q_b and its rate are not looked at.
template <class T>
CouplingEquation<T> coupling_equation(const Closure& closure, T q_a, T q_b, T v_b);

}  // namespace bunraku::kernels
