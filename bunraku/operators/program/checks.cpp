// Which hinge it was, and other questions that a sweep does not ask.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/kernels/singular.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

namespace {

/// Throws Error naming the hinge where the D of a cluster is rounding of zero: the kernels' question.
template <class S>
void settle_cluster(Evaluator<S>& evaluator, const Unit& unit, const RiccatiBlocks<S>& r) {
  auto& [carried, rounding, D, order] = evaluator.doubt_room();
  const Folded& folded = evaluator.folded();
  const std::size_t n = unit.coordinates.size();
  std::fill(rounding.begin(), rounding.end(), S(0));
  for (const int k : unit.members) {
    const kernels::Link<S>& l = evaluator.links()[k];
    const LinkPlace& place = folded.places[at(k)];
    for (int j = 0; j < l.nv; ++j) {
      const Motion<S>& H = evaluator.joints().columns[at(l.v + j)];  // a follower's has its ratio
      const double gear = folded.coordinates.armature[at(l.v + j)] * place.ratio * place.ratio;
      const auto own = std::find(unit.coordinates.begin(), unit.coordinates.end(), place.own + j);
      rounding[at(static_cast<int>(own - unit.coordinates.begin()))] +=
          std::sqrt(kernels::rounding_of(H, static_cast<S>(gear), l.inertia, carried[at(k)]));
    }
  }
  std::copy_n(r.D.begin() + unit.block, n * n, D.begin());
  kernels::check_coupled(D.data(), static_cast<int>(n), rounding.data(), order.data(), [&](int j) -> const Hinge& {
    const int v = unit.coordinates[at(j)];
    const auto owner = std::find_if(folded.model.bodies().begin(), folded.model.bodies().end(),
                                    [v](const Body& b) { return b.v_index <= v && v < b.v_index + b.nv; });
    return owner->hinge;
  });
}

/// Throws Error naming the hinge where a D is rounding of zero.
template <class S>
void settle_doubts(Evaluator<S>& evaluator, const RiccatiBlocks<S>& r) {
  const Folded& folded = evaluator.folded();
  const Joints<S>& joints = evaluator.joints();
  std::vector<RigidInertia<S>>& carried = evaluator.doubt_room().carried;
  std::fill(carried.begin(), carried.end(), RigidInertia<S>::zero());
  for (int k = static_cast<int>(folded.links.size()) - 1; k >= 0; --k) {
    const kernels::Link<S>& l = evaluator.links()[k];
    const LinkPlace& place = folded.places[at(k)];
    const bool turns = l.kind <= kernels::Kind::revolute_full;
    const Motion<S> about_z{Vec3<S>::unit_z(), Vec3<S>::zero()};
    const auto n = at(l.nv);
    if (place.coupled) {  // the unit's first member comes last
      const Unit& unit = folded.units[at(place.unit)];
      if (unit.members[0] == k) {
        settle_cluster(evaluator, unit, r);
      }
    } else if (n > 0) {
      std::array<S, max_hinge_velocities> inverses{};
      for (std::size_t j = 0; j < n; ++j) {
        inverses[j] = r.L[at(place.block) + j * n + j];
      }
      const kernels::HingeDoubt<S> doubt{turns ? std::span(&about_z, 1) : std::span(joints.columns.data() + l.v, n),
                                         {r.U.data() + l.v, n},
                                         {inverses.data(), n}};
      kernels::check_positive(folded.model.bodies()[at(l.body)].hinge, doubt, l.inertia, carried[at(k)]);
    }
    if (l.parent >= 0) {
      Transform<S> X = joints.pose[at(k)];
      if (turns) {
        const kernels::Spin<S>& s = joints.spin[at(k)];
        X = {Rotation<S>(l.turn * Mat3<S>{{{s.c, -s.s, S(0)}, {s.s, s.c, S(0)}, {S(0), S(0), S(1)}}}), l.p};
      }
      carried[at(l.parent)] += X * (l.inertia + carried[at(k)]);
    }
  }
}

/// Throws where X or A of a family is not symmetric, or some D has no inverse.
template <class S>
void check_family(const Evaluator<S>& evaluator, int i) {
  const Folded& folded = evaluator.folded();
  const Value& v = evaluator.plan().values[at(i)];
  const RiccatiBlocks<S>& r = evaluator.family(i);
  for (std::size_t n = 1; n < v.uses.size(); ++n) {
    if (v.uses[n] != no_value && evaluator.asymmetric(v.uses[n])) {
      throw OperatorError(
          fmt::format("'{}' is not symmetric, and '{}' belongs to a symmetric one",
                      bunraku::detail::printable(to_ascii(evaluator.plan().values[at(v.uses[n])].what), 200),
                      bunraku::detail::printable(to_ascii(v.what), 200)),
          "dense_inv(x) forms an inverse by a dense matrix, O(n³)");
    }
  }
  for (const Unit& unit : folded.units) {
    const int k = unit.members[0];
    const std::size_t n = unit.coordinates.size();
    for (std::size_t j = 0; j < n; ++j) {
      const S inverse = r.L[at(unit.block) + j * n + j];
      if (inverse == 0 || !std::isfinite(inverse)) {
        throw OperatorError(
            fmt::format("'{}' has no inverse: the block of hinge '{}' is singular",
                        to_ascii(Operator::of_family(Symbol::D, v.what.term().parts[0], v.what.term().parts[1])),
                        folded.model.bodies()[at(folded.links[at(k)].body)].hinge.name));
      }
    }
  }
}

}  // namespace

template <class S>
void check_riccati(Evaluator<S>& evaluator) {
  for (const int i : evaluator.families()) {
    const Value& v = evaluator.plan().values[at(i)];
    const RiccatiBlocks<S>& r = evaluator.family(i);
    const bool of_bodies = v.uses[1] == no_value && v.part != Part::blocks;
    if (!of_bodies) {
      check_family(evaluator, i);
    } else if (r.doubtful) {
      settle_doubts(evaluator, r);
    }
  }
}

template void check_riccati(Evaluator<double>&);
template void check_riccati(Evaluator<float>&);

void check_clusters(const Plan& plan, const Folded& folded) {
  if (!folded.nested) {
    return;
  }
  for (const Value& v : plan.values) {
    const bool through_gains =
        (v.step == Step::gather || v.step == Step::spread || v.step == Step::carry) && v.part == Part::E_psi;
    const bool of_clusters =
        v.step == Step::blocks && v.what.kind() != Kind::memoryless && any_in(v.what, [](const Operator& part) {
          return part.term().type == TermType::symbol && has_family(part.term().symbol);
        });
    if (through_gains || of_clusters) {
      const std::span<const Body> bodies = folded.model.bodies();
      const auto body = std::find_if(bodies.begin(), bodies.end(), [](const Body& b) { return b.leader != world; });
      throw OperatorError(fmt::format("{} is not block diagonal here: hinge '{}' follows hinge '{}'", to_ascii(v.what),
                                      body->hinge.name, bodies[at(body->leader)].hinge.name),
                          "Omega does exist: the coupled bodies count as one body there", to_ascii(v.what));
    }
  }
}

void check_rates(const Plan& plan, const Folded& folded, bool ideal) {
  const std::span<const Body> bodies = folded.model.bodies();
  const auto custom = std::find_if(bodies.begin(), bodies.end(), [](const Body& body) {
    return body.hinge.type == HingeType::custom ||
           (body.hinge.type == HingeType::modal && !body.hinge.modal->rotation.empty());
  });
  for (const Value& v : plan.values) {
    if (v.step == Step::joint_rate && v.in.size() > 1 && custom != bodies.end()) {
      throw OperatorError(
          fmt::format("'{}' has no value here: hinge '{}' is {}, and of its joint map one derivative is known, not {}",
                      to_ascii(v.what), custom->hinge.name, to_string(custom->hinge.type), v.in.size()),
          "differentiate once less, or make the hinge of built-in ones");
    }
    if (v.part == Part::stiffness && !ideal) {
      const auto sprung = std::find_if(bodies.begin(), bodies.end(), [](const Body& body) {
        return !has_plain_coordinates(body.hinge.type) &&
               std::any_of(body.hinge.dofs.begin(), body.hinge.dofs.end(),
                           [](const HingeDof& dof) { return dof.stiffness != 0; });
      });
      if (sprung != bodies.end()) {
        throw OperatorError(
            fmt::format("'stiffness' has no value here: the spring of hinge '{}' is not linear in its coordinates",
                        sprung->hinge.name),
            "System(model, PassiveForces::left_out), `--ideal`, has hinges without springs", "stiffness");
      }
    }
  }
}

void refuse_matrix(const Plan& plan, const Folded& folded, int value, int unit, std::string_view why) {
  const Operator& what = plan.values[at(value)].what;
  const auto shown = [](const Operator& x) { return bunraku::detail::printable(to_ascii(x), 200); };
  if (unit < 0) {
    throw OperatorError(fmt::format("the matrix of '{}' {}", shown(what.term().parts[0]), why));
  }
  const int link = folded.units[at(unit)].members[0];
  throw OperatorError(fmt::format("'{}' cannot be formed: the block of body '{}' {}", shown(what),
                                  folded.model.bodies()[at(folded.links[at(link)].body)].name, why));
}

}  // namespace bunraku::operators
