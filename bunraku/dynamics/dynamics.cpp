#include "bunraku/dynamics/dynamics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include "bunraku/dynamics/detail/workspace.hpp"
#include "bunraku/model/detail/arguments.hpp"

namespace bunraku {

/// What is known of the current state, and buffers over the coordinates of all hinges ("full": mimics counted).
struct Dynamics::State {
  State(Model m, PassiveForces p)
      : model(std::move(m)),
        passive(p),
        work(model),
        q(static_cast<std::size_t>(work.tree().nq)),
        v(static_cast<std::size_t>(work.tree().nv)),
        full(static_cast<std::size_t>(work.tree().nv)),
        torques(static_cast<std::size_t>(work.tree().nv)),
        unit(static_cast<std::size_t>(model.nv())),
        factor(work.tree().has_mimics ? model.nv() : 0) {
    if (work.tree().has_mimics) {
      const auto n = static_cast<std::size_t>(work.tree().nv);
      full_mass.resize(n * n);
      reduced_mass.resize(model.nv(), model.nv());
    }
  }

  const kernels::Tree<double>& tree() const { return work.tree(); }

  void need_positions() {
    if (!positions) {
      work.update_positions();
      positions = true;
    }
  }
  void need_velocities() {
    need_positions();
    if (!velocities) {
      work.update_velocities();
      velocities = true;
    }
  }
  void need_world() {
    need_positions();
    if (!world_poses) {
      work.update_world();
      world_poses = true;
    }
  }
  void need_articulated() {
    need_positions();
    if (!articulated) {
      work.update_articulated();
      articulated = true;
    }
  }
  /// 𝓜 of the user's coordinates and its factor, for models with mimics: their D is not block diagonal.
  void need_factor() {
    if (factored) {
      return;
    }
    need_positions();
    fold_mass();
    factor.compute(reduced_mass);
    if (factor.info() != Eigen::Success) {
      throw Error("the mass matrix is singular: some hinge moves nothing that has mass");
    }
    factored = true;
  }

  /// S x: the user's velocity coordinates, spread over all hinges.
  void spread(std::span<const double> x, std::span<double> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& follower = tree().velocities[i];
      out[i] = follower.ratio * x[static_cast<std::size_t>(follower.own)];
    }
  }
  /// S*x: the torques of all hinges, gathered on the user's coordinates.
  void gather(std::span<const double> x, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto& follower = tree().velocities[i];
      out[static_cast<std::size_t>(follower.own)] += follower.ratio * x[i];
    }
  }
  /// S*𝓜S.
  void fold_mass() {
    work.mass_matrix(full_mass);
    reduced_mass.setZero();
    const auto n = static_cast<std::size_t>(tree().nv);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto& a = tree().velocities[i];
        const auto& b = tree().velocities[j];
        reduced_mass(a.own, b.own) += a.ratio * b.ratio * full_mass[j * n + i];
      }
    }
  }

  /// Adds the hinges' own forces, as torques that an actuator must overcome.
  void add_passive(std::span<double> torque) const;
  double spring_energy() const;

  Model model;
  PassiveForces passive;
  kernels::Workspace<double> work;
  std::vector<double> q;  // of all hinges
  std::vector<double> v;  // of all hinges
  std::vector<double> full;
  std::vector<double> torques;
  std::vector<double> unit;
  std::vector<double> full_mass;
  Eigen::MatrixXd reduced_mass;
  Eigen::LLT<Eigen::MatrixXd> factor;
  bool positions = false;
  bool velocities = false;
  bool world_poses = false;
  bool articulated = false;
  bool factored = false;
};

void Dynamics::State::add_passive(std::span<double> torque) const {
  if (passive == PassiveForces::left_out) {
    return;
  }
  std::array<double, max_hinge_velocities> stretch{};
  for (std::size_t k = 0; k < tree().bodies.size(); ++k) {
    const Hinge& hinge = model.bodies()[k].hinge;
    const auto& body = tree().bodies[k];
    if (body.nv == 0) {
      continue;
    }
    hinge_difference(hinge, hinge.rest.data(), q.data() + body.q_index, stretch.data());
    for (int j = 0; j < body.nv; ++j) {
      const HingeDof& dof = hinge.dofs[static_cast<std::size_t>(j)];
      const auto at = static_cast<std::size_t>(body.v_index + j);
      const double direction = v[at] > 0 ? 1 : v[at] < 0 ? -1 : 0;
      torque[at] +=
          dof.damping * v[at] + dof.friction * direction + dof.stiffness * stretch[static_cast<std::size_t>(j)];
    }
  }
}

double Dynamics::State::spring_energy() const {
  double energy = 0;
  std::array<double, max_hinge_velocities> stretch{};
  for (std::size_t k = 0; k < tree().bodies.size(); ++k) {
    const Hinge& hinge = model.bodies()[k].hinge;
    const auto& body = tree().bodies[k];
    if (body.nv == 0) {
      continue;
    }
    hinge_difference(hinge, hinge.rest.data(), q.data() + body.q_index, stretch.data());
    for (int j = 0; j < body.nv; ++j) {
      const double x = stretch[static_cast<std::size_t>(j)];
      energy += 0.5 * hinge.dofs[static_cast<std::size_t>(j)].stiffness * x * x;
    }
  }
  return energy;
}

Dynamics::Dynamics(Model model, PassiveForces passive) : state_(std::make_unique<State>(std::move(model), passive)) {
  std::vector<double> q(static_cast<std::size_t>(state_->model.nq()));
  neutral(state_->model, q);
  set_state(q, std::vector<double>(static_cast<std::size_t>(state_->model.nv())));
}
Dynamics::~Dynamics() = default;
Dynamics::Dynamics(Dynamics&&) noexcept = default;
Dynamics& Dynamics::operator=(Dynamics&&) noexcept = default;

const Model& Dynamics::model() const {
  return state_->model;
}

void Dynamics::set_state(std::span<const double> q, std::span<const double> v) {
  State& s = *state_;
  check_argument(q, s.model.nq(), "q");
  check_argument(v, s.model.nv(), "v");
  check_quaternions(s.model, q, "q");
  for (std::size_t k = 0; k < s.tree().bodies.size(); ++k) {
    const Body& body = s.model.bodies()[k];
    const auto& folded = s.tree().bodies[k];
    double* own = s.q.data() + folded.q_index;
    if (body.leader != world) {
      *own = body.leader_ratio * q[static_cast<std::size_t>(body.q_index)] + body.leader_offset;
    } else {
      std::copy_n(q.data() + body.q_index, body.nq, own);
      hinge_normalize(body.hinge, own);
    }
  }
  s.spread(v, s.v);
  s.work.set_state(s.q, s.v);
  s.positions = s.velocities = s.world_poses = s.articulated = s.factored = false;
}

void Dynamics::inverse(std::span<const double> acceleration, std::span<double> torque) {
  State& s = *state_;
  check_argument(acceleration, s.model.nv(), "acceleration");
  check_size(torque.size(), s.model.nv(), "torque");
  s.need_velocities();
  s.spread(acceleration, s.full);
  s.work.inverse(s.full, s.model.gravity(), true, s.torques);
  s.add_passive(s.torques);
  s.gather(s.torques, torque);
}

void Dynamics::bias(std::span<double> torque) {
  State& s = *state_;
  check_size(torque.size(), s.model.nv(), "torque");
  s.need_velocities();
  std::fill(s.full.begin(), s.full.end(), 0.0);
  s.work.inverse(s.full, s.model.gravity(), true, s.torques);
  s.gather(s.torques, torque);
}

void Dynamics::gravity_torques(std::span<double> torque) {
  State& s = *state_;
  check_size(torque.size(), s.model.nv(), "torque");
  s.need_positions();
  std::fill(s.full.begin(), s.full.end(), 0.0);
  s.work.inverse(s.full, s.model.gravity(), false, s.torques);
  s.gather(s.torques, torque);
}

void Dynamics::forward(std::span<const double> torque, std::span<double> acceleration) {
  State& s = *state_;
  check_argument(torque, s.model.nv(), "torque");
  check_size(acceleration.size(), s.model.nv(), "acceleration");
  s.need_velocities();
  if (!s.tree().has_mimics) {
    s.need_articulated();
    std::fill(s.torques.begin(), s.torques.end(), 0.0);
    s.add_passive(s.torques);
    for (std::size_t i = 0; i < s.torques.size(); ++i) {
      s.torques[i] = torque[i] - s.torques[i];
    }
    s.work.forward(s.torques, s.model.gravity(), acceleration);
    return;
  }
  s.need_factor();
  std::fill(s.full.begin(), s.full.end(), 0.0);
  s.work.inverse(s.full, s.model.gravity(), true, s.torques);
  s.add_passive(s.torques);
  s.gather(s.torques, s.unit);
  for (std::size_t i = 0; i < s.unit.size(); ++i) {
    acceleration[i] = torque[i] - s.unit[i];
  }
  Eigen::Map<Eigen::VectorXd> x(acceleration.data(), s.model.nv());
  s.factor.solveInPlace(x);
}

void Dynamics::mass_matrix(std::span<double> out) {
  State& s = *state_;
  check_size(out.size(), s.model.nv() * s.model.nv(), "the mass matrix");
  s.need_positions();
  if (!s.tree().has_mimics) {
    s.work.mass_matrix(out);
    return;
  }
  s.fold_mass();
  std::copy_n(s.reduced_mass.data(), s.reduced_mass.size(), out.data());
}

void Dynamics::solve(std::span<const double> x, std::span<double> out) {
  State& s = *state_;
  check_argument(x, s.model.nv(), "x");
  check_size(out.size(), s.model.nv(), "out");
  if (!s.tree().has_mimics) {
    s.need_articulated();
    s.work.solve(x, out);
    return;
  }
  s.need_factor();
  std::copy(x.begin(), x.end(), out.begin());
  Eigen::Map<Eigen::VectorXd> solution(out.data(), s.model.nv());
  s.factor.solveInPlace(solution);
}

void Dynamics::inverse_mass_matrix(std::span<double> out) {
  State& s = *state_;
  const auto n = static_cast<std::size_t>(s.model.nv());
  check_size(out.size(), s.model.nv() * s.model.nv(), "the inverse mass matrix");
  for (std::size_t j = 0; j < n; ++j) {
    std::fill(s.unit.begin(), s.unit.end(), 0.0);
    s.unit[j] = 1;
    solve(s.unit, out.subspan(j * n, n));
  }
}

double Dynamics::log_determinant() {
  State& s = *state_;
  if (!s.tree().has_mimics) {
    s.need_articulated();
    return s.work.log_determinant();
  }
  s.need_factor();
  return 2 * s.factor.matrixLLT().diagonal().array().log().sum();
}

void Dynamics::jacobian(const Node& node, JacobianFrame frame, std::span<double> out) {
  State& s = *state_;
  check_size(out.size(), 6 * s.model.nv(), "the Jacobian");
  s.need_world();
  std::fill(out.begin(), out.end(), 0.0);
  const Transform<double> X_WN = node.body == world ? node.X_BN : s.work.world_pose(node.body) * node.X_BN;
  for (int k = node.body; k != world; k = s.tree().bodies[static_cast<std::size_t>(k)].parent) {
    const auto& body = s.tree().bodies[static_cast<std::size_t>(k)];
    for (int j = 0; j < body.nv; ++j) {
      const Motion<double> at_origin = s.work.world_frame(k) * s.work.joint_map(body.v_index + j);
      const Motion<double> seen = frame == JacobianFrame::world_origin ? at_origin
                                  : frame == JacobianFrame::aligned    ? PhiAdjoint(X_WN.translation) * at_origin
                                                                       : inverse_times(X_WN, at_origin);
      const auto& follower = s.tree().velocities[static_cast<std::size_t>(body.v_index + j)];
      for (int i = 0; i < 6; ++i) {
        out[static_cast<std::size_t>(6 * follower.own + i)] += follower.ratio * seen[i];
      }
    }
  }
}

double Dynamics::kinetic_energy() {
  State& s = *state_;
  s.need_velocities();
  double energy = 0;
  for (int k = 0; k < static_cast<int>(s.tree().bodies.size()); ++k) {
    const Motion<double>& V = s.work.velocity(k);
    energy += 0.5 * dot(V, s.tree().bodies[static_cast<std::size_t>(k)].inertia * V);
  }
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    energy += 0.5 * s.tree().armature[i] * s.v[i] * s.v[i];
  }
  return energy;
}

double Dynamics::potential_energy() {
  State& s = *state_;
  s.need_world();
  double energy = s.passive == PassiveForces::included ? s.spring_energy() : 0;
  for (int k = 0; k < static_cast<int>(s.tree().bodies.size()); ++k) {
    const Transform<double>& X = s.work.world_frame(k);
    const RigidInertia<double>& M = s.tree().bodies[static_cast<std::size_t>(k)].inertia;
    energy -= dot(s.model.gravity(), X.translation * M.mass + X.rotation * M.first_moment);
  }
  return energy;
}

Vec3<double> Dynamics::center_of_mass() {
  State& s = *state_;
  s.need_world();
  Vec3<double> moment = Vec3<double>::zero();
  for (int k = 0; k < static_cast<int>(s.tree().bodies.size()); ++k) {
    const Transform<double>& X = s.work.world_frame(k);
    const RigidInertia<double>& M = s.tree().bodies[static_cast<std::size_t>(k)].inertia;
    moment += X.translation * M.mass + X.rotation * M.first_moment;
  }
  return s.model.mass() > 0 ? moment / s.model.mass() : Vec3<double>::zero();
}

Force<double> Dynamics::momentum() {
  State& s = *state_;
  s.need_world();
  s.need_velocities();
  Force<double> sum = Force<double>::zero();
  for (int k = 0; k < static_cast<int>(s.tree().bodies.size()); ++k) {
    sum += s.work.world_frame(k) * (s.tree().bodies[static_cast<std::size_t>(k)].inertia * s.work.velocity(k));
  }
  return Phi(-center_of_mass()) * sum;
}

}  // namespace bunraku
