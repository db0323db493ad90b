/// @file
/// How an Evaluator is made: room for the values of its plan, and what else it is given to begin with.
#pragma once

#include "bunraku/kernels/constants.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

template <class S>
Evaluator<S>::Evaluator(std::shared_ptr<const EvaluatorLayout> layout)
  requires(!kernels::is_wide<S>)
    : layout_(std::move(layout)),
      plan_(layout_->plan.get()),
      folded_(layout_->folded.get()),
      attached_(layout_->attached.get()) {
  if constexpr (std::is_floating_point_v<S>) {
    const bool asks = !layout_->families.empty();
    const std::vector<S> doubts = asks ? doubts_of<S>(*folded_) : std::vector<S>();
    make(doubts.data());
    if (asks) {
      doubt_room_.carried.resize(folded_->links.size());
      doubt_room_.rounding.resize(cluster_leaving_.size());
      doubt_room_.order.resize(cluster_leaving_.size());
      doubt_room_.D.resize(cluster_leaving_.size() * cluster_leaving_.size());
    }
  } else {
    make(nullptr);
  }
}

template <class S>
Evaluator<S>::Evaluator(const EvaluatorLayout& layout, const kernels::NumberOf<S>* doubts)
  requires(kernels::is_wide<S>)
    : layout_(&layout), plan_(layout_->plan.get()), folded_(layout_->folded.get()), attached_(layout_->attached.get()) {
  make(doubts);
}

template <class S>
void Evaluator<S>::make(const kernels::NumberOf<S>* doubts) {
  const auto taken = [](const std::vector<double>& from, std::vector<S>& to) {
    to.reserve(from.size());
    for (const double each : from) {
      to.push_back(S(static_cast<kernels::NumberOf<S>>(each)));
    }
  };
  taken(folded_->armature, armature_);
  taken(folded_->armature_blocks, armature_blocks_);
  taken(folded_->stiffness, stiffness_);
  if (attached_->ideal) {
    std::fill(stiffness_.begin(), stiffness_.end(), S(0));
  }
  if constexpr (std::is_same_v<S, double>) {
    links_ = folded_->links.data();
  } else {
    own_links_.reserve(folded_->links.size());
    for (const kernels::Link<double>& l : folded_->links) {
      own_links_.push_back(kernels::cast<S>(l));
    }
    links_ = own_links_.data();
  }
  nodes_.reserve(layout_->nodes.size());
  for (const NodePlace& node : layout_->nodes) {
    nodes_.push_back({node.link, kernels::cast<S>(node.X_LN)});
  }
  closures_.resize(folded_->model.closures().size());
  joints_.spin.resize(folded_->links.size());
  joints_.pose.resize(folded_->links.size());
  joints_.columns.resize(at(folded_->coordinates.nv));
  lane_inverses_.resize(kernels::is_wide<S> ? joints_.columns.size() : 0);
  cluster_force_.resize(layout_->largest_cluster);
  cluster_inertia_.resize(layout_->largest_cluster);
  cluster_leaving_.resize(layout_->largest_coordinates);
  for (int j = 0; doubts != nullptr && j < folded_->coordinates.nv; ++j) {
    doubt_.push_back(S(doubts[j]));
  }
  make_slots();
}

template <class S>
void Evaluator<S>::make_slots() {
  for (const FamilyLayout& family : layout_->families) {
    RiccatiBlocks<S>& r = riccati_.emplace_back();
    r.P.resize(folded_->links.size());
    r.U.resize(at(folded_->coordinates.nv));
    r.L.resize(armature_blocks_.size());
    r.D.resize(armature_blocks_.size());
    r.K.resize(folded_->coupled ? at(folded_->model.nv()) : 0);
    r.bar_H.resize(at(layout_->bar.back()));
    r.bar_U.resize(at(layout_->bar.back()));
    r.whole_D = family.whole_D;
  }
  storage_.assign(layout_->room, S(0));
  slots_.resize(layout_->slots.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Value& v = plan_->values[i];
    const SlotLayout& from = layout_->slots[i];
    Slot& slot = slots_[i];
    slot.out = from.of_rest ? slots_[at(v.in[0])].rest : storage_.data() + from.begin;  // a rest is already there
    slot.rest = from.has_rest ? storage_.data() + from.rest : nullptr;
    slot.size = from.size;
    slot.adds_up = from.adds_up;
    slot.is_begun = from.is_begun;
    slot.extra = from.extra;
    slot.first = from.first;
    slot.begins = from.begins.data();
    slot.run = {from.run.data(), from.run.size()};
    if (v.step == Step::one) {
      *slot.out = S(1);
    }
  }
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
  const NodePlace there = folded_->place(node);
  nodes_[at(i)] = {there.link, kernels::cast<S>(there.X_LN)};
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
