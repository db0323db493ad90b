/// @file
/// Operator expressions as sums of words: with these the laws of addition and multiplication are equality of data.
#pragma once

#include <cmath>
#include <map>
#include <string>

namespace bunraku::operators {

/// An atom, or its adjoint in the lowest bit: see Alphabet.
using Letter = char16_t;
/// A product of atoms; the empty word is an identity.
using Word = std::u16string;

/// u v w in one.
inline Word joined(Word u, const Word& v, const Word& w) {
  u += v;
  u += w;
  return u;
}

/// A sum of multiples of words between two spaces, which are numbers of the alphabet.
struct Polynomial {
  int range = 0;
  int domain = 0;
  std::map<Word, double> words = {};

  bool zero() const { return words.empty(); }
  std::size_t size() const { return words.size(); }
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

  /// Adds c w. What is rounding of what was there is nothing.
  void add(const Word& w, double c) {
    constexpr double rounding = 64 * 2.3e-16;
    if (c == 0) {
      return;
    }
    const auto [at, is_new] = words.try_emplace(w, c);
    if (!is_new) {
      const double sum = at->second + c;
      if (std::abs(sum) <= rounding * std::max(std::abs(at->second), std::abs(c))) {
        words.erase(at);
      } else {
        at->second = sum;
      }
    }
  }
  /// Adds c p.
  void add(const Polynomial& p, double c = 1) {
    for (const auto& [w, number] : p.words) {
      add(w, c * number);
    }
  }
  /// Adds c u p v.
  void add(const Word& u, const Polynomial& p, const Word& v, double c) {
    for (const auto& [w, number] : p.words) {
      add(joined(u, w, v), c * number);
    }
  }
};

}  // namespace bunraku::operators
