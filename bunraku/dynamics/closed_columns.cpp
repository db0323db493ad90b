// Steps A, B and C of RJK89 for closed systems: what is known before the closure forces are.
#include <algorithm>

#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/spatial/phi.hpp"

namespace bunraku::detail {

using kernels::closure_lanes;
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
void ClosedData<T>::evaluate(bool velocities) {
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    if (c.closure.kind == ClosureKind::hinges) {
      const auto number = [&](const ClosedEnd<T>& end, const std::vector<T>& numbers, int i) {
        static_cast<void>(end);
        return i < 0 ? T(0) : numbers[static_cast<std::size_t>(i)];
      };
      const StateData<T>& a = member(c.a.member).state.data();
      const StateData<T>& b = member(c.b.member).state.data();
      c.coupling = kernels::coupling_equation<T>(c.closure, number(c.a, a.q, c.a.position),
                                                 number(c.b, b.q, c.b.position), number(c.b, b.v, c.b.velocity));
    } else if (velocities) {
      kernels::closure_velocities(c.closure, motion(c, true), c.equations);
    } else {
      kernels::closure_positions(c.closure, motion(c, false).X_AB, c.equations);
    }
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

/// Forces of all rows at a node, put on its link.
template <class T>
void put(const ClosedEnd<T>& end, std::span<const Force<T>> forces, ClosureColumns<T>& columns) {
  if (end.link < 0) {
    return;
  }
  RowForces<T>& there = columns.force[static_cast<std::size_t>(columns.find(end.link))];
  for (std::size_t r = 0; r < forces.size(); ++r) {
    const Force<T> f = end.X_LN * forces[r];
    for (int i = 0; i < 6; ++i) {
      there[static_cast<std::size_t>(i)].x[r] += f[i];
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

/// What the node's own bias and gravity add to A α.
template <class T>
T node_bias(const ClosedEnd<T>& end, const Force<T>& f, const Vec3<T>& w, const Vec3<T>& lift) {
  if (end.link < 0) {
    return dot(f.force, lift);
  }
  const Force<T> on_link = end.X_LN * f;
  return dot(on_link.force, cross(w, cross(w, end.X_LN.translation)));
}

}  // namespace

/// Rows of a closure as forces on links, and its columns.
template <class T>
void make_part(ClosedData<T>& d, ClosedClosure<T>& c, bool biased) {
  const bool relative = c.changeable;
  std::array<Force<T>, 6> on_a = c.equations.on_a;
  std::array<Force<T>, 6> on_b = c.equations.on_b;
  std::size_t rows = static_cast<std::size_t>(c.rows);
  if (relative) {
    rows = 6;
    const Transform<T> X_AB = d.motion(c, false).X_AB;
    for (int i = 0; i < 6; ++i) {
      Force<T> unit = Force<T>::zero();
      unit[i] = T(1);
      on_a[static_cast<std::size_t>(i)] = -(Phi<T>(X_AB.translation) * unit);
      on_b[static_cast<std::size_t>(i)] = {X_AB.rotation.inverse_times(unit.moment),
                                           X_AB.rotation.inverse_times(unit.force)};
    }
  }
  d.for_each_part(c, [&](ClosedMember<T>&, ClosureColumns<T>& columns) {
    std::fill(columns.force.begin(), columns.force.end(), RowForces<T>{});
  });
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
  } else {
    put<T>(c.a, std::span<const Force<T>>(on_a).first(rows), c.on_a);
    put<T>(c.b, std::span<const Force<T>>(on_b).first(rows), c.within() ? c.on_a : c.on_b);
  }
  static_cast<void>(biased);
  d.for_each_part(c, [&](ClosedMember<T>& m, ClosureColumns<T>& columns) {
    columns.rows = c.rows;
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
      make_part(*this, c, biased);
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
    const auto turning = [&](const ClosedEnd<T>& end) {
      return end.link < 0 ? Vec3<T>::zero() : member(end.member).state.data().sweeps->link_velocity(end.link).angular;
    };
    const Vec3<T> w_a = turning(c.a);
    const Vec3<T> w_b = turning(c.b);
    const auto gravity = [&](const ClosedEnd<T>& end) { return member(end.member).state.data().gravity(); };
    // a node of the world has the world's acceleration upward, as gravity is one of the base
    const Vec3<T> lift_a = c.a.X_LN.rotation.inverse_times(-gravity(c.a));
    const Vec3<T> lift_b = c.b.X_LN.rotation.inverse_times(-gravity(c.b));
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
      c.bias[r] = node_bias(c.a, c.equations.on_a[r], w_a, lift_a) + node_bias(c.b, c.equations.on_b[r], w_b, lift_b);
    }
    if (c.closure.kind == ClosureKind::rows) {  // of true accelerations, which others need not know
      const auto pose = [&](const ClosedEnd<T>& end) {
        return end.link < 0 ? end.X_LN : member(end.member).state.data().sweeps->link_pose(end.link) * end.X_LN;
      };
      const Vec3<T> g_a = pose(c.a).rotation.inverse_times(gravity(c.a));
      const Vec3<T> g_b = pose(c.b).rotation.inverse_times(gravity(c.b));
      for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
        c.bias[r] += dot(c.equations.on_a[r].force, g_a) + dot(c.equations.on_b[r].force, g_b);
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
template void ClosedData<double>::sweep_inward(std::span<const double>, bool);
template void ClosedData<float>::sweep_inward(std::span<const float>, bool);
template void ClosedData<double>::make_columns(bool);
template void ClosedData<float>::make_columns(bool);
template void ClosedData<double>::sweep_outward(std::span<double>);
template void ClosedData<float>::sweep_outward(std::span<float>);

}  // namespace bunraku::detail
