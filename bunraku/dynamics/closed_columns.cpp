// Steps A, B and C of RJK89 for closed systems: what is known before the closure forces are.
#include <algorithm>

#include "bunraku/dynamics/detail/closed_data.hpp"

namespace bunraku::detail {

using kernels::ClosureColumns;
using kernels::RowForces;
using kernels::RowNumbers;

namespace {

/// Where the nodes of a closure are; with velocities, how they move.
template <class T>
void relate(const ClosedData<T>& d, ClosedClosure<T>& c, bool velocities) {
  d.on(c.a).state.data().sweeps->closed_node(velocities, c.a.node);
  d.on(c.b).state.data().sweeps->closed_node(velocities, c.b.node);
  ClosureColumns<T>& at_b = c.within() ? c.on_a : c.on_b;
  d.kernel().closed_relation(c.a.node, c.b.node, c.relation, c.on_a.acting[0], at_b.acting[1]);
}

/// Three plain numbers.
template <class T>
Vec3<T> vector(const T* numbers) {
  return {numbers[0], numbers[1], numbers[2]};
}

/// As the equations of closures in general take it.
template <class T>
kernels::ClosureMotion<T> motion_of(const ClosedClosure<T>& c) {
  const auto velocity = [](const ClosedEnd<T>& end) {
    return Motion<T>{vector(end.node.velocity), vector(end.node.velocity + 3)};
  };
  return {c.relation.X_AB.get(), velocity(c.a), velocity(c.b)};
}

}  // namespace

template <class T>
kernels::ClosureMotion<T> ClosedData<T>::motion(ClosedClosure<T>& c, bool velocities) const {
  relate(*this, c, velocities);
  return motion_of(c);
}

template <class T>
void ClosedData<T>::evaluate_coupling(ClosedClosure<T>& c) const {
  const auto number = [](const std::vector<T>& numbers, int i) {
    return i < 0 ? T(0) : numbers[static_cast<std::size_t>(i)];
  };
  const StateData<T>& a = member(c.a.member).state.data();
  const StateData<T>& b = member(c.b.member).state.data();
  c.coupling = kernels::coupling_equation<T>(c.closure, number(a.q, c.a.position), number(b.q, c.b.position),
                                             number(b.v(), c.b.velocity));
}

template <class T>
void ClosedData<T>::evaluate(bool rates) {
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present || (rates && c.direct())) {
      continue;
    }
    if (c.closure.kind == ClosureKind::hinges) {
      evaluate_coupling(c);
      continue;
    }
    relate(*this, c, rates);
    if (!rates) {
      kernels::closure_positions(c.closure, c.relation.X_AB.get(), c.equations);
    } else if (!c.constant()) {
      kernels::closure_rates(c.closure, motion_of(c), c.equations);
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
    if (biased) {
      s.subtract_passive(m.given);
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
    c->stale = c->stale || (c->exists && (on(c->a).swept || on(c->b).swept));
  }
  for (const auto& each : members) {
    each->swept = false;
  }
}

namespace {

/// Forces of general rows at a node, put on its link.
template <class T>
void put(const ClosedEnd<T>& end, std::span<const Force<T>> forces, RowForces<T>& there) {
  there = {};
  if (end.link < 0) {
    return;
  }
  const Transform<T> X_LN = end.node.X_LN.get();
  for (std::size_t r = 0; r < forces.size(); ++r) {
    const Force<T> f = X_LN * forces[r];
    for (int i = 0; i < 6; ++i) {
      there[static_cast<std::size_t>(i)].x[r] = f[i];
    }
  }
}

/// Directions as the kernels take them; those of all six unit forces where rows are made of these later.
template <class T>
void set_directions(const ClosedClosure<T>& c, ClosureColumns<T>& columns) {
  columns.N = columns.N_of_link = {};
  for (std::size_t r = 0; r < index(c.changeable ? 6 : c.active); ++r) {
    for (std::size_t i = 0; i < 6; ++i) {
      columns.N[i].x[r] =
          c.changeable ? T(i == r ? 1 : 0) : c.equations.directions[index(c.row[r])][static_cast<int>(i)];
    }
    const Rotation<T> R = c.a.node.X_LN.get().rotation;
    const Vec3<T> moment = R * Vec3<T>{columns.N[0].x[r], columns.N[1].x[r], columns.N[2].x[r]};
    const Vec3<T> force = R * Vec3<T>{columns.N[3].x[r], columns.N[4].x[r], columns.N[5].x[r]};
    for (std::size_t i = 0; i < 3; ++i) {
      columns.N_of_link[i].x[r] = moment[static_cast<int>(i)];
      columns.N_of_link[i + 3].x[r] = force[static_cast<int>(i)];
    }
  }
}

/// The directions of a closure on its members, where they are not there yet.
template <class T>
void need_directions(ClosedClosure<T>& c) {
  if (c.directed) {
    return;
  }
  ClosureColumns<T>& at_b = c.within() ? c.on_a : c.on_b;
  set_directions(c, c.on_a);
  set_directions(c, at_b);
  c.on_a.general = at_b.general = false;
  c.on_a.acts[0] = c.a.link >= 0;
  at_b.acts[1] = c.b.link >= 0;
  c.directed = c.changeable || c.equations.constant;
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

/// What of a closure's right side is not in its columns, in general.
template <class T>
void find_terms(const ClosedData<T>& d, ClosedClosure<T>& c) {
  const auto rows = static_cast<std::size_t>(c.active);
  for (std::size_t r = 0; r < rows; ++r) {
    c.rate.x[r] = c.equations.rate[index(c.row[r])];
  }
  if (c.closure.kind != ClosureKind::rows) {
    for (std::size_t r = 0; r < rows; ++r) {
      c.bias.x[r] = dot(c.equations.directions[index(c.row[r])].force, vector(c.relation.apart));
    }
    return;
  }
  // of true accelerations, which others need not know
  const auto acceleration = [&](const ClosedEnd<T>& end) {
    const Vec3<T> gravity = d.member(end.member).state.data().gravity();
    return vector(end.node.acceleration) + end.node.X_WN.get().rotation.inverse_times(gravity);
  };
  for (std::size_t r = 0; r < rows; ++r) {
    c.bias.x[r] = dot(c.equations.on_a[r].force, acceleration(c.a)) + dot(c.equations.on_b[r].force, acceleration(c.b));
  }
}

}  // namespace

/// Rows of a closure as forces on links, and its columns.
template <class T>
void make_part(ClosedData<T>& d, ClosedClosure<T>& c) {
  const bool relative = c.changeable;
  const std::size_t rows = relative ? 6 : static_cast<std::size_t>(c.active);
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
    c.on_a.general = at_b.general = true;
    put<T>(c.a, std::span<const Force<T>>(c.equations.on_a).first(rows), c.on_a.given[0]);
    put<T>(c.b, std::span<const Force<T>>(c.equations.on_b).first(rows), at_b.given[1]);
  } else {
    need_directions(c);
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
    if (biased && c.direct()) {
      if (c.stale || !c.direct_terms) {
        need_directions(c);
        c.on_a.rows = c.active;
        on(c.a).state.data().sweeps->closed_loop(c.a.node, c.b.node, c.on_a, c.terms);
        ++work.columns;
        c.stale = false;
        c.direct_terms = true;
      }
      continue;
    }
    c.direct_terms = false;
    if (c.stale) {
      make_part(*this, c);
      c.stale = false;
    }
    if (c.changeable) {
      const auto N = std::span<const Force<T>>(c.equations.directions).first(static_cast<std::size_t>(c.rows));
      std::size_t part = 0;
      for_each_part(c, [&](ClosedMember<T>&, ClosureColumns<T>& its) {
        const RelativeColumns<T>& known = c.relative[part++];
        its.rows = c.rows;
        for (std::size_t i = 0; i < known.e.size(); ++i) {
          its.e[i] = combined<T>(known.e[i], N, false);
        }
        its.acceleration = combined<T>(known.acceleration, N, false);
        its.scale = combined<T>(known.scale, N, true);
      });
    }
    c.bias = {};
    c.rate = {};
    if (!biased) {
      continue;
    }
    if (c.closure.kind == ClosureKind::hinges) {
      c.rate.x[0] = c.coupling.rate;
    } else if (c.constant()) {
      kernel().closed_terms(c.on_a.N, c.relation, c.active, c.rate, c.bias);
    } else {
      find_terms(*this, c);
    }
    for (std::size_t r = 0; c.asks && r < static_cast<std::size_t>(c.rows); ++r) {
      c.rate.x[r] += c.asked[r];
    }
  }
}

template <class T>
void ClosedData<T>::sweep_outward(std::span<T> out) {
  for (const auto& each : closures) {
    if (each->present) {
      for_each_part(*each, [&](ClosedMember<T>& m, ClosureColumns<T>& its) {
        m.state.data().sweeps->closed_correct(its, each->force);
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

template kernels::ClosureMotion<double> ClosedData<double>::motion(ClosedClosure<double>&, bool) const;
template kernels::ClosureMotion<float> ClosedData<float>::motion(ClosedClosure<float>&, bool) const;
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
