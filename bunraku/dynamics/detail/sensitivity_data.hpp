/// @file
/// What sensitivities keep in a state.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku::detail {

template <class T>
struct SecondOrder;

/// Scratch.
template <class T>
struct SensitivityData {
  /// O(N) memory; the rest comes with what needs it.
  explicit SensitivityData(const StateData<T>& s)
      : motion(s.model.bodies().size()), carried(s.model.bodies().size()), way(s.full.size()) {}

  std::vector<Motion<T>> motion;           ///< φ*H*u, one a body.
  std::vector<std::uint8_t> carried;       ///< Whether a body moves along u.
  std::vector<T> way;                      ///< u, full.
  std::vector<Force<T>> by_motion;         ///< What meets a body's motion, one a body.
  std::vector<T> square;                   ///< Scratch of a matrix.
  std::vector<T> columns;                  ///< Likewise.
  std::vector<Motion<T>> column_motions;   ///< φ*H* of columns, body by body …
  std::vector<Motion<T>> column_changes;   ///< … and how their components change along u.
  std::shared_ptr<SecondOrder<T>> second;  ///< Of second derivatives.
};

/// That of a state.
template <class T>
SensitivityData<T>& sensitivities_of(StateData<T>& state) {
  if (state.sensitivities == nullptr) {
    state.sensitivities = std::make_shared<SensitivityData<T>>(state);
  }
  return *state.sensitivities;
}

}  // namespace bunraku::detail
