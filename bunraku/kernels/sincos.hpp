/// @file
/// Sine and cosine together, many at a time, without a branch on the angle but for huge ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "bunraku/kernels/lanes.hpp"

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

/// sum = c[0] + c[1] u + … by Horner's rule.
template <class T, std::size_t N>
BUNRAKU_INLINE void polynomial(const T (&c)[N], const Lanes<T>& u, Lanes<T>& sum) {
  sum = c[N - 1] + Lanes<T>{};
  for (std::size_t i = N - 1; i-- > 0;) {
    sum = sum * u + c[i];
  }
}

/// s = sin x and c = cos x of a register of angles, each to about an ulp of 1.
template <class T>
BUNRAKU_INLINE void sincos(const Lanes<T>& x, Lanes<T>& s, Lanes<T>& c) {
  using K = SincosConstants<T>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  constexpr T turns_per_radian = T(0.63661977236758134308);  // 2/π
  const Lanes<T> rounded = x * turns_per_radian + K::rounder;
  const Lanes<T> whole = rounded - K::rounder;
  const Lanes<T> r = ((x - whole * K::half_pi[0]) - whole * K::half_pi[1]) - whole * K::half_pi[2];
  const Lanes<T> u = r * r;
  Lanes<T> sine;
  Lanes<T> cosine;
  polynomial<T>(K::sine, u, sine);
  polynomial<T>(K::cosine, u, cosine);
  sine = r + r * (u * sine);
  cosine = T(1) + u * (u * cosine - T(0.5));
  const auto quadrant = reinterpret_cast<Lanes<Bits>>(rounded);  // the sum's last bits are the whole number
  const auto swapped = (quadrant & 1) != 0;
  const Lanes<T> a = swapped ? cosine : sine;
  const Lanes<T> b = swapped ? sine : cosine;
  s = (quadrant & 2) != 0 ? -a : a;
  c = ((quadrant + 1) & 2) != 0 ? -b : b;
  bool small = true;
  for (int i = 0; i < lane_count<T>; ++i) {
    small &= std::abs(x[i]) <= K::largest;
  }
  if (!small) [[unlikely]] {
    for (int i = 0; i < lane_count<T>; ++i) {
      s[i] = std::sin(x[i]);
      c[i] = std::cos(x[i]);
    }
  }
}

}  // namespace bunraku::kernels
