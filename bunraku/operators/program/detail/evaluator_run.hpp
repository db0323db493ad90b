/// @file
/// How an Evaluator goes through the loops of its plan.
#pragma once

#include <cstring>

#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// In trees of more links than this, all steps of a loop are done for so many links before the next are taken, so that
/// what one step writes is still near when the next reads it.
inline constexpr int links_at_a_time = 64;

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
const S* Evaluator<S>::result(const S* x) {
  if (plan_->input != no_value) {
    slots_[at(plan_->input)].out = const_cast<S*>(x);  // never written to
  }
  if (fresh_) {
    run(plan_->of_vector);
  } else {
    run_state(plan_->fused);
  }
  return slots_[at(plan_->output)].out;
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
      r.doubtful = {};
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
      if constexpr (!kernels::is_wide<S>) {  // see runs_in_lanes
        block_function(i);
      }
      break;
    case Step::block_lyapunov:
      if constexpr (!kernels::is_wide<S>) {
        lyapunov(i);
      }
      break;
    case Step::dense_inverse:
    case Step::dense_root:
      if constexpr (!kernels::is_wide<S>) {
        dense(i);
      }
      break;
    case Step::closures:
      if constexpr (!kernels::is_wide<S>) {
        closures();
      }
      break;
    case Step::columns:
      columns(i);
      break;
    case Step::solve:
      if constexpr (!kernels::is_wide<S>) {
        solve(i);
      }
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
    case Step::carry:
      carry(i, range);
      break;
    case Step::joint_rate:
      joint_rate(i, range);
      break;
    case Step::gravity:
      gravity(i, range);
      break;
    case Step::bias:
      bias(i, range);
      break;
    case Step::gyroscopic:
      gyroscopic(i, range);
      break;
    case Step::node_bias:
      node_bias(i, range);
      break;
    case Step::rates:
      if constexpr (!kernels::is_wide<S>) {
        rates(i);
      }
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
    case Step::apply_force_cross:
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
    case Step::block_lyapunov:
    case Step::dense_inverse:
    case Step::dense_root:
    case Step::closures:
    case Step::columns:
    case Step::norms:
    case Step::solve:
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
    if (!space.part.empty() || space.kind == SpaceKind::number || space.kind == SpaceKind::closure || all) {
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
    case Step::apply_force_cross:
      for (int k = range.begin; k < range.end; ++k) {  // Q(f) z = z̃* f
        put(slot.out + rigid * k, -cross(motion_at(x + rigid * k), force_at(y + rigid * k)));
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
    case Kind::lump:
    case Kind::siblings:
    case Kind::modal:
    case Kind::coupled:
    case Kind::embedded:
      return f.template operator()<Posed<S, 0>>();
  }
}

/// Calls f(arithmetic, k) for links whose hinges stand alone, cluster(unit) for the others.
template <class S>
template <bool to_base>
void Evaluator<S>::for_stretches(const std::vector<Stretch>& of, Range range, const auto& f,
                                 const auto& cluster) const {
  const bool all = range.begin == 0 && range.end == static_cast<int>(folded_->links.size());
  const std::span<const Stretch> every(of.data(), of.size());
  const std::span<const Stretch> in_range = all ? every : stretches(every, range.begin, range.end);
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

}  // namespace bunraku::operators
