/// @file
/// Pinocchio's derivatives of the dynamics behind a plain interface; see pinocchio_peer.hpp for why.
#pragma once

#include "pinocchio_peer.hpp"

namespace bench {

/// A model, its working memory and states to compute at. Vectors and matrices go in and out in Bunraku's order of
/// coordinates, matrices column by column; nothing is turned in what is timed.
class PinocchioDerivatives {
 public:
  PinocchioDerivatives() = default;
  virtual ~PinocchioDerivatives() = default;
  PinocchioDerivatives(const PinocchioDerivatives&) = delete;
  PinocchioDerivatives& operator=(const PinocchioDerivatives&) = delete;
  PinocchioDerivatives(PinocchioDerivatives&&) = delete;
  PinocchioDerivatives& operator=(PinocchioDerivatives&&) = delete;

  /// Such as "pinocchio 4.1.0".
  virtual std::string name() const = 0;
  /// Adds a state; they count from zero.
  virtual void add_state(std::span<const double> q, std::span<const double> v, std::span<const double> acceleration,
                         std::span<const double> torque) = 0;
  /// computeRNEADerivatives at state i.
  virtual void inverse(std::size_t i) = 0;
  /// computeABADerivatives at state i.
  virtual void forward(std::size_t i) = 0;
  /// What inverse computed last: by q, by v, by a, one after the other.
  virtual void get_inverse(std::span<double> out) const = 0;
  /// What forward computed last: by q, by v, by torques, one after the other.
  virtual void get_forward(std::span<double> out) const = 0;
};

/// By a Pinocchio compiled with the flags of this project, in a shared library of its own.
std::unique_ptr<PinocchioDerivatives> make_derivatives_plain(std::span<const PeerBody> bodies,
                                                             const std::array<double, 3>& gravity);
/// The same with -fno-tree-slp-vectorize besides, as Bunraku's tuned sweeps have it.
std::unique_ptr<PinocchioDerivatives> make_derivatives_without_slp(std::span<const PeerBody> bodies,
                                                                   const std::array<double, 3>& gravity);

}  // namespace bench
