#include "support/dense_blocks.hpp"

#include <Eigen/Dense>

#include "support/finite_difference.hpp"
#include "support/linear_algebra.hpp"

namespace bunraku::test {

DenseBlocks::DenseBlocks(const Model& m, const Eigen::VectorXd& q, const Eigen::VectorXd& v)
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

Eigen::MatrixXd DenseBlocks::inverse(const Eigen::MatrixXd& X) {
  return sum_of_powers(X);
}

Eigen::MatrixXd DenseBlocks::force_matrix(const Eigen::Matrix4d& X) {
  const Eigen::Matrix3d R = X.topLeftCorner<3, 3>();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6, 6);
  out.topLeftCorner<3, 3>() = out.bottomRightCorner<3, 3>() = R;
  for (int j = 0; j < 3; ++j) {
    out.block<3, 1>(0, 3 + j) = X.topRightCorner<3, 1>().cross(R.col(j));
  }
  return out;
}

Eigen::MatrixXd DenseBlocks::block(const Eigen::MatrixXd& X, int i, int k) {
  return X.block(6 * i, 6 * k, 6, 6);
}

Eigen::MatrixXd DenseBlocks::hinge_rows(int k) const {
  return H.block(at(k), 6 * k, size(k), 6);
}

void DenseBlocks::place(int k, const Eigen::VectorXd& q) {
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

void DenseBlocks::find_bias(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const Eigen::VectorXd rate = central_difference(
      [&](double t) -> Eigen::VectorXd {
        PlainKinematics moved(model);
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

DenseArticulated::DenseArticulated(const DenseBlocks& dense) {
  P = dense.M;
  D = Eigen::MatrixXd::Zero(dense.nv, dense.nv);
  G = Eigen::MatrixXd::Zero(6 * dense.N, dense.nv);
  for (int k = dense.N - 1; k >= 0; --k) {
    const int n = dense.size(k);
    const Eigen::MatrixXd h = dense.hinge_rows(k);
    const Eigen::MatrixXd p = DenseBlocks::block(P, k, k);
    const Eigen::MatrixXd d = congruence(h, p) + dense.armature.block(dense.at(k), dense.at(k), n, n);
    const Eigen::MatrixXd g = p * h.transpose() * inverse_of(d);
    D.block(dense.at(k), dense.at(k), n, n) = d;
    G.block(6 * k, dense.at(k), 6, n) = g;
    if (const int parent = dense.body(k).parent; parent != world) {
      const Eigen::MatrixXd moved = DenseBlocks::block(dense.E, parent, k);
      P.block<6, 6>(6 * parent, 6 * parent) += congruence(moved, p - g * h * p);
    }
  }
  K = dense.E * G;
  tau = Eigen::MatrixXd::Identity(6 * dense.N, 6 * dense.N) - G * dense.H;
  psi = DenseBlocks::inverse(dense.E * tau);
}

}  // namespace bunraku::test
