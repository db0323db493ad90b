/// @file
/// Quantities of many states, and figures of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "batch_parts.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

constexpr std::ptrdiff_t most_bytes = 4'000'000'000;
constexpr std::ptrdiff_t states_to_time = 1024;  // the clock takes as long as a few states

constexpr BatchQuantity all_quantities[] = {BatchQuantity::id, BatchQuantity::fd, BatchQuantity::mass,
                                            BatchQuantity::inverse_mass, BatchQuantity::solve};

}  // namespace

bool BatchOptions::wants(const char* part) const {
  return parts.empty() || std::ranges::find(parts, part) != parts.end();
}

std::ptrdiff_t BatchOptions::summary_states() const {
  constexpr std::ptrdiff_t usual = 4096;
  return std::ranges::find(states, usual) != states.end() ? usual : std::ranges::max(states);
}

std::span<const BatchQuantity> batch_quantities() {
  return all_quantities;
}

const char* name_of(BatchQuantity quantity) {
  switch (quantity) {
    case BatchQuantity::id:
      return "id";
    case BatchQuantity::fd:
      return "fd";
    case BatchQuantity::mass:
      return "mass";
    case BatchQuantity::inverse_mass:
      return "inverse_mass";
    default:
      return "solve";
  }
}

std::ptrdiff_t numbers_of(const bk::Model& model, BatchQuantity quantity) {
  const std::ptrdiff_t n = model.nv();
  return quantity == BatchQuantity::mass || quantity == BatchQuantity::inverse_mass ? n * n : n;
}

std::vector<State> different_states(const bk::Model& model, std::ptrdiff_t count) {
  constexpr std::ptrdiff_t most = 4096;
  return random_states(model, static_cast<std::size_t>(std::min(count, most)));
}

template <class T>
BatchRows<T>::BatchRows(const bk::Model& model, std::span<const State> states, std::ptrdiff_t rows)
    : nq(model.nq()), nv(model.nv()), count(rows) {
  const auto fill = [&](std::vector<T>& out, std::ptrdiff_t width, std::vector<double> State::* member) {
    out.reserve(static_cast<std::size_t>(count * width));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      for (const double number : states[i % states.size()].*member) {
        out.push_back(static_cast<T>(number));
      }
    }
  };
  fill(q, nq, &State::q);
  fill(v, nv, &State::v);
  fill(acceleration, nv, &State::acceleration);
  fill(torque, nv, &State::torque);
}

template <class T>
void compute(BatchQuantity quantity, bk::BasicBatch<T>& batch, const BatchRows<T>& in, std::ptrdiff_t first,
             std::ptrdiff_t count, std::span<T> out) {
  const auto rows = [&](const std::vector<T>& numbers, std::ptrdiff_t width) {
    return bk::StateRows<const T>(numbers.data() + first * width, count, width);
  };
  const bk::StateRows<T> results(out.data(), count, numbers_of(batch.model(), quantity));
  switch (quantity) {
    case BatchQuantity::id:
      batch.inverse_dynamics(rows(in.q, in.nq), rows(in.v, in.nv), rows(in.acceleration, in.nv), results).or_throw();
      break;
    case BatchQuantity::fd:
      batch.forward_dynamics(rows(in.q, in.nq), rows(in.v, in.nv), rows(in.torque, in.nv), results).or_throw();
      break;
    case BatchQuantity::mass:
      batch.mass_matrix(rows(in.q, in.nq), results).or_throw();
      break;
    case BatchQuantity::inverse_mass:
      batch.inverse_mass_matrix(rows(in.q, in.nq), results).or_throw();
      break;
    case BatchQuantity::solve:
      batch.inverse_mass_times(rows(in.q, in.nq), rows(in.torque, in.nv), results).or_throw();
      break;
  }
}

template <class T>
bk::BasicBatch<T> make_batch(const bk::Model& model, int threads) {
  bk::BatchOptions options;
  options.passive = bk::PassiveForces::left_out;
  options.threads = threads;
  return bk::BasicBatch<T>(model, options);
}

template <class T>
BatchRun<T>::BatchRun(const bk::Model& model, BatchQuantity quantity, const BatchRows<T>& in, std::ptrdiff_t count,
                      int threads)
    : batch_(make_batch<T>(model, threads)),
      in_(in),
      quantity_(quantity),
      count_(count),
      calls_(std::max<std::ptrdiff_t>(1, std::min(states_to_time, in.count) / count)),
      out_(static_cast<std::size_t>(count * numbers_of(model, quantity))) {}

template <class T>
void BatchRun<T>::operator()() {
  for (std::ptrdiff_t i = 0; i < calls_; ++i) {
    compute<T>(quantity_, batch_, in_, i * count_, count_, out_);
  }
}

template <class T>
std::span<const T> BatchRun<T>::result(std::ptrdiff_t state) const {
  const auto width = static_cast<std::size_t>(numbers_of(batch_.model(), quantity_));
  return std::span(out_).subspan(static_cast<std::size_t>(state) * width, width);
}

template <class T>
bool BatchRun<T>::too_large(const bk::Model& model, BatchQuantity quantity, std::ptrdiff_t count) {
  return count * numbers_of(model, quantity) * static_cast<std::ptrdiff_t>(sizeof(T)) > most_bytes;
}

int least_rounds(std::ptrdiff_t states) {
  return states > 100000 ? 1 : 5;
}

void BatchFigures::add(const BatchFigure& figure, const std::string& summary_key) {
  rows.push_back(figure);
  if (!summary_key.empty()) {
    ratios[summary_key].push_back(figure.ratio());
  }
}

double BatchFigures::mean(const std::string& key) const {
  double sum = 0;
  for (const double ratio : ratios.at(key)) {
    sum += std::log(ratio);
  }
  return std::exp(sum / static_cast<double>(ratios.at(key).size()));
}

std::string BatchFigures::json(std::ptrdiff_t summary_states) const {
  std::vector<std::string> lines;
  for (const BatchFigure& row : rows) {
    lines.push_back(fmt::format(
        R"(    {{"robot": "{}", "quantity": "{}", "precision": "{}", "threads": {}, "states": {}, "ours_{}": {:.2f}, )"
        R"("peer": "{}", "peer_{}": {:.2f}, "ratio": {:.4f}}})",
        row.robot, row.quantity, row.precision, row.threads, row.states, unit(), row.ours, row.peer, unit(), row.theirs,
        row.ratio()));
  }
  std::vector<std::string> summary;
  for (const auto& [key, numbers] : ratios) {
    summary.push_back(fmt::format(R"("{}": {:.4f})", key, mean(key)));
  }
  return fmt::format(
      "{{\n  \"rows\": [\n{}\n  ],\n  \"summary\": {{{}}},\n  \"summary_states\": {},\n  \"memory\": [\n{}\n  ]\n}}\n",
      fmt::join(lines, ",\n"), fmt::join(summary, ", "), summary_states, fmt::join(memory, ",\n"));
}

template <class T>
void require_close(std::span<const T> ours, std::span<const double> theirs, double tolerance, const std::string& what) {
  double largest = 0;
  double apart = 0;
  for (std::size_t k = 0; k < theirs.size(); ++k) {
    largest = std::max(largest, std::abs(theirs[k]));
    apart = std::max(apart, std::abs(static_cast<double>(ours[k]) - theirs[k]));
    if (!std::isfinite(static_cast<double>(ours[k]))) {
      apart = std::numeric_limits<double>::infinity();
    }
  }
  if (!(apart <= tolerance * largest)) {
    throw std::runtime_error(
        fmt::format("{} are {:.2g} apart, of {:.2g}, where {:.0e} of it is allowed. One of them is wrong, and its "
                    "speed is worth nothing: nothing more is measured",
                    what, apart, largest, tolerance));
  }
}

template struct BatchRows<double>;
template struct BatchRows<float>;
template class BatchRun<double>;
template class BatchRun<float>;
template void compute(BatchQuantity, bk::BasicBatch<double>&, const BatchRows<double>&, std::ptrdiff_t, std::ptrdiff_t,
                      std::span<double>);
template void compute(BatchQuantity, bk::BasicBatch<float>&, const BatchRows<float>&, std::ptrdiff_t, std::ptrdiff_t,
                      std::span<float>);
template bk::BasicBatch<double> make_batch(const bk::Model&, int);
template bk::BasicBatch<float> make_batch(const bk::Model&, int);
template void require_close(std::span<const double>, std::span<const double>, double, const std::string&);
template void require_close(std::span<const float>, std::span<const double>, double, const std::string&);

}  // namespace bench
