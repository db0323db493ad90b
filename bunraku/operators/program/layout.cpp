#include "bunraku/operators/program/detail/layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bunraku/kernels/singular.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/rigid.hpp"

namespace bunraku::operators {

namespace {

bool makes_blocks(Step step) {
  return step == Step::blocks || step == Step::block_inverse || step == Step::block_root ||
         step == Step::block_lyapunov || step == Step::joint_rate || step == Step::gather || step == Step::spread ||
         step == Step::carry;
}

}  // namespace

std::size_t index_in(std::span<const int> numbers, int i) {
  return static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), i) - numbers.begin());
}

std::span<const Stretch> stretches(std::span<const Stretch> all, int begin, int end) {
  const auto first = std::partition_point(all.begin(), all.end(), [&](const Stretch& s) { return s.end <= begin; });
  const auto last = std::partition_point(first, all.end(), [&](const Stretch& s) { return s.begin < end; });
  return {first, last};
}

EvaluatorLayout::EvaluatorLayout(std::shared_ptr<const Plan> of, std::shared_ptr<const Folded> over,
                                 std::shared_ptr<const Attachments> with)
    : plan(std::move(of)), folded(std::move(over)), attached(std::move(with)) {
  check_clusters(*plan, *folded);
  check_rates(*plan, *folded, attached->ideal);
  for (const Node& node : attached->nodes) {
    nodes.push_back(folded->place({node.body, node.X_BN}));
  }
  make_places();
  make_slots();
  for (const Unit& unit : folded->units) {
    largest_cluster = std::max(largest_cluster, unit.members.size());
    largest_coordinates = std::max(largest_coordinates, unit.coordinates.size());
  }
  rows = dimension(plan->expression.range());
  cols = plan->input == no_value ? 1 : dimension(plan->expression.domain());
}

EvaluatorLayout::~EvaluatorLayout() = default;

int EvaluatorLayout::dimension(const Space& space) const {
  if (space.part.empty()) {
    return folded->dimension(space.kind, static_cast<int>(attached->nodes.size()));
  }
  if (space.kind != SpaceKind::hinge && space.kind != SpaceKind::closure) {
    return rigid;
  }
  const int i = part_of(folded->model, attached->nodes, space);
  return space.kind == SpaceKind::hinge ? folded->model.bodies()[at(i)].nv
                                        : folded->closure.end(i) - folded->closure.begin(i);
}

void EvaluatorLayout::make_places() {
  const std::size_t count = folded->units.size();
  for (UnitPlaces& each : places) {
    each.numbers.assign(count, {});
  }
  const auto add = [](std::vector<int>& all, int first, int n) {
    for (int i = 0; i < n; ++i) {
      all.push_back(first + i);
    }
  };
  int next_bar = 0;
  for (std::size_t u = 0; u < count; ++u) {
    const Unit& unit = folded->units[u];
    for (const int k : unit.members) {
      add(places[static_cast<std::size_t>(SpaceKind::body)].numbers[u], folded->body.begin(k),
          folded->body.end(k) - folded->body.begin(k));
    }
    places[static_cast<std::size_t>(SpaceKind::hinge)].numbers[u] = unit.coordinates;
    bar.push_back(next_bar);
    next_bar += unit.members.size() > 1 ? static_cast<int>(unit.members.size() * unit.coordinates.size()) : 0;
  }
  bar.push_back(next_bar);
  for (std::size_t i = 0; i < nodes.size() && count > 0; ++i) {  // those on the world belong to the first
    const int unit = nodes[i].link < 0 ? 0 : folded->places[at(nodes[i].link)].unit;
    add(places[static_cast<std::size_t>(SpaceKind::node)].numbers[at(unit)], rigid * static_cast<int>(i), rigid);
  }
}

void EvaluatorLayout::make_slots() {
  slots.resize(plan->values.size());
  const std::size_t nv = at(folded->model.nv());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Value& v = plan->values[i];
    SlotLayout& slot = slots[i];
    slot.has_rest = v.step == Step::filter || v.step == Step::smoother;
    slot.of_rest = v.step == Step::innovation || v.step == Step::residual;
    if (makes_blocks(v.step)) {
      for (int u = 0; u < static_cast<int>(folded->units.size()); ++u) {
        slot.begins.push_back(slot.size);
        slot.size += unit_size(v.space.kind, u) * unit_size(v.domain.kind, u);
      }
    } else if (v.step == Step::dense_inverse || v.step == Step::dense_root || v.step == Step::columns ||
               v.step == Step::solve) {
      slot.size = dimension(v.space) * dimension(v.domain);
    } else if (v.step == Step::norms) {
      slot.size = dimension(v.domain);
    } else if (v.step == Step::joints || v.step == Step::closures || slot.of_rest ||
               static_cast<int>(i) == plan->input) {
      slot.size = 0;
    } else if (v.step == Step::riccati) {
      slot.extra = static_cast<int>(families.size());
      families.push_back({.value = static_cast<int>(i),
                          .whole_D = std::any_of(plan->values.begin(), plan->values.end(),
                                                 [&](const Value& other) {
                                                   return other.part == Part::D && other.uses[0] == static_cast<int>(i);
                                                 }),
                          .of_bodies = v.uses[1] == no_value && v.part != Part::blocks});
      riccatis.push_back(static_cast<int>(i));
    } else {
      slot.size = dimension(v.space);
    }
    slot.begin = room;
    room += at(slot.size);
    slot.rest = room;
    room += slot.has_rest ? nv : 0;
    if (v.step == Step::inject || v.step == Step::extract) {
      const Space& part = v.step == Step::inject ? v.domain : v.space;
      slot.body = part_of(folded->model, attached->nodes, part);
      slot.first = part.kind == SpaceKind::hinge     ? folded->model.bodies()[at(slot.body)].v_index
                   : part.kind == SpaceKind::body    ? folded->body.begin(slot.body)
                   : part.kind == SpaceKind::closure ? folded->closure.begin(slot.body)
                                                     : rigid * slot.body;
    }
    if (v.part == Part::variable || (v.step == Step::constants && v.what.term().type == TermType::variable)) {
      const auto found = std::find_if(attached->variables.begin(), attached->variables.end(),
                                      [&](const VariableBlocks& each) { return each.variable == v.what; });
      slot.extra = static_cast<int>(found - attached->variables.begin());
    }
    if (v.owner != no_value) {
      slots[at(v.owner)].run.push_back(static_cast<int>(i));
    }
    slot.adds_up = v.step == Step::dot || v.step == Step::joint_rate || v.step == Step::inject ||
                   (v.step == Step::shift && !v.adjoint) ||
                   (folded->coupled && (v.step == Step::filter || (v.step == Step::propagate && !v.adjoint))) ||
                   (v.step == Step::apply && (folded->coupled || v.part == Part::B || v.part == Part::variable ||
                                              v.part == Part::A || v.part == Part::A_h));
    slot.is_begun = v.step == Step::joints || v.step == Step::riccati || makes_blocks(v.step) ||
                    v.step == Step::dense_inverse || v.step == Step::dense_root || v.step == Step::inject ||
                    v.step == Step::closures || v.step == Step::columns || v.step == Step::solve;
  }
}

/// As doubtful_inertias has it, and of clusters as the kernels do: ‖H̄‖² ≤ (Σ |ratio| ‖H‖)².
template <class T>
std::vector<T> doubts_of(const Folded& folded) {
  std::vector<T> doubt = kernels::doubtful_inertias<T>(folded.model);
  for (const Unit& unit : folded.units) {
    if (!folded.places[at(unit.members[0])].coupled) {
      continue;
    }
    const std::size_t n = unit.coordinates.size();
    std::vector<T> size(n);
    for (const int k : unit.members) {
      const LinkPlace& place = folded.places[at(k)];
      const kernels::Link<double>& l = folded.links[at(k)];
      for (int j = 0; j < l.nv; ++j) {
        const T own = doubt[at(l.v + j)] / kernels::doubtful_part<T>(l.nv);
        size[index_in(unit.coordinates, place.own + j)] += static_cast<T>(std::abs(place.ratio)) * std::sqrt(own);
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      doubt[at(folded.coordinates.leaders[at(unit.coordinates[j])])] =
          size[j] * size[j] * kernels::doubtful_part<T>(static_cast<int>(n));
    }
  }
  return doubt;
}

template std::vector<double> doubts_of(const Folded&);
template std::vector<float> doubts_of(const Folded&);

bool runs_in_lanes(const EvaluatorLayout& layout) {
  const std::span<const Body> bodies = layout.folded->model.bodies();
  const bool custom =
      std::any_of(bodies.begin(), bodies.end(), [](const Body& body) { return body.hinge.type == HingeType::custom; });
  return layout.attached->variables.empty() &&
         std::none_of(layout.plan->values.begin(), layout.plan->values.end(), [&](const Value& v) {
           return v.step == Step::block_inverse || v.step == Step::block_root || v.step == Step::block_lyapunov ||
                  v.step == Step::dense_inverse || v.step == Step::dense_root || v.step == Step::closures ||
                  v.step == Step::solve || (v.step == Step::joint_rate && custom);
         });
}

}  // namespace bunraku::operators
