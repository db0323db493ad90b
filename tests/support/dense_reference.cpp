#include "support/dense_reference.hpp"

#include <Eigen/Dense>

namespace bunraku::test {

DenseReference::DenseReference(const Model& model, const Eigen::VectorXd& q) : model_(model), q_(q) {
  place();
}

Eigen::MatrixXd DenseReference::jacobian(std::size_t body) const {
  const Eigen::Vector3d center =
      (poses_[body] * to_eigen(model_.bodies()[body].inertia.center()).homogeneous()).head<3>();
  return jacobian_at(static_cast<int>(body), center);
}

Eigen::MatrixXd DenseReference::jacobian_at(int body, const Eigen::Vector3d& point) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6, model_.nv());
  for (int k = body; k != world; k = model_.bodies()[static_cast<std::size_t>(k)].parent) {
    const Body& b = model_.bodies()[static_cast<std::size_t>(k)];
    const Eigen::Matrix4d& hinge = hinges_[static_cast<std::size_t>(k)];
    for (int j = 0; j < b.hinge.velocity_size(); ++j) {
      const Motion<double>& h = maps_[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)];
      const Eigen::Vector3d w = hinge.topLeftCorner<3, 3>() * to_eigen(h.angular);
      const Eigen::Vector3d v = hinge.topLeftCorner<3, 3>() * to_eigen(h.linear);
      const double ratio = b.leader == world ? 1 : b.leader_ratio;
      const int column = b.v_index + (b.leader == world ? j : 0);
      out.col(column).head<3>() += ratio * w;
      out.col(column).tail<3>() += ratio * (v + w.cross(point - hinge.topRightCorner<3, 1>()));
    }
  }
  return out;
}

Eigen::MatrixXd DenseReference::mass() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(model_.nv(), model_.nv());
  for (std::size_t k = 0; k < model_.bodies().size(); ++k) {
    const Eigen::MatrixXd j = jacobian(k);
    out += j.topRows<3>().transpose() * inertia(k) * j.topRows<3>();
    out += model_.bodies()[k].inertia.mass * j.bottomRows<3>().transpose() * j.bottomRows<3>();
    const Body& b = model_.bodies()[k];
    for (int i = 0; i < b.hinge.velocity_size(); ++i) {
      const double ratio = b.leader == world ? 1 : b.leader_ratio;
      const int at = b.v_index + (b.leader == world ? i : 0);
      out(at, at) += ratio * ratio * b.hinge.dofs[static_cast<std::size_t>(i)].armature;
    }
  }
  return out;
}

Eigen::VectorXd DenseReference::bias(const Eigen::VectorXd& v) const {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(model_.nv());
  for (std::size_t k = 0; k < model_.bodies().size(); ++k) {
    const Eigen::MatrixXd j = jacobian(k);
    const Eigen::VectorXd rate = central_difference(
        [&](double t) -> Eigen::VectorXd {
          const DenseReference moved(model_, integrate(model_, q_, v, t));
          return moved.jacobian(k) * v;
        },
        2e-3);
    const double mass = model_.bodies()[k].inertia.mass;
    const Eigen::Vector3d w = j.topRows<3>() * v;
    const Eigen::Matrix3d inertia_k = inertia(k);
    out += j.topRows<3>().transpose() * (inertia_k * rate.head<3>() + w.cross(inertia_k * w));
    out += mass * j.bottomRows<3>().transpose() * (rate.tail<3>() - to_eigen(model_.gravity()));
  }
  return out;
}

Eigen::Matrix3d DenseReference::inertia(std::size_t k) const {
  const Eigen::Matrix3d r = poses_[k].topLeftCorner<3, 3>();
  return r * to_eigen(model_.bodies()[k].inertia.central()) * r.transpose();
}

void DenseReference::place() {
  for (const Body& b : model_.bodies()) {
    std::array<double, max_hinge_positions> q{};
    const int nq = b.hinge.configuration_size();
    for (int i = 0; i < nq; ++i) {
      q[static_cast<std::size_t>(i)] =
          b.leader == world ? q_[b.q_index + i] : b.leader_ratio * q_[b.q_index] + b.leader_offset;
    }
    const Eigen::Matrix4d parent =
        b.parent == world ? Eigen::Matrix4d(Eigen::Matrix4d::Identity()) : poses_[static_cast<std::size_t>(b.parent)];
    hinges_.emplace_back(parent * to_eigen(b.X_PF) * to_eigen(hinge_pose(b.hinge, q.data())));
    poses_.emplace_back(hinges_.back() * to_eigen(b.X_MB));
    maps_.emplace_back();
    hinge_joint_map(b.hinge, q.data(), maps_.back().data());
  }
}

}  // namespace bunraku::test
