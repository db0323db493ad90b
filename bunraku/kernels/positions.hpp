/// @file
/// Where hinges put their links: cosines and sines, poses in the parents, joint maps. What all sweeps start from.
#pragma once

#include <algorithm>
#include <array>

#include "bunraku/kernels/sincos.hpp"
#include "bunraku/kernels/transpose.hpp"
#include "bunraku/kernels/workspace.hpp"
#include "bunraku/model/hinge_laws.hpp"

namespace bunraku::kernels {

/// Sine and cosine of any scalar that has them.
template <class S>
BUNRAKU_INLINE void sincos(const S& x, S& s, S& c) {
  using std::cos;
  using std::sin;
  s = sin(x);
  c = cos(x);
}

/// Numbers from some places: in registers alone, since what is written number by number cannot be read at once.
template <int W, class S>
BUNRAKU_INLINE Pack<NumberOf<S>, W> gathered(const S* from, const int* places) {
  if constexpr (W == 1) {
    return from[*places];
  } else {
    constexpr int half = W / 2;
    return joined_packs(gathered<half>(from, places), gathered<half>(from, places + half),
                        std::make_index_sequence<W>{});
  }
}
/// Pairs of numbers to the places of every second of some links.
template <class S, int W>
BUNRAKU_INLINE void scatter_pairs(const Pack<NumberOf<S>, W>& pairs, const int* links, Spin<S>* to) {
  if constexpr (W == 2) {
    pairs.store(reinterpret_cast<NumberOf<S>*>(to + *links));
  } else {
    scatter_pairs<S>(half_of<false>(pairs), links, to);
    scatter_pairs<S>(half_of<true>(pairs), links + W / 2, to);
  }
}
/// Cosines and sines of a register of links, to each link's place.
template <class S, std::size_t... lane>
BUNRAKU_INLINE void scatter(const Column<S>& c, const Column<S>& s, const int* links, Spin<S>* to,
                            std::index_sequence<lane...>) {
  constexpr std::size_t W = sizeof...(lane);
  scatter_pairs<S>(Column<S>(__builtin_shufflevector(c.r, s.r, (lane / 2 * 2 + lane % 2 * W)...)), links, to);
  scatter_pairs<S>(Column<S>(__builtin_shufflevector(c.r, s.r, (lane / 2 * 2 + 1 + lane % 2 * W)...)), links + 1, to);
}

/// Cosines and sines of revolute hinges; of a single state a register of them at a time.
template <class S>
void spin_all(Workspace<S>& ws) {
  if constexpr (columns_per_register<S> == 1) {
    for (const RevoluteSlot& slot : ws.tree->revolute) {
      S s;
      S c;
      sincos(ws.q[slot.q], s, c);
      ws.spin[at(slot.link)] = {c * slot.offset_c - s * slot.offset_s, s * slot.offset_c + c * slot.offset_s};
    }
  } else {
    constexpr int lanes = columns_per_register<S>;
    Spin<S>* const spin = ws.spin.data();
    for (const SpinRegister<S>& each : ws.spin_registers) {
      const Column<S> angles = each.in_row ? load_column(ws.q + each.q[0]) : gathered<lanes>(ws.q, each.q);
      Column<S> s;
      Column<S> c;
      sincos(angles, s, c);
      scatter<S>(c * each.c - s * each.s, s * each.c + c * each.s, each.link, spin, std::make_index_sequence<lanes>{});
    }
  }
}

/// A hinge that the user defines, lane by lane: pose and joint map at q.
template <class S>
void place_custom(const Hinge& hinge, const S* q, Transform<S>& pose, Motion<S>* columns) {
  const int nq = hinge.configuration_size();
  const int nv = hinge.velocity_size();
  for (int lane = 0; lane < Lanes<S>::count; ++lane) {
    double position[max_hinge_positions] = {};
    for (int i = 0; i < nq; ++i) {
      position[i] = plain_lane(q[i], lane);
    }
    double numbers[12 + 6 * max_hinge_velocities] = {};
    custom_hinge_at(hinge, position, numbers);
    const double* x = numbers;
    Mat3<S> turn = pose.rotation.matrix();
    for (int i = 0; i < 9; ++i) {
      set_lane(turn(i / 3, i % 3), lane, *x++);
    }
    pose.rotation = Rotation<S>(turn);
    for (int i = 0; i < 3; ++i) {
      set_lane(pose.translation[i], lane, *x++);
    }
    for (int j = 0; j < nv; ++j) {
      for (int i = 0; i < 6; ++i) {
        set_lane(columns[j][i], lane, *x++);
      }
    }
  }
}

/// (dH*/dt) v of such a hinge.
template <class S>
Motion<S> custom_rate(const Hinge& hinge, const S* q, const S* v) {
  Motion<S> out = Motion<S>::zero();
  for (int lane = 0; lane < Lanes<S>::count; ++lane) {
    double position[max_hinge_positions] = {};
    double velocity[max_hinge_velocities] = {};
    for (int i = 0; i < hinge.configuration_size(); ++i) {
      position[i] = plain_lane(q[i], lane);
    }
    for (int i = 0; i < hinge.velocity_size(); ++i) {
      velocity[i] = plain_lane(v[i], lane);
    }
    double numbers[6] = {};
    custom_hinge_rate(hinge, position, velocity, numbers);
    for (int i = 0; i < 6; ++i) {
      set_lane(out[i], lane, numbers[i]);
    }
  }
  return out;
}

/// A hinge's pose and joint map at q by its law.
template <class S>
Transform<S> law_at(const Hinge& hinge, const S* q, Motion<S>* columns) {
  Transform<S> out = Transform<S>::identity();
  laws::visit_hinge_law(
      hinge.type,
      [&](auto law) {
        if constexpr (requires { law.place(hinge, q, columns); }) {
          out = law.place(hinge, q, columns);
        } else {
          law.joint_map(hinge, q, columns);
          out = law.pose(hinge, q);
        }
      },
      [&] { place_custom(hinge, q, out, columns); });
  return out;
}

/// Pose and joint map of a link that is neither revolute nor prismatic.
template <class S>
void place(Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  Transform<S>& out = ws.placed[at(l.special)];
  if (l.kind == Kind::floating) {
    const S* q = ws.q + l.q;
    out = {Rotation<S>(l.turn * Rotation<S>(Quaternion<S>{q[0], q[1], q[2], q[3]}).matrix()),
           l.p + l.turn * Vec3<S>{q[4], q[5], q[6]}};
    return;
  }
  const Hinge& hinge = ws.tree->hinge(k);
  out = Transform<S>{Rotation<S>(l.turn), l.p} * law_at(hinge, ws.q + l.q, ws.H.data() + l.v);
}

/// All hinges but those of lumps.
template <class S>
void need_carriers(Workspace<S>& ws) {
  if (ws.has_positions) {
    return;
  }
  spin_all(ws);
  for (const int k : ws.tree->carriers) {
    place(ws, k);
  }
  ws.has_positions = true;
}

/// All hinges.
template <class S>
void need_positions(Workspace<S>& ws) {
  need_carriers(ws);
  if (ws.has_lumps) {
    return;
  }
  for (const int k : ws.tree->lump_links) {
    place(ws, k);
  }
  ws.has_lumps = true;
}

/// (dH*/dt) v of a general hinge with velocities v.
template <class S>
Motion<S> joint_map_rate(const Workspace<S>& ws, const Link<S>& l, const S* v) {
  const Hinge& hinge = ws.tree->model.bodies()[at(l.body)].hinge;
  Motion<S> out = Motion<S>::zero();
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { out = law.bias(hinge, ws.q + l.q, v); },
      [&] { out = custom_rate(hinge, ws.q + l.q, v); });
  return out;
}

/// The pose in its parent of a special link.
template <class S>
BUNRAKU_INLINE const Transform<S>& placed(const Workspace<S>& ws, const Link<S>& l) {
  return ws.placed[at(l.special)];
}
/// Where a prismatic link is in its parent.
template <class S>
BUNRAKU_INLINE Vec3<S> slid(const Workspace<S>& ws, const Link<S>& l) {
  return l.p + l.turn.column(2) * ws.q[l.q];
}
/// The pose in the parent of a link that is not revolute.
template <class S>
BUNRAKU_INLINE Transform<S> pose(const Workspace<S>& ws, const Link<S>& l) {
  return l.kind == Kind::prismatic ? Transform<S>{Rotation<S>(l.turn), slid(ws, l)} : placed(ws, l);
}
/// The pose in the parent of any link.
template <class S>
Transform<S> pose_of(const Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  if (l.kind > Kind::revolute_full) {
    return pose(ws, l);
  }
  const Spin<S>& s = ws.spin[at(k)];
  const Mat3<S> turn{{{s.c, -s.s, S(0)}, {s.s, s.c, S(0)}, {S(0), S(0), S(1)}}};
  return {Rotation<S>(l.turn * turn), l.p};
}
/// Column j of H*.
template <class S>
BUNRAKU_INLINE const Motion<S>& column(const Workspace<S>& ws, int j) {
  return ws.H[at(j)];
}

}  // namespace bunraku::kernels
