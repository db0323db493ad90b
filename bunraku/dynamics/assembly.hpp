/// @file
/// Configurations that close all loops.
#pragma once

#include "bunraku/dynamics/closed_system.hpp"

namespace bunraku {

/// How a configuration is looked for.
struct AssemblyOptions {
  int steps = 100;           ///< At most so many from one guess.
  int guesses = 20;          ///< At most so many, the first from where the system is, the others at random about it.
  double tolerance = 1e-12;  ///< Closed where no row is open by more, m and rad; `float`: 1e-5 at least.
  bool limits = true;        ///< Whether hinges must stay within their limits.
  unsigned seed = 1;         ///< Of the random guesses.
};

/// What came of it.
struct AssemblyResult {
  bool closed = false;  ///< Whether all loops are.
  double residual = 0;  ///< The largest gap left, m or rad.
  int steps = 0;        ///< Of the guess that was taken.
  int guesses = 0;      ///< That were tried.
  std::string worst;    ///< The closure with the largest gap.
  std::string limited;  ///< Hinges that stand at a limit, separated by commas, where that is in the way.
};

/// What to do with a state that does not satisfy the closures.
enum class OffClosures {
  refuse,    ///< Throw Error with the closure and how far it is off.
  project,   ///< Make velocities fit; refuse positions.
  assemble,  ///< Close the loops near the positions, and make velocities fit there.
  keep,      ///< Take it as it is.
};

/// Moves the system to a configuration that closes all loops, near where it is: Gauss–Newton on the manifold with
/// truncated least squares, q ← q ⊕ (−Y⁺ gap). Where there is none near, from other guesses. Velocities become zero.
/// The system is left at the best that was found; its residual tells. O((N + m d + m² 𝒩) steps). Throws nothing but
/// what states do.
template <class T>
BUNRAKU_API AssemblyResult assemble(BasicClosedSystem<T>& system, const AssemblyOptions& options = {});

/// Sees to it that the state satisfies the closures, in the way that is asked for. Positions may be off by `tolerance`,
/// m and rad, velocities by that much of the largest. Throws Error, naming the closure, where that cannot be.
template <class T>
BUNRAKU_API void settle(BasicClosedSystem<T>& system, OffClosures how, double tolerance = 1e-6);

}  // namespace bunraku
