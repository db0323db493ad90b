/// @file
/// Pinocchio's calls of many states, compiled once for each way to make a pool: BENCH_MAKE_POOL is its name.
#include "pinocchio_pool.hpp"

#include <pinocchio/algorithm/parallel/aba.hpp>
#include <pinocchio/algorithm/parallel/rnea.hpp>

#include "pinocchio_model.hpp"

namespace bench {

namespace {

class Pool final : public PinocchioPool {
 public:
  Pool(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity, std::size_t states, int threads)
      : parts_(bodies, gravity),
        threads_(static_cast<std::size_t>(threads)),
        pool_(parts_.model, threads_),
        q_(parts_.model.nq, columns(states)),
        v_(parts_.model.nv, columns(states)),
        a_(parts_.model.nv, columns(states)),
        tau_(parts_.model.nv, columns(states)),
        torque_(parts_.model.nv, columns(states)),
        acceleration_(parts_.model.nv, columns(states)) {}

  void set_state(std::size_t i, std::span<const double> q, std::span<const double> v,
                 std::span<const double> acceleration, std::span<const double> torque) override {
    q_.col(columns(i)) = parts_.configuration(q);
    v_.col(columns(i)) = parts_.velocity(v);
    a_.col(columns(i)) = parts_.velocity(acceleration);
    tau_.col(columns(i)) = parts_.velocity(torque);
  }

  void rnea() override { pinocchio::rneaInParallel(threads_, pool_, q_, v_, a_, torque_); }
  void aba() override { pinocchio::abaInParallel(threads_, pool_, q_, v_, tau_, acceleration_); }

  void get_torque(std::size_t i, std::span<double> out) const override { parts_.get(torque_.col(columns(i)), out); }
  void get_acceleration(std::size_t i, std::span<double> out) const override {
    parts_.get(acceleration_.col(columns(i)), out);
  }

 private:
  static Eigen::Index columns(std::size_t n) { return static_cast<Eigen::Index>(n); }

  PinocchioModel parts_;
  std::size_t threads_;
  pinocchio::ModelPool pool_;
  Eigen::MatrixXd q_, v_, a_, tau_;
  Eigen::MatrixXd torque_, acceleration_;  // of rnea, of aba
};

}  // namespace

std::unique_ptr<PinocchioPool> BENCH_MAKE_POOL(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity,
                                               std::size_t states, int threads) {
  return std::make_unique<Pool>(bodies, gravity, states, threads);
}

}  // namespace bench
