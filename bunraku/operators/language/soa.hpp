/// @file
/// The papers' symbols as C++ names: `using namespace bunraku::soa`, then `inv(H*φ*M*~φ*~H)`.
#pragma once

#include "bunraku/operators/language/operator.hpp"

namespace bunraku {

/// A symbol as an operand. (C++ looks for operators on the user's types only where an operand is of class type.)
struct Letter {
  Symbol symbol;  ///< Which.
  /// The expression that it is.
  operator Operator() const { return {symbol}; }  // NOLINT(google-explicit-constructor)
};

/// The identity; its space follows from where it stands.
struct IdentityLetter {
  /// The expression that it is.
  operator Operator() const { return Operator::identity(); }  // NOLINT(google-explicit-constructor)
};

}  // namespace bunraku

/// The symbols of the spatial operator algebra, in ASCII and in the papers' letters. See symbol_table() for what each
/// means.
namespace bunraku::soa {

// NOLINTBEGIN(readability-identifier-naming): the papers' letters
inline constexpr IdentityLetter I{};  ///< The identity.

inline constexpr Letter E_phi{Symbol::E_phi};          ///< Shifts forces to the parent.
inline constexpr Letter E_φ{Symbol::E_phi};            ///< Shifts forces to the parent.
inline constexpr Letter phi{Symbol::phi};              ///< Gathers forces inward.
inline constexpr Letter φ{Symbol::phi};                ///< Gathers forces inward.
inline constexpr Letter phit{Symbol::phit};            ///< φ − I.
inline constexpr Letter φ̃{Symbol::phit};               ///< φ − I.
inline constexpr Letter H{Symbol::H};                  ///< Projects on the hinges.
inline constexpr Letter M{Symbol::M};                  ///< Spatial inertias.
inline constexpr Letter B{Symbol::B};                  ///< Forces at nodes to bodies.
inline constexpr Letter R{Symbol::R};                  ///< Composite inertias.
inline constexpr Letter P{Symbol::P};                  ///< Articulated inertias.
inline constexpr Letter D{Symbol::D};                  ///< H P H* + 𝒜.
inline constexpr Letter G{Symbol::G};                  ///< Kalman gain.
inline constexpr Letter K{Symbol::K};                  ///< Shifted gain.
inline constexpr Letter tau{Symbol::tau};              ///< G H.
inline constexpr Letter τ{Symbol::tau};                ///< G H.
inline constexpr Letter taub{Symbol::taub};            ///< I − G H.
inline constexpr Letter τ̄{Symbol::taub};               ///< I − G H.
inline constexpr Letter E_psi{Symbol::E_psi};          ///< Shifts through free hinges.
inline constexpr Letter E_ψ{Symbol::E_psi};            ///< Shifts through free hinges.
inline constexpr Letter psi{Symbol::psi};              ///< Gathers through free hinges.
inline constexpr Letter ψ{Symbol::psi};                ///< Gathers through free hinges.
inline constexpr Letter psit{Symbol::psit};            ///< ψ − I.
inline constexpr Letter ψ̃{Symbol::psit};               ///< ψ − I.
inline constexpr Letter Upsilon{Symbol::Upsilon};      ///< The diagonal of Ω.
inline constexpr Letter Υ{Symbol::Upsilon};            ///< The diagonal of Ω.
inline constexpr Letter Omega{Symbol::Omega};          ///< ψ* H* D⁻¹ H ψ.
inline constexpr Letter Ω{Symbol::Omega};              ///< ψ* H* D⁻¹ H ψ.
inline constexpr Letter S{Symbol::S};                  ///< Plain shift to the parent.
inline constexpr Letter 𝕊{Symbol::S};                  ///< Plain shift to the parent.
inline constexpr Letter Delta_phi{Symbol::Delta_phi};  ///< φ(p,k) on the diagonal.
inline constexpr Letter Δ_φ{Symbol::Delta_phi};        ///< φ(p,k) on the diagonal.
inline constexpr Letter armature{Symbol::armature};    ///< Rotor inertias.
inline constexpr Letter 𝒜{Symbol::armature};           ///< Rotor inertias.
inline constexpr Letter V{Symbol::V};                  ///< Velocities of the bodies.
inline constexpr Letter alpha{Symbol::alpha};          ///< Accelerations of the bodies.
inline constexpr Letter α{Symbol::alpha};              ///< Accelerations of the bodies.
inline constexpr Letter a{Symbol::a};                  ///< Bias accelerations.
inline constexpr Letter b{Symbol::b};                  ///< Gyroscopic forces.
inline constexpr Letter f{Symbol::f};                  ///< Forces through the hinges.
inline constexpr Letter T{Symbol::T};                  ///< Hinge forces.
inline constexpr Letter thetad{Symbol::thetad};        ///< Hinge velocities.
inline constexpr Letter θ̇{Symbol::thetad};             ///< Hinge velocities.
inline constexpr Letter thetadd{Symbol::thetadd};      ///< Hinge accelerations.
inline constexpr Letter θ̈{Symbol::thetadd};            ///< Hinge accelerations.
inline constexpr Letter T_p{Symbol::T_p};              ///< The hinges' own forces: damping, friction, springs.
inline constexpr Letter ang{Symbol::ang};              ///< Angular part.
inline constexpr Letter stiffness{Symbol::stiffness};  ///< Springs of the hinges.
inline constexpr Letter 𝒦{Symbol::stiffness};          ///< Springs of the hinges.
inline constexpr Letter a_g{Symbol::a_g};              ///< Gravity's part of a.
inline constexpr Letter A{Symbol::A};                  ///< Rows of the closures, of their nodes' velocities.
inline constexpr Letter A_h{Symbol::A_h};              ///< Rows of the closures, of hinge velocities.
inline constexpr Letter U{Symbol::U};                  ///< What closures ask of accelerations.
inline constexpr Letter a_n{Symbol::a_n};              ///< Bias accelerations of the nodes.
inline constexpr Letter M_C{Symbol::M_C};              ///< In place of 𝓜⁻¹ where loops are closed.
// NOLINTEND(readability-identifier-naming)

}  // namespace bunraku::soa
