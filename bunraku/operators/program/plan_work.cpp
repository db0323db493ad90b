// Counts of a plan's work, for plan() and for choosing between expressions.

#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

namespace {

constexpr double number = sizeof(double);
/// A spatial transform: two rotations and a cross product; its 12 numbers.
constexpr double transform_flops = 2 * 15 + 9 + 3;
constexpr double transform_bytes = 12 * number;

/// A symbol's block times a vector.
Work block_work(Symbol symbol, double nv, double nodes) {
  switch (symbol) {
    case Symbol::M:
    case Symbol::R:
      return {.flops = 2 * 15 + 2 * 12, .bytes = 10 * number};
    case Symbol::P:
      return {.flops = 66, .bytes = 21 * number};
    case Symbol::Upsilon:
      return {.flops = 66, .bytes = 36 * number};
    case Symbol::Delta_phi:
    case Symbol::E_phi:
      return {.flops = transform_flops, .bytes = transform_bytes};
    case Symbol::H:
    case Symbol::G:
      return {.flops = 11 * nv, .bytes = 6 * nv * number};
    case Symbol::K:
      return {.flops = transform_flops + 11 * nv, .bytes = transform_bytes + 6 * nv * number};
    case Symbol::D:
      return {.flops = nv * (2 * nv - 1), .bytes = nv * nv * number};
    case Symbol::armature:
      return {.flops = nv, .bytes = nv * number};
    case Symbol::B:
      return {.flops = transform_flops * nodes, .bytes = transform_bytes * nodes};
    default:
      return {};
  }
}

}  // namespace

Work work_of(const Plan& plan, int index, double nv, double nodes) {
  const Value& value = plan.values[static_cast<std::size_t>(index)];
  const auto size = [&](const Space& space) {
    if (!space.part.empty() || space.kind == SpaceKind::number) {
      return 0.0;
    }
    return space.kind == SpaceKind::hinge ? nv : space.kind == SpaceKind::body ? 6.0 : 6.0 * nodes;
  };
  const double own = size(value.space);
  double read = 0;
  for (const int in : value.in) {
    read += in == no_value ? 0 : size(plan.values[static_cast<std::size_t>(in)].space);
  }
  Work work{.flops = 0, .bytes = (own + read) * number};
  const auto include = [&](const Work& more) {
    work.flops += more.flops;
    work.bytes += more.bytes;
  };
  switch (value.step) {
    case Step::apply:
    case Step::shift:
      if (value.factor.what.term().type == TermType::variable) {
        include({.flops = own * (2 * read - 1), .bytes = own * read * number});
      } else {
        const bool inverse = value.factor.what.term().type == TermType::inverse;
        include(block_work(inverse ? Symbol::D : value.factor.what.term().symbol, nv, nodes));
      }
      work.flops += direction_of(value) == Direction::inward ? own : 0;
      break;
    case Step::propagate:
      include(block_work(Symbol::E_phi, nv, nodes));
      work.flops += 6;
      break;
    case Step::filter:
    case Step::smoother:
      include(block_work(Symbol::H, nv, nodes));
      include(block_work(Symbol::G, nv, nodes));
      include(block_work(Symbol::E_phi, nv, nodes));
      work.flops += 12 + nv + (value.in[1] == no_value ? 0 : 6);
      work.bytes += nv * number;
      break;
    case Step::apply_solved:
      include({.flops = own * (2 * own - 1), .bytes = own * own * number});
      break;
    case Step::apply_cross:
      work.flops += 30;
      break;
    case Step::combine:
      work.flops += own * (2 * static_cast<double>(value.in.size()) - 1);
      break;
    case Step::scale_by:
      work.flops += own;
      break;
    case Step::dot:
      work.flops += read;
      break;
    case Step::innovation:
    case Step::residual:
    case Step::input:
    case Step::one:
    case Step::vector:
    case Step::inject:
    case Step::extract:
    case Step::apply_dense:
      work.bytes = 0;
      break;
  }
  return work;
}

}  // namespace bunraku::operators
