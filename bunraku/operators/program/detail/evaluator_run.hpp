/// @file
/// How an Evaluator is made, and how it goes through the loops of its plan.
#pragma once

#include <cstring>

#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// In trees of more links than this, all steps of a loop are done for so many links before the next are taken, so that
/// what one step writes is still near when the next reads it.
inline constexpr int links_at_a_time = 64;

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

/// What has its numbers from elsewhere.
template <class S>
void Evaluator<S>::fill_constants(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  const auto copy = [&](const S* from) { std::copy_n(from, slot.size, slot.out); };
  if (slot.size == 0) {
    return;
  }
  if (v.step == Step::given) {
    const Symbol symbol = v.what.term().symbol;
    copy(symbol == Symbol::thetad ? v_ : symbol == Symbol::thetadd ? accelerations_ : torques_);
  } else if (v.step == Step::passive) {
    copy(passive_);
  } else if (slot.lent != nullptr) {
    copy(slot.lent);
  } else if (v.step == Step::constants && (!filled_ || v.what.term().function != nullptr)) {
    std::fill_n(slot.out, slot.size, S(0));
    if (v.what.term().type == TermType::unit) {
      slot.out[v.what.term().index] = S(1);
    } else {
      for (const VariableBlock& block : attached_->variables[at(slot.extra)].blocks) {
        for (std::size_t n = 0; n < block.rows.size(); ++n) {
          slot.out[block.rows[n]] = constant<S>(block.values[n]);
        }
      }
    }
  }
}

template <class S>
void Evaluator<S>::run_state(const std::vector<Loop>& loops) {
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    fill_constants(i);
  }
  filled_ = true;
  run(loops);
  if constexpr (std::is_floating_point_v<S>) {
    check_riccati(*this);
  }
  fresh_ = true;
}

template <class S>
void Evaluator<S>::refresh() {
  if (!fresh_) {
    run_state(plan_->of_state);
  }
}

template <class S>
void Evaluator<S>::apply(const S* x, S* y) {
  if (plan_->input != no_value) {
    slots_[at(plan_->input)].out = const_cast<S*>(x);  // never written to
  }
  if (fresh_) {
    run(plan_->of_vector);
  } else {
    run_state(plan_->fused);
  }
  std::copy_n(slots_[at(plan_->output)].out, rows_, y);
}

template <class S>
void Evaluator<S>::run(const std::vector<Loop>& loops) {
  const int count = static_cast<int>(folded_->links.size());
  for (const Loop& loop : loops) {
    for (const int i : loop.values) {
      begin(i);
    }
    const bool whole = loop.direction == Direction::whole || folded_->coupled || count <= 2 * links_at_a_time ||
                       loop.values.size() == 1;
    if (whole) {
      for (const int i : loop.values) {
        step(i, {0, count});
      }
      continue;
    }
    const int parts = (count + links_at_a_time - 1) / links_at_a_time;
    for (int n = 0; n < parts; ++n) {
      const int part = loop.direction == Direction::inward ? parts - 1 - n : n;
      const Range range{part * links_at_a_time, std::min(count, (part + 1) * links_at_a_time)};
      for (const int i : loop.values) {
        step(i, range);
      }
    }
  }
}

/// Before a loop: what is summed up begins at zero, and what needs no loop is made.
template <class S>
BUNRAKU_INLINE void Evaluator<S>::begin(int i) {
  const Slot& slot = slots_[at(i)];
  if (slot.adds_up) {
    std::fill_n(slot.out, slot.size, S(0));
  }
  if (slot.is_begun) {
    make_first(i);
  }
}

template <class S>
void Evaluator<S>::make_first(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  switch (v.step) {
    case Step::joints:
      place_all(*folded_, links_, q_, joints_);
      break;
    case Step::riccati: {
      RiccatiBlocks<S>& r = riccati_[at(slot.extra)];
      r.doubtful = false;
      if (folded_->coupled) {
        std::fill(r.P.begin(), r.P.end(), ArticulatedInertia<S>::zero());
      }
      break;
    }
    case Step::gather:
      std::copy_n(slots_[at(v.uses[1])].out, slot.size, slot.out);
      break;
    case Step::blocks:
      blocks(i);
      break;
    case Step::block_inverse:
    case Step::block_root:
      block_function(i);
      break;
    case Step::dense_inverse:
    case Step::dense_root:
      dense(i);
      break;
    case Step::inject:
      std::copy_n(in(v, 0), dimension(v.domain), slot.out + slot.first);
      break;
    default:
      break;
  }
}

template <class S>
void Evaluator<S>::step(int i, Range range) {
  const Value& v = value(i);
  switch (v.step) {
    case Step::riccati:
      riccati(i, range);
      break;
    case Step::gather:
      gather(i, range);
      break;
    case Step::spread:
      spread(i, range);
      break;
    case Step::bias:
      bias(i, range);
      break;
    case Step::gyroscopic:
      gyroscopic(i, range);
      break;
    case Step::apply:
      apply_part(i, range);
      break;
    case Step::shift:
      shift(i, range);
      break;
    case Step::propagate:
      propagate(i, range);
      break;
    case Step::filter:
      filter(i, range);
      break;
    case Step::smoother:
      smoother(i, range);
      break;
    case Step::apply_cross:
    case Step::apply_dense:
    case Step::combine:
    case Step::scale_by:
    case Step::dot:
    case Step::extract:
      numbers(i, range);
      break;
    case Step::input:
    case Step::probe:
    case Step::one:
    case Step::given:
    case Step::passive:
    case Step::constants:
    case Step::innovation:
    case Step::residual:
    case Step::joints:
    case Step::blocks:
    case Step::block_inverse:
    case Step::block_root:
    case Step::dense_inverse:
    case Step::dense_root:
    case Step::inject:
      break;  // there already
  }
}

/// Steps that know no tree.
template <class S>
void Evaluator<S>::numbers(int i, Range range) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  const S* x = in(v, 0);
  const S* y = in(v, 1);
  const auto ranged = [&](const Space& space, const auto& f) {
    const bool all = range.begin == 0 && range.end == static_cast<int>(folded_->links.size());
    if (!space.part.empty() || space.kind == SpaceKind::number || all) {
      if (range.begin == 0) {
        f(0, dimension(space));
      }
    } else if (space.kind == SpaceKind::node) {  // those on the world go with the first link
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        if (const int k = std::max(nodes_[n].link, 0); k >= range.begin && k < range.end) {
          f(rigid * static_cast<int>(n), rigid * static_cast<int>(n + 1));
        }
      }
    } else if (space.kind == SpaceKind::body) {
      f(folded_->body.begin(range.begin), folded_->body.begin(range.end));
    } else {
      for (int k = range.begin; k < range.end; ++k) {
        f(folded_->places[at(k)].own, folded_->places[at(k)].own + links_[k].nv);
      }
    }
  };
  switch (v.step) {
    case Step::combine:
      ranged(v.space, [&](int begin, int end) {
        if (v.in.empty()) {
          std::fill(slot.out + begin, slot.out + end, S(0));
          return;
        }
        for (std::size_t n = 0; n < v.in.size(); ++n) {
          const S c = constant<S>(v.coefficients[n]);
          const S* from = slots_[at(v.in[n])].out;
          if (n == 0 && v.coefficients[n] == 1) {
            std::copy(from + begin, from + end, slot.out + begin);
          } else if (n == 0) {
            for (int j = begin; j < end; ++j) {
              slot.out[j] = c * from[j];
            }
          } else if (v.coefficients[n] == 1) {
            for (int j = begin; j < end; ++j) {
              slot.out[j] += from[j];
            }
          } else if (v.coefficients[n] == -1) {
            for (int j = begin; j < end; ++j) {
              slot.out[j] -= from[j];
            }
          } else {
            for (int j = begin; j < end; ++j) {
              slot.out[j] += c * from[j];
            }
          }
        }
      });
      break;
    case Step::scale_by:
      ranged(v.space, [&](int begin, int end) {
        for (int j = begin; j < end; ++j) {
          slot.out[j] = x[j] * *y;
        }
      });
      break;
    case Step::dot:
      ranged(value(v.in[0]).space, [&](int begin, int end) {
        for (int j = begin; j < end; ++j) {
          *slot.out += x[j] * y[j];
        }
      });
      break;
    case Step::extract:  // the last time, when its operand is complete, counts
      std::copy_n(x + slot.first, slot.size, slot.out);
      break;
    case Step::apply_cross:
      for (int k = range.begin; k < range.end; ++k) {
        const Motion<S> z = motion_at(y + rigid * k);
        if (v.adjoint) {  // z̃* f = −S[z] f
          put(slot.out + rigid * k, -cross(z, force_at(x + rigid * k)));
        } else {
          put(slot.out + rigid * k, cross(z, motion_at(x + rigid * k)));
        }
      }
      break;
    case Step::apply_dense: {
      const S* matrix = slots_[at(v.uses[0])].out;
      const int n = dimension(v.space);
      for (int r = 0; r < n; ++r) {
        S sum(0);
        for (int c = 0; c < n; ++c) {
          sum += matrix[r * n + c] * x[c];
        }
        slot.out[r] = sum;
      }
      break;
    }
    default:
      break;
  }
}

template <class S>
template <class F>
void Evaluator<S>::with_arithmetic(kernels::Kind kind, const F& f) {
  using kernels::Kind;
  switch (kind) {
    case Kind::revolute_none:
      return f.template operator()<Turning<S, Kind::revolute_none>>();
    case Kind::revolute_quarter:
      return f.template operator()<Turning<S, Kind::revolute_quarter>>();
    case Kind::revolute_x:
      return f.template operator()<Turning<S, Kind::revolute_x>>();
    case Kind::revolute_full:
      return f.template operator()<Turning<S, Kind::revolute_full>>();
    case Kind::prismatic:
      return f.template operator()<Posed<S, 1>>();
    case Kind::floating:
      return f.template operator()<Floating<S>>();
    case Kind::general:
    case Kind::siblings:
    case Kind::coupled:
      return f.template operator()<Posed<S, 0>>();
  }
}

/// Those that have links in a range.
inline std::span<const Stretch> stretches(const std::vector<Stretch>& all, int begin, int end) {
  const auto first = std::partition_point(all.begin(), all.end(), [&](const Stretch& s) { return s.end <= begin; });
  const auto last = std::partition_point(first, all.end(), [&](const Stretch& s) { return s.begin < end; });
  return {first, last};
}

/// Calls f(arithmetic, k) for links whose hinges stand alone, cluster(unit) for the others.
template <class S>
template <bool to_base>
void Evaluator<S>::for_stretches(const std::vector<Stretch>& of, Range range, const auto& f,
                                 const auto& cluster) const {
  const bool all = range.begin == 0 && range.end == static_cast<int>(folded_->links.size());
  const std::span<const Stretch> in_range = all ? std::span<const Stretch>(of) : stretches(of, range.begin, range.end);
  const std::size_t count = in_range.size();
  for (std::size_t n = 0; n < count; ++n) {
    const Stretch& stretch = in_range[to_base ? count - 1 - n : n];
    const int begin = std::max(stretch.begin, range.begin);
    const int end = std::min(stretch.end, range.end);
    if (stretch.cluster) {
      cluster(folded_->units[at(folded_->places[at(begin)].unit)]);
      continue;
    }
    with_arithmetic(stretch.kind, [&]<class A>() {
      if constexpr (to_base) {
        for (int k = end - 1; k >= begin; --k) {
          f(A(links_, joints_, k), k);
        }
      } else {
        for (int k = begin; k < end; ++k) {
          f(A(links_, joints_, k), k);
        }
      }
    });
  }
}

template <class S>
template <bool to_base>
void Evaluator<S>::for_links(Range range, std::bool_constant<to_base> /*way*/, const auto& f) const {
  for_stretches<to_base>(folded_->by_link, range, f, [](const Unit&) {});  // there are no clusters among them
}

template <class S>
template <bool to_base>
void Evaluator<S>::for_units(Range range, std::bool_constant<to_base> /*way*/, const auto& f,
                             const auto& cluster) const {
  for_stretches<to_base>(folded_->by_unit, range, f, cluster);
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
