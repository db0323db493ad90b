#include "bunraku/dynamics/equilibrium.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/model/configuration.hpp"

namespace bunraku {

namespace {

/// No step turns or moves a hinge by more than this, rad or m.
constexpr double longest = 0.5;

/// What the free hinges need, and how that changes with them.
template <class T>
class Balance {
 public:
  Balance(BasicState<T>& state, const HingeSet& free) : state_(state), model_(state.model()) {
    for (const int k : free.bodies()) {
      const Body& body = model_.bodies()[static_cast<std::size_t>(k)];
      for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
        places_.push_back(j);
        names_.push_back(&body.hinge.name);
      }
    }
    look();
  }

  /// Moves the free hinges and looks again.
  void move(const Eigen::VectorXd& step) {
    VectorX<T> v = VectorX<T>::Zero(model_.nv());
    v(places_) = step.cast<T>();
    set(integrate(model_, VectorX<T>(state_.q()), v));
  }
  /// Goes to a configuration and looks again.
  void set(const VectorX<T>& q) {
    state_.set(q);
    look();
  }

  VectorX<T> q() const { return state_.q(); }
  int size() const { return static_cast<int>(places_.size()); }
  const Eigen::VectorXd& torque() const { return torque_; }        ///< On free hinges.
  const Eigen::MatrixXd& stiffness() const { return stiffness_; }  ///< Its derivative by them.
  double scale() const { return scale_; }                          ///< The largest torque, or change of one.
  double residual() const { return size() == 0 ? 0 : torque_.cwiseAbs().maxCoeff(); }
  bool rests(double tolerance) const { return residual() <= tolerance * scale(); }
  const std::string& worst() const {
    Eigen::Index place = 0;
    torque_.cwiseAbs().maxCoeff(&place);
    return *names_[static_cast<std::size_t>(place)];
  }

 private:
  void look() {
    const VectorX<T> still = VectorX<T>::Zero(model_.nv());
    const VectorX<T> all = inverse_dynamics<T>(state_, still);
    const MatrixX<T> change = inverse_dynamics_derivatives<T>(state_, still).dq;
    torque_ = all(places_).template cast<double>();
    stiffness_ = change(places_, places_).template cast<double>();
    scale_ = model_.nv() == 0 ? 0
                              : std::max(static_cast<double>(all.cwiseAbs().maxCoeff()),
                                         static_cast<double>(change.cwiseAbs().maxCoeff()));
  }

  BasicState<T>& state_;
  const Model& model_;
  std::vector<int> places_;
  std::vector<const std::string*> names_;
  Eigen::VectorXd torque_;
  Eigen::MatrixXd stiffness_;
  double scale_ = 0;
};

/// Not longer than it may be.
Eigen::VectorXd shortened(const Eigen::VectorXd& step) {
  const double length = step.cwiseAbs().maxCoeff();
  return length > longest ? Eigen::VectorXd(step * (longest / length)) : step;
}

/// Where no step makes the torques smaller they are stationary, but not zero: downhill lies elsewhere.
bool stationary(const Eigen::MatrixXd& stiffness, const Eigen::VectorXd& torque, double scale) {
  return (stiffness.transpose() * torque).norm() <= 1e-8 * scale * torque.norm();
}

}  // namespace

template <class T>
TrimResult trim(BasicState<T>& state, const HingeSet& free, const TrimOptions& options) {
  if (free.model().bodies().size() != state.model().bodies().size()) {
    throw ArgumentError(fmt::format("the set of free hinges is of model '{}', the state of model '{}'",
                                    free.model().name(), state.model().name()));
  }
  state.set(VectorX<T>(state.q()));
  Balance<T> balance(state, free);
  const double tolerance = std::max(options.tolerance, 100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  TrimResult out;
  double damping = 1e-3;
  for (; out.steps < options.steps && !balance.rests(tolerance); ++out.steps) {
    const Eigen::MatrixXd K = balance.stiffness();
    const Eigen::VectorXd torque = balance.torque();
    if (stationary(K, torque, balance.scale())) {
      balance.move(shortened(-torque * (longest / torque.cwiseAbs().maxCoeff())));
      continue;
    }
    const VectorX<T> before = balance.q();
    Eigen::MatrixXd normal = K.transpose() * K;
    normal.diagonal().array() += damping * normal.diagonal().maxCoeff();
    balance.move(shortened(-normal.ldlt().solve(K.transpose() * torque)));
    if (balance.torque().squaredNorm() < torque.squaredNorm()) {
      damping = std::max(damping / 10, 1e-16);
    } else {
      balance.set(before);
      damping = std::min(damping * 10, 1e8);
    }
  }
  out.found = balance.rests(tolerance);
  out.residual = balance.residual();
  out.stable = true;
  if (balance.size() > 0) {
    out.worst = balance.worst();
    const Eigen::MatrixXd& K = balance.stiffness();
    out.least_stiffness =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>((K + K.transpose()) / 2, Eigen::EigenvaluesOnly)
            .eigenvalues()(0);
    out.stable = out.least_stiffness > tolerance * balance.scale();
  }
  return out;
}

template TrimResult trim(BasicState<double>&, const HingeSet&, const TrimOptions&);
template TrimResult trim(BasicState<float>&, const HingeSet&, const TrimOptions&);

}  // namespace bunraku
