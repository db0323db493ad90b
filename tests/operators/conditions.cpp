#include "operators/conditions.hpp"

#include <algorithm>

#include "bunraku/operators/verify.hpp"
#include "support/coupled_models.hpp"

namespace bunraku::test {

SystemAndDense system_for(const Conditions& conditions) {
  if (conditions.couplings) {
    return {coupled_models(conditions.armature)[8].model, 5};
  }
  return {random_model({.armature = conditions.armature, .bodies = 5}, 12), 5};
}

std::size_t sweeps(const System& system, const Operator& x) {
  const PlanReport plan = system.literal(x).plan();
  return static_cast<std::size_t>(
      std::count_if(plan.sweeps.begin(), plan.sweeps.end(), [](const Sweep& s) { return s.direction != "local"; }));
}

}  // namespace bunraku::test
