/// @file
/// What a Program holds, and what it keeps in a state.
#pragma once

#include <memory>

#include "bunraku/dynamics/program.hpp"
#include "bunraku/operators/program/detail/layout.hpp"

namespace bunraku::detail {

/// What is the same for all states and threads.
struct ProgramData {
  Model model;
  std::shared_ptr<const operators::EvaluatorLayout> layout{};
  bool passive = false;  ///< Whether T_p occurs.

  const operators::Plan& plan() const { return *layout->plan; }
  /// Whether it is a stacked vector, which is applied to no vector.
  bool is_stacked() const { return plan().input == operators::no_value; }
};

/// Takes room in a state for a program, unless it has some: apply() then allocates nothing for it.
template <class T>
void make_room(BasicState<T>& state, const std::shared_ptr<const ProgramData>& program);

}  // namespace bunraku::detail
