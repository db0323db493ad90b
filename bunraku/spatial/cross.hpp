/// @file
/// The spatial cross product ~, S[·] and Q[·] of JR03 §2.2.
#pragma once

#include "bunraku/spatial/mat6.hpp"

namespace bunraku {

/// z × c = z̃ c of two motions (JR03 2.5): (x × a, y × a + x × b) for z = (x, y), c = (a, b).
template <class T>
constexpr Motion<T> cross(const Motion<T>& z, const Motion<T>& c) {
  return {cross(z.angular, c.angular), cross(z.linear, c.angular) + cross(z.angular, c.linear)};
}

/// S[z] f = −z̃* f of a motion on a force (JR03 2.7): (x × N + y × F, x × F).
template <class T>
constexpr Force<T> cross(const Motion<T>& z, const Force<T>& f) {
  return {cross(z.angular, f.moment) + cross(z.linear, f.force), cross(z.angular, f.force)};
}

/// z̃ = [x̃ 0; ỹ x̃], which maps motions to motions (JR03 2.5).
template <class T>
constexpr Mat6<T> cross_matrix(const Motion<T>& z) {
  return {skew(z.angular), {}, skew(z.linear), skew(z.angular)};
}

/// S[z] = [x̃ ỹ; 0 x̃] = −z̃*, which maps forces to forces (JR03 2.7).
template <class T>
constexpr Mat6<T> s_matrix(const Motion<T>& z) {
  return {skew(z.angular), skew(z.linear), {}, skew(z.angular)};
}

/// Q[f] = [Ñ F̃; F̃ 0], which maps motions to forces: S[A] f = −Q[f] A (JR03 2.8–2.9).
template <class T>
constexpr Mat6<T> q_matrix(const Force<T>& f) {
  return {skew(f.moment), skew(f.force), skew(f.force), {}};
}

}  // namespace bunraku
