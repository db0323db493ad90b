/// @file
/// Sine and cosine together, many at a time, without a branch on the angle but for huge ones.
#pragma once

#include <cmath>
#include <cstddef>

#include "bunraku/kernels/pack.hpp"

namespace bunraku::kernels {

/// Constants of sincos in scalar T: π/2 in parts whose products with small whole numbers are exact, minimax polynomials
/// in u = x² on |x| ≤ π/4 with sin x ≈ x + x u S(u), cos x ≈ 1 − u/2 + u² C(u), and the number whose last place is 1.
template <class T>
struct SincosConstants;

/// Errors of the polynomials: 3e-18 and 5e-20.
template <>
struct SincosConstants<double> {
  static constexpr double half_pi[3] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};  ///< 33 + 33 bits.
  static constexpr double sine[6] = {-0.16666666666666632,   0.008333333333322418,    -0.00019841269829812394,
                                     2.7557313693577036e-06, -2.5050758384966687e-08, 1.5896811828603712e-10};  ///< S.
  static constexpr double cosine[6] = {0.0416666666666666,     -0.0013888888888874131,
                                       2.4801587289487036e-05, -2.7557314353795665e-07,
                                       2.0875723479940035e-09, -1.135965889163933e-11};  ///< C.
  static constexpr double rounder = 0x1.8p52;  ///< Adding it rounds to whole numbers.
  static constexpr double largest = 1e5;       ///< Beyond it the parts of π/2 do not suffice.
};
/// Errors of the polynomials: 4e-9 and 1e-10.
template <>
struct SincosConstants<float> {
  static constexpr float half_pi[3] = {0x1.92p+0F, 0x1.fb4p-12F, 0x1.4442d18p-24F};  ///< 8 + 11 bits.
  static constexpr float sine[3] = {-0.1666665494019952F, 0.008332177916359453F, -0.0001951726684099064F};    ///< S.
  static constexpr float cosine[3] = {0.04166664686052086F, -0.001388736721277706F, 2.443841552349839e-05F};  ///< C.
  static constexpr float rounder = 0x1.8p23F;  ///< Adding it rounds to whole numbers.
  static constexpr float largest = 1e3F;       ///< Beyond it the parts of π/2 do not suffice.
};

/// c[0] + c[1] u + … by Horner's rule.
template <class S, std::size_t N>
BUNRAKU_INLINE S polynomial(const NumberOf<S> (&c)[N], const S& u) {
  S sum(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) {
    sum = sum * u + S(c[i]);
  }
  return sum;
}

/// Yes in the lanes that hold one, no in those that hold zero.
template <class T, int W, class Bits>
BUNRAKU_INLINE Mask<T, W> mask_of(const Bits& ones) {
  if constexpr (W == 1) {
    return {ones != 0};
  } else {
    return {-ones};
  }
}

inline namespace BUNRAKU_VARIANT {

/// Sines and cosines of those of n angles that are huge.
template <class T>
[[gnu::noinline]] void sincos_of_huge(const T* x, T* s, T* c, int n) {
  for (int i = 0; i < n; ++i) {
    if (!(std::abs(x[i]) <= SincosConstants<T>::largest)) {
      s[i] = std::sin(x[i]);
      c[i] = std::cos(x[i]);
    }
  }
}

}  // namespace BUNRAKU_VARIANT

/// s = sin x and c = cos x of a pack of angles, each to about an ulp of 1. Huge angles, of which the parts of π/2 would
/// leave nothing, are asked of the standard library, lane by lane: the others' results do not change with it.
template <class T, int W>
BUNRAKU_INLINE void sincos(const Pack<T, W>& x, Pack<T, W>& s, Pack<T, W>& c) {
  using S = Pack<T, W>;
  using K = SincosConstants<T>;
  using Bits = typename RegisterOf<BitsOf<T>, W>::type;
  constexpr T turns_per_radian = T(0.63661977236758134308);  // 2/π
  const S rounded = x * S(turns_per_radian) + S(K::rounder);
  const S whole = rounded - S(K::rounder);
  const S r = ((x - whole * S(K::half_pi[0])) - whole * S(K::half_pi[1])) - whole * S(K::half_pi[2]);
  const S u = r * r;
  const S sine = r + r * (u * polynomial<S>(K::sine, u));
  const S cosine = S(1) + u * (u * polynomial<S>(K::cosine, u) - S(T(0.5)));
  const Bits quadrant = __builtin_bit_cast(Bits, rounded.r);  // the sum's last bits are the whole number
  // an odd number of quarter turns swaps sine and cosine, and one or two of them change signs
  const Mask<T, W> swapped = mask_of<T, W>(quadrant & 1);
  constexpr int to_sign = static_cast<int>(8 * sizeof(T)) - 2;
  const auto flipped = [](const S& number, const Bits& turns) {
    S out;
    out.r = __builtin_bit_cast(typename S::Register, __builtin_bit_cast(Bits, number.r) ^ ((turns & 2) << to_sign));
    return out;
  };
  s = flipped(select(swapped, cosine, sine), quadrant);
  c = flipped(select(swapped, sine, cosine), quadrant + 1);
  if (!all(abs(x) <= S(K::largest))) [[unlikely]] {
    T numbers[3][W];  // beside the registers, which are not to be kept in memory for this
    x.store(numbers[0]);
    s.store(numbers[1]);
    c.store(numbers[2]);
    sincos_of_huge(numbers[0], numbers[1], numbers[2], W);
    s = S::load(numbers[1]);
    c = S::load(numbers[2]);
  }
}

inline namespace BUNRAKU_VARIANT {

/// sin x.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> sin(const Pack<T, W>& x) {
  Pack<T, W> s;
  Pack<T, W> c;
  sincos(x, s, c);
  return s;
}
/// cos x.
template <class T, int W>
BUNRAKU_INLINE Pack<T, W> cos(const Pack<T, W>& x) {
  Pack<T, W> s;
  Pack<T, W> c;
  sincos(x, s, c);
  return c;
}

}  // namespace BUNRAKU_VARIANT

}  // namespace bunraku::kernels
