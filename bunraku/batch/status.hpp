/// @file
/// How the states of a batch fared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/export.hpp"

namespace bunraku {

/// How one state of a batch fared. The outputs of a state that is not `ok` are NaN, all of them.
enum class StateStatus : std::uint8_t {
  ok,              ///< Computed.
  not_finite,      ///< A number of its q, v, … or of its parameters is not finite.
  not_normalized,  ///< A quaternion of its q is not of unit norm, as BasicState::set asks for.
  singular,        ///< A hinge moves nothing that has mass, where 𝓜 must be inverted.
  refused,         ///< A hinge that the user defines threw, or led beyond the range of numbers.
};

/// Such as "not finite".
BUNRAKU_API std::string_view to_string(StateStatus status);

/// How all states of a call fared.
class BUNRAKU_API BatchReport {
 public:
  /// Whether every state was computed.
  bool ok() const { return failed_ == 0; }
  /// How many states were not.
  std::ptrdiff_t failed() const { return failed_; }
  /// The first of them, or −1.
  std::ptrdiff_t first_failed() const { return first_failed_; }
  /// Of state i. States that a call by index did not run are `ok`.
  StateStatus operator[](std::ptrdiff_t i) const { return status_[static_cast<std::size_t>(i)]; }
  /// All of them.
  const std::vector<StateStatus>& states() const { return status_; }
  /// Throws Error saying what is wrong with the first state that was not computed, and how many there are; returns this
  /// where there is none: `batch.forward_dynamics(q, v, tau, a).or_throw()`.
  const BatchReport& or_throw() const;

  /// For the library's own sources: begins anew with so many states.
  void begin(std::ptrdiff_t states);
  /// For the library's own sources: a state that was not computed, and why.
  void add(std::ptrdiff_t state, StateStatus status, std::string reason);

 private:
  std::vector<StateStatus> status_;
  std::ptrdiff_t failed_ = 0;
  std::ptrdiff_t first_failed_ = -1;
  std::string reason_;
};

}  // namespace bunraku
