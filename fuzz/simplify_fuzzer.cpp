/// What simplify makes of typed expressions, which the input chooses, against literal dense evaluation on small trees
/// with and without armature, couplings and massless bodies: it may refuse an inverse, and must not be wrong or slow.
#include <cstdio>
#include <map>
#include <memory>

#include "drive.hpp"
#include "operators/typed_expressions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using bunraku::test::Outcome;
  using bunraku::test::SoundnessTrial;
  using bunraku::test::TypedExpressions;
  unsigned seed = 2'166'136'261U;
  for (std::size_t i = 0; i < size; ++i) {
    seed = (seed ^ data[i]) * 16'777'619U;
  }
  const unsigned kind = seed >> 28U;
  static std::map<unsigned, std::unique_ptr<SoundnessTrial>> trials;  // made once each
  std::unique_ptr<SoundnessTrial>& trial = trials[kind];
  if (!trial) {
    const bool armature = (kind & 1U) != 0;
    trial = std::make_unique<SoundnessTrial>(bunraku::Conditions{.armature = armature,
                                                                 .couplings = (kind & 2U) != 0,
                                                                 .massless = (kind & 4U) != 0,
                                                                 .ungeared = armature && (kind & 8U) != 0},
                                             kind >> 3U);
  }
  TypedExpressions draw(trial->conditions(), trial->dense(), seed);
  const bunraku::Operator x = draw.any(1 + static_cast<int>(seed % 5));
  const Outcome outcome = (*trial)(x);
  constexpr double most_seconds = 3;  // the search gives up after two
  const bool fine = outcome.type != Outcome::Type::wrong && outcome.seconds < most_seconds;
  if (!fine) {  // the input does not tell
    std::fprintf(stderr, "system %u, %.2f s: %s\n%s\n", kind, outcome.seconds, to_ascii(x).c_str(),
                 outcome.details.c_str());
  }
  bunraku::fuzz::require(fine);
  return 0;
}
