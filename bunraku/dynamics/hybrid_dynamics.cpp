// Some hinges move as prescribed, the rest is free. In the sweeps a prescribed hinge is not eliminated, as if it were
// locked: nothing of P is taken out there, and its acceleration counts as bias.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"

namespace bunraku {

namespace {

/// What the message about a hinge without inertia says besides.
constexpr std::string_view is_free = "is free and ";

/// Throws ArgumentError where a given number is not finite.
template <class T>
void check_given(const Model& model, const HingeSet& prescribed, std::span<const T> acceleration,
                 std::span<const T> torque) {
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    const std::span<const T> given = prescribed.contains(k) ? acceleration : torque;
    for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
      if (const T x = given[static_cast<std::size_t>(j)]; !std::isfinite(x)) {
        throw ArgumentError(fmt::format("{}[{}], of hinge '{}', is {}, not a finite number",
                                        prescribed.contains(k) ? "acceleration" : "torque", j, body.hinge.name, x));
      }
    }
  }
}

/// The sweeps with a mask, over arrays that the caller lends: one entry a body, or one number a velocity.
template <class T>
struct MaskedSweeps {
  kernels::Blocks<T>& blocks;
  const HingeSet& prescribed;
  std::span<ArticulatedInertia<T>> P;  ///< M before, then with what hangs on the body.
  std::span<Force<T>> z;               ///< b − applied forces before, then with what hangs on the body.
  std::span<Force<T>> U;               ///< The factors of the free hinges, in their places among all …
  std::span<T> L;                      ///< … likewise.
  std::span<const T> passive;          ///< The hinges' own forces.
  std::span<T> innovation;             ///< ε of the free hinges.
  std::span<Motion<T>> alpha;          ///< α, gravity as the world's pseudo-acceleration.
  std::span<T> acceleration;           ///< As hybrid() has them.
  std::span<T> torque;

  static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }
  T* l_block(int k) const { return L.data() + (blocks.D(k) - blocks.D(0)); }
  kernels::HingeFactors<T> factors(int k) const { return {blocks.nv(k), U.data() + blocks.first(k), l_block(k)}; }

  /// Inward (RK92 34–36, 70, with the mask), z being the forces while the parent does not accelerate:
  ///   prescribed: P⁺ = P,         z⁺ = z + P(a + H*θ̈);
  ///   free:       P⁺ = P − GDG*,  z⁺ = z + Pa + Gε,  ε = T − H(z + Pa);
  ///   P(p) = M(p) + Σ φP⁺φ*,      z(p) = b(p) − forces + Σ φz⁺.
  void inward(int k) {
    ArticulatedInertia<T> rest = P[at(k)];
    Force<T> left = z[at(k)] + P[at(k)] * blocks.a(k);
    if (prescribed.contains(k)) {
      const auto rate = kernels::hinge_part<T>(blocks, k, acceleration.data());
      left += P[at(k)] * kernels::h_adjoint_times(blocks, k, rate);
    } else {
      blocks.eliminate(k, U.data() + blocks.first(k), l_block(k), nullptr, rest, is_free);
      const auto e = kernels::hinge_part<T>(blocks, k, torque.data()) -
                     kernels::hinge_part<T>(blocks, k, passive.data()) - kernels::h_times(blocks, k, left);
      kernels::set_hinge_part(blocks, k, e, innovation.data());
      left += factors(k).gain_times(e);
    }
    if (const int p = blocks.parent(k); p != world) {
      P[at(p)] += blocks.X_PB(k) * rest;
      z[at(p)] += kernels::phi_times(blocks, k, left);
    }
  }
  /// Outward (RK92 72–73, with the mask): θ̈ = D⁻¹(ε − HPφ*α(p)) where free, T = H(Pα + z) + armature·θ̈ + the hinge's
  /// own forces where prescribed.
  void outward(int k, const Motion<T>& base) {
    const int p = blocks.parent(k);
    const Motion<T> inner = kernels::phi_adjoint_times(blocks, k, p == world ? base : alpha[at(p)]);
    if (!prescribed.contains(k)) {
      const auto left =
          kernels::hinge_part<T>(blocks, k, innovation.data()) - kernels::h_times(blocks, k, P[at(k)] * inner);
      kernels::set_hinge_part(blocks, k, factors(k).d_inverse_times(left), acceleration.data());
    }
    const auto rate = kernels::hinge_part<T>(blocks, k, acceleration.data());
    alpha[at(k)] = inner + kernels::h_adjoint_times(blocks, k, rate) + blocks.a(k);
    if (prescribed.contains(k)) {
      auto needed = kernels::h_times(blocks, k, P[at(k)] * alpha[at(k)] + z[at(k)]) +
                    kernels::hinge_part<T>(blocks, k, passive.data());
      for (int j = 0; j < blocks.nv(k); ++j) {
        needed[j] += blocks.armature(blocks.first(k) + j) * rate[j];
      }
      kernels::set_hinge_part(blocks, k, needed, torque.data());
    }
  }
};

}  // namespace

template <class T>
void hybrid_dynamics(BasicState<T>& state, const HingeSet& prescribed, Out<T> accelerations, Out<T> torques,
                     std::type_identity_t<Forces<T>> forces) {
  detail::StateData<T>& s = state.data();
  if (const std::size_t bodies = prescribed.model().bodies().size(); bodies != s.model.bodies().size()) {
    throw ArgumentError(
        fmt::format("the set of prescribed hinges is of model '{}' with {} bodies, the state's '{}' has {}",
                    prescribed.model().name(), bodies, s.model.name(), s.blocks.size()));
  }
  const std::span<T> acceleration = detail::wanted(accelerations, s.nv(), "acceleration");
  const std::span<T> torque = detail::wanted(torques, s.nv(), "torque");
  check_given<T>(s.model, prescribed, acceleration, torque);
  s.check_forces(forces);
  if (s.has_mimics()) {
    s.hybrid_by_matrix(prescribed, acceleration, torque, forces);
  } else {
    s.hybrid_by_sweeps(prescribed, acceleration, torque, forces);
  }
}

/// With 𝓜 and 𝓒 split into free (f) and prescribed (p) coordinates: 𝓜_ff θ̈_f = T_f − 𝓒_f − 𝓜_fp θ̈_p.
template <class T>
void detail::StateData<T>::hybrid_by_matrix(const HingeSet& prescribed, std::span<T> acceleration, std::span<T> torque,
                                            Forces<T> forces) {
  std::fill(full.begin(), full.end(), T(0));  // θ̈ in the coordinates of all hinges, the free ones still zero
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
      if (!prescribed.contains(k)) {
        acceleration[static_cast<std::size_t>(j)] = T(0);
      }
    }
  }
  coordinates.spread(acceleration, full);
  sweeps.inverse(v.data(), full.data(), torques.data());
  add_passive(torques);
  coordinates.gather(torques, unit);
  subtract_applied(forces, unit);  // 𝓜_·p θ̈_p + 𝓒
  fold_mass();
  free_mass = reduced_mass;
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (prescribed.contains(k)) {  // its own equation says that nothing is added to what is given
        free_mass.row(j).setZero();
        free_mass.col(j).setZero();
        free_mass(j, j) = T(1);
        torque[at] = unit[at];
        unit[at] = T(0);
      } else {
        unit[at] = torque[at] - unit[at];
      }
    }
  }
  if (const int pivot = kernels::factor_in_place(free_mass); pivot >= 0) {
    throw kernels::massless(owner(pivot).hinge, is_free);
  }
  kernels::solve_factored(free_mass, unit.data());
  const Eigen::Map<const Vector> x(unit.data(), nv());
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (prescribed.contains(k)) {  // T_p = 𝓒_p + 𝓜_pp θ̈_p + 𝓜_pf θ̈_f
        torque[at] += reduced_mass.row(j).dot(x);
      } else {
        acceleration[at] = unit[at];
      }
    }
  }
}

template <class T>
void detail::StateData<T>::hybrid_by_sweeps(const HingeSet& prescribed, std::span<T> acceleration, std::span<T> torque,
                                            Forces<T> forces) {
  blocks.need_world();
  blocks.need_velocities();
  std::fill(torques.begin(), torques.end(), T(0));
  add_passive(torques);
  for (int k = 0; k < blocks.size(); ++k) {
    free_P[static_cast<std::size_t>(k)] = ArticulatedInertia<T>::from_rigid(blocks.M(k));
    force[static_cast<std::size_t>(k)] = blocks.b(k);
  }
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body != world) {
      force[static_cast<std::size_t>(applied.body)] -= at_body(applied);
    }
  }
  MaskedSweeps<T> masked{blocks,  prescribed, free_P, force,        free_U, free_L,
                         torques, full,       motion, acceleration, torque};
  for (int k = blocks.size() - 1; k >= 0; --k) {
    masked.inward(k);
  }
  const Motion<T> base{Vec3<T>::zero(), -gravity()};
  for (int k = 0; k < blocks.size(); ++k) {
    masked.outward(k, base);
  }
}

template void hybrid_dynamics(BasicState<double>&, const HingeSet&, Out<double>, Out<double>, Forces<double>);
template void detail::StateData<double>::hybrid_by_matrix(const HingeSet&, std::span<double>, std::span<double>,
                                                          Forces<double>);
template void detail::StateData<double>::hybrid_by_sweeps(const HingeSet&, std::span<double>, std::span<double>,
                                                          Forces<double>);
template void hybrid_dynamics(BasicState<float>&, const HingeSet&, Out<float>, Out<float>, Forces<float>);
template void detail::StateData<float>::hybrid_by_matrix(const HingeSet&, std::span<float>, std::span<float>,
                                                         Forces<float>);
template void detail::StateData<float>::hybrid_by_sweeps(const HingeSet&, std::span<float>, std::span<float>,
                                                         Forces<float>);

}  // namespace bunraku
