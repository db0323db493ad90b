/// @file
/// Pinocchio's own way with many states, a pool of models and OpenMP's threads, behind a plain interface. Its calls
/// take columns of matrices, which are other types than the vectors of single calls: all of it is compiled anew, for
/// minutes, hence apart.
#pragma once

#include "pinocchio_peer.hpp"

namespace bench {

/// A pool of models and the states to compute at, as columns of matrices.
class PinocchioPool {
 public:
  PinocchioPool() = default;
  virtual ~PinocchioPool() = default;
  PinocchioPool(const PinocchioPool&) = delete;
  PinocchioPool& operator=(const PinocchioPool&) = delete;
  PinocchioPool(PinocchioPool&&) = delete;
  PinocchioPool& operator=(PinocchioPool&&) = delete;

  /// State i of those that the pool was made for.
  virtual void set_state(std::size_t i, std::span<const double> q, std::span<const double> v,
                         std::span<const double> acceleration, std::span<const double> torque) = 0;

  /// Inverse dynamics at all states.
  virtual void rnea() = 0;
  /// Forward dynamics at all states, in the world's convention: the pool has no other.
  virtual void aba() = 0;

  /// What rnea computed last for state i.
  virtual void get_torque(std::size_t i, std::span<double> out) const = 0;
  /// What aba computed last for state i.
  virtual void get_acceleration(std::size_t i, std::span<double> out) const = 0;
};

/// A pool for so many states and threads, compiled with the flags of this project; as make_peer_plain.
std::unique_ptr<PinocchioPool> make_pool_plain(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity,
                                               std::size_t states, int threads);
/// The same with -fno-tree-slp-vectorize besides.
std::unique_ptr<PinocchioPool> make_pool_without_slp(std::span<const PeerBody> bodies,
                                                     const std::array<double, 3>& gravity, std::size_t states,
                                                     int threads);

}  // namespace bench
