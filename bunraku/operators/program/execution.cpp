#include "bunraku/operators/program/detail/execution.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/dense.hpp"

namespace bunraku::operators {

namespace {

bool sums_over_children(const Value& value) {
  return direction_of(value) == Direction::inward;
}

/// Whether a step leaves ε or r beside its value.
bool has_rest(const Value& value) {
  return value.step == Step::filter || value.step == Step::smoother;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Making

Execution::Execution(Plan plan, Bindings& bindings)
    : plan_(std::move(plan)),
      bindings_(bindings),
      node_count_(bindings.nodes().size()),
      rows_(bindings.dimension(plan_.expression.range())),
      cols_(plan_.input == no_value ? 1 : bindings.dimension(plan_.expression.domain())) {
  check_symbols();
  make_slots();
  list_loops();
}

void Execution::check_symbols() {
  for (const Symbol symbol : symbols_in(plan_.expression)) {  // first as they are written, which a message should name
    bindings_.check(symbol);
  }
  for (const Value& value : plan_.values) {
    if (has_rest(value)) {
      symbols_.insert(Symbol::psi);
    }
    collect_symbols(value.factor.what, symbols_);
  }
  for (const Symbol symbol : symbols_) {
    bindings_.check(symbol);
  }
}

void Execution::make_slots() {
  std::size_t room = 0;
  std::size_t rests = 0;
  const std::size_t rest_size = at(bindings_.model().nv());
  for (const Value& value : plan_.values) {
    room += at(bindings_.dimension(value.space));
    rests += has_rest(value) ? rest_size : 0;
  }
  storage_.assign(room, 0.0);
  rests_.assign(rests, 0.0);
  slots_.reserve(plan_.values.size());
  double* next = storage_.data();
  double* next_rest = rests_.data();
  for (const Value& value : plan_.values) {
    Slot slot{.value = &value,
              .step = value.step,
              .symbol = value.factor.what.term().symbol,
              .adjoint = value.factor.adjoint,
              .inverse = value.step == Step::apply && value.factor.what.term().type == TermType::inverse,
              .out = next,
              .size = bindings_.dimension(value.space)};
    next += slot.size;
    if (has_rest(value)) {
      slot.rest = next_rest;
      next_rest += rest_size;
    }
    connect(slot);
    prepare(slot);
    slots_.push_back(std::move(slot));
  }
}

/// Where a step finds its operands.
void Execution::connect(Slot& slot) const {
  const Value& value = *slot.value;
  const auto pointer = [&](std::size_t i) -> const double* {
    return i < value.in.size() && value.in[i] != no_value ? slots_[at(value.in[i])].out : nullptr;
  };
  slot.in = pointer(0);
  slot.other = pointer(1);
  for (std::size_t i = 0; value.step == Step::combine && i < value.in.size(); ++i) {
    slot.terms.emplace_back(value.coefficients[i], pointer(i));
  }
  if (value.step == Step::innovation || value.step == Step::residual) {
    slot.out = slots_[at(value.in[0])].rest;  // already there
  }
}

/// What a step needs once.
void Execution::prepare(Slot& slot) {
  const Value& value = *slot.value;
  const Term& what = value.factor.what.term();
  switch (value.step) {
    case Step::inject:
      slot.body = bindings_.part(plan_.values[at(value.in[0])].space);
      break;
    case Step::extract:
      slot.body = bindings_.part(value.space);
      break;
    case Step::apply_solved:
      slot.solved = static_cast<int>(solved_.size());
      solved_.push_back({.what = value.factor.what,
                         .inner = std::make_unique<Execution>(make_plan(what.parts[0], false), bindings_),
                         .blocks = {}});
      break;
    case Step::apply_dense:
      slot.dense = static_cast<int>(dense_.size());
      dense_.push_back({.inner = std::make_unique<Execution>(make_plan(what.parts[0], true), bindings_),
                        .root = what.type == TermType::root,
                        .matrix = {}});
      break;
    case Step::one:
      *slot.out = 1;
      break;
    default:
      break;
  }
}

void Execution::list_loops() {
  for (const Loop& loop : plan_.loops) {
    loop_slots_.emplace_back();
    for (const int i : loop.values) {
      const Step step = plan_.values[at(i)].step;
      if (step != Step::vector && step != Step::innovation && step != Step::residual) {  // those are there already
        loop_slots_.back().push_back(&slots_[at(i)]);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What depends on the state

void Execution::refresh() {
  if (version_ == bindings_.version()) {
    return;
  }
  if (bindings_.nodes().size() != node_count_) {
    throw OperatorError("the number of nodes has changed since this expression was prepared",
                        "prepare it again: system(expression)");
  }
  for (const Symbol symbol : symbols_) {
    bindings_.need(symbol);
  }
  for (Solved& solved : solved_) {
    refresh(solved);
  }
  for (Dense& dense : dense_) {
    refresh(dense);
  }
  bind_values();
  std::size_t largest = 6;
  for (const Cluster& cluster : bindings_.clusters()) {
    largest = std::max({largest, 6 * cluster.members.size(), cluster.coordinates.size(), 6 * cluster.nodes.size()});
  }
  scratch_.resize(2 * largest);
  version_ = bindings_.version();
}

void Execution::bind_values() {
  for (Slot& slot : slots_) {
    const Operator& what = slot.value->factor.what;
    if (slot.value->step == Step::apply && what.term().type == TermType::variable) {
      slot.variable = &bindings_.variable(what);
    }
    if (slot.value->step != Step::vector) {
      continue;
    }
    std::fill_n(slot.out, slot.size, 0.0);
    if (what.term().type == TermType::symbol) {
      const std::span<const double> values = bindings_.vector(what.term().symbol);
      std::copy(values.begin(), values.end(), slot.out);
    } else if (what.term().type == TermType::unit) {
      if (what.term().index >= slot.size) {
        throw OperatorError(fmt::format("unit({}): the model has {} velocities", what.term().index, slot.size),
                            "they are counted from 0");
      }
      slot.out[what.term().index] = 1;
    } else {
      for (const VariableBlock& block : bindings_.variable(what).blocks) {
        for (std::size_t n = 0; n < block.rows.size(); ++n) {
          slot.out[block.rows[n]] = block.values(static_cast<Eigen::Index>(n), 0);
        }
      }
    }
  }
}

void Execution::refresh(Solved& solved) {
  const int n = solved.inner->rows();
  const SpaceKind kind = solved.what.range().kind;
  const std::size_t clusters = bindings_.clusters().size();
  std::vector<std::vector<int>> places(clusters);
  std::size_t largest = 0;
  solved.blocks.resize(clusters);
  for (std::size_t c = 0; c < clusters; ++c) {
    visit_part(kind, static_cast<int>(c), [&](int place) { places[c].push_back(place); });
    largest = std::max(largest, places[c].size());
    const auto size = static_cast<Eigen::Index>(places[c].size());
    solved.blocks[c].resize(size, size);
  }
  // Column j of all blocks at once: they do not touch one another.
  std::vector<double> x(at(n));
  std::vector<double> y(at(n));
  for (std::size_t j = 0; j < largest; ++j) {
    std::fill(x.begin(), x.end(), 0.0);
    for (const std::vector<int>& part : places) {
      if (j < part.size()) {
        x[at(part[j])] = 1;
      }
    }
    solved.inner->apply(x.data(), y.data());
    for (std::size_t c = 0; c < clusters; ++c) {
      for (std::size_t i = 0; j < places[c].size() && i < places[c].size(); ++i) {
        solved.blocks[c](static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = y[at(places[c][i])];
      }
    }
  }
  const bool root = solved.what.term().type == TermType::root;
  for (std::size_t c = 0; c < clusters; ++c) {
    Matrix& block = solved.blocks[c];
    if (block.size() == 0) {
      continue;
    }
    const auto refuse = [&](std::string_view why) {
      throw OperatorError(
          fmt::format("'{}' cannot be formed: the block of body '{}' {}", detail::printable(to_ascii(solved.what), 200),
                      bindings_.model().bodies()[at(bindings_.clusters()[c].members.front())].name, why));
    };
    if (root) {
      block = root_of(block, refuse);
      continue;
    }
    block = inverse_of(block, refuse);
  }
}

void Execution::refresh(Dense& dense) {
  const int n = dense.inner->rows();
  Matrix matrix(n, n);
  std::vector<double> unit(at(n));
  for (int j = 0; j < n; ++j) {
    unit[at(j)] = 1;
    dense.inner->apply(unit.data(), matrix.col(j).data());
    unit[at(j)] = 0;
  }
  const auto refuse = [&](std::string_view why) {
    throw OperatorError(
        fmt::format("the matrix of '{}' {}", detail::printable(to_ascii(dense.inner->plan().expression), 200), why));
  };
  if (dense.root) {
    dense.matrix = root_of(matrix, refuse);
    return;
  }
  dense.matrix = inverse_of(matrix, refuse);
}

// ---------------------------------------------------------------------------------------------------------------------
// Running

void Execution::apply(const double* x, double* y) {
  refresh();
  if (plan_.input != no_value) {
    std::copy_n(x, cols_, slots_[at(plan_.input)].out);
  }
  for (const Loop& loop : plan_.loops) {
    clear_sums(loop);
    run(loop);
  }
  std::copy_n(slots_[at(plan_.output)].out, rows_, y);
}

void Execution::clear_sums(const Loop& loop) {
  for (const int i : loop.values) {
    const Slot& slot = slots_[at(i)];
    if (sums_over_children(*slot.value) || slot.value->step == Step::dot || slot.value->step == Step::inject) {
      std::fill_n(slot.out, slot.size, 0.0);
    }
  }
}

void Execution::run(const Loop& loop) {
  if (loop.direction == Direction::whole) {
    for (const int i : loop.values) {
      const Slot& slot = slots_[at(i)];
      const Matrix& matrix = dense_[at(slot.dense)].matrix;
      Eigen::Map<Eigen::VectorXd>(slot.out, matrix.rows()).noalias() =
          matrix * Eigen::Map<const Eigen::VectorXd>(slot.in, matrix.cols());
    }
    return;
  }
  const std::vector<const Slot*>& slots = loop_slots_[at(static_cast<int>(&loop - plan_.loops.data()))];
  const int count = static_cast<int>(bindings_.clusters().size());
  if (count == 0) {
    for (const Slot* slot : slots) {
      number_step(*slot);
    }
    return;
  }
  const bool inward = loop.direction == Direction::inward;
  const bool coupled = bindings_.coupled();
  for (int n = 0; n < count; ++n) {
    const int c = inward ? count - 1 - n : n;
    for (const Slot* slot : slots) {
      if (coupled) {
        cluster_step(*slot, c, loop.direction);
      } else {
        body_step(*slot, c);
      }
    }
  }
}

Work Execution::work() const {
  Work sum;
  for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
    for (const Cluster& cluster : bindings_.clusters()) {
      const auto members = static_cast<double>(cluster.members.size());
      const Work one = work_of(plan_, i, static_cast<double>(cluster.coordinates.size()) / members,
                               static_cast<double>(cluster.nodes.size()) / members);
      sum.flops += members * one.flops;
      sum.bytes += members * one.bytes;
    }
    if (plan_.values[at(i)].step == Step::apply_dense) {
      const double n = slots_[at(i)].size;
      sum.flops += n * (2 * n - 1);
      sum.bytes += n * n * sizeof(double);
    }
  }
  return sum;
}

}  // namespace bunraku::operators
