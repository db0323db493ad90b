/// @file
/// The spatial operators of a model at a state as dense matrices, from poses and joint maps alone.
#pragma once

#include <vector>

#include <Eigen/Dense>

#include "bunraku/dynamics/kinematics.hpp"
#include "support/finite_difference.hpp"

namespace bunraku::test {

/// φ, H, M and others over all bodies, each block at its body's origin in its axes. Velocities are those of all hinges,
/// mimics counted: the user's follow by S. Body 0 comes first, so that φ is upper block triangular.
struct DenseBlocks {
  DenseBlocks(const Model& m, const Eigen::VectorXd& q, const Eigen::VectorXd& v)
      : model(m), kinematics(m), N(static_cast<int>(m.bodies().size())) {
    kinematics.set_state(q, v);
    for (const Body& body : m.bodies()) {
      first.push_back(nv);
      nv += body.hinge.velocity_size();
    }
    E = M = Eigen::MatrixXd::Zero(6 * N, 6 * N);
    H = Eigen::MatrixXd::Zero(nv, 6 * N);
    S = Eigen::MatrixXd::Zero(nv, m.nv());
    armature = Eigen::MatrixXd::Zero(nv, nv);
    for (int k = 0; k < N; ++k) {
      place(k, q);
    }
    phi = inverse(E);
    find_bias(q, v);
  }

  /// (I − X)⁻¹ of a nilpotent X.
  static Eigen::MatrixXd inverse(const Eigen::MatrixXd& X) {
    return (Eigen::MatrixXd::Identity(X.rows(), X.cols()) - X).inverse();
  }
  /// [R l̃R; 0 R]: forces from B's origin and axes to A's, for the pose of B in A.
  static Eigen::Matrix<double, 6, 6> force_matrix(const Eigen::Matrix4d& X) {
    const Eigen::Matrix3d R = X.topLeftCorner<3, 3>();
    Eigen::Matrix<double, 6, 6> out = Eigen::Matrix<double, 6, 6>::Zero();
    out.topLeftCorner<3, 3>() = out.bottomRightCorner<3, 3>() = R;
    for (int j = 0; j < 3; ++j) {
      out.block<3, 1>(0, 3 + j) = X.topRightCorner<3, 1>().cross(R.col(j));
    }
    return out;
  }
  const Body& body(int k) const { return model.bodies()[static_cast<std::size_t>(k)]; }
  /// The velocities of body k's hinge.
  int size(int k) const { return body(k).hinge.velocity_size(); }
  /// Where they start.
  int at(int k) const { return first[static_cast<std::size_t>(k)]; }
  /// Block (i, k) of a matrix of body blocks.
  static Eigen::Matrix<double, 6, 6> block(const Eigen::MatrixXd& X, int i, int k) {
    return X.block<6, 6>(6 * i, 6 * k);
  }
  /// H(k).
  Eigen::MatrixXd hinge_rows(int k) const { return H.block(at(k), 6 * k, size(k), 6); }

  Model model;
  Kinematics kinematics;
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
  void place(int k, const Eigen::VectorXd& q) {
    const Body& b_k = body(k);
    const RigidInertia<double>& inertia = b_k.inertia;
    M.block<3, 3>(6 * k, 6 * k) = to_eigen(inertia.inertia);
    M.block<3, 3>(6 * k, 6 * k + 3) = to_eigen(skew(inertia.first_moment));
    M.block<3, 3>(6 * k + 3, 6 * k) = to_eigen(skew(inertia.first_moment)).transpose();
    M.block<3, 3>(6 * k + 3, 6 * k + 3) = inertia.mass * Eigen::Matrix3d::Identity();
    if (b_k.parent != world) {
      const Eigen::Matrix4d relative = to_eigen(kinematics.pose(b_k.parent)).inverse() * to_eigen(kinematics.pose(k));
      E.block<6, 6>(6 * b_k.parent, 6 * k) = force_matrix(relative);
    }
    std::vector<double> own(max_hinge_positions);
    for (int i = 0; i < b_k.hinge.configuration_size(); ++i) {
      own[static_cast<std::size_t>(i)] =
          b_k.leader == world ? q[b_k.q_index + i] : b_k.leader_ratio * q[b_k.q_index] + b_k.leader_offset;
    }
    std::vector<Motion<double>> columns(max_hinge_velocities);
    hinge_joint_map(b_k.hinge, own.data(), columns.data());
    for (int j = 0; j < size(k); ++j) {
      const Eigen::VectorXd column = to_eigen(columns[static_cast<std::size_t>(j)]);
      H.block<1, 6>(at(k) + j, 6 * k) = column.transpose() * force_matrix(to_eigen(b_k.X_MB));
      S(at(k) + j, b_k.v_index + (b_k.leader == world ? j : 0)) = b_k.leader == world ? 1 : b_k.leader_ratio;
      armature(at(k) + j, at(k) + j) = b_k.hinge.dofs[static_cast<std::size_t>(j)].armature;
    }
  }
  void find_bias(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    const Eigen::VectorXd rate = central_difference(
        [&](double t) -> Eigen::VectorXd {
          Kinematics moved(model);
          moved.set_state(integrate(model, q, v, t), v);
          Eigen::VectorXd all(6 * N);
          for (int k = 0; k < N; ++k) {
            all.segment<6>(6 * k) = to_eigen(moved.velocity_in_world(k));
          }
          return all;
        },
        2e-3);
    Eigen::VectorXd alpha(6 * N);
    b.resize(6 * N);
    for (int k = 0; k < N; ++k) {
      const Eigen::Matrix3d R = to_eigen(kinematics.pose(k).rotation).transpose();
      alpha.segment<3>(6 * k) = R * rate.segment<3>(6 * k);
      alpha.segment<3>(6 * k + 3) = R * (rate.segment<3>(6 * k + 3) - to_eigen(model.gravity()));
      const Eigen::Vector3d w = to_eigen(kinematics.velocity(k).angular);
      b.segment<3>(6 * k) = w.cross(M.block<3, 3>(6 * k, 6 * k) * w);
      b.segment<3>(6 * k + 3) = w.cross(w.cross(to_eigen(body(k).inertia.first_moment)));
    }
    a = alpha - E.transpose() * alpha;  // α = φ*a at θ̈ = 0
  }
};

/// P, D, G, K, ψ by the Riccati recursion (RK92 34–41) in dense matrices; no mimics.
struct DenseArticulated {
  explicit DenseArticulated(const DenseBlocks& dense) {
    P = dense.M;
    D = Eigen::MatrixXd::Zero(dense.nv, dense.nv);
    G = Eigen::MatrixXd::Zero(6 * dense.N, dense.nv);
    for (int k = dense.N - 1; k >= 0; --k) {
      const int n = dense.size(k);
      const Eigen::MatrixXd h = dense.hinge_rows(k);
      const Eigen::MatrixXd p = P.block<6, 6>(6 * k, 6 * k);
      const Eigen::MatrixXd d = h * p * h.transpose() + dense.armature.block(dense.at(k), dense.at(k), n, n);
      const Eigen::MatrixXd g = p * h.transpose() * d.inverse();
      D.block(dense.at(k), dense.at(k), n, n) = d;
      G.block(6 * k, dense.at(k), 6, n) = g;
      if (const int parent = dense.body(k).parent; parent != world) {
        const Eigen::MatrixXd moved = dense.E.block<6, 6>(6 * parent, 6 * k);
        P.block<6, 6>(6 * parent, 6 * parent) += moved * (p - g * h * p) * moved.transpose();
      }
    }
    K = dense.E * G;
    tau = Eigen::MatrixXd::Identity(6 * dense.N, 6 * dense.N) - G * dense.H;
    psi = DenseBlocks::inverse(dense.E * tau);
  }

  Eigen::MatrixXd P;    ///< Block diagonal.
  Eigen::MatrixXd D;    ///< Block diagonal.
  Eigen::MatrixXd G;    ///< PH*D⁻¹.
  Eigen::MatrixXd K;    ///< E_φ G.
  Eigen::MatrixXd tau;  ///< I − GH.
  Eigen::MatrixXd psi;  ///< (I − E_φ(I − GH))⁻¹.
};

}  // namespace bunraku::test
