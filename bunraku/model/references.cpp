#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/detail/builder_parts.hpp"

namespace bunraku {

namespace {

/// Whether these can be the coordinates of a hinge; what is wrong is reported.
bool check_position(const Hinge& hinge, const std::vector<double>& q, const ReferenceSpec& spec,
                    ProblemList& problems) {
  const int nq = hinge.configuration_size();
  if (std::ssize(q) != nq) {
    problems.error(spec.where,
                   fmt::format("reference configuration '{}' gives hinge '{}' {} numbers, but it is {} and has {}",
                               spec.name, hinge.name, q.size(), to_string(hinge.type), nq),
                   nq == 0 ? "leave the hinge out" : "give all of its coordinates");
    return false;
  }
  if (!std::all_of(q.begin(), q.end(), [](double x) { return std::isfinite(x); })) {
    problems.error(
        spec.where,
        fmt::format("a coordinate of hinge '{}' in reference configuration '{}' is not finite", hinge.name, spec.name),
        "give finite numbers");
    return false;
  }
  if (hinge.type == HingeType::spherical || hinge.type == HingeType::free) {
    const double norm = Quaternion<double>{q[0], q[1], q[2], q[3]}.norm();
    if (!(std::abs(norm - 1) <= quaternion_tolerance<double>)) {
      problems.error(spec.where,
                     fmt::format("the quaternion of hinge '{}' in reference configuration '{}' has norm {:.9g}",
                                 hinge.name, spec.name, norm),
                     "divide it by its norm; w comes first");
      return false;
    }
  }
  return true;
}

}  // namespace

void ModelBuilder::Parts::place_references(Model::Data& data, const Names& hinge_names, ProblemList& problems) const {
  Names names;
  for (const ReferenceSpec& spec : references) {
    claim_name(
        names, "reference configuration", spec.name, static_cast<int>(data.references.size()), spec.where,
        [&](int k) { return references[static_cast<std::size_t>(k)].where; }, problems);
    std::vector<double> q(static_cast<std::size_t>(data.nq));
    for (const Body& body : data.bodies) {
      if (body.nq > 0) {
        hinge_neutral(body.hinge, &q[static_cast<std::size_t>(body.q_index)]);
      }
    }
    std::vector<std::pair<const Body*, double>> followers;
    for (const auto& [hinge, position] : spec.positions) {
      const auto at = hinge_names.find(hinge);
      if (at == hinge_names.end()) {
        problems.error(spec.where,
                       fmt::format("reference configuration '{}' places hinge '{}', which does not exist{}", spec.name,
                                   hinge, problems.suggestion(hinge, hinge_names)),
                       "name a hinge");
        continue;
      }
      const Body& body = data.bodies[static_cast<std::size_t>(at->second)];
      if ((body.hinge.type == HingeType::custom && !body.hinge.custom) ||
          !check_position(body.hinge, position, spec, problems)) {
        continue;
      }
      if (body.hinge.mimic) {
        followers.emplace_back(&body, position[0]);
      } else if (body.nq > 0) {
        std::copy(position.begin(), position.end(), q.begin() + body.q_index);
        hinge_normalize(body.hinge, &q[static_cast<std::size_t>(body.q_index)]);
      }
    }
    for (const auto& [body, position] : followers) {
      if (body->leader == world) {
        continue;  // reported where mimics are resolved
      }
      const double follows = body->leader_ratio * q[static_cast<std::size_t>(body->q_index)] + body->leader_offset;
      if (!(std::abs(position - follows) <= 1e-6 * std::max(1.0, std::abs(follows)))) {
        problems.warning(spec.where,
                         fmt::format("reference configuration '{}' places hinge '{}' at {}, but it follows '{}' to {}",
                                     spec.name, body->hinge.name, position, body->hinge.mimic->hinge, follows),
                         "leave it out, or place its leader accordingly");
      }
    }
    data.references.push_back({spec.name, std::move(q), spec.where});
  }
}

}  // namespace bunraku
