#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/model/beam.hpp"

namespace bunraku {

namespace {

using std::numbers::pi;

void check_section_size(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw ArgumentError(fmt::format("the {} of a beam's section is {} m: give a positive number", what, value));
  }
}

/// I_t of a rectangle, a ≥ b: a b³/3 (1 − (192/π⁵)(b/a) Σ tanh(nπa/2b)/n⁵) over odd n. As Σ 1/n⁵ less what tanh is
/// short of 1 by, the sum has all its digits after a few terms.
double rectangle_torsion(double a, double b) {
  constexpr double zeta5 = 1.0369277551433699263;
  double sum = 31.0 / 32 * zeta5;
  for (int n = 1; n < 16; n += 2) {
    sum -= 2 / (std::exp(n * pi * a / b) + 1) / std::pow(n, 5);
  }
  return a * b * b * b / 3 * (1 - 192 / std::pow(pi, 5) * (b / a) * sum);
}

/// The zero of f between two places where its signs differ, to the last digit.
template <class F>
double zero_between(F f, double low, double high) {
  const bool rises = f(high) > 0;
  for (;;) {
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) {
      return middle;
    }
    ((f(middle) > 0) == rises ? high : low) = middle;
  }
}

}  // namespace

BeamSection BeamSection::rectangle(double width, double height) {
  check_section_size(width, "width");
  check_section_size(height, "height");
  return {width * height, width * height * height * height / 12, height * width * width * width / 12,
          rectangle_torsion(std::max(width, height), std::min(width, height))};
}

BeamSection BeamSection::circle(double diameter) {
  check_section_size(diameter, "diameter");
  return tube(diameter, 0);
}

BeamSection BeamSection::tube(double outer, double inner) {
  check_section_size(outer, "outer diameter");
  if (!(inner >= 0) || !(inner < outer)) {
    throw ArgumentError(
        fmt::format("a tube's inner diameter is {} m, its outer one {} m: give one that is smaller, and not below zero",
                    inner, outer));
  }
  const double both = outer * outer + inner * inner;
  const double area = pi / 4 * (outer - inner) * (outer + inner);
  const double moment = area * both / 16;
  return {area, moment, moment, 2 * moment};
}

double beam_root(BeamEnds ends, int i, double tip_mass_ratio) {
  if (i < 1) {
    throw ArgumentError(fmt::format("there is no mode {} of a beam: they count from 1", i));
  }
  if (!(tip_mass_ratio >= 0) || !std::isfinite(tip_mass_ratio) ||
      (tip_mass_ratio > 0 && ends != BeamEnds::clamped_free)) {
    throw ArgumentError(
        fmt::format("a tip mass of {} times the beam's: give 0 or, for a beam that is clamped at one end "
                    "and free at the other, a positive number",
                    tip_mass_ratio));
  }
  // all divided by cosh x, so that nothing overflows
  const auto sech = [](double x) { return 1 / std::cosh(x); };
  const auto pinned = [](double x) { return std::sin(x) - std::cos(x) * std::tanh(x); };
  switch (ends) {
    case BeamEnds::clamped_free: {
      const auto free = [&](double x) { return std::cos(x) + sech(x); };
      const double root = zero_between(free, (i - 1) * pi, i * pi);
      if (tip_mass_ratio == 0) {
        return root;
      }
      // a heavier tip is the nearer to a pinned one
      const double low = i == 1 ? 0 : zero_between(pinned, (i - 1) * pi, i * pi);
      return zero_between([&](double x) { return free(x) - tip_mass_ratio * x * pinned(x); }, low, root);
    }
    case BeamEnds::clamped_pinned:
    case BeamEnds::pinned_free:
      return zero_between(pinned, i * pi, (i + 1) * pi);
    case BeamEnds::clamped_clamped:
    case BeamEnds::free_free:
      return zero_between([&](double x) { return std::cos(x) - sech(x); }, i * pi, (i + 1) * pi);
    case BeamEnds::pinned_pinned:
      break;
  }
  return i * pi;
}

double clamped_free_shape(int i, double xi) {
  const double root = beam_root(BeamEnds::clamped_free, i);
  const double x = root * xi;
  // cosh x − cos x − σ (sinh x − sin x), where σ is so near to 1 that 1 − σ has to be a formula of its own: here 1 − σ
  // is `short_of_one` e^(−root)
  const double decay = std::exp(-root);
  const double sine = std::sin(root);
  const double short_of_one = 2 * (sine - std::cos(root) - decay) / (1 - decay * decay + 2 * sine * decay);
  const double sigma = 1 - short_of_one * decay;
  return 0.5 * (short_of_one * std::exp(x - root) + (1 + sigma) * std::exp(-x)) - std::cos(x) + sigma * std::sin(x);
}

}  // namespace bunraku
