/// @file
/// One motion of a beam in finite elements, and its modes.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "bunraku/model/beam.hpp"

namespace bunraku::detail {

/// A point of integration along a beam.
struct BeamPoint {
  double x;       ///< Place.
  double weight;  ///< Length that it stands for.
};

/// Gauss points, 1 to 4 in each element, between the elements' ends `mesh`.
std::vector<BeamPoint> gauss_points(std::span<const double> mesh, int per_element);

/// One motion of a beam in elements. Coordinates go from end to end: a displacement or an angle at each mesh point, and
/// where the beam bends the slope there, d/dx of the displacement, after it. Stiffness and mass are K = B*B and M =
/// C*C: computing with the roots keeps digits that go with the squares.
struct BeamElements {
  bool bends = false;
  std::vector<double> mesh;  ///< x of the elements' ends, from 0 to the length.
  Eigen::MatrixXd B;
  Eigen::MatrixXd C;

  /// Coordinates at a mesh point.
  Eigen::Index per_point() const { return bends ? 2 : 1; }
  /// All coordinates.
  Eigen::Index size() const { return per_point() * std::ssize(mesh); }
  /// What takes all coordinates to the displacement at x.
  Eigen::RowVectorXd displacement(double x) const;
  /// What takes all coordinates to the displacement's derivative at x.
  Eigen::RowVectorXd slope(double x) const;
  /// What takes all coordinates to the curvature at x, or where the motion is none of bending to the strain.
  Eigen::RowVectorXd strain(double x) const;
};

/// The elements of a motion between the places `mesh`, with a load at the tip.
BeamElements beam_elements(const Beam& beam, BeamMotion motion, std::vector<double> mesh, const TipLoad& load);

/// Some columns of a matrix.
Eigen::MatrixXd columns_of(const Eigen::MatrixXd& matrix, const std::vector<Eigen::Index>& columns);

/// Modes by rising frequency.
struct BeamVibrations {
  std::vector<double> frequencies;  ///< rad/s.
  Eigen::MatrixXd shapes;           ///< A column for each, normalised to the mass.
};

/// The modes of K = B*B, which must be positive definite, and M = C*C.
BeamVibrations beam_vibrations(const Eigen::MatrixXd& B, const Eigen::MatrixXd& C);

/// All modes of one motion that a beam is given.
struct BeamModes {
  BeamMotion motion;
  BeamElements elements;
  BeamVibrations vibrations;
};

/// The modes of a beam for each of its motions, by its options.
std::vector<BeamModes> beam_modes(const Beam& beam, const BeamOptions& options);

/// Throws ArgumentError where numbers that a motion needs are none of a beam.
void check_beam(const Beam& beam, BeamMotion motion, const TipLoad& load);

}  // namespace bunraku::detail
