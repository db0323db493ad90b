/// @file
/// What derivatives of the dynamics keep in a state.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/model/detail/hinge_derivatives.hpp"

namespace bunraku::detail {

/// Scratch, and what of the derivatives is not in the tuned sweeps: forces from outside, the hinges' own, mimics.
/// "Full" is over the coordinates of all hinges; matrices are column by column.
template <class T>
struct DerivativeData {
  /// Forces from outside on a body, or on a composite body, about its origin in its axes.
  struct Load {
    Force<T> all = Force<T>::zero();                     ///< All of them.
    Force<T> in_world = Force<T>::zero();                ///< Those that the world holds.
    kernels::InertiaRate<T> held{Mat3<T>{}, Vec3<T>{}};  ///< S ↦ what of S × f those at nodes in the world's axes lack.
  };
  /// What generic sweeps need of a body, at its origin in its axes: those of product_sweeps.hpp, and of
  /// directional_derivatives.cpp, where forces are those from outside alone.
  struct BodyRates {
    Motion<T> A;              ///< Rate of V's components, gravity included.
    Motion<T> relative_rate;  ///< H*θ̈ + Ḣ*θ̇.
    Force<T> momentum;        ///< MV.
    Force<T> f;               ///< MA + V × MV less forces from outside, of the body alone.
    Force<T> total;           ///< The same of the composite body.
    Motion<T> U;              ///< φ*H* of the direction, or of the weights.
    Force<T> df;              ///< ∇f.
    Force<T> by_A;            ///< What meets ∇A.
    Force<T> by_V;            ///< What meets ∇V.
    Force<T> by_U;            ///< What meets U.
  };

  /// O(n²) memory.
  explicit DerivativeData(const StateData<T>& s);

  /// Calls f(i, j, ∂/∂q, ∂/∂θ̇) for elements of the full derivatives of −T_p.
  template <class F>
  static void for_passive(const StateData<T>& s, F&& f);
  /// Adds the derivatives of −T_p to full ∂T/∂q and ∂T/∂θ̇.
  static void add_passive(const StateData<T>& s, const kernels::Slopes<T>& to);
  /// Takes forces from outside, by bodies.
  void set_loads(StateData<T>& s, Forces<T> forces);
  /// Those on body k alone, after set_loads().
  const Load& load(int k) const { return loads_[static_cast<std::size_t>(k)]; }
  /// Adds the derivative of −J*f to a full ∂T/∂q. O(N d).
  void add_applied(StateData<T>& s, Forces<T> forces, const kernels::Slopes<T>& to);
  /// S*XS of a full matrix, its elements placed like slopes.
  static void fold(const StateData<T>& s, const T* full, const kernels::Slopes<T>& places, const MatrixSpan<T>& out);
  /// Makes room for products with vectors.
  void make_bodies(const StateData<T>& s);

  std::vector<T> acceleration;            ///< The user's.
  std::vector<T> change;                  ///< The user's: of torques.
  std::array<std::vector<T>, 3> full;     ///< Full matrices.
  std::array<std::vector<T>, 2> users;    ///< With mimics: the user's ∂T/∂q and ∂T/∂θ̇.
  std::array<std::vector<T>, 3> results;  ///< Likewise, from the first time that a block of another is written to.
  std::array<std::vector<T>, 4> vectors;  ///< Full vectors, from the first product on.
  std::vector<BodyRates> bodies;          ///< From the first generic sweep on.

 private:
  std::vector<Load> loads_;
};

/// That of a state.
template <class T>
DerivativeData<T>& derivatives_of(StateData<T>& state);

template <class T>
template <class F>
void DerivativeData<T>::for_passive(const StateData<T>& s, F&& f) {
  if (!s.has_passive) {
    return;
  }
  std::array<double, max_hinge_positions> position{};
  std::array<double, std::size_t{max_hinge_velocities} * max_hinge_velocities> block{};
  for (std::size_t k = 0; k < s.coordinates.slots.size(); ++k) {
    const Hinge& hinge = s.model.bodies()[k].hinge;
    const kernels::HingeSlot& slot = s.coordinates.slots[k];
    const auto first = static_cast<std::size_t>(slot.v);
    const auto nv = static_cast<std::size_t>(slot.nv);
    const bool sprung =
        std::any_of(hinge.dofs.begin(), hinge.dofs.end(), [](const HingeDof& dof) { return dof.stiffness != 0; });
    if (has_plain_coordinates(hinge.type)) {  // each with its own spring
      for (std::size_t i = 0; i < nv; ++i) {
        f(first + i, first + i, static_cast<T>(hinge.dofs[i].stiffness), static_cast<T>(hinge.dofs[i].damping));
      }
      continue;
    }
    if (sprung) {
      std::copy_n(s.q.begin() + slot.q, slot.nq, position.begin());
      hinge_difference_dq1(hinge, hinge.rest.data(), position.data(), block.data());
    }
    for (std::size_t i = 0; i < nv; ++i) {
      for (std::size_t j = 0; j < nv; ++j) {
        if (sprung || i == j) {
          f(first + i, first + j, static_cast<T>(sprung ? hinge.dofs[i].stiffness * block[i * nv + j] : 0.0),
            static_cast<T>(i == j ? hinge.dofs[i].damping : 0.0));
        }
      }
    }
  }
}

}  // namespace bunraku::detail
