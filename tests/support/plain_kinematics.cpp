#include "support/plain_kinematics.hpp"

#include <array>

namespace bunraku::test {

PlainKinematics::PlainKinematics(Model model)
    : model_(std::move(model)),
      q_(neutral(model_)),
      v_(Eigen::VectorXd::Zero(model_.nv())),
      poses_(model_.bodies().size() + 1, Transform<double>::identity()),
      velocities_(model_.bodies().size() + 1, Motion<double>::zero()) {
  sweep();
}

void PlainKinematics::set_state(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  q_ = normalize(model_, q);
  v_ = v;
  sweep();
}

void PlainKinematics::set_configuration(const Eigen::VectorXd& q) {
  set_state(q, Eigen::VectorXd::Zero(model_.nv()));
}

/// Outward: V(k) = φ*(k+1, k) V(k+1) + H*(k) θ̇(k), base to tips (RK92 6).
void PlainKinematics::sweep() {
  std::array<Motion<double>, max_hinge_velocities> columns{};
  for (std::size_t i = 0; i < model_.bodies().size(); ++i) {
    const Body& body = model_.bodies()[i];
    const auto parent = static_cast<std::size_t>(body.parent + 1);
    const double* q = q_.data() + body.q_index;
    const double* v = v_.data() + body.v_index;
    std::array<double, max_hinge_positions> follower_q{};
    std::array<double, max_hinge_velocities> follower_v{};
    if (body.leader != world) {  // a mimic hinge has no coordinates: its one coordinate follows the leader's
      follower_q[0] = body.leader_ratio * *q + body.leader_offset;
      follower_v[0] = body.leader_ratio * *v;
      q = follower_q.data();
      v = follower_v.data();
    }
    const Transform<double> X_PB = body.X_PF * hinge_pose(body.hinge, q) * body.X_MB;
    hinge_joint_map(body.hinge, q, columns.data());
    Motion<double> relative = Motion<double>::zero();
    for (int j = 0; j < body.hinge.velocity_size(); ++j) {
      relative += columns[static_cast<std::size_t>(j)] * v[j];
    }
    poses_[i + 1] = poses_[parent] * X_PB;
    velocities_[i + 1] = inverse_times(X_PB, velocities_[parent]) + inverse_times(body.X_MB, relative);
  }
}

Vec3<double> PlainKinematics::center_of_mass() const {
  Vec3<double> moment = Vec3<double>::zero();
  double mass = 0;
  for (std::size_t i = 0; i < model_.bodies().size(); ++i) {
    const RigidInertia<double>& inertia = model_.bodies()[i].inertia;
    moment += poses_[i + 1].translation * inertia.mass + poses_[i + 1].rotation * inertia.first_moment;
    mass += inertia.mass;
  }
  return mass > 0 ? moment / mass : Vec3<double>::zero();
}

}  // namespace bunraku::test
