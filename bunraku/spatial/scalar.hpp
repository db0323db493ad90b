/// @file
/// Choices between numbers that hold for any scalar, be it one number or many side by side.
///
/// A comparison of plain numbers gives a bool, and of two formulas one is computed. A scalar of many numbers gives a
/// condition for each of them: it brings a function `select(condition, yes, no)` of its own, found beside its type, and
/// both formulas are computed. Where the one not wanted would divide by zero, its argument is to be replaced first, by
/// `select` too: what it gives is thrown away, but an exception of the processor would not be.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "bunraku/export.hpp"

namespace bunraku {

/// `yes` where the condition holds, else `no`.
template <class X>
BUNRAKU_INLINE constexpr X select(bool condition, const X& yes, const X& no) {
  return condition ? yes : no;
}
/// The same of several numbers, one by one.
template <class C, class S, std::size_t n>
  requires(!std::is_same_v<C, bool>)
BUNRAKU_INLINE constexpr std::array<S, n> select(const C& condition, const std::array<S, n>& yes,
                                                 const std::array<S, n>& no) {
  std::array<S, n> out{};
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = select(condition, yes[i], no[i]);
  }
  return out;
}

/// Whether a condition is a single one, on which a program can branch.
template <class C>
inline constexpr bool is_single = std::is_constructible_v<bool, C>;

/// What `yes()` gives where the condition holds, else what `no()` gives. One of them is called where the condition is a
/// single one, and both where it is many.
template <class C, class F, class G>
BUNRAKU_INLINE constexpr auto choose(const C& condition, const F& yes, const G& no) {
  if constexpr (is_single<C>) {
    if (static_cast<bool>(condition)) {
      return yes();
    }
    return no();
  } else {
    return select(condition, yes(), no());
  }
}

}  // namespace bunraku
