/// @file
/// 𝓜⁻¹x = [I − HψK]* D⁻¹ [I − HψK] x: the innovations filter inward, its adjoint outward.
#pragma once

#include "bunraku/kernels/articulated_bodies.hpp"

namespace bunraku::kernels {

template <Kind kind, class S>
void filter_revolute(Workspace<S>& ws, int begin, int end, const S* x) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    Force<S> z = l.leaf ? Force<S>::zero() : ws.force[at(k)];
    const S epsilon = x[l.v] - z.moment.z;
    ws.epsilon[at(l.v)] = epsilon;
    if (l.parent < 0) {
      continue;
    }
    z += ws.of_state.U[at(l.v)] * (ws.of_state.D_inverse[at(l.v)] * epsilon);
    const Spin<S> spin = ws.spin[at(k)];
    const Vec3<S> force = turned<kind>(l, spin.forth(z.force));
    const Force<S> moved{turned<kind>(l, spin.forth(z.moment)) + cross(l.p, force), force};
    Force<S>& up = ws.force[at(l.parent)];
    up = l.opens_parent ? moved : up + moved;
  }
}

template <class S>
void filter_other(Workspace<S>& ws, int k, const S* x) {
  const Link<S>& l = ws.link(k);
  Force<S> z = l.leaf ? Force<S>::zero() : ws.force[at(k)];
  for (int j = l.v + l.nv - 1; j >= l.v; --j) {
    const S epsilon = x[j] - dot(column(ws, j), z);
    ws.epsilon[at(j)] = epsilon;
    z += ws.of_state.U[at(j)] * (ws.of_state.D_inverse[at(j)] * epsilon);
  }
  if (l.parent >= 0) {
    const Force<S> moved = pose(ws, l) * z;
    Force<S>& up = ws.force[at(l.parent)];
    up = l.opens_parent ? moved : up + moved;
  }
}

template <Kind kind, class S>
void smooth_revolute(Workspace<S>& ws, int begin, int end, S* out) {
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    const Motion<S>& up = ws.alpha[at(l.parent + 1)];
    const Spin<S> spin = ws.spin[at(k)];
    Vec3<S> angular = spin.back(unturned<kind>(l, up.angular));
    const Vec3<S> linear = spin.back(unturned<kind>(l, up.linear + cross(up.angular, l.p)));
    const Force<S>& U = ws.of_state.U[at(l.v)];
    const S wanted =
        ws.of_state.D_inverse[at(l.v)] * (ws.epsilon[at(l.v)] - (dot(U.moment, angular) + dot(U.force, linear)));
    out[l.v] = wanted;
    angular.z += wanted;
    ws.alpha[at(k + 1)] = {angular, linear};
  }
}

template <class S>
void smooth_other(Workspace<S>& ws, int k, S* out) {
  const Link<S>& l = ws.link(k);
  Motion<S> alpha = inverse_times(pose(ws, l), ws.alpha[at(l.parent + 1)]);
  for (int j = l.v; j < l.v + l.nv; ++j) {
    const S wanted = ws.of_state.D_inverse[at(j)] * (ws.epsilon[at(j)] - dot(ws.of_state.U[at(j)], alpha));
    out[j] = wanted;
    alpha += column(ws, j) * wanted;
  }
  ws.alpha[at(k + 1)] = alpha;
}

/// ε = [I − HψK] x, inward.
template <class S>
void solve_inward(Workspace<S>& ws, const S* x) {
  need_articulated(ws);
  for (std::size_t r = ws.tree->stages.size(); r-- > 0;) {
    const Run& run = ws.tree->stages[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { filter_revolute<kind>(ws, begin, end, x); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      filter_cluster(ws, run, x);
    } else {
      for (int k = run.end - 1; k >= run.begin; --k) {
        filter_other(ws, k, x);
      }
    }
  }
}

/// [I − HψK]* D⁻¹ ε, outward.
template <class S>
void solve_outward(Workspace<S>& ws, S* out) {
  ws.alpha[0] = Motion<S>::zero();
  for (const Run& run : ws.tree->stages) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { smooth_revolute<kind>(ws, begin, end, out); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      smooth_cluster<false>(ws, run, ws.of_state, out);
    } else {
      for (int k = run.begin; k < run.end; ++k) {
        smooth_other(ws, k, out);
      }
    }
  }
}

/// 𝓜⁻¹x = [I − HψK]* D⁻¹ [I − HψK] x over all hinges. Throws as forward_dynamics.
template <class S>
void solve(Workspace<S>& ws, const S* x, S* out) {
  solve_inward(ws, x);
  solve_outward(ws, out);
}

/// 𝓜⁻¹ of the unit vector j of the user's coordinates.
template <class S>
void solve_unit(Workspace<S>& ws, int j, S* out) {
  S& one = ws.unit[at(ws.tree->coordinates.leaders[at(j)])];
  one = S(1);
  solve(ws, ws.unit.data(), ws.tree->coordinates.has_mimics ? ws.solved.data() : out);
  one = S(0);
  if (ws.tree->coordinates.has_mimics) {
    const std::vector<int>& leaders = ws.tree->coordinates.leaders;
    for (std::size_t i = 0; i < leaders.size(); ++i) {
      out[i] = ws.solved[at(leaders[i])];
    }
  }
}

}  // namespace bunraku::kernels
