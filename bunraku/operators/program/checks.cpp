// Which hinge it was, and other questions that a sweep does not ask.

#include <cmath>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bunraku/kernels/singular.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

namespace {

/// Throws Error naming the hinge where a D is rounding of zero.
template <class S>
void settle_doubts(const Folded& folded, const kernels::Link<S>* links, const Joints<S>& joints,
                   const RiccatiBlocks<S>& r) {
  std::vector<RigidInertia<S>> carried(folded.links.size(), RigidInertia<S>::zero());
  for (int k = static_cast<int>(folded.links.size()) - 1; k >= 0; --k) {
    const kernels::Link<S>& l = links[k];
    const LinkPlace& place = folded.places[at(k)];
    const bool turns = l.kind <= kernels::Kind::revolute_full;
    const Motion<S> about_z{Vec3<S>::unit_z(), Vec3<S>::zero()};
    const auto n = at(l.nv);
    if (!place.coupled && n > 0) {
      std::vector<S> inverses;
      inverses.reserve(n);
      for (std::size_t j = 0; j < n; ++j) {
        inverses.push_back(r.L[at(place.block) + j * n + j]);
      }
      const kernels::HingeDoubt<S> doubt{
          turns ? std::span(&about_z, 1) : std::span(joints.columns.data() + l.v, n), {r.U.data() + l.v, n}, inverses};
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

template <class S>
void check_cluster(const Folded& folded, const Unit& unit, const RiccatiBlocks<S>& r) {
  const auto n = static_cast<Eigen::Index>(unit.coordinates.size());
  using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Matrix> D(r.D.data() + unit.block, n, n);
  const Eigen::LDLT<Matrix> factor(D);
  if (n > 0 && !(factor.vectorD().minCoeff() > kernels::vanishing_beside_others<S> * D.diagonal().maxCoeff())) {
    for (const int k : unit.members) {
      if (folded.links[at(k)].nv > 0) {
        throw kernels::massless(folded.model.bodies()[at(folded.links[at(k)].body)].hinge, "is coupled to others and ");
      }
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
    if (v.uses[n] != no_value && !evaluator.is_symmetric(v.uses[n])) {
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
void check_riccati(const Evaluator<S>& evaluator) {
  const Folded& folded = evaluator.folded();
  for (const int i : evaluator.families()) {
    const Value& v = evaluator.plan().values[at(i)];
    const RiccatiBlocks<S>& r = evaluator.family(i);
    const bool of_bodies = v.uses[1] == no_value && v.part != Part::blocks;
    if (!of_bodies) {
      check_family(evaluator, i);
    } else if (r.doubtful) {
      settle_doubts(folded, evaluator.links(), evaluator.joints(), r);
    }
    for (const Unit& unit : folded.units) {
      if (!folded.coupled) {
        break;
      }
      if (of_bodies && folded.places[at(unit.members[0])].coupled) {
        check_cluster(folded, unit, r);
      }
    }
  }
}

template void check_riccati(const Evaluator<double>&);
template void check_riccati(const Evaluator<float>&);

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
