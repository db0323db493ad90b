#include "bunraku/dynamics/detail/prepared.hpp"

#include <algorithm>

#include "bunraku/operators/language/soa.hpp"

namespace bunraku::detail {

namespace {

/// Forces from outside on the bodies, at their origins in their axes.
const Operator& applied() {
  static const Operator vector = Operator::variable("applied", SpaceKind::body, SpaceKind::number);
  return vector;
}

/// The expressions. Where the papers go from body k−1 to body k, the sum over the bodies that hang on k is meant (RJK89
/// appendix A), and their Bf(0), the force on the environment, is minus the applied forces.
Operator expression_of(Prepared which) {
  using namespace soa;
  const Operator& f = applied();
  const Operator innovations = I - H * psi * K;
  const Operator bias = M * ~phi * a + b - f;
  // fd1 and fd2: the bias torques are off T first; fd3: innovations of T and Mφ*a + b; fd4: of T, Pa and b
  const Operator nu_12 = inv(D) * innovations * (T - H * phi * bias);
  const Operator nu_3 = inv(D) * (T - H * psi * (K * T + bias));
  const Operator nu_4 = inv(D) * (T - H * psi * (K * T + E_psi * P * a + b - f));
  const auto lambda_4 = [&] { return ~psi * (~H * nu_4 + ~taub * a); };
  switch (which) {
    case Prepared::mass_root:
      return (I + H * phi * K) * sqrt(D);  // RK88 4.13
    case Prepared::inverse_mass_root:
      return inv(sqrt(D)) * innovations;  // RK88 4.15
    case Prepared::inverse_mass:
      return ~innovations * inv(D) * innovations;  // RK92 45
    case Prepared::lambda_inverse:
      return ~B * ~psi * ~H * inv(D) * H * psi * B;  // RJK91 20
    case Prepared::factors:
      return D;  // RK92 34–41
    case Prepared::reactions:
      return phi * (M * ~phi * (~H * thetadd + a) + b - f);  // RK92 24–25
    case Prepared::fd1:
      return nu_12 - ~K * ~psi * ~H * nu_12;
    case Prepared::fd3:
      return nu_3 - ~K * ~psi * ~H * nu_3;
    case Prepared::fd4:
      return nu_4 - ~K * lambda_4() - ~G * a;
    case Prepared::fd2_links:
      return ~psi * ~H * nu_12 + ~phi * a;
    case Prepared::fd4_links:
      return lambda_4();
    case Prepared::count:
      break;
  }
  return I;
}

/// The plan of an expression, made once.
const std::shared_ptr<const operators::Plan>& plan_of(Prepared which) {
  static const auto plans = [] {
    std::array<std::shared_ptr<const operators::Plan>, static_cast<std::size_t>(Prepared::count)> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = std::make_shared<const operators::Plan>(
          operators::make_plan(expression_of(static_cast<Prepared>(i)), {}, operators::Inverses::refused));
    }
    return all;
  }();
  return plans[static_cast<std::size_t>(which)];
}

}  // namespace

template <class T>
operators::Evaluator<T>& PreparedPrograms<T>::at(Prepared which, StateData<T>& state, std::size_t nodes) {
  Entry& entry = entries_[static_cast<std::size_t>(which)];
  if (entry.evaluator == nullptr || entry.nodes < nodes) {
    const std::shared_ptr<const operators::Plan>& plan = plan_of(which);
    const bool merged = plan->mergeable && which != Prepared::factors;  // these are wanted of each body
    auto& folded = merged ? links_ : bodies_;
    if (folded == nullptr) {
      folded = std::make_shared<const operators::Folded>(state.model,
                                                         merged ? operators::Fold::links : operators::Fold::bodies);
    }
    auto attached = std::make_shared<operators::Attachments>();
    attached->nodes.resize(nodes);
    entry.evaluator = std::make_unique<operators::Evaluator<T>>(plan, folded, attached);
    entry.nodes = nodes;
    entry.version = 0;
  }
  if (entry.version != state.version) {
    entry.evaluator->set_state(state.q.data(), state.user_v().data());
    entry.version = state.version;
  }
  return *entry.evaluator;
}

template <class T>
PreparedPrograms<T>& programs_of(StateData<T>& state) {
  if (state.prepared == nullptr) {
    state.prepared = std::make_shared<PreparedPrograms<T>>();
  }
  return *state.prepared;
}

template <class T>
void lend_loads(StateData<T>& state, Forces<T> forces, operators::Evaluator<T>& program) {
  if (!forces.empty()) {
    state.blocks.need_world();
  }
  std::vector<T>& loads = programs_of(state).loads;
  loads.assign(static_cast<std::size_t>(operators::rigid) * state.model.bodies().size(), T(0));
  for (const AppliedForce<T>& each : forces) {
    if (each.body != world) {
      operators::add(loads.data() + static_cast<std::ptrdiff_t>(operators::rigid) * each.body, state.at_body(each));
    }
  }
  program.lend(applied(), loads.data());
}

template class PreparedPrograms<double>;
template class PreparedPrograms<float>;
template PreparedPrograms<double>& programs_of(StateData<double>&);
template PreparedPrograms<float>& programs_of(StateData<float>&);
template void lend_loads(StateData<double>&, Forces<double>, operators::Evaluator<double>&);
template void lend_loads(StateData<float>&, Forces<float>, operators::Evaluator<float>&);

}  // namespace bunraku::detail
