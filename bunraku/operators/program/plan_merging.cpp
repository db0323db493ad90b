// Which plans may run over links, where bodies joined by fixed hinges are one.

#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

namespace {

/// How a value of body space behaves when bodies joined by fixed hinges become one.
enum class Role {
  other,     // not at all, or not a value of body space
  load,      // forces at bodies, which add up: M, B, K give them
  gathered,  // forces that have been carried inward, right where there is a hinge: H takes them
  drive,     // motions of hinges: H* gives them
  motion,    // motions that have been carried outward, right everywhere: M, B*, K* take them
};

}  // namespace

bool is_mergeable(const Plan& plan) {
  const auto value_at = [&](int i) -> const Value& { return plan.values[static_cast<std::size_t>(i)]; };
  const auto in_bodies = [](const Space& space) { return space.kind == SpaceKind::body; };
  if (in_bodies(plan.expression.range()) || in_bodies(plan.expression.domain())) {
    return false;
  }
  const auto of_hinges = [](const Value& v) {  // which are the same numbers in either case
    return v.space.kind == SpaceKind::hinge && v.domain.kind == SpaceKind::hinge;
  };
  std::vector<Role> roles(plan.values.size(), Role::other);
  const auto role = [&](int i) { return i == no_value ? Role::other : roles[static_cast<std::size_t>(i)]; };
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    const Value& v = plan.values[i];
    const auto is = [&](std::size_t n, Role wanted) { return role(v.in[n]) == wanted; };
    const auto is_or_absent = [&](std::size_t n, Role wanted) { return v.in[n] == no_value || is(n, wanted); };
    bool allowed = true;
    switch (v.step) {
      case Step::propagate:
        allowed = is(0, v.adjoint ? Role::drive : Role::load);
        roles[i] = v.adjoint ? Role::motion : Role::gathered;
        break;
      case Step::filter:
        allowed = is_or_absent(1, Role::load);
        roles[i] = Role::gathered;
        break;
      case Step::smoother:
        allowed = is_or_absent(1, Role::drive);
        roles[i] = Role::motion;
        break;
      case Step::apply:
        switch (v.part) {
          case Part::M:
            allowed = is(0, Role::motion);
            roles[i] = Role::load;
            break;
          case Part::H:
            allowed = v.adjoint || is(0, Role::gathered);
            roles[i] = v.adjoint ? Role::drive : Role::other;
            break;
          case Part::B:
            allowed = !v.adjoint || is(0, Role::motion);
            roles[i] = v.adjoint ? Role::other : Role::load;
            break;
          case Part::armature:
          case Part::stiffness:
          case Part::D:
          case Part::inverse_D:
            break;
          case Part::blocks:
            allowed = of_hinges(value_at(v.uses[0]));
            break;
          default:
            allowed = false;
        }
        break;
      case Step::shift:
        allowed = v.part == Part::K && (!v.adjoint || is(0, Role::motion));
        roles[i] = v.adjoint ? Role::other : Role::load;
        break;
      case Step::combine:
      case Step::scale_by:
        if (in_bodies(v.space) && !v.in.empty()) {
          roles[i] = role(v.in[0]);
          const std::size_t terms = v.step == Step::combine ? v.in.size() : 1;
          for (std::size_t n = 0; n < terms; ++n) {
            allowed = allowed && is(n, roles[i]);
          }
          allowed = allowed && roles[i] != Role::other;
        } else if (in_bodies(v.space)) {
          allowed = false;
        }
        break;
      case Step::dot:
      case Step::apply_dense:
        allowed = !in_bodies(value_at(v.in[0]).space);
        break;
      case Step::riccati:
        allowed = v.uses[1] == no_value;
        break;
      case Step::inject:
      case Step::extract:
        allowed = !in_bodies(v.space) && !in_bodies(v.domain);
        break;
      case Step::input:
      case Step::one:
      case Step::given:
      case Step::passive:
      case Step::joints:
      case Step::innovation:
      case Step::residual:
        break;
      case Step::constants:
      case Step::probe:
        allowed = !in_bodies(v.space);
        break;
      case Step::blocks:
      case Step::block_inverse:
      case Step::block_root:
        allowed = of_hinges(v);
        break;
      default:
        allowed = false;
    }
    if (!allowed) {
      return false;
    }
  }
  return true;
}

}  // namespace bunraku::operators
