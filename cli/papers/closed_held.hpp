/// @file
/// Several arms that hold an object (RK88 Part II), as dense matrices, and their motion by a dense solve of all
/// equations together. Node-space quantities are in the world's axes at the contacts. Nothing here uses the library's
/// closed systems.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "bunraku/operators/system.hpp"
#include "papers/systems.hpp"

namespace bunraku::cli::papers {

/// How arms hold the object.
enum class Grip {
  rigid,     ///< Nothing moves at the contacts.
  revolute,  ///< Turns about one axis.
  ball,      ///< Any turns.
  soft,      ///< Turns about two tangents.
  mixed,     ///< One after the other of the three last.
};

/// What moves how.
struct HeldMotion {
  Eigen::VectorXd thetadd;  ///< θ̈ of all arms.
  Eigen::VectorXd alpha_C;  ///< α(C), with gravity as an acceleration of the base.
  Eigen::VectorXd f;        ///< f(0): what arms exert on the object.
  Eigen::VectorXd Wd;       ///< Ẇ.
  Eigen::VectorXd alpha;    ///< α⁺(0) of the tips.
};

/// The worst residual of θ̈, f(0) and, where it was found, Ẇ.
double difference(const HeldMotion& found, const HeldMotion& right);

/// Arms and an object at an instant at which velocities fit.
class Held {
 public:
  /// The arms of a sample, or others of so many links, with an object at their tips.
  Held(Sample& sample, Grip grip, int links = 0);

  int arms() const { return static_cast<int>(now_.nodes.size()); }  ///< ℓ.
  const Instant& instant() const { return now_; }                   ///< The arms in motion.
  const Dense& dense() const { return dense_; }                     ///< The references.
  /// An operator of the library as a matrix, node space in the node's own axes.
  Eigen::MatrixXd matrix(const char* text) const;
  /// The motion, by a dense solve of (b.1).
  HeldMotion motion() const;
  /// The motion by the library's closed systems.
  HeldMotion by_library() const;

  Eigen::MatrixXd turn;    ///< Node space: the world's axes from the nodes' own.
  Eigen::MatrixXd mass;    ///< 𝓜.
  Eigen::VectorXd bias;    ///< 𝓒.
  Eigen::VectorXd T;       ///< Torques.
  Eigen::MatrixXd J;       ///< Of the tips.
  Eigen::VectorXd Jd;      ///< (dJ/dt)θ̇, and gravity as an acceleration.
  Eigen::MatrixXd A;       ///< RK88's A = col φ*(C,O_i).
  Eigen::VectorXd a_C;     ///< a(C).
  Eigen::MatrixXd M_C;     ///< M(C).
  Eigen::VectorXd b_C;     ///< b(C).
  Eigen::VectorXd V_C;     ///< V(C).
  Eigen::MatrixXd H0;      ///< H(0), n_gℓ × 6ℓ.
  Eigen::VectorXd W;       ///< Contact velocities.
  Eigen::VectorXd Hd_W;    ///< (dH*(0)/dt)W with ω of the object.
  Eigen::VectorXd Hd_tip;  ///< The same with ω of the fingers.
  Eigen::MatrixXd Q;       ///< Orthonormal rows with Q H*(0) = 0.

 private:
  void hold(Grip grip, Random& random);
  void move(Random& random);

  std::vector<Grip> grips_;
  std::vector<Eigen::Vector3d> axes_;  // of each contact: the axis or the normal
  Eigen::Vector3d C_;
  double object_mass_ = 1;
  Eigen::Vector3d object_center_;
  Eigen::Matrix3d object_inertia_;  // about its mass centre
  Instant now_;
  Dense dense_;
};

/// Two arms whose tips are at one point, closed there (RJK91 21–26).
struct TwoArms {
  explicit TwoArms(Sample& sample);

  Instant now;
  Eigen::MatrixXd mass[2];   ///< 𝓜₁, 𝓜₂.
  Eigen::MatrixXd J[2];      ///< Of the tips, in the world's axes.
  Eigen::VectorXd T[2];      ///< T − 𝓒.
  Eigen::VectorXd Jd[2];     ///< (dJ/dt)θ̇.
  Eigen::VectorXd solution;  ///< θ̈₁, θ̈₂ and f(0), what arm 2 exerts on arm 1, by a dense solve.
};

}  // namespace bunraku::cli::papers
