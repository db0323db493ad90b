/// @file
/// Pinocchio's constrained dynamics behind a plain interface; see pinocchio_peer.hpp for why.
#pragma once

#include "pinocchio_peer.hpp"

namespace bench {

/// A closure as Pinocchio has them: two frames that coincide, or the origins of two frames.
struct PeerClosure {
  bool whole = false;  ///< Whether the axes coincide as well: 6 equations in place of 3.
  int body_a = -1;     ///< −1: the world.
  int body_b = -1;
  PeerPose X_AN;  ///< The frame on body a.
  PeerPose X_BN;  ///< The frame on body b.
};

/// Pinocchio's two algorithms for loops.
enum class PeerSolver {
  constraint_dynamics,  ///< constraintDynamics: 𝓜 and a sparse Cholesky factorization with the constraints.
  lcaba,                ///< lcaba: articulated bodies with couplings between them.
};

/// Which of them, with the parameters of the proximal iteration.
struct PeerMethod {
  PeerSolver solver = PeerSolver::constraint_dynamics;
  double mu = 0;       ///< 0: no iteration, for independent constraints alone; not of lcaba.
  int iterations = 1;  ///< The most.
};

/// A model with closures, its working memory and states to compute at. Vectors go in and out in Bunraku's order.
class PinocchioClosed {
 public:
  PinocchioClosed() = default;
  virtual ~PinocchioClosed() = default;
  PinocchioClosed(const PinocchioClosed&) = delete;
  PinocchioClosed& operator=(const PinocchioClosed&) = delete;
  PinocchioClosed(PinocchioClosed&&) = delete;
  PinocchioClosed& operator=(PinocchioClosed&&) = delete;

  /// Such as "pinocchio 4.1.0".
  virtual std::string name() const = 0;
  /// Adds a state; they count from zero.
  virtual void add_state(std::span<const double> q, std::span<const double> v, std::span<const double> torque) = 0;
  /// Accelerations and constraint forces at state i. Returns the number of proximal iterations.
  virtual int forward(std::size_t i, const PeerMethod& method) = 0;
  /// What forward computed last by that solver.
  virtual void get_acceleration(PeerSolver solver, std::span<double> out) const = 0;
};

/// By a Pinocchio compiled with the flags of this project, in a shared library of its own.
std::unique_ptr<PinocchioClosed> make_closed_plain(std::span<const PeerBody> bodies,
                                                   std::span<const PeerClosure> closures,
                                                   const std::array<double, 3>& gravity);
/// The same with -fno-tree-slp-vectorize besides, as Bunraku's tuned sweeps have it.
std::unique_ptr<PinocchioClosed> make_closed_without_slp(std::span<const PeerBody> bodies,
                                                         std::span<const PeerClosure> closures,
                                                         const std::array<double, 3>& gravity);

}  // namespace bench
