/// @file
/// How quantities are computed at many states at once: generic functions for the table of quantities. What batches do
/// not have is missing here.
#pragma once

#include "quantities.hpp"

namespace bunraku::cli::at_states {

inline constexpr auto poses = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.poses(s.q(), out);
};
inline constexpr auto pose = [](auto& batch, const auto& s, const Request& request,
                                const auto& out) -> const BatchReport& {
  return batch.pose(s.q(), request.nodes.front(), out);
};
inline constexpr auto velocities = [](auto& batch, const auto& s, const Request&,
                                      const auto& out) -> const BatchReport& {
  return batch.velocities(s.q(), s.v(), out);
};
inline constexpr auto com = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.center_of_mass(s.q(), out);
};
inline constexpr auto id = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.inverse_dynamics(s.q(), s.v(), s.a(), out);
};
inline constexpr auto fd = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.forward_dynamics(s.q(), s.v(), s.tau(), out);
};
inline constexpr auto bias = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.bias(s.q(), s.v(), out);
};
inline constexpr auto gravity = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.gravity_torques(s.q(), out);
};
inline constexpr auto mass = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.mass_matrix(s.q(), out);
};
inline constexpr auto inverse_mass = [](auto& batch, const auto& s, const Request&,
                                        const auto& out) -> const BatchReport& {
  return batch.inverse_mass_matrix(s.q(), out);
};
inline constexpr auto energy = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.energy(s.q(), s.v(), out);
};
inline constexpr auto momentum = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.momentum(s.q(), s.v(), out);
};
inline constexpr auto log_det = [](auto& batch, const auto& s, const Request&, const auto& out) -> const BatchReport& {
  return batch.log_det_mass(s.q(), out);
};
inline constexpr auto jacobian = [](auto& batch, const auto& s, const Request& request,
                                    const auto& out) -> const BatchReport& {
  return batch.jacobian(s.q(), request.nodes.front(), request.frame, out);
};

}  // namespace bunraku::cli::at_states
