/// @file
/// A beam for tests, and the scale of its frequencies.
#pragma once

#include <cmath>
#include <numbers>

#include "bunraku/model/beam.hpp"

namespace bunraku::test {

/// A flat bar of steel that bends along y alone.
inline Beam bar(int elements = 8) {
  return {.length = 1.5,
          .section = BeamSection::rectangle(0.02, 0.05),
          .young = 2.1e11,
          .shear = 8e10,
          .density = 7800,
          .elements = elements,
          .bend_z = false};
}

/// Its mass, kg.
inline double mass_of(const Beam& beam) {
  return beam.density * beam.section.area * beam.length;
}

/// √(EI/(ρA))/L² of deflection along y, over 2π: the frequency, Hz, is this times (βL)².
inline double hertz_of(const Beam& beam) {
  return std::sqrt(beam.young * beam.section.second_moment_z / (beam.density * beam.section.area)) /
         (2 * std::numbers::pi * beam.length * beam.length);
}

}  // namespace bunraku::test
