/// @file
/// Uniform beams as flexible bodies: sections, mode sets, and closed forms.
///
/// A beam lies along x of its body's frame, from the origin, where it is clamped to the frame, to its tip at x =
/// length. It is a chain of Euler–Bernoulli elements of 12 coordinates, linear in stretch and torsion and cubic in
/// bending. Sections stay plane and at right angles to the axis; shear, and the energy of sections that turn as the
/// beam bends, are neglected, which takes a beam that is long beside its height: a cantilever of ten heights has a
/// first frequency that is about 1 % too high, and higher ones more.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "bunraku/model/flexible.hpp"

namespace bunraku {

/// The section of a beam. y and z are its principal axes through the centroid, which the beam's axis x goes through.
struct BeamSection {
  double area = 0;              ///< A, m².
  double second_moment_y = 0;   ///< I_y = ∫z² dA, which resists deflection along z, m⁴.
  double second_moment_z = 0;   ///< I_z = ∫y² dA, which resists deflection along y, m⁴.
  double torsion_constant = 0;  ///< I_t, torque over twist and shear modulus, m⁴; I_y + I_z for round sections alone.

  /// A solid rectangle, `width` along y and `height` along z, m. Throws ArgumentError for sizes that are not positive.
  BUNRAKU_API static BeamSection rectangle(double width, double height);
  /// A solid circle, by its diameter, m. Throws ArgumentError where it is not positive.
  BUNRAKU_API static BeamSection circle(double diameter);
  /// A round tube, by its diameters, m. Throws ArgumentError unless 0 ≤ inner < outer.
  BUNRAKU_API static BeamSection tube(double outer, double inner);
};

/// A uniform beam along x. SI units.
struct Beam {
  double length = 0;         ///< L, m.
  BeamSection section = {};  ///< Its section, the same all along.
  double young = 0;          ///< E, Pa.
  double shear = 0;          ///< G, Pa; for torsion alone.
  double density = 0;        ///< kg/m³.
  int elements = 8;          ///< Of equal length; more where nodes that carry bodies divide the beam.
  bool bend_y = true;        ///< Whether it deflects along y.
  bool bend_z = true;        ///< Whether it deflects along z.
  bool torsion = false;      ///< Whether it twists.
  bool stretch = false;      ///< Whether it gets longer.
};

/// The most elements that a beam can have.
inline constexpr int max_beam_elements = 128;

/// What hangs on a beam's tip, with its centre of mass there.
struct TipLoad {
  double mass = 0;                              ///< kg.
  Vec3<double> moments = Vec3<double>::zero();  ///< Principal moments of inertia about x, y and z, kg·m².
};

/// From which shapes the modes are made. All vanish at the clamped end.
enum class ModeSet {
  /// The static shapes of unit displacements and slopes of the tip, and of nodes that carry bodies, and vibrations with
  /// all of these held. The choice for beams on which others hang, since no force there is then missed.
  craig_bampton,
  /// Vibrations with a free tip. Right for a beam that carries nothing, poor for any other.
  clamped_free,
  /// Vibrations with the load of the choice at the tip: the fewest modes where it is known what hangs there.
  loaded,
};

/// Which modes a beam has.
struct ModeChoice {
  ModeSet set = ModeSet::craig_bampton;  ///< From which shapes.
  /// How many, static shapes included, those of the lowest frequencies. 0: all below `below`, or where that is no limit
  /// either, four for each direction of bending, two each for torsion and stretch (Craig–Bampton: two and one besides
  /// the static shapes), or as many as the elements have.
  int count = 0;
  double below = std::numeric_limits<double>::infinity();  ///< Only vibrations of lower frequency, Hz.
  TipLoad load = {};                                       ///< For `loaded` alone.
};

/// Damping of the modes: mode i has −(2 ratio ω_i + alpha + beta ω_i²) η̇_i, ω_i being its frequency in rad/s.
struct ModeDamping {
  double ratio = 0;  ///< Of critical damping, the same for all modes.
  double alpha = 0;  ///< Rayleigh's factor of the mass, 1/s.
  double beta = 0;   ///< Rayleigh's factor of the stiffness, s.
};

/// A named node on a beam.
struct BeamStation {
  std::string name = {};  ///< Unique; `tip` is taken.
  double place = 0;       ///< x, between 0 and the length, m.
  bool carries = false;   ///< Whether bodies hang on it, so that Craig–Bampton modes have static shapes for it.
};

/// How a beam becomes a flexible body.
struct BeamOptions {
  ModeChoice modes = {};                   ///< Which modes.
  ModeDamping damping = {};                ///< How they are damped.
  bool shortening = false;                 ///< Whether bending draws nodes in, which makes a spinning beam stiffer.
  std::vector<BeamStation> stations = {};  ///< Named nodes besides the tip.
};

/// A beam as a flexible body, with a named node at its tip, `tip`, and at every station. Modes are normalised to M_ηη =
/// I, so that η has the unit √kg·m and stiffness is ω²; they come by rising frequency, those of one frequency in the
/// order of BeamMotion; each leaves the clamped end to the positive side, or about it. No mode has two motions in it.
/// Mass is in lumps at four Gauss points of each element, which give the elements' consistent mass to rounding;
/// sections turn in torsion alone, by lumps without mass at two Gauss points, and the body's inertia at rest is that of
/// the solid. Bending and stretch are small: shapes are linear in η but for the shortening, which knows the slopes of
/// bending alone. Costs the cube of the number of elements, some milliseconds for eight. Throws ArgumentError for
/// numbers that no beam has, and for more modes than the elements or max_modes allow, or none.
BUNRAKU_API FlexibleBody flexible_beam(const Beam& beam, const BeamOptions& options = {});

/// The motions of a beam, each apart from the others.
enum class BeamMotion {
  bend_y,   ///< Deflection along y.
  bend_z,   ///< Deflection along z.
  torsion,  ///< Twist about x.
  stretch,  ///< Displacement along x.
};

/// How a beam is held at x = 0 and at its tip. In torsion and stretch pinned is held, as clamped is.
enum class BeamEnds {
  clamped_free,     ///< A cantilever.
  clamped_pinned,   ///< Its tip does not deflect.
  clamped_clamped,  ///< Its tip neither deflects nor turns.
  pinned_pinned,    ///< On two supports.
  pinned_free,      ///< On a hinge; it can turn as a rigid body.
  free_free,        ///< In flight.
};

/// The frequencies of one motion of a beam in its elements, with its ends held so and a load at the tip, Hz, rising;
/// those of rigid motion are left out. All that the elements have: the upper half is not to be trusted. Cost and errors
/// as flexible_beam; which motions the beam has does not matter.
BUNRAKU_API std::vector<double> beam_frequencies(const Beam& beam, BeamMotion motion, BeamEnds ends,
                                                 const TipLoad& load = {});

/// βL of the i-th bending mode, i = 1, 2 …, of a uniform beam, exact to rounding for any i; then ω = β²√(EI/(ρA)).
/// `tip_mass_ratio` is that of a mass at a free tip over the beam's own, for clamped_free alone. Throws ArgumentError
/// for i < 1 and for a ratio that is negative or has no place.
BUNRAKU_API double beam_root(BeamEnds ends, int i, double tip_mass_ratio = 0);

/// The i-th bending mode, i = 1, 2 …, of a uniform clamped–free beam at ξ = x/L, without cancellation for any i. Its
/// square has mean 1, and it is ±2 at the tip. Throws ArgumentError for i < 1.
BUNRAKU_API double clamped_free_shape(int i, double xi);

}  // namespace bunraku
