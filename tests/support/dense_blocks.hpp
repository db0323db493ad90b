/// @file
/// The spatial operators of a model at a state as dense matrices, from poses and joint maps alone.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "support/plain_kinematics.hpp"

namespace bunraku::test {

/// φ, H, M and others over all bodies, each block at its body's origin in its axes. Velocities are those of all hinges,
/// mimics counted: the user's follow by S. Body 0 comes first, so that φ is upper block triangular.
struct DenseBlocks {
  DenseBlocks(const Model& m, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  /// (I − X)⁻¹ of an X that takes from bodies to those before them.
  static Eigen::MatrixXd inverse(const Eigen::MatrixXd& X);
  /// [R l̃R; 0 R]: forces from B's origin and axes to A's, for the pose of B in A.
  static Eigen::MatrixXd force_matrix(const Eigen::Matrix4d& X);
  const Body& body(int k) const { return model.bodies()[static_cast<std::size_t>(k)]; }
  /// The velocities of body k's hinge.
  int size(int k) const { return body(k).hinge.velocity_size(); }
  /// Where they start.
  int at(int k) const { return first[static_cast<std::size_t>(k)]; }
  /// Block (i, k) of a matrix of body blocks.
  static Eigen::MatrixXd block(const Eigen::MatrixXd& X, int i, int k);
  /// H(k).
  Eigen::MatrixXd hinge_rows(int k) const;

  Model model;
  PlainKinematics kinematics;
  int N = 0;
  int nv = 0;
  std::vector<int> first;
  Eigen::MatrixXd E;         ///< E_φ: φ(p,k) for each body's parent p.
  Eigen::MatrixXd phi;       ///< φ = (I − E_φ)⁻¹.
  Eigen::MatrixXd H;         ///< Rows of all hinges.
  Eigen::MatrixXd M;         ///< Bodies' inertias.
  Eigen::MatrixXd S;         ///< The velocities of all hinges by the user's.
  Eigen::MatrixXd armature;  ///< Diagonal.
  Eigen::VectorXd a;         ///< By differences of the bodies' velocities at θ̈ = 0; gravity is in it (RK88 3.21).
  Eigen::VectorXd b;

 private:
  void place(int k, const Eigen::VectorXd& q);
  void find_bias(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
};

/// P, D, G, K, ψ by the Riccati recursion (RK92 34–41) in dense matrices; no mimics.
struct DenseArticulated {
  explicit DenseArticulated(const DenseBlocks& dense);

  Eigen::MatrixXd P;    ///< Block diagonal.
  Eigen::MatrixXd D;    ///< Block diagonal.
  Eigen::MatrixXd G;    ///< PH*D⁻¹.
  Eigen::MatrixXd K;    ///< E_φ G.
  Eigen::MatrixXd tau;  ///< I − GH.
  Eigen::MatrixXd psi;  ///< (I − E_φ(I − GH))⁻¹.
};

}  // namespace bunraku::test
