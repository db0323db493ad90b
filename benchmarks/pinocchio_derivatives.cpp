/// @file
/// Pinocchio's derivatives, compiled once for each way to make a peer: BENCH_MAKE_DERIVATIVES is its name.
#include "pinocchio_derivatives.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_model.hpp"

namespace bench {

namespace {

class Peer final : public PinocchioDerivatives {
 public:
  Peer(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity)
      : parts_(bodies, gravity), data_(parts_.model) {}

  std::string name() const override { return "pinocchio " PINOCCHIO_VERSION; }
  void add_state(std::span<const double> q, std::span<const double> v, std::span<const double> acceleration,
                 std::span<const double> torque) override {
    states_.push_back(
        {parts_.configuration(q), parts_.velocity(v), parts_.velocity(acceleration), parts_.velocity(torque)});
  }
  void inverse(std::size_t i) override {
    const State& state = states_[i];
    pinocchio::computeRNEADerivatives(parts_.model, data_, state.q, state.v, state.a);
  }
  void forward(std::size_t i) override {
    const State& state = states_[i];
    pinocchio::computeABADerivatives(parts_.model, data_, state.q, state.v, state.tau);
  }
  void get_inverse(std::span<double> out) const override {
    const std::size_t size = out.size() / 3;
    get(data_.dtau_dq, out.first(size));
    get(data_.dtau_dv, out.subspan(size, size));
    parts_.get_symmetric(data_.M, out.last(size));
  }
  void get_forward(std::span<double> out) const override {
    const std::size_t size = out.size() / 3;
    get(data_.ddq_dq, out.first(size));
    get(data_.ddq_dv, out.subspan(size, size));
    parts_.get_symmetric(data_.Minv, out.last(size));
  }

 private:
  struct State {
    Eigen::VectorXd q, v, a, tau;
  };
  template <class Matrix>
  void get(const Matrix& matrix, std::span<double> out) const {
    const std::size_t n = parts_.peer_index.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        out[i + n * j] = matrix(parts_.peer_index[i], parts_.peer_index[j]);
      }
    }
  }

  PinocchioModel parts_;
  pinocchio::Data data_;
  std::vector<State> states_;
};

}  // namespace

std::unique_ptr<PinocchioDerivatives> BENCH_MAKE_DERIVATIVES(std::span<const PeerBody> bodies,
                                                             const std::array<double, 3>& gravity) {
  return std::make_unique<Peer>(bodies, gravity);
}

}  // namespace bench
