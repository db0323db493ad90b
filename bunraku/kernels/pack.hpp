/// @file
/// Numbers side by side in one register, as a scalar: Vec3<Pack<double, 4>> is four vectors, one a lane.
///
/// A pack belongs to a variant of the kernels, which is compiled for one kind of processor: BUNRAKU_VARIANT is an
/// inline namespace, named by the build for each of them. Whatever is a template on a pack then has another name in
/// each variant, and the linker cannot take code for one kind of processor for another's. A single number is a pack,
/// too, Pack<T, 1>, for that very reason.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "bunraku/export.hpp"

#ifndef BUNRAKU_VARIANT
#define BUNRAKU_VARIANT baseline
#endif

/// @def BUNRAKU_INLINE_LAMBDA
/// Stands behind the parameters of lambdas that are the inside of a loop, as BUNRAKU_INLINE before
/// functions.
#if defined(__GNUC__)
#define BUNRAKU_INLINE_LAMBDA __attribute__((always_inline))
#else
#define BUNRAKU_INLINE_LAMBDA
#endif

namespace bunraku::kernels {
inline namespace BUNRAKU_VARIANT {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
/// The register of W numbers, or the number itself.
template <class T, int W>
struct RegisterOf {
  using type [[gnu::vector_size(W * sizeof(T))]] = T;  ///< The register.
};
template <class T>
struct RegisterOf<T, 1> {
  using type = T;
};
/// The same anywhere in memory.
template <class T, int W>
struct LooseOf {
  using type [[gnu::vector_size(W * sizeof(T)), gnu::aligned(sizeof(T)), gnu::may_alias]] = T;  ///< The register.
};
template <class T>
struct LooseOf<T, 1> {
  using type = T;
};
#pragma GCC diagnostic pop

/// A whole number as wide as a T.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// Yes or no in each lane: all bits of it or none; of a single number a bool.
template <class T, int W>
struct Mask {
  using Register = std::conditional_t<W == 1, bool, typename RegisterOf<BitsOf<T>, W>::type>;  ///< The lanes.
  Register m{};                                                                                ///< The lanes.

  /// Of a single number.
  BUNRAKU_INLINE explicit operator bool() const
    requires(W == 1)
  {
    return m;
  }
  /// Whether lane i says yes.
  BUNRAKU_INLINE bool operator[](int i) const {
    if constexpr (W == 1) {
      return m;
    } else {
      return m[i] != 0;
    }
  }
  /// Both; the second word for it is that of bools, for what is written for any scalar.
  BUNRAKU_INLINE friend Mask operator&(const Mask& a, const Mask& b) { return {Register(a.m & b.m)}; }
  BUNRAKU_INLINE friend Mask operator&&(const Mask& a, const Mask& b) { return {Register(a.m & b.m)}; }
  /// Either.
  BUNRAKU_INLINE friend Mask operator|(const Mask& a, const Mask& b) { return {Register(a.m | b.m)}; }
  /// Not.
  BUNRAKU_INLINE friend Mask operator!(const Mask& a) {
    if constexpr (W == 1) {
      return {!a.m};
    } else {
      return {~a.m};
    }
  }
};

/// W numbers of type T, one a lane.
template <class T, int W>
struct Pack {
  using Register = typename RegisterOf<T, W>::type;  ///< The lanes.
  Register r{};                                      ///< The lanes.

  /// Zeros.
  constexpr Pack() = default;
  /// The register's lanes.
  BUNRAKU_INLINE constexpr Pack(const Register& x)  // NOLINT(google-explicit-constructor)
    requires(W > 1)
      : r(x) {}
  /// A single number in every lane.
  template <int V>
    requires(V == 1 && W > 1)
  BUNRAKU_INLINE constexpr Pack(const Pack<T, V>& x)  // NOLINT(google-explicit-constructor)
      : r(spread(x.r)) {}
  /// x in every lane: constants of any kind of number.
  template <class X>
    requires std::is_arithmetic_v<X>
  BUNRAKU_INLINE constexpr Pack(X x)  // NOLINT(google-explicit-constructor)
      : r(spread(static_cast<T>(x))) {}

  /// Number i.
  BUNRAKU_INLINE T operator[](int i) const {
    if constexpr (W == 1) {
      return r;
    } else {
      return r[i];
    }
  }
  /// Puts x in lane i.
  BUNRAKU_INLINE void set(int i, T x) {
    if constexpr (W == 1) {
      r = x;
    } else {
      r[i] = x;
    }
  }
  /// W numbers from anywhere.
  BUNRAKU_INLINE static Pack load(const T* from) {
    if constexpr (W == 1) {
      return Pack(*from);
    } else {
      return Pack(Register(*reinterpret_cast<const typename LooseOf<T, W>::type*>(from)));
    }
  }
  /// W numbers to anywhere.
  BUNRAKU_INLINE void store(T* to) const {
    if constexpr (W == 1) {
      *to = r;
    } else {
      *reinterpret_cast<typename LooseOf<T, W>::type*>(to) = r;
    }
  }
  /// x as the only number.
  BUNRAKU_INLINE explicit operator T() const
    requires(W == 1)
  {
    return r;
  }

  BUNRAKU_INLINE constexpr Pack& operator+=(const Pack& b) {
    r += b.r;
    return *this;
  }
  BUNRAKU_INLINE constexpr Pack& operator-=(const Pack& b) {
    r -= b.r;
    return *this;
  }
  BUNRAKU_INLINE constexpr Pack& operator*=(const Pack& b) {
    r *= b.r;
    return *this;
  }
  BUNRAKU_INLINE constexpr Pack& operator/=(const Pack& b) {
    r /= b.r;
    return *this;
  }

  BUNRAKU_INLINE friend constexpr Pack operator+(const Pack& a, const Pack& b) { return made(a.r + b.r); }
  BUNRAKU_INLINE friend constexpr Pack operator-(const Pack& a, const Pack& b) { return made(a.r - b.r); }
  BUNRAKU_INLINE friend constexpr Pack operator*(const Pack& a, const Pack& b) { return made(a.r * b.r); }
  BUNRAKU_INLINE friend constexpr Pack operator/(const Pack& a, const Pack& b) { return made(a.r / b.r); }
  BUNRAKU_INLINE friend constexpr Pack operator-(const Pack& a) { return made(-a.r); }

  BUNRAKU_INLINE friend constexpr Mask<T, W> operator<(const Pack& a, const Pack& b) { return {a.r < b.r}; }
  BUNRAKU_INLINE friend constexpr Mask<T, W> operator<=(const Pack& a, const Pack& b) { return {a.r <= b.r}; }
  BUNRAKU_INLINE friend constexpr Mask<T, W> operator>(const Pack& a, const Pack& b) { return {a.r > b.r}; }
  BUNRAKU_INLINE friend constexpr Mask<T, W> operator>=(const Pack& a, const Pack& b) { return {a.r >= b.r}; }
  BUNRAKU_INLINE friend constexpr Mask<T, W> operator==(const Pack& a, const Pack& b) { return {a.r == b.r}; }

 private:
  BUNRAKU_INLINE static constexpr Pack made(const Register& x) {
    Pack out;
    out.r = x;
    return out;
  }
  BUNRAKU_INLINE static constexpr Register spread(T x) {
    if constexpr (W == 1) {
      return x;
    } else {
      return x - Register{};  // not 0 + x, which is not x where that is −0
    }
  }
};

/// In each lane the first where the mask says yes, else the second.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> select(const Mask<T, W>& mask, const Pack<T, W>& yes, const Pack<T, W>& no) {
  Pack<T, W> out;
  out.r = mask.m ? yes.r : no.r;
  return out;
}
/// A bit for each lane that says yes.
template <class T, int W>
BUNRAKU_INLINE unsigned bits_of(const Mask<T, W>& mask) {
  if constexpr (W == 1) {
    return mask.m ? 1 : 0;
  } else {
#if defined(__x86_64__)
    using Register = typename RegisterOf<T, W>::type;
    constexpr bool is_double = sizeof(T) == 8;
    const auto numbers = __builtin_bit_cast(Register, mask.m);
    if constexpr (sizeof(Register) == 16) {
      return static_cast<unsigned>(
          is_double ? __builtin_ia32_movmskpd(__builtin_bit_cast(typename RegisterOf<double, 2>::type, numbers))
                    : __builtin_ia32_movmskps(__builtin_bit_cast(typename RegisterOf<float, 4>::type, numbers)));
    }
#if defined(__AVX__)
    if constexpr (sizeof(Register) == 32) {
      return static_cast<unsigned>(
          is_double ? __builtin_ia32_movmskpd256(__builtin_bit_cast(typename RegisterOf<double, 4>::type, numbers))
                    : __builtin_ia32_movmskps256(__builtin_bit_cast(typename RegisterOf<float, 8>::type, numbers)));
    }
#endif
#if defined(__AVX512DQ__)
    if constexpr (sizeof(Register) == 64 && is_double) {
      return __builtin_ia32_cvtq2mask512(__builtin_bit_cast(typename RegisterOf<long long, 8>::type, mask.m));
    } else if constexpr (sizeof(Register) == 64) {
      return __builtin_ia32_cvtd2mask512(__builtin_bit_cast(typename RegisterOf<int, 16>::type, mask.m));
    }
#endif
#endif
    unsigned out = 0;
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      out |= mask[i] ? 1U << i : 0U;
    }
    return out;
  }
}
/// Whether some lane says yes.
template <class T, int W>
BUNRAKU_INLINE bool any(const Mask<T, W>& mask) {
  return bits_of(mask) != 0;
}
/// Whether every lane says yes.
template <class T, int W>
BUNRAKU_INLINE bool all(const Mask<T, W>& mask) {
  return bits_of(mask) == (1U << W) - 1;
}

/// f of each number, lane by lane: where there is no instruction for all.
template <class T, int W, class F>
BUNRAKU_INLINE Pack<T, W> lane_by_lane(const Pack<T, W>& x, F&& f) {
  Pack<T, W> out;
  for (int i = 0; i < W; ++i) {
    out.set(i, f(x[i]));
  }
  return out;
}

/// √x.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> sqrt(const Pack<T, W>& x) {
  return lane_by_lane(x, [](T each) { return std::sqrt(each); });
}
/// |x|.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> abs(const Pack<T, W>& x) {
  using Bits = typename RegisterOf<BitsOf<T>, W>::type;
  Pack<T, W> out;  // all bits but the sign, so that −0 gives 0
  out.r = __builtin_bit_cast(typename Pack<T, W>::Register,
                             __builtin_bit_cast(Bits, x.r) & std::numeric_limits<BitsOf<T>>::max());
  return out;
}
/// The larger.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> max(const Pack<T, W>& a, const Pack<T, W>& b) {
  return select(a < b, b, a);
}
/// The smaller.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> min(const Pack<T, W>& a, const Pack<T, W>& b) {
  return select(b < a, b, a);
}
/// ln x.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> log(const Pack<T, W>& x) {
  return lane_by_lane(x, [](T each) { return std::log(each); });
}
/// The angle of (x, y).
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> atan2(const Pack<T, W>& y, const Pack<T, W>& x) {
  Pack<T, W> out;
  for (int i = 0; i < W; ++i) {
    out.set(i, std::atan2(y[i], x[i]));
  }
  return out;
}
/// x less whole multiples of y, the nearest.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> remainder(const Pack<T, W>& x, const Pack<T, W>& y) {
  Pack<T, W> out;
  for (int i = 0; i < W; ++i) {
    out.set(i, std::remainder(x[i], y[i]));
  }
  return out;
}

/// The bytes of a register in this variant.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif
/// A register full of numbers.
template <class T>
using Full = Pack<T, register_bytes / static_cast<int>(sizeof(T))>;

}  // namespace BUNRAKU_VARIANT

/// Throws Error: hinges that users define compute with double numbers, and a scalar is more than that.
[[noreturn]] BUNRAKU_API void refuse_custom();

/// What a scalar is made of: T and how many, in one interface for numbers and packs.
template <class S>
struct Lanes {
  using Number = S;                ///< Of a lane.
  static constexpr int count = 1;  ///< Lanes.
};
template <class T, int W>
struct Lanes<Pack<T, W>> {
  using Number = T;
  static constexpr int count = W;
};
/// The number in a lane of S.
template <class S>
using NumberOf = typename Lanes<S>::Number;
/// The number in a lane, in double precision, for what computes in that alone.
template <class S>
BUNRAKU_INLINE double plain_lane(const S& x, int lane) {
  if constexpr (std::is_floating_point_v<S>) {
    return x;
  } else if constexpr (requires { x[lane]; }) {
    return x[lane];
  } else {
    refuse_custom();
  }
}
/// Has x in a register from here on: GCC reads what several sums take from memory for each of them. Of other scalars
/// nothing.
template <class S>
BUNRAKU_INLINE void hold(S&) {}
template <class T, int W>
BUNRAKU_INLINE void hold(Pack<T, W>& x) {
#if defined(__GNUC__) && defined(__x86_64__)
  asm("" : "+v"(x.r));
#endif
}
/// Puts a number in a lane.
template <class S>
BUNRAKU_INLINE void set_lane(S& x, int lane, double number) {
  if constexpr (requires { x.set(lane, NumberOf<S>(number)); }) {
    x.set(lane, static_cast<NumberOf<S>>(number));
  } else {
    x = S(number);
  }
}
/// Whether S has several lanes.
template <class S>
inline constexpr bool is_wide = Lanes<S>::count > 1;

}  // namespace bunraku::kernels
