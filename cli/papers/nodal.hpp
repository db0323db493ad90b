/// @file
/// How the modes of a flexible body move a node of it, from the definitions: nothing here uses the library's hinges.
#pragma once

#include <Eigen/Core>

#include "bunraku/model/hinge.hpp"
#include "bunraku/spatial/transform.hpp"
#include "bunraku/spatial/vec6.hpp"

namespace bunraku::cli::papers {

/// A node against its body's frame. Velocities are at the node, in its axes.
struct NodalMotion {
  Eigen::Matrix3d R;                 ///< Exp(λη).
  Eigen::Vector3d r;                 ///< γη − ½ e η*Sη, from where it is at rest.
  Eigen::MatrixXd map;               ///< (R*Tλ; R*(γ − e η*S)), T the left Jacobian of Exp.
  Eigen::Matrix<double, 6, 1> rate;  ///< What of its derivative belongs to η̇ alone.

  Transform<double> pose() const;      ///< R and r.
  Motion<double> column(int i) const;  ///< Of the map.
  Motion<double> bias() const;         ///< The rate.
};

/// For modal coordinates η and their rates.
NodalMotion nodal_motion(const ModalShape& shape, const double* eta, const double* rates);

/// λ of all modes, 3×n.
Eigen::MatrixXd rotations(const ModalShape& shape);

}  // namespace bunraku::cli::papers
