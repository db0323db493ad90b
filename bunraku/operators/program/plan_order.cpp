// In which order the values of a plan are made: as few loops over the bodies as can be.

#include <algorithm>

#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

namespace {

/// Calls f with each operand.
template <class F>
void for_each_operand(const Value& value, const F& f) {
  for (const std::vector<int>* all : {&value.in, &value.uses}) {
    for (const int i : *all) {
      if (i != no_value) {
        f(i);
      }
    }
  }
}

/// Whether a value is made by running others for unit vectors.
bool makes_all(const Value& value) {
  return value.step == Step::blocks || value.step == Step::dense_inverse || value.step == Step::dense_root ||
         value.step == Step::columns || value.step == Step::norms || (value.step == Step::solve && !value.in.empty());
}

/// Whether a value is there from the start.
bool is_there(const Value& value) {
  return value.step == Step::input || value.step == Step::one || value.step == Step::probe ||
         value.step == Step::given || value.step == Step::passive || value.step == Step::constants;
}

/// Takes a loop as the next.
void take(Loop loop, std::vector<Loop>& loops, std::vector<int>& loop_of, std::size_t& left) {
  for (const int v : loop.values) {
    loop_of[static_cast<std::size_t>(v)] = static_cast<int>(loops.size());
  }
  left -= loop.values.size();
  loops.push_back(std::move(loop));
}

/// Puts the values of a plan in order.
class Order {
 public:
  explicit Order(Plan& plan) : plan_(plan) {}

  /// Leaves out what the result does not need.
  void drop_unused() {
    std::vector<bool> used(plan_.values.size());
    used[static_cast<std::size_t>(plan_.output)] = true;
    for (std::size_t i = plan_.values.size(); i-- > 0;) {
      if (used[i]) {
        for_each_operand(plan_.values[i], [&](int j) { used[static_cast<std::size_t>(j)] = true; });
      }
    }
    if (plan_.input != no_value) {
      used[static_cast<std::size_t>(plan_.input)] = true;
    }
    std::vector<int> renamed(plan_.values.size(), no_value);
    std::vector<Value> kept;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      if (used[i]) {
        Value value = plan_.values[i];
        for (std::vector<int>* all : {&value.in, &value.uses}) {
          for (int& in : *all) {
            in = in == no_value ? no_value : renamed[static_cast<std::size_t>(in)];
          }
        }
        renamed[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(value));
      }
    }
    plan_.values = std::move(kept);
    plan_.output = renamed[static_cast<std::size_t>(plan_.output)];
    plan_.input = plan_.input == no_value ? no_value : renamed[static_cast<std::size_t>(plan_.input)];
  }

  /// What depends on the vector applied to, and what on the unit vectors of which blocks or matrix.
  void mark() {
    const auto n = plan_.values.size();
    for (std::size_t i = 0; i < n; ++i) {
      Value& value = plan_.values[i];
      value.of_state = value.step != Step::input;
      for_each_operand(value, [&](int j) { value.of_state = value.of_state && at(j).of_state; });
    }
    for (std::size_t b = n; b-- > 0;) {  // the innermost last, so that it stands
      const Value& value = plan_.values[b];
      if (!makes_all(value)) {
        continue;
      }
      std::vector<bool> depends(n);
      depends[static_cast<std::size_t>(value.in[0])] = true;
      for (std::size_t i = static_cast<std::size_t>(value.in[0]); i < b; ++i) {
        for_each_operand(plan_.values[i],
                         [&](int j) { depends[i] = depends[i] || depends[static_cast<std::size_t>(j)]; });
        if (depends[i]) {
          plan_.values[i].owner = static_cast<int>(b);
        }
      }
    }
  }

  /// Fills loops one after another, each with all that can be done in it: whatever starts inward or outward and then
  /// alternates with the fewest loops.
  void schedule() {
    const auto best = [&](const auto& wanted) {
      std::vector<Loop> first = alternating(Direction::inward, wanted);
      std::vector<Loop> other = alternating(Direction::outward, wanted);
      return sweeps_in(other) < sweeps_in(first) ||
                     (sweeps_in(other) == sweeps_in(first) && other.size() < first.size())
                 ? other
                 : first;
    };
    plan_.fused = best([](const Value&) { return true; });
    plan_.of_state = best([](const Value& v) { return v.of_state; });
    plan_.of_vector = best([](const Value& v) { return !v.of_state; });
  }

 private:
  const Value& at(int i) const { return plan_.values[static_cast<std::size_t>(i)]; }

  template <class Wanted>
  std::vector<Loop> alternating(Direction direction, const Wanted& wanted) const {
    constexpr int from_the_start = -2;
    std::vector<int> loop_of(plan_.values.size(), no_value);
    std::vector<Loop> loops;
    std::size_t left = 0;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const Value& value = plan_.values[i];
      if (is_there(value) || !wanted(value) || value.owner != no_value) {
        loop_of[i] = from_the_start;
      } else {
        ++left;
      }
    }
    bool flipped = false;
    while (left > 0) {
      Loop whole = next_loop(Direction::whole, loop_of);
      if (!whole.values.empty()) {
        take(std::move(whole), loops, loop_of, left);
        continue;
      }
      Loop loop = next_loop(direction, loop_of);
      const bool carries =
          std::any_of(loop.values.begin(), loop.values.end(), [&](int v) { return direction_of(at(v)) == direction; });
      if (!carries && !flipped) {  // nothing to carry this way now
        direction = direction == Direction::inward ? Direction::outward : Direction::inward;
        flipped = true;
        continue;
      }
      if (!carries) {
        loop.direction = Direction::local;
      }
      take(std::move(loop), loops, loop_of, left);
      flipped = false;
      direction = direction == Direction::inward ? Direction::outward : Direction::inward;
    }
    return loops;
  }

  Loop next_loop(Direction direction, const std::vector<int>& loop_of) const {
    Loop out{direction};
    std::vector<bool> here(plan_.values.size());
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      if (loop_of[static_cast<std::size_t>(i)] != no_value) {
        continue;
      }
      const Direction needed = direction_of(at(i));
      bool ready = needed == direction || (needed == Direction::local && direction != Direction::whole);
      const auto done = [&](int in) {
        return loop_of[static_cast<std::size_t>(in)] != no_value ||
               (here[static_cast<std::size_t>(in)] && (!is_late(at(in)) || direction == Direction::whole));
      };
      for_each_operand(at(i), [&](int j) { ready = ready && done(j); });
      if (ready && makes_all(at(i))) {  // what its steps need must be complete
        for (int j = at(i).in[0]; j < i; ++j) {
          if (at(j).owner == i) {
            for_each_operand(at(j), [&](int m) {
              ready = ready && (at(m).owner == i || loop_of[static_cast<std::size_t>(m)] != no_value);
            });
          }
        }
      }
      if (ready) {
        out.values.push_back(i);
        here[static_cast<std::size_t>(i)] = true;
      }
    }
    return out;
  }

  Plan& plan_;
};

}  // namespace

int sweeps_in(const std::vector<Loop>& loops) {
  return static_cast<int>(std::count_if(loops.begin(), loops.end(), [](const Loop& loop) {
    return loop.direction == Direction::inward || loop.direction == Direction::outward;
  }));
}

Direction direction_of(const Value& value) {
  // a closure's numbers are on no body: what makes or takes them needs all of its operands
  const bool of_closures = value.space.kind == SpaceKind::closure || value.part == Part::A || value.part == Part::A_h;
  switch (value.step) {
    case Step::filter:
    case Step::riccati:
    case Step::gather:
      return Direction::inward;
    case Step::smoother:
    case Step::spread:
    case Step::carry:
    case Step::bias:
      return Direction::outward;
    case Step::shift:
    case Step::propagate:
      return value.adjoint ? Direction::outward : Direction::inward;
    case Step::dense_inverse:
    case Step::dense_root:
    case Step::apply_dense:
    case Step::columns:
    case Step::norms:
    case Step::solve:
    case Step::rates:
      return Direction::whole;
    case Step::apply:
    case Step::combine:
    case Step::scale_by:
      return of_closures ? Direction::whole : Direction::local;
    default:
      return Direction::local;
  }
}

bool is_late(const Value& value) {
  if (value.step == Step::input || value.step == Step::one) {
    return false;
  }
  return value.step == Step::blocks || value.space.kind == SpaceKind::number ||
         value.space.kind == SpaceKind::closure || !value.space.part.empty();
}

void put_in_order(Plan& plan) {
  Order order(plan);
  order.drop_unused();
  order.mark();
  order.schedule();
}

}  // namespace bunraku::operators
