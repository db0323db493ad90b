/// @file
/// Products of the derivatives of inverse dynamics with vectors, over all hinges: ∂T along a direction (u, y, z) of
/// (q, θ̇, θ̈), and (∂T)*λ by q, θ̇ and θ̈. O(N), in the sweeps' own variables: motions are ω, ω̇ and a of each link in its
/// axes, so that derivatives are those of components, and a hinge's share of a direction turns what comes from the
/// parent, x' = R*x, by
///
///     ∂x' = x' × U,     with U = H*u, seen from the link.
///
/// Forward, ∂ω, ∂ω̇ and ∂a go outward beside ω, ω̇ and a, and ∂f inward beside f. The force of a link is linear in ω̇, ωω*
/// and a, so that one function gives f and ∂f.
///
/// Backward, T·λ = Σ W(k)·f(k) with W = φ*H*λ. Its derivatives by ω, ω̇ and a of a link, "gradients", are vectors that
/// gather inward: what a link's parent has of them is what the link's have turned back, and
///
///     by a:  c = R (by a),     by ω̇:  R (by ω̇) + p × c,     by ω:  R (by ω) + c (p·ω) + p (c·ω) − 2 ω (p·c),
///
/// as a' = R*(a + ω̇ × p + ω × (ω × p)). W turns like the motions, against the composite's force: Σ f, gathered inward.
#pragma once

#include <algorithm>
#include <vector>

#include "bunraku/kernels/inverse_dynamics.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"

namespace bunraku::kernels {

/// Derivatives of T·λ by a link's motion.
template <class S>
struct Gradient {
  Vec3<S> w{};   ///< By ω.
  Vec3<S> wd{};  ///< By ω̇.
  Vec3<S> a{};   ///< By a.
};

/// Scratch of both products.
template <class S>
struct DirectionScratch {
  /// O(N) memory.
  explicit DirectionScratch(const Workspace<S>& ws)
      : change(ws.moving.size()), force(ws.force.size()), weight(ws.moving.size()), gradient(ws.moving.size()) {
    std::size_t most = 0;
    for (std::size_t k = 0; k < ws.tree->links.size(); ++k) {
      if (has_changing_map(ws.tree->hinge(static_cast<int>(k)))) {
        most = std::max(most, at(ws.tree->links[k].nv));
      }
    }
    rates.resize(most * most);
    bias_rates.resize(most);
    column_change.resize(most > 0 ? ws.H.size() : 0);
  }

  std::vector<Moving<S>> change;         ///< ∂ of ws.moving.
  std::vector<Force<S>> force;           ///< ∂ of ws.force.
  std::vector<Motion<S>> column_change;  ///< ∂H* along the direction, where some map changes.
  std::vector<Motion<S>> weight;         ///< W; [0] is the world.
  std::vector<Gradient<S>> gradient;     ///< [0] is the world.
  std::vector<Motion<S>> rates;          ///< Of one hinge: ∂H*, as map_rates_at has it.
  std::vector<Motion<S>> bias_rates;     ///< Likewise.
};

/// How a link's map H* changes, in room of the scratch until the next link's.
template <class S>
MapSlopes<S> map_slopes(const Workspace<S>& ws, DirectionScratch<S>& d, int k) {
  const Link<S>& l = ws.link(k);
  const Hinge& hinge = ws.tree->hinge(k);
  if (!has_changing_map(hinge)) {
    return {l.nv, nullptr, nullptr};
  }
  map_rates_at(hinge, ws.q + l.q, ws.v + l.v, d.rates.data(), d.bias_rates.data());
  return {l.nv, d.rates.data(), d.bias_rates.data()};
}

/// H*x of a link, x over its own velocities.
template <class S>
BUNRAKU_INLINE Motion<S> hinge_motion(const Workspace<S>& ws, const Link<S>& l, const S* x) {
  Motion<S> out = Motion<S>::zero();
  for (int j = 0; j < l.nv; ++j) {
    out += column(ws, l.v + j) * x[j];
  }
  return out;
}

/// A direction (u, y, z) of (q, θ̇, θ̈).
template <class S>
struct Direction {
  const S* q = nullptr;
  const S* v = nullptr;
  const S* a = nullptr;
};

/// From ∂ω, ∂ω̇ and ∂a of link k: ∂f of the link alone.
template <class S>
BUNRAKU_INLINE void settle_change(const Workspace<S>& ws, DirectionScratch<S>& d, int k, const Vec3<S>& dw,
                                  const Vec3<S>& dwd, const Vec3<S>& da) {
  const Vec3<S>& w = ws.moving[at(k + 1)].w;
  const S twice(2);
  const Sym3<S> dww{twice * (w.x * dw.x),    twice * (w.y * dw.y),    twice * (w.z * dw.z),
                    w.x * dw.y + w.y * dw.x, w.x * dw.z + w.z * dw.x, w.y * dw.z + w.z * dw.y};
  settle(ws.link(k), dw, dwd, dww, da, d.change[at(k + 1)], d.force[at(k)]);
}

template <Kind kind, class S>
void change_revolute(Workspace<S>& ws, DirectionScratch<S>& d, int begin, int end, const Direction<S>& along) {
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    const Moving<S>& up = d.change[at(l.parent + 1)];
    const Vec3<S>& w = ws.moving[at(k + 1)].w;
    const Vec3<S>& wd = ws.moving[at(k + 1)].wd;
    const Vec3<S>& a = ws.moving[at(k + 1)].a;
    const Spin<S> spin = ws.spin[at(k)];
    const S rate = ws.v[l.v];
    const S u = along.q[l.v];
    const S y = along.v[l.v];
    Vec3<S> dw = spin.back(unturned<kind>(l, up.w));
    Vec3<S> dwd = spin.back(unturned<kind>(l, up.wd));
    Vec3<S> da = spin.back(unturned<kind>(l, up.a + up.A * l.p));
    dw.x += w.y * u;
    dw.y -= w.x * u;
    dwd.x += (wd.y + w.x * rate) * u + (dw.y * rate + w.y * y);  // of ω̇ before the hinge's ω × z θ̇
    dwd.y -= (wd.x - w.y * rate) * u + (dw.x * rate + w.x * y);
    dwd.z += along.a[l.v];
    dw.z += y;
    da.x += a.y * u;
    da.y -= a.x * u;
    settle_change(ws, d, k, dw, dwd, da);
  }
}

template <class S>
void change_prismatic(Workspace<S>& ws, DirectionScratch<S>& d, int k, const Direction<S>& along) {
  const Link<S>& l = ws.link(k);
  const Moving<S>& up = d.change[at(l.parent + 1)];
  const Moving<S>& here = ws.moving[at(k + 1)];
  const S twice = S(2) * ws.v[l.v];
  const S more = S(2) * along.v[l.v];
  const Vec3<S> dw = transpose_times(l.turn, up.w);
  Vec3<S> da = transpose_times(l.turn, up.a + up.A * slid(ws, l)) + here.A.column(2) * along.q[l.v];
  da.x += dw.y * twice + here.w.y * more;
  da.y -= dw.x * twice + here.w.x * more;
  da.z += along.a[l.v];
  settle_change(ws, d, k, dw, transpose_times(l.turn, up.wd), da);
}

/// What comes to a link from its parent, in the link's axes.
template <class S>
struct Carried {
  Vec3<S> w;   ///< ω.
  Vec3<S> wd;  ///< ω̇.
  Vec3<S> a;   ///< Acceleration of the point where the link's origin is.
};
template <class S>
Carried<S> carried(const Workspace<S>& ws, const Link<S>& l) {
  const Moving<S>& up = ws.moving[at(l.parent + 1)];
  const Transform<S>& X = placed(ws, l);
  return {X.rotation.inverse_times(up.w), X.rotation.inverse_times(up.wd),
          X.rotation.inverse_times(up.a + up.A * X.translation)};
}

template <class S>
void change_special(Workspace<S>& ws, DirectionScratch<S>& d, int k, const S* acceleration, const Direction<S>& along) {
  const Link<S>& l = ws.link(k);
  const Carried<S> from = carried(ws, l);
  const S* u = along.q + l.v;
  const S* y = along.v + l.v;
  const S* z = along.a + l.v;
  const S* v = ws.v + l.v;
  if (l.kind == Kind::floating) {
    const Vec3<S> w{v[0], v[1], v[2]};
    const Vec3<S> dw{y[0], y[1], y[2]};
    settle_change(ws, d, k, dw, {z[0], z[1], z[2]},
                  cross(from.a, Vec3<S>{u[0], u[1], u[2]}) + cross(dw, Vec3<S>{v[3], v[4], v[5]}) +
                      cross(w, Vec3<S>{y[3], y[4], y[5]}) + Vec3<S>{z[3], z[4], z[5]});
    return;
  }
  const MapSlopes<S> map = map_slopes(ws, d, k);
  const Motion<S> U = hinge_motion(ws, l, u);
  const Motion<S> relative = hinge_motion(ws, l, v);
  Motion<S> drelative = hinge_motion(ws, l, y);
  Motion<S> drate = hinge_motion(ws, l, z);
  if (map.changes()) {
    drelative += map.along(u, v);
    drate += map.along(u, acceleration + l.v) + map.along(y, v) + map.along(v, y);
    for (int j = 0; j < l.nv; ++j) {
      drate += map.bias_rates[j] * u[j];
      d.column_change[at(l.v + j)] = map.column(u, j);
    }
  }
  const Moving<S>& up = d.change[at(l.parent + 1)];
  const Transform<S>& X = placed(ws, l);
  const Vec3<S> dw = X.rotation.inverse_times(up.w) + cross(from.w, U.angular);
  const Vec3<S> dwd = X.rotation.inverse_times(up.wd) + cross(from.wd, U.angular);
  const Vec3<S> da = X.rotation.inverse_times(up.a + up.A * X.translation) + cross(from.a, U.angular) +
                     cross(from.wd, U.linear) + cross(from.w, cross(from.w, U.linear));
  settle_change(ws, d, k, dw + drelative.angular,
                dwd + cross(dw, relative.angular) + cross(from.w, drelative.angular) + drate.angular,
                da + cross(dw + dw + drelative.angular, relative.linear) +
                    cross(from.w + from.w + relative.angular, drelative.linear) + drate.linear);
}

template <Kind kind, class S>
void push_change_revolute(Workspace<S>& ws, DirectionScratch<S>& d, int begin, int end, const Direction<S>& along,
                          S* torque) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const Force<S>& f = ws.force[at(k)];
    const Force<S>& df = d.force[at(k)];
    torque[l.v] = df.moment.z + l.armature * along.a[l.v];
    if (l.parent >= 0) {
      const Spin<S> spin = ws.spin[at(k)];
      const S u = along.q[l.v];
      const auto give = [&](const Vec3<S>& n, const Vec3<S>& g, Force<S>& up) BUNRAKU_INLINE_LAMBDA {
        const Vec3<S> force = turned<kind>(l, spin.forth(g));
        up.moment += turned<kind>(l, spin.forth(n)) + cross(l.p, force);
        up.force += force;
      };
      give(f.moment, f.force, ws.force[at(l.parent)]);
      give({df.moment.x - f.moment.y * u, df.moment.y + f.moment.x * u, df.moment.z},
           {df.force.x - f.force.y * u, df.force.y + f.force.x * u, df.force.z}, d.force[at(l.parent)]);
    }
  }
}

template <class S>
void push_change_other(Workspace<S>& ws, DirectionScratch<S>& d, int k, const Direction<S>& along, S* torque) {
  const Link<S>& l = ws.link(k);
  const Force<S>& f = ws.force[at(k)];
  const Force<S>& df = d.force[at(k)];
  const bool changes = has_changing_map(ws.tree->hinge(k));
  for (int j = l.v; j < l.v + l.nv; ++j) {
    torque[j] = dot(column(ws, j), df) + ws.armature[at(j)] * along.a[j];
    if (changes) {
      torque[j] += dot(d.column_change[at(j)], f);
    }
  }
  if (l.parent >= 0) {
    const Transform<S> X = pose(ws, l);
    ws.force[at(l.parent)] += X * f;
    d.force[at(l.parent)] += X * (df + cross(hinge_motion(ws, l, along.q + l.v), f));
  }
}

/// ∂T along (u, y, z) of (q, θ̇, θ̈), at the state's velocities: one sweep outward, one inward. O(N).
template <class S>
void inverse_dynamics_along(Workspace<S>& ws, DirectionScratch<S>& d, const S* acceleration, const Direction<S>& along,
                            S* torque) {
  sweep_motions(ws, ws.v, acceleration);
  for (const Run& run : ws.tree->runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { change_revolute<kind>(ws, d, begin, end, along); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        run.kind == Kind::prismatic ? change_prismatic(ws, d, k, along) : change_special(ws, d, k, acceleration, along);
      }
    }
  }
  for (std::size_t r = ws.tree->runs.size(); r-- > 0;) {
    const Run& run = ws.tree->runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      push_change_revolute<kind>(ws, d, begin, end, along, torque);
    };
    if (!if_revolute(run, revolute)) {
      for (int k = run.end - 1; k >= run.begin; --k) {
        push_change_other(ws, d, k, along, torque);
      }
    }
  }
}

/// Where (∂T)*λ by q, θ̇ and θ̈ go.
template <class S>
struct Gradients {
  S* q = nullptr;
  S* v = nullptr;
  S* a = nullptr;
};

/// From W of link k: the gradients of its own W·f.
template <class S>
BUNRAKU_INLINE void settle_weight(const Workspace<S>& ws, DirectionScratch<S>& d, int k, const Motion<S>& W) {
  const RigidInertia<S>& M = ws.link(k).inertia;
  const Vec3<S>& h = M.first_moment;
  const Vec3<S>& w = ws.moving[at(k + 1)].w;
  const Vec3<S>& n = W.angular;
  const Vec3<S>& g = W.linear;
  const S along_w = dot(g, w);
  const S h_w = dot(h, w);
  const S twice = S(2) * dot(g, h);
  d.gradient[at(k + 1)] = {
      g * h_w + h * along_w - w * twice + cross(M.inertia * w, n) + M.inertia * cross(n, w),
      M.inertia * n + cross(h, g),
      g * M.mass + cross(n, h),
  };
  d.weight[at(k + 1)] = W;
}

template <Kind kind, class S>
void weigh_revolute(const Workspace<S>& ws, DirectionScratch<S>& d, int begin, int end, const S* weight) {
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    const Motion<S>& up = d.weight[at(l.parent + 1)];
    const Spin<S> spin = ws.spin[at(k)];
    Vec3<S> n = spin.back(unturned<kind>(l, up.angular));
    n.z += weight[l.v];
    settle_weight(ws, d, k, {n, spin.back(unturned<kind>(l, up.linear + cross(up.angular, l.p)))});
  }
}

template <class S>
void weigh_other(const Workspace<S>& ws, DirectionScratch<S>& d, int k, const S* weight) {
  const Link<S>& l = ws.link(k);
  Motion<S> W = hinge_motion(ws, l, weight + l.v);
  if (l.parent >= 0) {
    W += inverse_times(pose(ws, l), d.weight[at(l.parent + 1)]);
  }
  settle_weight(ws, d, k, W);
}

/// Adds what the parent has of a link's gradients, turned into the parent's axes. The link's origin is at p there.
template <class S>
BUNRAKU_INLINE void gather_gradient(const Workspace<S>& ws, DirectionScratch<S>& d, int parent, const Vec3<S>& p,
                                    const Vec3<S>& by_w, const Vec3<S>& by_wd, const Vec3<S>& c) {
  const Vec3<S>& w = ws.moving[at(parent + 1)].w;
  Gradient<S>& up = d.gradient[at(parent + 1)];
  const S p_w = dot(p, w);
  const S c_w = dot(c, w);
  const S twice = S(2) * dot(p, c);
  up.w += by_w + c * p_w + p * c_w - w * twice;
  up.wd += by_wd + cross(p, c);
  up.a += c;
}

template <Kind kind, class S>
void gather_revolute(Workspace<S>& ws, DirectionScratch<S>& d, int begin, int end, const S* weight,
                     const Gradients<S>& out) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const Moving<S>& here = ws.moving[at(k + 1)];
    const Gradient<S>& by = d.gradient[at(k + 1)];
    const Motion<S>& W = d.weight[at(k + 1)];
    const Force<S>& f = ws.force[at(k)];
    const Spin<S> spin = ws.spin[at(k)];
    const S rate = ws.v[l.v];
    const Vec3<S>& w = here.w;
    const Vec3<S> by_w{by.w.x - rate * by.wd.y, by.w.y + rate * by.wd.x, by.w.z};  // before the hinge's ω × z θ̇
    out.a[l.v] = by.wd.z + l.armature * weight[l.v];
    out.v[l.v] = by.w.z + (by.wd.x * w.y - by.wd.y * w.x);
    out.q[l.v] = (by_w.x * w.y - by_w.y * w.x) +
                 (by.wd.x * (here.wd.y + w.x * rate) - by.wd.y * (here.wd.x - w.y * rate)) +
                 (by.a.x * here.a.y - by.a.y * here.a.x) + (f.moment.x * W.angular.y - f.moment.y * W.angular.x) +
                 (f.force.x * W.linear.y - f.force.y * W.linear.x);
    if (l.parent >= 0) {
      const auto forth = [&](const Vec3<S>& x) BUNRAKU_INLINE_LAMBDA { return turned<kind>(l, spin.forth(x)); };
      gather_gradient(ws, d, l.parent, l.p, forth(by_w), forth(by.wd), forth(by.a));
      const Vec3<S> force = forth(f.force);
      Force<S>& up = ws.force[at(l.parent)];
      up.moment += forth(f.moment) + cross(l.p, force);
      up.force += force;
    }
  }
}

template <class S>
void gather_prismatic(Workspace<S>& ws, DirectionScratch<S>& d, int k, const S* weight, const Gradients<S>& out) {
  const Link<S>& l = ws.link(k);
  const Moving<S>& here = ws.moving[at(k + 1)];
  const Gradient<S>& by = d.gradient[at(k + 1)];
  const Motion<S>& W = d.weight[at(k + 1)];
  const Force<S>& f = ws.force[at(k)];
  const S twice = S(2) * ws.v[l.v];
  out.a[l.v] = by.a.z + l.armature * weight[l.v];
  out.v[l.v] = S(2) * (by.a.x * here.w.y - by.a.y * here.w.x);
  out.q[l.v] = dot(by.a, here.A.column(2)) + (f.force.x * W.angular.y - f.force.y * W.angular.x);
  if (l.parent >= 0) {
    const Vec3<S> by_w{by.w.x - twice * by.a.y, by.w.y + twice * by.a.x, by.w.z};
    const Vec3<S> p = slid(ws, l);
    gather_gradient(ws, d, l.parent, p, l.turn * by_w, l.turn * by.wd, l.turn * by.a);
    ws.force[at(l.parent)] += Transform<S>{Rotation<S>(l.turn), p} * f;
  }
}

template <class S>
void gather_special(Workspace<S>& ws, DirectionScratch<S>& d, int k, const S* acceleration, const S* weight,
                    const Gradients<S>& out) {
  const Link<S>& l = ws.link(k);
  const Gradient<S>& by = d.gradient[at(k + 1)];
  const Carried<S> from = carried(ws, l);
  const S* v = ws.v + l.v;
  const auto put3 = [](const Vec3<S>& x, S* to) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
  };
  if (l.kind == Kind::floating) {
    put3(cross(by.a, from.a), out.q + l.v);
    put3(Vec3<S>::zero(), out.q + l.v + 3);
    put3(by.w + cross(Vec3<S>{v[3], v[4], v[5]}, by.a), out.v + l.v);
    put3(cross(by.a, Vec3<S>{v[0], v[1], v[2]}), out.v + l.v + 3);
    put3(by.wd, out.a + l.v);
    put3(by.a, out.a + l.v + 3);
    return;
  }
  const Force<S>& f = ws.force[at(k)];
  const Motion<S> relative = hinge_motion(ws, l, v);
  const Vec3<S> by_w = by.w + cross(relative.angular, by.wd) + S(2) * cross(relative.linear, by.a);
  const Force<S> by_rate{by.wd, by.a};  // by H*θ̈ + Ḣ*θ̇ …
  const Force<S> by_relative{by.w + cross(by.wd, from.w) + cross(relative.linear, by.a),
                             cross(by.a, from.w + from.w + relative.angular)};  // … by H*θ̇ …
  const Motion<S> W = d.weight[at(k + 1)] - hinge_motion(ws, l, weight + l.v);
  const Force<S> by_U{cross(by_w, from.w) + cross(by.wd, from.wd) + cross(by.a, from.a) + cross(f.moment, W.angular) +
                          cross(f.force, W.linear),
                      cross(by.a, from.wd) + cross(cross(by.a, from.w), from.w) + cross(f.force, W.angular)};  // … by U
  const MapSlopes<S> map = map_slopes(ws, d, k);
  for (int j = 0; j < l.nv; ++j) {
    const Motion<S>& H = column(ws, l.v + j);
    out.q[l.v + j] = dot(H, by_U);
    out.v[l.v + j] = dot(H, by_relative);
    out.a[l.v + j] = dot(H, by_rate) + ws.armature[at(l.v + j)] * weight[l.v + j];
    if (map.changes()) {
      const Motion<S> change = map.along(j, v);
      out.q[l.v + j] += dot(change, by_relative) + dot(map.along(j, acceleration + l.v) + map.bias_rates[j], by_rate) +
                        dot(map.along(j, weight + l.v), f);
      out.v[l.v + j] += dot(change + map.column(v, j), by_rate);
    }
  }
  if (l.parent >= 0) {
    const Transform<S>& X = placed(ws, l);
    gather_gradient(ws, d, l.parent, X.translation, X.rotation * by_w, X.rotation * by.wd, X.rotation * by.a);
    ws.force[at(l.parent)] += X * f;
  }
}

/// (∂T/∂q)*λ, (∂T/∂θ̇)*λ and (∂T/∂θ̈)*λ = 𝓜λ, at the state's velocities: one sweep outward, one inward. O(N).
template <class S>
void inverse_dynamics_back(Workspace<S>& ws, DirectionScratch<S>& d, const S* acceleration, const S* weight,
                           const Gradients<S>& out) {
  sweep_motions(ws, ws.v, acceleration);
  for (const Run& run : ws.tree->runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { weigh_revolute<kind>(ws, d, begin, end, weight); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        weigh_other(ws, d, k, weight);
      }
    }
  }
  for (std::size_t r = ws.tree->runs.size(); r-- > 0;) {
    const Run& run = ws.tree->runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { gather_revolute<kind>(ws, d, begin, end, weight, out); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::prismatic ? gather_prismatic(ws, d, k, weight, out)
                                    : gather_special(ws, d, k, acceleration, weight, out);
      }
    }
  }
}

}  // namespace bunraku::kernels
