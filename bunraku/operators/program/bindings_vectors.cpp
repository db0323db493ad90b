// The stacked vectors V, α, a, b, f, T, θ̇, θ̈, T_p at a state.

#include <algorithm>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/bindings.hpp"

namespace bunraku::operators {

namespace {

Motion<double> motion_at(const std::vector<double>& all, int k) {
  const double* x = all.data() + 6 * at(k);
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

template <class V>
void store(std::vector<double>& all, int k, const V& value) {
  for (int i = 0; i < 6; ++i) {
    all[6 * at(k) + at(i)] = value[i];
  }
}

}  // namespace

std::vector<double>& Bindings::stored(Symbol symbol) {
  std::vector<double>& out = vectors_[symbol];
  out.resize(at(dimension({info(symbol).range})));
  return out;
}

std::span<const double> Bindings::vector(Symbol symbol) const {
  return vectors_[symbol];
}

void Bindings::fill_vector(Symbol symbol) {
  switch (symbol) {
    case Symbol::thetad:
      stored(symbol) = user_v_;
      return;
    case Symbol::thetadd:
      fill_accelerations();
      return;
    case Symbol::T:
      fill_torques();
      return;
    case Symbol::T_p:
      passive_torques(dynamics(), stored(symbol));
      return;
    case Symbol::f:
      fill_forces();
      return;
    default:
      break;
  }
  blocks_.need_velocities();
  std::vector<double>& out = stored(symbol);
  if (symbol == Symbol::alpha) {  // α(k) = φ*(p,k)α(p) + H*θ̈ + a, outward (RK92 7, 21)
    need(Symbol::thetadd);
    need(Symbol::a);
    std::vector<double> full(at(coordinates_.nv));
    coordinates_.spread(vectors_[Symbol::thetadd], full);
    for (int k = 0; k < blocks_.size(); ++k) {
      Motion<double> alpha = motion_at(vectors_[Symbol::a], k) +
                             kernels::h_adjoint_times(blocks_, k, kernels::hinge_part(blocks_, k, full.data()));
      if (blocks_.parent(k) != world) {
        alpha += kernels::phi_adjoint_times(blocks_, k, motion_at(out, blocks_.parent(k)));
      }
      store(out, k, alpha);
    }
    return;
  }
  for (int k = 0; k < blocks_.size(); ++k) {
    if (symbol == Symbol::V) {
      store(out, k, blocks_.V(k));
    } else if (symbol == Symbol::b) {
      store(out, k, blocks_.b(k));
    } else {  // a, with the base's pseudo-acceleration where a body hangs on the world (RK88 3.21)
      Motion<double> a = blocks_.a(k);
      if (blocks_.parent(k) == world) {
        a += inverse_times(blocks_.X_PB(k), Motion<double>{Vec3<double>::zero(), -model_.gravity()});
      }
      store(out, k, a);
    }
  }
}

State& Bindings::dynamics() {
  if (!dynamics_) {
    dynamics_ = std::make_unique<State>(model_, passive_);
  }
  dynamics_->set(user_q_, user_v_);
  return *dynamics_;
}

void Bindings::fill_accelerations() {
  std::vector<double>& out = stored(Symbol::thetadd);
  if (given_accelerations_) {
    out = *given_accelerations_;
  } else if (given_torques_) {
    forward_dynamics(dynamics(), std::span<const double>(*given_torques_), std::span<double>(out));
  } else {
    throw OperatorError("the hinge accelerations have no value, and thetadd, alpha, f and T follow from them",
                        "give accelerations or torques: --a or --tau, System::set_accelerations or set_torques");
  }
}

void Bindings::fill_forces() {  // f(k) = Σ φ(k,c)f(c) + Mα + b, inward (RK92 9)
  need(Symbol::alpha);
  std::vector<double>& out = stored(Symbol::f);
  std::vector<Force<double>> force(at(blocks_.size()), Force<double>::zero());
  for (int k = blocks_.size() - 1; k >= 0; --k) {
    force[at(k)] += blocks_.M(k) * motion_at(vectors_[Symbol::alpha], k) + blocks_.b(k);
    store(out, k, force[at(k)]);
    if (blocks_.parent(k) != world) {
      force[at(blocks_.parent(k))] += kernels::phi_times(blocks_, k, force[at(k)]);
    }
  }
}

void Bindings::fill_torques() {
  std::vector<double>& out = stored(Symbol::T);
  if (given_torques_) {
    out = *given_torques_;
    return;
  }
  need(Symbol::f);
  need(Symbol::thetadd);
  need(Symbol::T_p);
  std::fill(out.begin(), out.end(), 0.0);
  const std::vector<double>& f = vectors_[Symbol::f];
  for (int k = 0; k < blocks_.size(); ++k) {
    const double* x = f.data() + 6 * at(k);
    for (int j = blocks_.first(k); j < blocks_.first(k) + blocks_.nv(k); ++j) {
      out[at(follower(j).own)] +=
          follower(j).ratio * dot(blocks_.H(j), Force<double>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}});
    }
  }
  need(Symbol::T_p);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] += armature_[i] * vectors_[Symbol::thetadd][i] - vectors_[Symbol::T_p][i];
  }
}

}  // namespace bunraku::operators
