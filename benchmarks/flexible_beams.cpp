/// @file
/// The beams of the benchmark `flexible`.
#include <algorithm>

#include <bunraku/model/beam.hpp>

#include "flexible_parts.hpp"

namespace bench {

namespace bk = bunraku;

namespace {

constexpr int elements = 16;
/// Of the tip's displacements and slopes along y and z.
constexpr int static_shapes = 4;

bk::Beam round_beam(const BeamData& data) {
  const bk::BeamSection section = bk::BeamSection::circle(data.diameter);
  return {.length = data.length,
          .section = section,
          .young = data.bending / section.second_moment_z,
          .density = data.mass_per_length / section.area,
          .elements = elements};
}

}  // namespace

bk::FlexibleBody carrying_beam(const BeamData& data) {
  bk::BeamOptions options{.shortening = data.shortening};
  options.modes.set = data.modes < static_shapes ? bk::ModeSet::clamped_free : bk::ModeSet::craig_bampton;
  options.modes.count = std::max(data.modes, 1);
  bk::FlexibleBody body = bk::flexible_beam(round_beam(data), options);
  if (data.modes > 0) {
    return body;
  }
  bk::FlexibleBody rigid;
  rigid.inertia = bk::rigid_inertia(body);
  rigid.nodes.push_back({.name = "tip", .place = {data.length, 0, 0}});
  return rigid;
}

bk::FlexibleBody plane_beam(const BeamData& data) {
  bk::Beam beam = round_beam(data);
  beam.bend_z = false;
  bk::BeamOptions options{.shortening = data.shortening};
  options.modes.set = bk::ModeSet::clamped_free;
  options.modes.count = data.modes;
  return bk::flexible_beam(beam, options);
}

}  // namespace bench
