/// @file
/// What the steps of derivatives do at each link.
#pragma once

#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// a_g(k): the base's pseudo-acceleration for gravity where a link hangs on the world. Of links in the user's frames.
template <class S>
void Evaluator<S>::gravity(int i, Range range) {
  const Vec3<S> upward = kernels::cast<S>(-folded_->gravity);
  for (int k = range.begin; k < range.end; ++k) {
    Motion<S> a = Motion<S>::zero();
    if (links_[k].parent < 0) {
      a.linear = joints_.pose[at(k)].rotation.inverse_times(upward);
    }
    put(out(i) + rigid * k, a);
  }
}

/// The derivative of H along the vectors in(·), one after another: only universal and modal hinges and those of users
/// have one.
template <class S>
void Evaluator<S>::joint_rate(int i, Range range) {
  for (int k = range.begin; k < range.end; ++k) {
    const Hinge& hinge = folded_->model.bodies()[at(links_[k].body)].hinge;
    if (!kernels::has_changing_map(hinge)) {
      continue;
    }
    kernels::with_room(links_[k].nv, [&]<int most>() {
      Motion<S> columns[most];
      put_joint_rate(i, k, columns);
    });
  }
}

/// The same of one link, with room for its columns.
template <class S>
void Evaluator<S>::put_joint_rate(int i, int k, Motion<S>* columns) {
  const Value& v = value(i);
  const kernels::Link<S>& l = links_[k];
  const LinkPlace& place = folded_->places[at(k)];
  const Body& body = folded_->model.bodies()[at(l.body)];
  if (body.hinge.type == HingeType::universal) {
    laws::Universal::joint_map(body.hinge, q_ + l.q, columns);
    const Vec3<S> axis = columns[1].angular;
    for (std::size_t n = 0; n < v.in.size(); ++n) {  // the first axis, seen from the child, turns about the second
      columns[0].angular = cross(columns[0].angular, axis) * in(v, n)[place.own + 1];
    }
    columns[1] = Motion<S>::zero();
  } else if (body.hinge.type == HingeType::modal) {
    if (v.in.size() > 1) {  // without rotation, see check_rates: H is linear in η
      return;
    }
    laws::Modal::joint_map_rate(body.hinge, q_ + l.q, in(v, 0) + place.own, columns);
  } else {
    if constexpr (!kernels::is_wide<S>) {  // see runs_in_lanes
      rate_of_custom(body.hinge, q_ + l.q, in(v, 0) + place.own, place.ratio, columns);
    }
  }
  const Unit& unit = folded_->units[at(place.unit)];
  const std::size_t stride = rigid * unit.members.size();
  const std::size_t first = rigid * index_in({unit.members.data(), unit.members.size()}, k);
  S* block = out(i) + slots_[at(i)].begins[at(place.unit)];
  for (int j = 0; j < l.nv; ++j) {
    const std::size_t row = index_in({unit.coordinates.data(), unit.coordinates.size()}, place.own + j);
    put(block + row * stride + first,
        inverse_times(kernels::cast<S>(body.X_MB), columns[j]) * constant<S>(place.ratio));
  }
}

/// y(k) = E*(k,p) x(p) E(p,k).
template <class S>
void Evaluator<S>::carry(int i, Range range) {
  const Value& v = value(i);
  const S* x = slots_[at(v.uses[1])].out;
  for (int k = range.begin; k < range.end; ++k) {
    int stride = 0;
    S* to = member_block(i, k, stride);
    for (int r = 0; r < rigid; ++r) {
      std::fill_n(to + r * stride, rigid, S(0));
    }
    if (const int p = links_[k].parent; p >= 0) {
      int up_stride = 0;
      const S* up = member_block(i, p, up_stride);
      add_carried(v, k, x + (up - out(i)), up_stride, to, stride);
    }
  }
}

}  // namespace bunraku::operators
