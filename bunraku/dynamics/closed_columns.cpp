// Steps A, B and C of RJK89 for closed systems: what is known before the closure forces are.
#include <algorithm>

#include "bunraku/dynamics/detail/closed_data.hpp"

namespace bunraku::detail {

using kernels::ClosureColumns;
using kernels::RowForces;
using kernels::RowNumbers;

template <class T>
kernels::ClosureMotion<T> ClosedData<T>::motion(const ClosedClosure<T>& c, bool velocities) const {
  const auto sweeps = [&](const ClosedEnd<T>& end) -> kernels::Sweeps<T>& {
    return *member(end.member).state.data().sweeps;
  };
  const auto pose = [&](const ClosedEnd<T>& end) {
    return end.link < 0 ? end.X_LN : sweeps(end).link_pose(end.link) * end.X_LN;
  };
  const auto velocity = [&](const ClosedEnd<T>& end) {
    return end.link < 0 || !velocities ? Motion<T>::zero()
                                       : inverse_times(end.X_LN, sweeps(end).link_velocity(end.link));
  };
  return {pose(c.a).inverse() * pose(c.b), velocity(c.a), velocity(c.b)};
}

template <class T>
void ClosedData<T>::evaluate_coupling(ClosedClosure<T>& c) const {
  const auto number = [](const std::vector<T>& numbers, int i) {
    return i < 0 ? T(0) : numbers[static_cast<std::size_t>(i)];
  };
  const StateData<T>& a = member(c.a.member).state.data();
  const StateData<T>& b = member(c.b.member).state.data();
  c.coupling = kernels::coupling_equation<T>(c.closure, number(a.q, c.a.position), number(b.q, c.b.position),
                                             number(b.v, c.b.velocity));
}

template <class T>
void ClosedData<T>::evaluate(bool rates) {
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    if (c.closure.kind == ClosureKind::hinges) {
      evaluate_coupling(c);
      continue;
    }
    const kernels::ClosureMotion<T> now = motion(c, rates);
    c.X_AB = now.X_AB;
    rates ? kernels::closure_rates(c.closure, now, c.equations)
          : kernels::closure_positions(c.closure, now.X_AB, c.equations);
  }
}

template <class T>
void ClosedData<T>::sweep_inward(std::span<const T> x, bool biased) {
  for (const auto& each : members) {
    ClosedMember<T>& m = *each;
    if (!m.present) {
      continue;
    }
    StateData<T>& s = m.state.data();
    const auto own = x.subspan(static_cast<std::size_t>(m.first_v), static_cast<std::size_t>(s.nv()));
    s.coordinates.place(own, m.given);
    if (biased && s.has_passive) {
      std::fill(s.torques.begin(), s.torques.end(), T(0));
      s.add_passive(s.torques);
      for (std::size_t i = 0; i < m.given.size(); ++i) {
        m.given[i] -= s.torques[i];
      }
    }
    if (m.version == s.version && m.biased == biased && m.given == m.torque) {
      s.sweeps->closed_again();
      continue;
    }
    m.version = 0;  // what throws leaves nothing that could be taken for fresh
    s.sweeps->closed_inward(m.given.data(), biased);
    m.torque.swap(m.given);
    m.version = s.version;
    m.biased = biased;
    ++work.sweeps;
    m.swept = true;
  }
  for (const auto& c : closures) {
    c->stale = c->stale || (c->exists && (member(c->a.member).swept || member(c->b.member).swept));
  }
  for (const auto& each : members) {
    each->swept = false;
  }
}

namespace {

/// Forces of general rows at a node, put on its link.
template <class T>
void put(const ClosedEnd<T>& end, std::span<const Force<T>> forces, ClosureColumns<T>& columns) {
  if (end.link < 0) {
    return;
  }
  const auto place = static_cast<std::size_t>(columns.find(end.link));
  RowForces<T>& there = columns.x[place];
  kernels::RowSizes<T>& size = columns.size[place];
  for (std::size_t r = 0; r < forces.size(); ++r) {
    const Force<T> f = end.X_LN * forces[r];
    for (int i = 0; i < 6; ++i) {
      there[static_cast<std::size_t>(i)].x[r] += f[i];
    }
    size.moment.x[r] += squared_norm(f.moment);
    size.force.x[r] += squared_norm(f.force);
  }
}

/// Directions as the kernels take them; those of all six unit forces where rows are made of these later.
template <class T>
void set_directions(const ClosedClosure<T>& c, ClosureColumns<T>& columns) {
  columns.N = {};
  for (std::size_t r = 0; r < static_cast<std::size_t>(c.changeable ? 6 : c.rows); ++r) {
    for (std::size_t i = 0; i < 6; ++i) {
      columns.N[i].x[r] = c.changeable ? T(i == r ? 1 : 0) : c.equations.directions[r][static_cast<int>(i)];
    }
  }
}

/// Makes rows of N out of what is known of the six relative directions.
template <class T>
RowNumbers<T> combined(const RowNumbers<T>& known, std::span<const Force<T>> N, bool squares) {
  RowNumbers<T> out{};
  for (std::size_t r = 0; r < N.size(); ++r) {
    for (int i = 0; i < 6; ++i) {
      out.x[r] += (squares ? N[r][i] * N[r][i] : N[r][i]) * known.x[i];
    }
  }
  return out;
}

/// What a node's acceleration has beside that of its link, in its axes; of the world's nodes, gravity upward, as that
/// is an acceleration of the base.
template <class T>
Vec3<T> node_bias(const ClosedData<T>& d, const ClosedEnd<T>& end) {
  StateData<T>& s = d.member(end.member).state.data();
  if (end.link < 0) {
    return end.X_LN.rotation.inverse_times(-s.gravity());
  }
  const Vec3<T> w = s.sweeps->link_velocity(end.link).angular;
  return end.X_LN.rotation.inverse_times(cross(w, cross(w, end.X_LN.translation)));
}

}  // namespace

/// Rows of a closure as forces on links, and its columns.
template <class T>
void make_part(ClosedData<T>& d, ClosedClosure<T>& c) {
  const bool relative = c.changeable;
  const std::size_t rows = relative ? 6 : static_cast<std::size_t>(c.rows);
  if (c.closure.kind == ClosureKind::hinges) {
    for (const bool second : {false, true}) {
      const ClosedEnd<T>& end = second ? c.b : c.a;
      ClosureColumns<T>& columns = second && !c.within() ? c.on_b : c.on_a;
      for (std::size_t i = 0; i < columns.hinges.size() && end.velocity >= 0; ++i) {
        if (columns.hinges[i] == end.velocity) {
          columns.of_hinges[i].x[0] = second ? -c.coupling.slope : T(1);
        }
      }
    }
  } else if (ClosureColumns<T>& at_b = c.within() ? c.on_a : c.on_b; c.closure.kind == ClosureKind::rows) {
    c.on_a.acting[0].place = at_b.acting[1].place = -1;
    put<T>(c.a, std::span<const Force<T>>(c.equations.on_a).first(rows), c.on_a);
    put<T>(c.b, std::span<const Force<T>>(c.equations.on_b).first(rows), at_b);
  } else {
    if (!c.directed) {
      set_directions(c, c.on_a);
      set_directions(c, at_b);
      c.on_a.acting[0].place = c.on_a.find(c.a.link);
      at_b.acting[1].place = at_b.find(c.b.link);
      c.directed = relative || c.equations.constant;
    }
    // a's axes at b's point, seen from either link
    c.on_a.acting[0].set(c.a.X_LN * Transform<T>::translate(c.X_AB.translation));
    at_b.acting[1].set(c.b.X_LN * Transform<T>::rotate(c.X_AB.rotation.inverse()));
  }
  d.for_each_part(c, [&](ClosedMember<T>& m, ClosureColumns<T>& columns) {
    columns.rows = static_cast<int>(rows);
    m.state.data().sweeps->closed_columns(columns);
    ++d.work.columns;
  });
  if (relative) {
    std::size_t part = 0;
    d.for_each_part(c, [&](ClosedMember<T>&, ClosureColumns<T>& columns) {
      RelativeColumns<T>& kept = c.relative[part++];
      kept.e = columns.e;
      kept.acceleration = columns.acceleration;
      kept.scale = columns.scale;
    });
  }
}

template <class T>
void ClosedData<T>::make_columns(bool biased) {
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    if (c.stale) {
      make_part(*this, c);
      c.stale = false;
    }
    if (c.changeable) {
      const auto N = std::span<const Force<T>>(c.equations.directions).first(static_cast<std::size_t>(c.rows));
      std::size_t part = 0;
      for_each_part(c, [&](ClosedMember<T>&, ClosureColumns<T>& columns) {
        const RelativeColumns<T>& kept = c.relative[part++];
        columns.rows = c.rows;
        for (std::size_t i = 0; i < kept.e.size(); ++i) {
          columns.e[i] = combined<T>(kept.e[i], N, false);
        }
        columns.acceleration = combined<T>(kept.acceleration, N, false);
        columns.scale = combined<T>(kept.scale, N, true);
      });
    }
    c.bias = {};
    if (!biased || c.closure.kind == ClosureKind::hinges) {
      continue;
    }
    const Vec3<T> bias_a = node_bias(*this, c.a);
    const Vec3<T> bias_b = node_bias(*this, c.b);
    if (c.closure.kind != ClosureKind::rows) {
      const Vec3<T> apart = c.X_AB.rotation * bias_b - bias_a;
      for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
        c.bias[r] = dot(c.equations.directions[r].force, apart);
      }
    } else {  // of true accelerations, which others need not know
      const auto pose = [&](const ClosedEnd<T>& end) {
        return end.link < 0 ? end.X_LN : member(end.member).state.data().sweeps->link_pose(end.link) * end.X_LN;
      };
      const auto gravity = [&](const ClosedEnd<T>& end) { return member(end.member).state.data().gravity(); };
      const Vec3<T> g_a = pose(c.a).rotation.inverse_times(gravity(c.a));
      const Vec3<T> g_b = pose(c.b).rotation.inverse_times(gravity(c.b));
      for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
        c.bias[r] = dot(c.equations.on_a[r].force, bias_a + g_a) + dot(c.equations.on_b[r].force, bias_b + g_b);
      }
    }
  }
}

template <class T>
void ClosedData<T>::sweep_outward(std::span<T> out) {
  for (const auto& each : closures) {
    if (each->present) {
      for_each_part(*each, [&](ClosedMember<T>& m, ClosureColumns<T>& columns) {
        m.state.data().sweeps->closed_correct(columns, each->force.data());
      });
    }
  }
  for (const auto& each : members) {
    ClosedMember<T>& m = *each;
    if (m.present) {
      StateData<T>& s = m.state.data();
      s.sweeps->closed_outward(m.acceleration.data());
      s.coordinates.pick(m.acceleration,
                         out.subspan(static_cast<std::size_t>(m.first_v), static_cast<std::size_t>(s.nv())));
    }
  }
}

template kernels::ClosureMotion<double> ClosedData<double>::motion(const ClosedClosure<double>&, bool) const;
template kernels::ClosureMotion<float> ClosedData<float>::motion(const ClosedClosure<float>&, bool) const;
template void ClosedData<double>::evaluate(bool);
template void ClosedData<float>::evaluate(bool);
template void ClosedData<double>::evaluate_coupling(ClosedClosure<double>&) const;
template void ClosedData<float>::evaluate_coupling(ClosedClosure<float>&) const;
template void ClosedData<double>::sweep_inward(std::span<const double>, bool);
template void ClosedData<float>::sweep_inward(std::span<const float>, bool);
template void ClosedData<double>::make_columns(bool);
template void ClosedData<float>::make_columns(bool);
template void ClosedData<double>::sweep_outward(std::span<double>);
template void ClosedData<float>::sweep_outward(std::span<float>);

}  // namespace bunraku::detail
