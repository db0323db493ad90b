/// @file
/// Pinocchio's constrained dynamics, compiled once for each way to make one: BENCH_MAKE_CLOSED is its name.
#include "pinocchio_closed.hpp"

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

#include "pinocchio_model.hpp"

namespace bench {

namespace {

/// The iteration ends where the constraints hold to this.
constexpr double accuracy = 1e-11;

using Constraints = std::vector<pinocchio::RigidConstraintModelTpl<double, 0>>;
using ConstraintDatas = std::vector<pinocchio::RigidConstraintDataTpl<double, 0>>;

Constraints constraints_of(const PinocchioModel& parts, std::span<const PeerClosure> closures) {
  Constraints out;
  for (const PeerClosure& c : closures) {
    const auto joint = [&](int body) { return body < 0 ? 0 : parts.joint_of[static_cast<std::size_t>(body)]; };
    const auto pose = [&](int body, const PeerPose& on_body) {
      return body < 0 ? se3(on_body) : parts.pose_of[static_cast<std::size_t>(body)] * se3(on_body);
    };
    out.emplace_back(c.whole ? pinocchio::CONTACT_6D : pinocchio::CONTACT_3D, parts.model, joint(c.body_a),
                     pose(c.body_a, c.X_AN), joint(c.body_b), pose(c.body_b, c.X_BN), pinocchio::LOCAL);
  }
  return out;
}

class Closed final : public PinocchioClosed {
 public:
  Closed(std::span<const PeerBody> bodies, std::span<const PeerClosure> closures, const std::array<double, 3>& gravity)
      : parts_(bodies, gravity),
        constraints_(constraints_of(parts_, closures)),
        of_constraint_dynamics_(parts_.model),
        of_lcaba_(parts_.model) {
    for (const auto& constraint : constraints_) {
      datas_.push_back(constraint.createData());
    }
    pinocchio::initConstraintDynamics(parts_.model, of_constraint_dynamics_, constraints_, datas_);
    pinocchio::computeJointMinimalOrdering(parts_.model, of_lcaba_, constraints_);
  }

  std::string name() const override { return "pinocchio " PINOCCHIO_VERSION; }

  void add_state(std::span<const double> q, std::span<const double> v, std::span<const double> torque) override {
    states_.push_back({parts_.configuration(q), parts_.velocity(v), parts_.velocity(torque)});
  }

  int forward(std::size_t i, const PeerMethod& method) override {
    const State& s = states_[i];
    pinocchio::ProximalSettingsTpl<double> settings(accuracy, 0, method.mu, method.iterations);
    if (method.solver == PeerSolver::constraint_dynamics) {
      pinocchio::constraintDynamics(parts_.model, of_constraint_dynamics_, s.q, s.v, s.tau, constraints_, datas_,
                                    settings);
    } else {
      pinocchio::lcaba(parts_.model, of_lcaba_, s.q, s.v, s.tau, constraints_, datas_, settings);
    }
    return settings.iter;
  }

  void get_acceleration(PeerSolver solver, std::span<double> out) const override {
    parts_.get((solver == PeerSolver::lcaba ? of_lcaba_ : of_constraint_dynamics_).ddq, out);
  }

 private:
  struct State {
    Eigen::VectorXd q, v, tau;
  };

  PinocchioModel parts_;
  Constraints constraints_;
  ConstraintDatas datas_;
  pinocchio::Data of_constraint_dynamics_;  // each has its own memory: both are set up for its algorithm alone
  pinocchio::Data of_lcaba_;
  std::vector<State> states_;
};

}  // namespace

std::unique_ptr<PinocchioClosed> BENCH_MAKE_CLOSED(std::span<const PeerBody> bodies,
                                                   std::span<const PeerClosure> closures,
                                                   const std::array<double, 3>& gravity) {
  return std::make_unique<Closed>(bodies, closures, gravity);
}

}  // namespace bench
