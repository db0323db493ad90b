#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/product_sweeps.hpp"
#include "bunraku/dynamics/detail/sensitivity_data.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/momentum.hpp"
#include "bunraku/dynamics/operational_space.hpp"
#include "bunraku/dynamics/sensitivities.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/passive.hpp"

namespace bunraku {

namespace {

using detail::MapRates;
using detail::MatrixSpan;
using detail::place_of;
using detail::SensitivityData;
using detail::StateData;

/// Writes ∂h/∂q and ∂h/∂θ̇ of the momentum about a point in the world's axes; where the point is the centre of mass, it
/// moves with q. Seen from a frame that stands still, a column S of body k carries the momentum h(k) of the composite
/// body along, and all velocities relative to what lies farther in: ∂h/∂q = S × h(k) − R(k)(S × V(p)) + R(k)(∂H*)θ̇.
template <class T>
void write_momentum_changes(StateData<T>& s, const Vec3<T>& point, bool point_moves, const MatrixSpan<T>& dq,
                            const MatrixSpan<T>& dv) {
  s.blocks.need_world();
  s.blocks.need_velocities();
  kernels::sweep_composites(s.blocks, s.composite);
  Vec3<T> total = Vec3<T>::zero();
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    s.force[place_of(k)] = s.blocks.M(k) * s.blocks.V(k);
    total += s.blocks.X_WB(k).rotation * s.force[place_of(k)].force;
  }
  dq.set_zero();
  dv.set_zero();
  const T per_mass = point_moves && s.model.mass() > 0 ? static_cast<T>(1 / s.model.mass()) : T(0);
  const auto add = [](const MatrixSpan<T>& out, const kernels::Follower<T>& follower, const Force<T>& f) {
    for (int i = 0; i < 6; ++i) {
      out(i, follower.own) += follower.ratio * f[i];
    }
  };
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const Transform<T>& X_WB = s.blocks.X_WB(k);
    const RigidInertia<T>& R = s.composite[place_of(k)];
    const Force<T>& h = s.force[place_of(k)];
    const int v = s.blocks.first(k);
    const MapRates<T> map(s, k);
    const Motion<T> V_P = s.blocks.V(k) - s.blocks.relative(k);
    const auto at_point = [&](const Force<T>& f) { return Phi<T>(X_WB.translation - point) * (X_WB.rotation * f); };
    for (int j = 0; j < s.blocks.nv(k); ++j) {
      const auto& follower = s.coordinates.velocities[place_of(v + j)];
      const Motion<T>& S = s.blocks.H(v + j);
      const Force<T> column = R * S;
      Force<T> change = at_point(cross(S, h) + R * (map.along(j, s.v().data() + v) - cross(S, V_P)));
      change.moment -= cross(X_WB.rotation * column.force * per_mass, total);
      add(dq, follower, change);
      add(dv, follower, at_point(column));
    }
    if (s.blocks.parent(k) != world) {
      s.force[place_of(s.blocks.parent(k))] += s.blocks.X_PB(k) * h;
    }
  }
}

/// φ*H*x of all bodies for the columns x of a matrix of the user, and how their components change along u, in d.way.
template <class T>
void sweep_columns(StateData<T>& s, SensitivityData<T>& d, const T* numbers, std::size_t count) {
  const std::size_t n = place_of(s.nv());
  for (int k = 0; k < s.blocks.size(); ++k) {
    const int v = s.blocks.first(k);
    const int p = s.blocks.parent(k);
    const T* u = d.way.data() + v;
    const MapRates<T> map(s, k);
    Motion<T> W = Motion<T>::zero();  // of the hinge alone
    for (int j = 0; j < s.blocks.nv(k); ++j) {
      W += s.blocks.H(v + j) * u[j];
    }
    for (std::size_t c = 0; c < count; ++c) {
      Motion<T> x = Motion<T>::zero();
      Motion<T> change = Motion<T>::zero();
      if (p != world) {
        x = inverse_times(s.blocks.X_PB(k), d.column_motions[place_of(p) * count + c]);
        change = inverse_times(s.blocks.X_PB(k), d.column_changes[place_of(p) * count + c]) - cross(W, x);
      }
      for (int j = 0; j < s.blocks.nv(k); ++j) {
        const auto& follower = s.coordinates.velocities[place_of(v + j)];
        const T along = follower.ratio * numbers[c * n + place_of(follower.own)];
        x += s.blocks.H(v + j) * along;
        change += map.column(u, j) * along;
      }
      d.column_motions[place_of(k) * count + c] = x;
      d.column_changes[place_of(k) * count + c] = change;
    }
  }
}

/// Makes room for Λ and J̄ of nodes, and has them there.
template <class T>
void prepare_lambda(BasicState<T>& state, const NodeList& nodes) {
  StateData<T>& s = state.data();
  SensitivityData<T>& d = detail::sensitivities_of(s);
  const std::size_t m = 6 * nodes.size();
  d.square.resize(m * m);
  d.columns.resize(place_of(s.nv()) * m);
  d.column_motions.resize(m * s.model.bodies().size());
  d.column_changes.resize(m * s.model.bodies().size());
  lambda(state, nodes, std::span<T>(d.square));
  dynamically_consistent_inverse(state, nodes, std::span<T>(d.columns));
  s.blocks.need_positions();
}

/// δΛ along u, in d.way, after prepare_lambda. With X = J̄ = 𝓜⁻¹J*Λ, δΛ = X*(δ𝓜)X − Λ(δJ)X − its adjoint; since M does
/// not change in its body's frame, X*(δ𝓜)X is the sum over the bodies of δx*Mx and its adjoint for x = φ*H*X.
template <class T>
void write_lambda_change(StateData<T>& s, SensitivityData<T>& d, const NodeList& nodes, const MatrixSpan<T>& out) {
  const std::size_t m = 6 * nodes.size();
  sweep_columns(s, d, d.columns.data(), m);
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  out.set_zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    for (std::size_t c = 0; c < m; ++c) {
      const Force<T> f = s.blocks.M(k) * d.column_motions[place_of(k) * m + c];
      for (std::size_t r = 0; r < m; ++r) {
        out(at(r), at(c)) += dot(d.column_changes[place_of(k) * m + r], f);
      }
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Place place = nodes[i].place(s.model);
    for (std::size_t c = 0; c < m && place.body != world; ++c) {
      const Motion<T> change =
          inverse_times(kernels::cast<T>(place.X_BN), d.column_changes[place_of(place.body) * m + c]);
      for (std::size_t r = 0; r < m; ++r) {
        for (int e = 0; e < 6; ++e) {
          out(at(r), at(c)) -= d.square[(6 * i + place_of(e)) * m + r] * change[e];
        }
      }
    }
  }
  for (std::size_t c = 0; c < m; ++c) {
    for (std::size_t r = 0; r <= c; ++r) {
      out(at(r), at(c)) = out(at(c), at(r)) = out(at(r), at(c)) + out(at(c), at(r));
    }
  }
}

}  // namespace

// δ½V*MV = h·δV with δV = φ*(∇H*θ̇) − U × V: what meets ∇(H*θ̇) is the momentum φMV of the composite body.
template <class T>
void kinetic_energy_gradient(BasicState<T>& state, Out<T> by_q, Out<T> by_v) {
  StateData<T>& s = state.data();
  const std::span<T> dq = detail::wanted(by_q, s.nv(), "by_q");
  const std::span<T> dv = detail::wanted(by_v, s.nv(), "by_v");
  SensitivityData<T>& d = detail::sensitivities_of(s);
  s.blocks.need_velocities();
  d.by_motion.resize(s.force.size());
  for (int k = 0; k < s.blocks.size(); ++k) {
    s.force[place_of(k)] = s.blocks.M(k) * s.blocks.V(k);
    d.by_motion[place_of(k)] = -cross(s.blocks.V(k), s.force[place_of(k)]);
  }
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const Force<T>& h = s.force[place_of(k)];
    Force<T>& by_U = d.by_motion[place_of(k)];
    by_U += cross(s.blocks.relative(k), h);
    const int v = s.blocks.first(k);
    const MapRates<T> map(s, k);
    for (int j = 0; j < s.blocks.nv(k); ++j) {
      const auto at = place_of(v + j);
      s.full[at] = dot(s.blocks.H(v + j), by_U) + dot(map.along(j, s.v().data() + v), h);
      s.torques[at] = dot(s.blocks.H(v + j), h) + s.coordinates.armature[at] * s.v()[at];
    }
    if (const int p = s.blocks.parent(k); p != world) {
      s.force[place_of(p)] += s.blocks.X_PB(k) * h;
      d.by_motion[place_of(p)] += s.blocks.X_PB(k) * by_U;
    }
  }
  s.coordinates.gather(s.full, dq);
  s.coordinates.gather(s.torques, dv);
}

template <class T>
void potential_energy_gradient(BasicState<T>& state, Out<T> by_q) {
  StateData<T>& s = state.data();
  const std::span<T> dq = detail::wanted(by_q, s.nv(), "by_q");
  gravity_torques(state, dq);
  if (!s.has_passive) {
    return;
  }
  std::fill(s.full.begin(), s.full.end(), T(0));  // the springs' stretches
  kernels::for_each_dof(s.model, s.coordinates, s.q.data(),
                        [&](const HingeDof&, std::size_t j, double stretch) { s.full[j] = static_cast<T>(stretch); });
  detail::DerivativeData<T>::for_passive(s, [&](std::size_t i, std::size_t j, T by_stretch, T) {
    const auto& follower = s.coordinates.velocities[j];
    dq[place_of(follower.own)] += follower.ratio * by_stretch * s.full[i];
  });
}

template <class T>
void momentum_derivatives(BasicState<T>& state, MatrixOut<T> dq, MatrixOut<T> dv) {
  StateData<T>& s = state.data();
  const auto by_q = detail::wanted(dq, 6, s.nv(), "the derivative by q");
  const auto by_v = detail::wanted(dv, 6, s.nv(), "the derivative by v");
  write_momentum_changes(s, center_of_mass(state), true, by_q, by_v);
}

template <class T>
void spatial_momentum_derivatives(BasicState<T>& state, MatrixOut<T> dq, MatrixOut<T> dv) {
  StateData<T>& s = state.data();
  const auto by_q = detail::wanted(dq, 6, s.nv(), "the derivative by q");
  const auto by_v = detail::wanted(dv, 6, s.nv(), "the derivative by v");
  write_momentum_changes(s, Vec3<T>::zero(), false, by_q, by_v);
}

template <class T>
void lambda_along(BasicState<T>& state, const NodeList& nodes, In<T> direction, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const std::span<const T> u = detail::given(direction, s.nv(), "direction");
  const auto m = static_cast<std::ptrdiff_t>(6 * nodes.size());
  const auto out = detail::wanted(matrix, m, m, "Λ's derivative");
  prepare_lambda(state, nodes);
  SensitivityData<T>& d = detail::sensitivities_of(s);
  s.coordinates.spread(u, d.way);
  write_lambda_change(s, d, nodes, out);
}

template <class T>
void lambda_derivatives(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const auto m = static_cast<std::ptrdiff_t>(6 * nodes.size());
  const auto out = detail::wanted(matrix, m, m * s.nv(), "Λ's derivatives");
  prepare_lambda(state, nodes);
  SensitivityData<T>& d = detail::sensitivities_of(s);
  for (int j = 0; j < s.nv(); ++j) {
    for (std::size_t i = 0; i < d.way.size(); ++i) {
      const auto& follower = s.coordinates.velocities[i];
      d.way[i] = follower.own == j ? follower.ratio : T(0);
    }
    write_lambda_change(s, d, nodes, {out.data + j * m * out.stride, m, m, out.stride});
  }
}

template void kinetic_energy_gradient(BasicState<double>&, Out<double>, Out<double>);
template void potential_energy_gradient(BasicState<double>&, Out<double>);
template void momentum_derivatives(BasicState<double>&, MatrixOut<double>, MatrixOut<double>);
template void spatial_momentum_derivatives(BasicState<double>&, MatrixOut<double>, MatrixOut<double>);
template void lambda_along(BasicState<double>&, const NodeList&, In<double>, MatrixOut<double>);
template void lambda_derivatives(BasicState<double>&, const NodeList&, MatrixOut<double>);
template void kinetic_energy_gradient(BasicState<float>&, Out<float>, Out<float>);
template void potential_energy_gradient(BasicState<float>&, Out<float>);
template void momentum_derivatives(BasicState<float>&, MatrixOut<float>, MatrixOut<float>);
template void spatial_momentum_derivatives(BasicState<float>&, MatrixOut<float>, MatrixOut<float>);
template void lambda_along(BasicState<float>&, const NodeList&, In<float>, MatrixOut<float>);
template void lambda_derivatives(BasicState<float>&, const NodeList&, MatrixOut<float>);

}  // namespace bunraku
