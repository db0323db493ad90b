/// @file
/// Pinocchio's calls of one state, compiled once for each way to make a peer: BENCH_MAKE_PEER is its name. Its
/// templates are instantiated here, with this project's flags; none of its compiled libraries is used.
#include "pinocchio_peer.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_model.hpp"

namespace bench {

namespace {

pinocchio::Convention convention_of(PeerConvention convention) {
  return convention == PeerConvention::local ? pinocchio::Convention::LOCAL : pinocchio::Convention::WORLD;
}

class Peer final : public PinocchioPeer {
 public:
  Peer(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity)
      : parts_(bodies, gravity), data_(parts_.model), solution_(parts_.model.nv) {}

  std::string name() const override { return "pinocchio " PINOCCHIO_VERSION; }

  void add_state(std::span<const double> q, std::span<const double> v, std::span<const double> acceleration,
                 std::span<const double> torque) override {
    states_.push_back(
        {parts_.configuration(q), parts_.velocity(v), parts_.velocity(acceleration), parts_.velocity(torque)});
  }

  void rnea(std::size_t i) override {
    const State& state = states_[i];
    pinocchio::rnea(parts_.model, data_, state.q, state.v, state.a);
  }
  void aba(std::size_t i, PeerConvention convention) override {
    const State& state = states_[i];
    pinocchio::aba(parts_.model, data_, state.q, state.v, state.tau, convention_of(convention));
  }
  void crba(std::size_t i, PeerConvention convention) override {
    pinocchio::crba(parts_.model, data_, states_[i].q, convention_of(convention));
  }
  void minverse(std::size_t i) override { pinocchio::computeMinverse(parts_.model, data_, states_[i].q); }
  void solve(std::size_t i, PeerConvention convention) override {
    crba(i, convention);
    pinocchio::cholesky::decompose(parts_.model, data_);
    solution_ = states_[i].tau;
    pinocchio::cholesky::solve(parts_.model, data_, solution_);
  }

  void get_torque(std::span<double> out) const override { parts_.get(data_.tau, out); }
  void get_acceleration(std::span<double> out) const override { parts_.get(data_.ddq, out); }
  void get_mass_matrix(std::span<double> out) const override { parts_.get_symmetric(data_.M, out); }
  void get_inverse_mass_matrix(std::span<double> out) const override { parts_.get_symmetric(data_.Minv, out); }
  void get_solution(std::span<double> out) const override { parts_.get(solution_, out); }

  std::span<const double> where(PeerResult result) const override {
    const auto all = [](const auto& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); };
    switch (result) {
      case PeerResult::torque:
        return all(data_.tau);
      case PeerResult::acceleration:
        return all(data_.ddq);
      case PeerResult::mass_matrix:
        return all(data_.M);
      case PeerResult::inverse_mass_matrix:
        return all(data_.Minv);
      case PeerResult::solution:
        break;
    }
    return all(solution_);
  }

 private:
  struct State {
    Eigen::VectorXd q, v, a, tau;
  };

  PinocchioModel parts_;
  pinocchio::Data data_;
  std::vector<State> states_;
  Eigen::VectorXd solution_;
};

}  // namespace

std::unique_ptr<PinocchioPeer> BENCH_MAKE_PEER(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity) {
  return std::make_unique<Peer>(bodies, gravity);
}

}  // namespace bench
