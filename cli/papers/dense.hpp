/// @file
/// The references: matrices and vectors of a model in motion, built from poses by 3-vectors and dense linear algebra.
/// Nothing here uses the operators or the recursions of the library.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "bunraku/model/model.hpp"

namespace bunraku::cli::papers {

/// A model in motion, and its nodes.
struct Instant {
  Model model;              ///< No hinge mimics another, but for the nodes of flexible bodies.
  Eigen::VectorXd q;        ///< Configuration.
  Eigen::VectorXd v;        ///< Velocities θ̇.
  Eigen::VectorXd a;        ///< Accelerations θ̈.
  std::vector<Node> nodes;  ///< What B refers to.
};

/// Where a motion with these velocities and accelerations is a time t later, right to the order that a first
/// derivative at t = 0 needs.
Instant later(const Instant& now, double t);

/// [R l̃R; 0 R]: forces from the origin and axes of B to those of A, for the pose of B in A.
Eigen::Matrix<double, 6, 6> force_matrix(const Eigen::Matrix3d& R, const Eigen::Vector3d& l);
/// x̃, with x̃y = x × y.
Eigen::Matrix3d tilde(const Eigen::Vector3d& x);
/// The spatial cross product [x̃ 0; ỹ x̃] of z = (x, y).
Eigen::Matrix<double, 6, 6> cross_matrix(const Eigen::Matrix<double, 6, 1>& z);

/// How the bodies move: 3-vectors in the world's axes, of the bodies' origins.
struct Rates {
  std::vector<Eigen::Vector3d> w;   ///< Angular velocities.
  std::vector<Eigen::Vector3d> v;   ///< Velocities.
  std::vector<Eigen::Vector3d> wd;  ///< Angular accelerations.
  std::vector<Eigen::Vector3d> vd;  ///< Accelerations, gravity as one of the base.
};

/// Body-space blocks are at each body's origin in its axes. Matrices are made when they are asked for.
class Dense {
 public:
  /// Poses, joint maps and inertias; what moves, by the classical equations (RK88 2.1–2.13).
  explicit Dense(const Instant& instant);

  /// The model in motion.
  const Instant& instant() const { return at_; }
  /// Bodies.
  int bodies() const { return static_cast<int>(R_.size()); }
  /// The parent of body k, or `world`.
  int parent(int k) const { return body(k).parent; }
  /// Whether i is j, or on the way from it to the base.
  bool carries(int i, int j) const;
  /// The axes of body k in the world.
  const Eigen::Matrix3d& axes(int k) const { return R_[at(k)]; }
  /// The origin of body k in the world.
  const Eigen::Vector3d& origin(int k) const { return o_[at(k)]; }
  /// The axes of body k in its parent.
  Eigen::Matrix3d axes_in_parent(int k) const;
  /// The origin of body k in its parent's axes, from its parent's origin.
  Eigen::Vector3d origin_in_parent(int k) const;
  /// Where the velocities of body k's hinge start: of a node that follows another, the other's.
  int first(int k) const { return leader(k).v_index; }
  /// How many they are.
  int count(int k) const { return leader(k).nv; }
  /// Whether they are those of another hinge.
  bool follows(int k) const { return body(k).leader != world; }
  /// H*(k).
  const Eigen::MatrixXd& joint_map(int k) const { return H_[at(k)]; }
  /// M(k).
  Eigen::Matrix<double, 6, 6> inertia(int k) const;
  /// How it moves.
  const Rates& rates() const { return rates_; }
  /// A 6-vector of the world's axes for each body, in the bodies' own.
  Eigen::VectorXd in_bodies(const std::vector<Eigen::Vector3d>& upper, const std::vector<Eigen::Vector3d>& lower) const;

  Eigen::MatrixXd phi() const;    ///< φ(i,j) from the poses of i and j.
  Eigen::MatrixXd E_phi() const;  ///< φ(p,k) for each body's parent p.
  // NOLINTNEXTLINE(readability-identifier-naming): the papers' letter
  Eigen::MatrixXd Delta_phi() const;   ///< φ(p,k) on the diagonal, the world a parent, too.
  Eigen::MatrixXd S() const;           ///< The identity at (p,k).
  Eigen::MatrixXd H() const;           ///< The joint maps.
  Eigen::MatrixXd M() const;           ///< The inertias.
  Eigen::MatrixXd B() const;           ///< φ from the nodes to their bodies.
  Eigen::MatrixXd R() const;           ///< Composite inertias: sums over all bodies outboard.
  Eigen::VectorXd V() const;           ///< Velocities.
  Eigen::VectorXd alpha() const;       ///< Accelerations.
  Eigen::VectorXd a() const;           ///< What of them depends on velocities, and gravity at the base.
  Eigen::VectorXd a_gravity() const;   ///< Gravity at the base alone.
  Eigen::VectorXd joint_rate() const;  ///< (dH*/dt)θ̇.
  Eigen::VectorXd b() const;           ///< Gyroscopic forces (RK88 2.23).
  Eigen::VectorXd f() const;           ///< Forces through the hinges, by Newton and Euler.
  Eigen::VectorXd torques() const;     ///< T = H f.
  Eigen::VectorXd bias() const;        ///< T at θ̈ = 0.
  // NOLINTNEXTLINE(readability-identifier-naming): the papers' letter
  Eigen::VectorXd node_V() const;       ///< Velocities of the nodes.
  Eigen::VectorXd node_alpha() const;   ///< Their accelerations.
  Eigen::VectorXd node_a() const;       ///< ω × (ω × l) of the nodes.
  Eigen::MatrixXd jacobian() const;     ///< Velocities of the nodes for each unit velocity.
  Eigen::MatrixXd mass_matrix() const;  ///< Of the kinetic energy: Σ m v_c·v_c + ω·I_c ω. No φ in it.
  double kinetic_energy() const;        ///< ½ Σ of the same.
  double potential_energy() const;      ///< −Σ m g·r.
  Eigen::MatrixXd P() const;            ///< Each body cut loose from its parent: the inertia that is felt at it.

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  const Body& body(int k) const { return at_.model.bodies()[at(k)]; }
  const Body& leader(int k) const { return body(follows(k) ? body(k).leader : k); }
  Rates rates_of(const Eigen::VectorXd& v, const Eigen::VectorXd& a) const;
  Eigen::VectorXd forces(const Rates& rates) const;
  Eigen::VectorXd on_hinges(const Eigen::VectorXd& f) const;

  Instant at_;
  std::vector<Eigen::Matrix3d> R_;
  std::vector<Eigen::Vector3d> o_;
  std::vector<Eigen::MatrixXd> H_;
  std::vector<Eigen::Matrix<double, 6, 1>> joint_rate_;
  Rates rates_;
};

/// 𝓜 = U D U* with U unit upper triangular and D diagonal, block by block of the hinges, by elimination.
struct Factors {
  /// Of a mass matrix.
  Factors(const Dense& dense, const Eigen::MatrixXd& mass);
  Eigen::MatrixXd U;  ///< What the papers call I + HφK.
  Eigen::MatrixXd D;  ///< Block diagonal.
};

/// What follows from P, block by block.
struct Articulated {
  /// From P by its blocks.
  explicit Articulated(const Dense& dense);
  Eigen::MatrixXd P;      ///< As Dense::P.
  Eigen::MatrixXd D;      ///< H P H*.
  Eigen::MatrixXd G;      ///< P H* D⁻¹.
  Eigen::MatrixXd E_psi;  ///< φ(p,k)[I − G(k)H(k)].
  Eigen::MatrixXd psi;    ///< Products of those along the paths.
};

}  // namespace bunraku::cli::papers
