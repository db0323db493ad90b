#include "bunraku/dynamics/vibrations.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "bunraku/dynamics/closed_derivatives.hpp"
#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"

namespace bunraku {

namespace {

/// 𝓜, D and K of a system at rest.
struct SmallMotions {
  Eigen::MatrixXd mass;
  Eigen::MatrixXd damping;
  Eigen::MatrixXd stiffness;
};

/// ω² and shapes with x*𝓜x = 1, rising.
struct Squares {
  Eigen::VectorXd values;
  Eigen::MatrixXd shapes;
};

Squares solve(const SmallMotions& of) {
  if (of.mass.size() == 0) {
    return {};
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> direct(of.stiffness, of.mass);
  Squares out{direct.eigenvalues(), direct.eigenvectors()};
  const Eigen::Index n = out.values.size();
  if (!(out.values(0) > 0) || Eigen::LLT<Eigen::MatrixXd>(of.stiffness).info() != Eigen::Success) {
    return out;
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> inverse(of.mass, of.stiffness);
  const double middle = std::sqrt(out.values(0)) * std::sqrt(out.values(n - 1));
  for (Eigen::Index i = 0; i < n && out.values(i) < middle; ++i) {
    const double period = inverse.eigenvalues()(n - 1 - i);  // ω⁻²
    out.values(i) = 1 / period;
    out.shapes.col(i) = inverse.eigenvectors().col(n - 1 - i) / std::sqrt(period);  // from x*Kx = 1
  }
  return out;
}

/// `basis` takes the coordinates of the small motions to those of all hinges.
std::vector<Vibration> vibrations_of(SmallMotions of, const Eigen::MatrixXd& basis) {
  of.stiffness = (0.5 * (of.stiffness + of.stiffness.transpose())).eval();
  of.mass = (0.5 * (of.mass + of.mass.transpose())).eval();
  const Squares squares = solve(of);
  std::vector<Vibration> out;
  for (Eigen::Index i = 0; i < squares.values.size(); ++i) {
    const double square = squares.values(i);
    const double rate = std::copysign(std::sqrt(std::abs(square)), square);
    const Eigen::VectorXd x = squares.shapes.col(i);
    Eigen::VectorXd shape = basis * x;
    Eigen::Index most = 0;
    shape.cwiseAbs().maxCoeff(&most);
    shape *= shape(most) < 0 ? -1 : 1;
    out.push_back({.frequency = rate / (2 * std::numbers::pi),
                   .damping = rate > 0 ? x.dot(of.damping * x) / (2 * rate) : 0,
                   .shape = {shape.begin(), shape.end()}});
  }
  return out;
}

/// Takes the velocities of all members, and gives them back in the end.
class Resting {
 public:
  explicit Resting(ClosedSystem& system) : system_(system), states_(static_cast<std::size_t>(system.members())) {
    for_members([](State& state, Given& given) {
      given = {state.q(), state.v()};
      state.set(given.q);
    });
  }
  ~Resting() {
    for_members([](State& state, Given& given) { state.set(given.q, given.v); });
  }
  Resting(const Resting&) = delete;
  Resting& operator=(const Resting&) = delete;
  Resting(Resting&&) = delete;
  Resting& operator=(Resting&&) = delete;

 private:
  struct Given {
    Eigen::VectorXd q;
    Eigen::VectorXd v;
  };

  template <class F>
  void for_members(F&& f) {
    for (int i = 0; i < system_.members(); ++i) {
      if (system_.has_member(i)) {
        f(system_.state(i), states_[static_cast<std::size_t>(i)]);
      }
    }
  }

  ClosedSystem& system_;
  std::vector<Given> states_;
};

}  // namespace

std::vector<Vibration> vibrations(State& state) {
  const Eigen::Index n = state.model().nv();
  State resting = state;
  resting.set(Eigen::VectorXd(state.q()));
  log_det_mass(resting);  // which a hinge that moves no mass has none of
  const auto derivatives = inverse_dynamics_derivatives<double>(resting, Eigen::VectorXd::Zero(n));
  return vibrations_of({mass_matrix(resting), derivatives.dv, derivatives.dq}, Eigen::MatrixXd::Identity(n, n));
}

std::vector<Vibration> vibrations(ClosedSystem& system) {
  const Eigen::Index n = system.nv();
  const Resting resting(system);
  Eigen::VectorXd torques(n);
  const int rank = closed_inverse_dynamics<double>(system, Eigen::VectorXd::Zero(n), torques).rank;
  const auto derivatives = closed_forward_dynamics_derivatives<double>(system, torques);
  Eigen::MatrixXd Y(system.rows(), n);
  closure_jacobian<double>(system, Y);
  const Eigen::MatrixXd N =
      Y.rows() == 0
          ? Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n))
          : Eigen::MatrixXd(Eigen::BDCSVD<Eigen::MatrixXd>(Y, Eigen::ComputeFullV).matrixV().rightCols(n - rank));
  if (N.cols() == 0) {
    return {};
  }
  const Eigen::MatrixXd mass = (N.transpose() * derivatives.dtau * N).inverse();  // M_C = N(N*𝓜N)⁻¹N*
  return vibrations_of({mass, -mass * N.transpose() * derivatives.dv * N, -mass * N.transpose() * derivatives.dq * N},
                       N);
}

}  // namespace bunraku
