#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "bunraku/model/changes.hpp"
#include "bunraku/model/detail/arguments.hpp"

namespace bunraku {

namespace {

/// Σ c_i x^i.
double value(const std::array<double, 5>& c, double x) {
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

/// What becomes of a tie of two hinges when some are locked at the positions given by name; nothing: it is left out.
std::optional<ClosureSpec> reduced(ClosureSpec tie, const std::map<std::string_view, double>& locked,
                                   ModelBuilder& builder) {
  const auto a = locked.find(tie.a);
  const auto b = locked.find(tie.b);
  if (a == locked.end() && b == locked.end()) {
    return tie;
  }
  const double rhs = b == locked.end() ? 0 : value(tie.polynomial, b->second - tie.reference_b);
  if (a == locked.end()) {  // q_a − q_a0 is a constant now
    tie.b.clear();
    tie.polynomial = {rhs, 0, 0, 0, 0};
    return tie;
  }
  const double lhs = a->second - tie.reference_a;
  if (b != locked.end() || tie.b.empty()) {
    const double gap = lhs - (tie.b.empty() ? tie.polynomial[0] : rhs);
    if (!(std::abs(gap) <= 1e-9)) {
      builder.report(
          {Severity::warning, tie.where,
           fmt::format("closure '{}' is left out: its hinges are locked {:.6g} apart from it", tie.name, gap),
           "lock them where the closure holds"});
    }
    return std::nullopt;
  }
  const auto& c = tie.polynomial;
  if (c[1] == 0 || c[2] != 0 || c[3] != 0 || c[4] != 0) {
    throw ArgumentError(
        fmt::format("closure '{}' ties the locked hinge '{}' to '{}' by a polynomial that has no one inverse: lock "
                    "'{}' too",
                    tie.name, tie.a, tie.b, tie.b));
  }
  tie.a = std::exchange(tie.b, {});  // now q_b is what is held
  tie.reference_a = tie.reference_b;
  tie.polynomial = {(lhs - c[0]) / c[1], 0, 0, 0, 0};
  return tie;
}

}  // namespace

Model lock(const Model& model, const HingeSet& hinges, In<double> q) {
  if (hinges.model().bodies().size() != model.bodies().size()) {
    throw ArgumentError(
        fmt::format("the hinges to lock are those of model '{}', not of '{}'", hinges.model().name(), model.name()));
  }
  const std::span<const double> at = q;
  check_argument(at, model.nq(), "q");
  check_quaternions(model, at, "q");
  ModelBuilder builder = edit(model);
  std::map<std::string_view, double> locked;
  for (int i = 0; i < static_cast<int>(model.bodies().size()); ++i) {
    const Body& body = model.body(i);
    const bool follows = body.leader != world;
    if (follows && hinges.contains(i) && !hinges.contains(body.leader)) {
      throw ArgumentError(fmt::format("hinge '{}' follows '{}' and cannot be locked alone: lock '{}'", body.hinge.name,
                                      model.body(body.leader).hinge.name, model.body(body.leader).hinge.name));
    }
    if (body.hinge.type == HingeType::fixed || !hinges.contains(follows ? body.leader : i)) {
      continue;
    }
    const double* position = at.data() + body.q_index;
    const bool scaled = follows && body.hinge.type != HingeType::modal;
    const double followed = scaled ? body.leader_ratio * *position + body.leader_offset : 0;
    position = scaled ? &followed : position;
    BodySpec& spec = builder.bodies()[static_cast<std::size_t>(i)];
    spec.X_PF = body.X_PF * hinge_pose(body.hinge, position);
    spec.hinge = Hinge{.name = body.hinge.name};
    locked.emplace(body.hinge.name, *position);
    for (ReferenceSpec& reference : builder.references()) {
      reference.positions.erase(body.hinge.name);
    }
  }
  std::vector<ClosureSpec> closures;
  for (const ClosureSpec& closure : builder.closures()) {
    if (closure.kind != ClosureKind::hinges) {
      closures.push_back(closure);
    } else if (auto left = reduced(closure, locked, builder)) {
      closures.push_back(*std::move(left));
    }
  }
  builder.closures() = std::move(closures);
  return builder.build();
}

}  // namespace bunraku
