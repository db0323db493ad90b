/// @file
/// How an Evaluator is made: room for the values of its plan, and what else it is given to begin with.
#pragma once

#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// A link in another scalar.
template <class S>
kernels::Link<S> cast_link(const kernels::Link<double>& l) {
  using kernels::cast;
  kernels::Link<S> out;
  out.parent = l.parent;
  out.kind = l.kind;
  out.geared = l.geared;
  out.leaf = l.leaf;
  out.opens_parent = l.opens_parent;
  out.body = l.body;
  out.q = l.q;
  out.v = l.v;
  out.nv = l.nv;
  out.special = l.special;
  out.turn_c = constant<S>(l.turn_c);
  out.turn_s = constant<S>(l.turn_s);
  out.turn = cast<S>(l.turn);
  out.p = cast<S>(l.p);
  out.inertia = cast<S>(l.inertia);
  out.difference = cast<S>(l.difference);
  out.armature = constant<S>(l.armature);
  return out;
}

template <class S>
Evaluator<S>::Evaluator(std::shared_ptr<const Plan> plan, std::shared_ptr<const Folded> folded,
                        std::shared_ptr<const Attachments> attached)
    : plan_(std::move(plan)),
      folded_(std::move(folded)),
      attached_(std::move(attached)),
      armature_(folded_->armature.begin(), folded_->armature.end()),
      armature_blocks_(folded_->armature_blocks.begin(), folded_->armature_blocks.end()) {
  check_clusters(*plan_, *folded_);
  if constexpr (std::is_same_v<S, double>) {
    links_ = folded_->links.data();
  } else {
    for (const kernels::Link<double>& l : folded_->links) {
      own_links_.push_back(cast_link<S>(l));
    }
    links_ = own_links_.data();
  }
  for (const Node& node : attached_->nodes) {
    nodes_.push_back(folded_->place({node.body, node.X_BN}));
    node_poses_.push_back(kernels::cast<S>(nodes_.back().X_LN));
  }
  joints_.spin.resize(folded_->links.size());
  joints_.pose.resize(folded_->links.size());
  joints_.columns.resize(at(folded_->coordinates.nv));
  make_places();
  make_slots();
  make_doubts();
  rows_ = dimension(plan_->expression.range());
  cols_ = plan_->input == no_value ? 1 : dimension(plan_->expression.domain());
}

template <class S>
int Evaluator<S>::dimension(const Space& space) const {
  if (space.part.empty()) {
    return folded_->dimension(space.kind, static_cast<int>(attached_->nodes.size()));
  }
  if (space.kind != SpaceKind::hinge) {
    return rigid;
  }
  return folded_->model.bodies()[at(part_of(folded_->model, attached_->nodes, space))].nv;
}

template <class S>
void Evaluator<S>::make_places() {
  const std::size_t count = folded_->units.size();
  for (UnitPlaces& each : places_) {
    each.numbers.assign(count, {});
  }
  const auto add = [](std::vector<int>& all, int first, int n) {
    for (int i = 0; i < n; ++i) {
      all.push_back(first + i);
    }
  };
  int bar = 0;
  for (std::size_t u = 0; u < count; ++u) {
    const Unit& unit = folded_->units[u];
    for (const int k : unit.members) {
      add(places_[static_cast<std::size_t>(SpaceKind::body)].numbers[u], folded_->body.begin(k),
          folded_->body.end(k) - folded_->body.begin(k));
    }
    places_[static_cast<std::size_t>(SpaceKind::hinge)].numbers[u] = unit.coordinates;
    bar_.push_back(bar);
    bar += unit.members.size() > 1 ? static_cast<int>(unit.members.size() * unit.coordinates.size()) : 0;
  }
  bar_.push_back(bar);
  for (std::size_t i = 0; i < nodes_.size() && count > 0; ++i) {  // those on the world belong to the first
    const int unit = nodes_[i].link < 0 ? 0 : folded_->places[at(nodes_[i].link)].unit;
    add(places_[static_cast<std::size_t>(SpaceKind::node)].numbers[at(unit)], rigid * static_cast<int>(i), rigid);
  }
}

template <class S>
void Evaluator<S>::make_slots() {
  const auto makes_blocks = [](Step step) {
    return step == Step::blocks || step == Step::block_inverse || step == Step::block_root || step == Step::gather ||
           step == Step::spread;
  };
  const auto has_rest = [](Step step) { return step == Step::filter || step == Step::smoother; };
  slots_.resize(plan_->values.size());
  std::size_t room = 0;
  const std::size_t nv = at(folded_->model.nv());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Value& v = plan_->values[i];
    Slot& slot = slots_[i];
    if (makes_blocks(v.step)) {
      for (int u = 0; u < static_cast<int>(folded_->units.size()); ++u) {
        slot.begins.push_back(slot.size);
        slot.size += unit_size(v.space.kind, u) * unit_size(v.domain.kind, u);
      }
    } else if (v.step == Step::dense_inverse || v.step == Step::dense_root) {
      slot.size = dimension(v.space) * dimension(v.domain);
    } else if (v.step == Step::joints || v.step == Step::innovation || v.step == Step::residual ||
               static_cast<int>(i) == plan_->input) {
      slot.size = 0;
    } else if (v.step == Step::riccati) {
      slot.extra = static_cast<int>(riccati_.size());
      RiccatiBlocks<S>& r = riccati_.emplace_back();
      r.P.resize(folded_->links.size());
      r.U.resize(at(folded_->coordinates.nv));
      r.L.resize(armature_blocks_.size());
      r.D.resize(armature_blocks_.size());
      r.K.resize(folded_->coupled ? nv : 0);
      r.bar_H.resize(at(bar_.back()));
      r.bar_U.resize(at(bar_.back()));
      r.whole_D = std::any_of(plan_->values.begin(), plan_->values.end(), [&](const Value& other) {
        return other.part == Part::D && other.uses[0] == static_cast<int>(i);
      });
      riccatis_.push_back(static_cast<int>(i));
    } else {
      slot.size = dimension(v.space);
    }
    room += at(slot.size) + (has_rest(v.step) ? nv : 0);
    if (v.step == Step::inject || v.step == Step::extract) {
      const Space& part = v.step == Step::inject ? v.domain : v.space;
      slot.body = part_of(folded_->model, attached_->nodes, part);
      slot.first = part.kind == SpaceKind::hinge  ? folded_->model.bodies()[at(slot.body)].v_index
                   : part.kind == SpaceKind::body ? folded_->body.begin(slot.body)
                                                  : rigid * slot.body;
    }
    if (v.part == Part::variable || (v.step == Step::constants && v.what.term().type == TermType::variable)) {
      const auto found = std::find_if(attached_->variables.begin(), attached_->variables.end(),
                                      [&](const VariableBlocks& each) { return each.variable == v.what; });
      slot.extra = static_cast<int>(found - attached_->variables.begin());
    }
  }
  storage_.assign(room, S(0));
  S* next = storage_.data();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Value& v = plan_->values[i];
    Slot& slot = slots_[i];
    slot.out = next;
    next += slot.size;
    if (has_rest(v.step)) {
      slot.rest = next;
      next += nv;
    }
    if (v.step == Step::innovation || v.step == Step::residual) {
      slot.out = slots_[at(v.in[0])].rest;  // already there
    }
    if (v.step == Step::one) {
      *slot.out = S(1);
    }
    if (v.owner != no_value) {
      slots_[at(v.owner)].run.push_back(static_cast<int>(i));
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Value& v = plan_->values[i];
    slots_[i].adds_up = v.step == Step::dot || v.step == Step::inject || (v.step == Step::shift && !v.adjoint) ||
                        (folded_->coupled && (v.step == Step::filter || (v.step == Step::propagate && !v.adjoint))) ||
                        (v.step == Step::apply && (folded_->coupled || v.part == Part::B || v.part == Part::variable));
    slots_[i].is_begun = v.step == Step::joints || v.step == Step::riccati || makes_blocks(v.step) ||
                         v.step == Step::dense_inverse || v.step == Step::dense_root || v.step == Step::inject;
  }
  std::size_t members = 0;
  std::size_t coordinates = 0;
  for (const Unit& unit : folded_->units) {
    members = std::max(members, unit.members.size());
    coordinates = std::max(coordinates, unit.coordinates.size());
  }
  cluster_force_.resize(members);
  cluster_inertia_.resize(members);
  cluster_leaving_.resize(coordinates);
}

template <class S>
void Evaluator<S>::lend(const Operator& vector, const S* x) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (plan_->values[i].step == Step::constants && plan_->values[i].what == vector) {
      slots_[i].lent = x;
    }
  }
  fresh_ = false;
}

template <class S>
void Evaluator<S>::set_armature(std::span<const S> armature) {
  std::copy(armature.begin(), armature.end(), armature_.begin());
  for (const Unit& unit : folded_->units) {
    const std::size_t n = unit.coordinates.size();
    for (std::size_t j = 0; j < n; ++j) {
      armature_blocks_[at(unit.block) + j * n + j] = armature_[at(unit.coordinates[j])];
    }
  }
  if (own_links_.empty()) {
    own_links_.assign(links_, links_ + folded_->links.size());
    links_ = own_links_.data();
  }
  for (std::size_t k = 0; k < own_links_.size(); ++k) {
    kernels::Link<S>& l = own_links_[k];
    const auto own = armature.begin() + folded_->places[k].own;
    l.geared = std::any_of(own, own + l.nv, [](const S& x) { return x != S(0); });
  }
  fresh_ = false;
}

template <class S>
void Evaluator<S>::set_node(int i, const Place& node) {
  nodes_[at(i)] = folded_->place(node);
  node_poses_[at(i)] = kernels::cast<S>(nodes_[at(i)].X_LN);
}

/// As doubtful_inertias has it, and of clusters as the kernels do: ‖H̄‖² ≤ (Σ |ratio| ‖H‖)².
template <class S>
void Evaluator<S>::make_doubts() {
  if constexpr (std::is_floating_point_v<S>) {
    if (riccatis_.empty()) {
      return;
    }
    doubt_ = kernels::doubtful_inertias<S>(folded_->model);
    doubt_room_.carried.resize(folded_->links.size());
    doubt_room_.rounding.resize(cluster_leaving_.size());
    doubt_room_.order.resize(cluster_leaving_.size());
    doubt_room_.D.resize(cluster_leaving_.size() * cluster_leaving_.size());
    for (const Unit& unit : folded_->units) {
      if (!folded_->places[at(unit.members[0])].coupled) {
        continue;
      }
      const std::size_t n = unit.coordinates.size();
      std::vector<S> size(n);
      for (const int k : unit.members) {
        const LinkPlace& place = folded_->places[at(k)];
        for (int j = 0; j < links_[k].nv; ++j) {
          const S own = doubt_[at(links_[k].v + j)] / kernels::doubtful_part<S>(links_[k].nv);
          size[coordinate_of(unit, place.own + j)] += static_cast<S>(std::abs(place.ratio)) * std::sqrt(own);
        }
      }
      for (std::size_t j = 0; j < n; ++j) {
        doubt_[leader_of(unit, j)] = size[j] * size[j] * kernels::doubtful_part<S>(static_cast<int>(n));
      }
    }
  }
}

template <class S>
double Evaluator<S>::bytes() const {
  double count = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Value& v = plan_->values[i];
    count += slots_[i].size;
    for (const int j : v.in) {
      count += j == no_value ? 0 : slots_[at(j)].size;
    }
    const auto links = static_cast<double>(folded_->links.size());
    if (v.step == Step::joints) {
      count += 12 * links + rigid * static_cast<double>(joints_.columns.size());
    }
    if (v.step == Step::riccati) {
      count += 2 * 21 * links + rigid * static_cast<double>(joints_.columns.size()) +
               2 * static_cast<double>(armature_blocks_.size());
    }
    for (const int j : v.uses) {
      count += j == no_value                                ? 0
               : plan_->values[at(j)].step == Step::joints  ? 12 * links
               : plan_->values[at(j)].step == Step::riccati ? rigid * static_cast<double>(joints_.columns.size())
                                                            : static_cast<double>(slots_[at(j)].size);
    }
  }
  return count * sizeof(double);
}

}  // namespace bunraku::operators
