/// @file
/// The parts of the benchmark `flexible`, and the models that they share. Each part prints a table and returns its
/// figures as JSON.
#pragma once

#include <string>

#include <bunraku/bunraku.hpp>
#include <bunraku/model/flexible.hpp>

namespace bench {

/// A round beam along x, clamped at its frame.
struct BeamData {
  double length = 1;           ///< m.
  double mass_per_length = 1;  ///< kg/m.
  double bending = 100;        ///< EI, N·m².
  double diameter = 0.02;      ///< m.
  int modes = 4;               ///< How many, the lowest ones; with none it is rigid.
  bool shortening = false;     ///< Whether bending draws the tip in.
};

/// The beam as a flexible body with a node `tip`, to carry others: it bends along y and z, by modes that know all
/// forces at the tip.
bunraku::FlexibleBody carrying_beam(const BeamData& data);

/// One that carries nothing and bends along y alone, by the vibrations of a cantilever.
bunraku::FlexibleBody plane_beam(const BeamData& data);

/// A chain of so many such beams on revolute hinges about y and z in turn, each on the tip of the one before.
bunraku::Model chain_of_beams(int bodies, const BeamData& data);

/// Forward dynamics against the number of bodies. Returns an object with "rows" and "exponents".
std::string measure_flexible_bodies(double seconds);

/// Forward dynamics against the number of modes of each body. Returns an object with "rows" and "exponents".
std::string measure_flexible_modes(double seconds);

/// Answers each line of the standard input with one on the standard output, numbers apart by spaces:
///
///     body FILE              reads a body of lumps that move with modes, and how it spins; answers the numbers of
///     nodes,
///                            modes, and lumps that are left once they are as few as can be
///     fly END STEPS          the places of the nodes after free flight from rest at the origin, but for the spin
///     time SECONDS           nanoseconds of an evaluation of the accelerations, the least of many
///     pendulum EI MODES SHORTENING END STEPS SAMPLES
///                            a beam that falls from level about its hinge: x and y of the tip, and its deflection
///     spin MODES SHORTENING END STEPS SAMPLES
///                            a beam whose hub spins up: how far the tip moves along and across; ends where it is off
///                            by more than a hundred times the beam's length
///
/// The file has `modes n`, `spin x y z`, `stiffness` with n numbers, and for each node `node mass x y z` and then the
/// translations of all modes, three numbers each. Its lumps have no rotary inertia.
void serve_flexible();

}  // namespace bench
