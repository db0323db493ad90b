#include "bunraku/dynamics/detail/derivative_data.hpp"

#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/map_rates.hpp"
#include "bunraku/kernels/cast.hpp"

namespace bunraku::detail {

namespace {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

template <class T>
DerivativeData<T>::DerivativeData(const StateData<T>& s)
    : acceleration(at(s.nv())), change(at(s.nv())), loads_(s.model.bodies().size()) {
  for (std::vector<T>& each : full) {
    each.resize(s.full.size() * s.full.size());
  }
  if (s.has_mimics()) {
    for (std::vector<T>& each : users) {
      each.resize(at(s.nv()) * at(s.nv()));
    }
  }
}

template <class T>
void DerivativeData<T>::add_passive(const StateData<T>& s, const kernels::Slopes<T>& to) {
  for_passive(s, [&](std::size_t i, std::size_t j, T by_q, T by_v) {
    to.dq[to.index(i, j)] += by_q;
    to.dv[to.index(i, j)] += by_v;
  });
}

template <class T>
void DerivativeData<T>::make_bodies(const StateData<T>& s) {
  bodies.resize(s.model.bodies().size());
  for (std::vector<T>& each : vectors) {
    each.resize(s.full.size());
  }
}

template <class T>
void DerivativeData<T>::set_loads(StateData<T>& s, Forces<T> forces) {
  std::fill(loads_.begin(), loads_.end(), Load{});
  if (!forces.empty()) {
    s.blocks.need_world();
  }
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body == world) {
      continue;
    }
    Load& load = loads_[at(applied.body)];
    const Force<T> f = s.at_body(applied);
    load.all += f;
    if (applied.frame == Frame::world) {
      load.in_world += f;
    } else if (applied.frame == Frame::aligned) {
      const Vec3<T> p = kernels::cast<T>(applied.X_BN).translation;
      const Vec3<T> moment = f.moment - cross(p, f.force);  // at the node
      load.held += {-skew(moment) - skew(p) * skew(f.force), f.force};
    }
  }
}

// A force that keeps its components in the body moves with it: its change by a column S of a hinge farther in is S × f,
// as that of all other forces of the body. One that the world holds does not change, and one at a node in the world's
// axes changes by what its point moves: S × f less (ω × m, ω × f) there, which is the B of inertia_rate.hpp with other
// numbers. With F the composite of all, W of those that the world holds and G of the latter, T = −H F has
//
//     ∂T(i)/∂q(j) = S(i)·[S(j) × W + GS(j)],   ∂T(j)/∂q(i) = S(j)·[−S(i) × F + S(i) × W + GS(i)]
//
// for a column i of a body and a column j of it or farther in, in the second farther in. ∂H adds (∂H)(−F) on one body.
template <class T>
void DerivativeData<T>::add_applied(StateData<T>& s, Forces<T> forces, const kernels::Slopes<T>& to) {
  if (forces.empty()) {
    return;
  }
  set_loads(s, forces);
  const auto add = [&](int i, int j, T x) { to.dq[to.index(at(i), at(j))] += x; };
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const Load& load = loads_[at(k)];
    const int first = s.blocks.first(k);
    const int nv = s.blocks.nv(k);
    for (int j = first; j < first + nv; ++j) {
      const Motion<T>& H = s.blocks.H(j);
      Force<T> row = adjoint_times(load.held, H) - cross(H, load.in_world);
      Force<T> column = cross(H, load.in_world - load.all) + load.held * H;
      for (int p = k; p != world; p = s.blocks.parent(p)) {
        for (int i = s.blocks.first(p); i < s.blocks.first(p) + s.blocks.nv(p); ++i) {
          add(j, i, dot(s.blocks.H(i), row));
          if (p != k) {
            add(i, j, dot(s.blocks.H(i), column));
          }
        }
        row = s.blocks.X_PB(p) * row;
        column = s.blocks.X_PB(p) * column;
      }
    }
    if (kernels::has_changing_map(s.model.bodies()[at(k)].hinge)) {
      const MapRates<T> map(s, k);
      for (int j = 0; j < nv; ++j) {
        for (int i = 0; i < nv; ++i) {
          add(first + i, first + j, -dot(map.rate(j, i), load.all));
        }
      }
    }
    if (s.blocks.parent(k) != world) {
      Load& up = loads_[at(s.blocks.parent(k))];
      up.all += s.blocks.X_PB(k) * load.all;
      up.in_world += s.blocks.X_PB(k) * load.in_world;
      up.held += s.blocks.X_PB(k) * load.held;
    }
  }
}

template <class T>
void DerivativeData<T>::fold(const StateData<T>& s, const T* full, const kernels::Slopes<T>& places,
                             const MatrixSpan<T>& out) {
  const std::size_t n = s.full.size();
  out.set_zero();
  for (std::size_t j = 0; j < n; ++j) {
    const kernels::Follower<T>& column = s.coordinates.velocities[j];
    for (std::size_t i = 0; i < n; ++i) {
      const kernels::Follower<T>& row = s.coordinates.velocities[i];
      out(row.own, column.own) += row.ratio * column.ratio * full[places.index(i, j)];
    }
  }
}

template <class T>
DerivativeData<T>& derivatives_of(StateData<T>& state) {
  if (state.derivatives == nullptr) {
    state.derivatives = std::make_shared<DerivativeData<T>>(state);
  }
  return *state.derivatives;
}

template struct DerivativeData<double>;
template struct DerivativeData<float>;
template DerivativeData<double>& derivatives_of(StateData<double>&);
template DerivativeData<float>& derivatives_of(StateData<float>&);

}  // namespace bunraku::detail
