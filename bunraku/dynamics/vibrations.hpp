/// @file
/// How a system swings about where it rests: frequencies, damping and shapes of all of it, flexible bodies included.
#pragma once

#include <vector>

#include "bunraku/dynamics/closed_system.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// A motion of small size in which all coordinates swing together: δ = shape · Re(c exp(λt)).
struct Vibration {
  /// √(x*Kx)/2π for the shape x, Hz: that of the system without damping. Below zero where K has x*Kx < 0 and the system
  /// falls over along x, in place of swinging: −√(−x*Kx)/2π.
  double frequency = 0;
  /// x*Dx/(2·2π·frequency): exact where damping does not couple the shapes. Zero where the frequency is not above it.
  double damping = 0;
  /// x, in tangent coordinates, with x*𝓜x = 1; its largest number is positive.
  std::vector<double> shape = {};
};

/// The vibrations of 𝓜δ̈ + Dδ̇ + Kδ = 0 about the state's configuration at rest, the slowest first, nv of them: with
/// K = ∂T/∂q and D = ∂T/∂θ̇ of the inverse dynamics at θ̇ = θ̈ = 0, springs, damping and gravity included. Where the
/// system does not rest there by itself it is held there by constant torques. The velocities of the state do not count.
/// Of K the symmetric part is taken, which is all of it where no torque holds a hinge whose coordinates are not plain.
/// Loops are cut open. The slower half comes from 𝓜x = ω⁻²Kx where K > 0, since Kx = ω²𝓜x has its rounding errors in
/// the fastest. O(n³). Throws SingularError where a hinge moves nothing that has mass.
BUNRAKU_API std::vector<Vibration> vibrations(State& state);

/// The same with all closures holding, as many as there are degrees of freedom: shapes are stacked over the members and
/// fit the closures. Throws as closed_forward_dynamics_derivatives().
BUNRAKU_API std::vector<Vibration> vibrations(ClosedSystem& system);

}  // namespace bunraku
